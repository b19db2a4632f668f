"""What leaves the process: one stack of layers for language models, search providers and pages.

calls        `Calls`: mode, recordings, budget and pace of a run, passed to everything that asks
recording    `Recording`: every answer under the hash of its question: resume, replay, and no call
             is paid twice
pool         `each`: a bounded pool of work, results as they come
retries      `patiently`: one retry policy
"""

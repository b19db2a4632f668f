"""What leaves the process: one stack of layers for language models, search providers and pages.

Calls        mode, recordings, budget and pace of a run, passed to everything that asks      calls
Recording    every answer under the hash of its question: resume, replay, no call paid twice
             recording
each         a bounded pool of work, results as they come                                     pool
patiently    one retry policy                                                                 retry
"""

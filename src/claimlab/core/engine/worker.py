"""A worker process of the local engine: reads the key of the stage from its input, then the numbers
of shards, one a line, and answers in JSON.

    python -m claimlab.core.engine.worker FOLDER

It ends when its input ends, even in the middle of a shard: a worker never outlives the run that
started it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading

from claimlab.core.engine.stage import do_shard


def main(folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends its workers
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    numbers: queue.SimpleQueue[int] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            numbers.put(int(line))
        os._exit(0)

    key = sys.stdin.readline().strip()
    threading.Thread(target=listen, daemon=True).start()
    while True:
        answers.write(json.dumps(do_shard(folder, numbers.get(), key)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])

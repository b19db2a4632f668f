"""The process of a detector of one's own: it loads the function and answers texts, a line of JSON
for each batch, until its input ends.

    python -m claimlab.detect.own.process file.py:function

What the function prints goes to standard error. An exception is answered with the text that caused
it, found by asking for the texts one by one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import TextIO

from claimlab.detect.own.forms import OddAnswer, OwnAnswer, function_of
from claimlab.detect.own.source import load, parts_of

CHARACTERS_SHOWN = 200  # of a text, in a message
Answer = Callable[[list[str]], list[OwnAnswer]]


def answered(answer: Answer, texts: list[str]) -> dict[str, object]:
    """The answers as plain values; or what went wrong, and with which text."""
    try:
        answers = answer(texts)
    except Exception as error:
        return failure(error, _culprit(answer, texts, error))
    return {"answers": [[each.label, each.scores] for each in answers]}


def _culprit(answer: Answer, texts: list[str], error: Exception) -> str | None:
    """The first text that raises such an error by itself; null where none does."""
    for text in texts:
        try:
            answer([text])
        except Exception as again:
            if type(again) is type(error):
                return text
    return None


def failure(error: Exception, text: str | None = None) -> dict[str, object]:
    """An error as plain values, with the line of the function that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "claimlab/detect/own" not in frame.filename]
    where = f" (line {own[-1].lineno} of {os.path.basename(own[-1].filename)})" if own else ""  # noqa: PTH119
    kind = "" if isinstance(error, OddAnswer) else f"{type(error).__name__}: "
    shown = None if text is None else text[:CHARACTERS_SHOWN]
    return {"error": f"{kind}{error}{where}", "text": shown}


def serve(detector: str, questions: TextIO, replies: TextIO) -> None:
    """Say what was loaded, then answer each line."""

    def reply(content: dict[str, object]) -> None:
        print(json.dumps(content), file=replies, flush=True)

    try:
        subject, file = load(*parts_of(detector))
        answer = function_of(subject)
    except Exception as error:
        reply(failure(error))
        return
    source = None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()
    reply({"source": source})
    for line in questions:
        reply(answered(answer, json.loads(line)))


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - the folder where the user stands
    serve(sys.argv[1], sys.stdin, replies)


if __name__ == "__main__":
    main()

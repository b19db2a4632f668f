"""A function of texts as a detector. One that is named runs in a process of its own, in the folder
where the user stands; one that is passed in from Python runs where it is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.grants import Wanted, grant
from claimlab.detect.detector import Detector, Part, Prediction, texts_of
from claimlab.detect.own.forms import OddAnswer, OwnAnswer, function_of
from claimlab.detect.own.process import answered
from claimlab.detect.own.source import parts_of, source_of
from claimlab.detect.own_words import OwnWords

ENDED = 5  # seconds that a process has to end by itself


class Own(Detector):
    """Labels and shares of a function, read as those of a file are. It is trained already."""

    summary: ClassVar[str] = "A function of texts of your own."
    needs_training: ClassVar[bool] = False
    words: OwnWords  # set by the run

    def __init__(self, name: str, ask: Callable[[list[str]], Any], source: str | None) -> None:
        self.name = name  # type: ignore[misc]  # a class of its own for each would be one too many
        self.ask, self.source = ask, source

    def parameters(self) -> dict[str, object]:
        """What is known of it: the sha256 of its source."""
        return {"source_sha256": self.source}

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        """Nothing is left to learn."""

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        """Ask for all texts at once."""
        texts = texts_of(records).to_list()
        reply = self.ask(texts)
        if "error" in reply:
            about = "" if reply["text"] is None else f" For the text: {reply['text']!r}."
            problem = f"'{self.name}' failed: {reply['error'].rstrip('.')}.{about}"
            raise DataError(problem, "Fix the function.")
        answers = [OwnAnswer(*answer) for answer in reply["answers"]]
        return [self._read(answer, text) for answer, text in zip(answers, texts, strict=True)]

    def _read(self, answer: OwnAnswer, text: str) -> Prediction:
        if answer.label is None:
            return Prediction(None, failure="no answer")
        scores = {self._class(word, text) or word: n for word, n in answer.scores.items()}
        classes = self.words.classes
        if len(classes) == 2 and len(scores) == 1 and set(scores) <= set(classes):
            (share,) = scores.values()
            other = next(name for name in classes if name not in scores)
            scores[other] = round(1 - share, 12) if 0 <= share <= 1 else -share
        return Prediction(self._class(answer.label, text) or answer.label, scores)

    def _class(self, word: str, text: str) -> str | None:
        meaning = self.words.meaning(word)
        if not meaning.known:
            raise DataError(
                f"'{self.name}' answered {word!r}, which is none of the classes, for the text"
                f" {text[:80]!r}.",
                f"The classes are {self.words.listed()}.",
            )
        return meaning.name


def passed_in(subject: object) -> Own:
    """A function, estimator or pipeline of Python as a detector."""
    try:
        answer = function_of(subject)
    except OddAnswer as error:
        raise DataError(
            f"`detector` cannot be used: {error}",
            "Pass a function that takes a list of texts, a fitted pipeline, or the name of a"
            " detector.",
        ) from None
    name = getattr(subject, "__name__", type(subject).__name__).strip("<>")
    return Own(name, lambda texts: answered(answer, texts), source_of(subject))


class OwnProcess:
    """The process that a named function runs in."""

    def __init__(self, detector: str) -> None:
        place, name = parts_of(detector)
        grant(Wanted("code", detector, "is run"))
        self.title = f"{place.replace(chr(92), '/').rpartition('/')[2]}:{name}"
        command = [sys.executable, "-m", "claimlab.detect.own.process", detector]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        loaded = self._reply()
        if "error" in loaded:
            self.close()
            raise DataError(
                f"'{detector}' cannot be loaded: {loaded['error'].rstrip('.')}.",
                "Check the file or module, and the name of the function.",
            )
        self.source = loaded["source"]

    def ask(self, texts: Sequence[str]) -> Any:
        """The answers to some texts, as `answered` gives them."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(list(texts)) + "\n")
            self._process.stdin.flush()
        return self._reply()

    def _reply(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        return {"error": f"its process ended (exit {self._process.wait()})", "text": None}

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(ENDED)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

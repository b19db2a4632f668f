"""What is wrong with a file of predictions, collected: an error says all of it at once."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.words import several
from claimlab.detect.own_words import OwnWords

EXAMPLES = 3  # of each problem, in the error


class Problems:
    """What is wrong with a file, collected: an error says all of it at once."""

    def __init__(self, file: str, data: str) -> None:
        self.file, self.data = file, data
        self.sentences: list[str] = []
        self.todo: list[str] = []
        self.of_classes = False  # a word for a class is one of the problems
        self._further: dict[str, list[str]] = {}

    def add(self, what: str, examples: Sequence[str]) -> None:
        """One more case of a problem that is counted."""
        self._further.setdefault(what, []).append(examples[0])

    def count(self, n: int, what: str, plural: str, examples: Sequence[str]) -> None:
        self.sentences.append(_counted(n, what, plural, examples))

    def repeated(self, rows: pl.DataFrame) -> None:
        """Records with several answers of one run."""
        times = (
            rows.group_by("run", "record_id", maintain_order=True).len().filter(pl.col("len") > 1)
        )
        if times.height:
            what = "record has more than one answer", "records have more than one answer"
            self.count(times.height, *what, times["record_id"].to_list())

    def collected(self) -> list[str]:
        """All problems, a sentence each without its full stop."""
        further: list[str] = []
        for what, examples in self._further.items():
            further.append(_counted(len(examples), what, f"{what[:4]}s{what[4:]}", examples))
        return [*self.sentences, *further]

    def raise_any(self, words: OwnWords) -> None:
        """An error where there is any problem."""
        if sentences := self.collected():
            todo = " ".join(dict.fromkeys(self.todo)) or "Give each record one answer."
            raise DataError(
                f"'{self.file}' is not scored: {'; '.join(sentences)}.",
                f"{todo} The classes are {words.listed()}." if self.of_classes else todo,
            )


def _counted(n: int, what: str, plural: str, examples: Sequence[str]) -> str:
    shown = ", ".join(repr(example) for example in list(dict.fromkeys(examples))[:EXAMPLES])
    return f"{several(n, what, plural)} (such as {shown})"

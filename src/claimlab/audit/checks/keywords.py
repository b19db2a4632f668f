"""Do a few frequent words give the label away?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit import cdl
from claimlab.audit.check import Context, not_measured, sampled, shortcut
from claimlab.audit.features import Words
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.stopwords import stop_words_for
from claimlab.text.tokens import tokenize

TOP = 40
CANDIDATES = 200  # words that could be among the 40 most frequent of some training part
SHOWN = 40


class Keywords:
    name = "keywords"
    title = "Keywords"
    question = "Do a few frequent words give the label away?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if subject.rows["text"].null_count() == subject.n:
            return [not_measured(self.name, context.protocol, "The records have no text.", n=subject.n)]
        if len(subject.classes) < 2:
            return [not_measured(self.name, context.protocol, "It needs two classes.", n=subject.n)]
        if context.protocol == "cdl":
            score, words = cdl.keywords(subject, top=TOP)
            what = f"A 20-leaf forest on the {len(words)} most frequent words"
            return [cdl.finding(self.name, score, subject, what=what, feature=f"{TOP} words", details={"words": words})]
        part = sampled(subject, context)
        return [self._fair(part.subject, context, part.note)]

    def _fair(self, subject: Subject, context: Context, note: dict[str, int]) -> Finding:
        stop = stop_words_for(subject.rows["language"].drop_nulls().unique().to_list() or ["eng"])
        words, matrix = word_presence(subject.rows["text"], stop, CANDIDATES)
        if not words:
            return not_measured(self.name, "fair", "No word is left once stop words are out.", n=subject.n)
        return shortcut(
            subject,
            context,
            self.name,
            Words(matrix, words, top=TOP),
            why=f"A small tree on the {min(TOP, len(words))} most frequent words of the training part",
            label=f"{TOP} words",
            records=telling_records(subject, words, matrix),
            details={"words": word_table(subject, words, matrix), **note},
        )


def word_presence(texts: pl.Series, stop: frozenset[str], top: int) -> tuple[tuple[str, ...], npt.NDArray[np.uint8]]:
    """The `top` most frequent words (by texts that hold them) and which text holds which."""
    tokens = tokenize(texts)
    long = pl.DataFrame({"row": np.arange(texts.len()), "word": tokens}).explode("word").drop_nulls().unique()
    long = long.filter(~pl.col("word").is_in(list(stop)) & (pl.col("word").str.len_chars() > 1))
    counts = long.group_by("word").len().sort(["len", "word"], descending=[True, False]).head(top)
    words = tuple(counts["word"].to_list())
    hits = long.join(pl.DataFrame({"word": words, "column": np.arange(len(words))}), on="word")
    matrix = np.zeros((texts.len(), len(words)), np.uint8)
    matrix[hits["row"].to_numpy(), hits["column"].to_numpy()] = 1
    return words, matrix


def word_table(subject: Subject, words: tuple[str, ...], matrix: npt.NDArray[np.uint8]) -> list[dict[str, object]]:
    """The most telling words: rows that hold them per class, and how one-sided they are (largest class share)."""
    per_class = np.stack([matrix[subject.y == k].sum(axis=0, dtype=np.int64) for k in range(len(subject.classes))])
    size = np.bincount(subject.y, minlength=len(subject.classes))[:, None]
    rate = per_class / np.maximum(size, 1)
    share = rate.max(axis=0) / np.maximum(rate.sum(axis=0), 1e-12)
    weight = (share - 1 / len(subject.classes)) * np.sqrt(per_class.sum(axis=0))
    order = np.argsort(-weight, kind="stable")[:SHOWN]
    return [
        {
            "word": words[i],
            **{c: int(per_class[k, i]) for k, c in enumerate(subject.classes)},
            "leans": subject.classes[int(rate[:, i].argmax())],
            "lean": round(float(share[i]), 4),
        }
        for i in order
    ]


def telling_records(
    subject: Subject, words: tuple[str, ...], matrix: npt.NDArray[np.uint8], limit: int = 50
) -> list[str]:
    """Records that hold the most one-sided words."""
    telling = [words.index(str(row["word"])) for row in word_table(subject, words, matrix)[:5]]
    rows = np.flatnonzero(matrix[:, telling].any(axis=1))[:limit]
    return [subject.ids[i] for i in rows]


CHECK = Keywords()

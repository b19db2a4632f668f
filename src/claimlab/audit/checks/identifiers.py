"""Do the words in ids, file names or the paths of URLs give the label away ("fake_17",
"/fact-check/")?

Only words are read, never numbers: that ids count up while the file is sorted by class is what
`order` tests, and times inside the ids of posts are what `time` tests.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import FairCheck, sampled
from claimlab.audit.checks.table import MIN_SHARE
from claimlab.audit.details import holding, presence, telling, word_counts, word_details
from claimlab.audit.features import FrequentWords
from claimlab.audit.subject import Subject
from claimlab.core.columns import meta_values
from claimlab.core.finding import UNMEASURED, Finding
from claimlab.text.urls import find_urls, path_parts

WORDS_COUNTED = 40  # words, as in `keywords`
CANDIDATES = 200
KEYS = 10  # of meta, the most often filled
PATH = "URL path"
WORD = r"\p{L}+"
RANDOM = r"(?i)^[0-9a-f-]*$"  # a number or a digest: nothing to read


class Identifiers(FairCheck):
    name = "identifiers"
    title = "Identifiers and paths"
    question = "Do words in ids, file names or the paths of URLs give the label away?"

    def measure(self, subject: Subject) -> list[Finding]:
        part = sampled(subject)
        named = {"id": words_in(published_ids(part)), PATH: paths(part.rows)}
        named |= {f"meta.{key}": words_in(values) for key, values in like_ids(part.rows).items()}
        findings = [self._one(part, label, words) for label, words in named.items()]
        measured = [finding for finding in findings if finding.verdict not in UNMEASURED]
        reasons = " ".join(f"{finding.feature}: {finding.why}" for finding in findings)
        held = any((words.list.len() > 0).any() for words in named.values())
        says = self.unmeasured if held else self.absent
        return measured or [says(subject, reasons)]

    def _one(self, subject: Subject, label: str, words: pl.Series) -> Finding:
        with_words = np.flatnonzero((words.list.len() > 0).fill_null(False).to_numpy())
        if len(with_words) < MIN_SHARE * subject.n or not len(with_words):
            why = f"{len(with_words):,} of {subject.n:,} records have one with a word in it."
            return self.unmeasured(subject, why, label)
        part = subject.take(with_words)
        both = pl.DataFrame({"row": part.everyone, "word": words.gather(with_words)})
        words_of_texts = both.explode("word").unique()
        some = pl.len().over("word").is_between(2, part.n - 1)
        names, table = presence(words_of_texts.filter(some), part.n, CANDIDATES)
        if not names:
            why = "No word is in some of them only, and in more than one."
            return self.unmeasured(part, why, label)
        first = telling(word_counts(part, table), part)[:5]
        examples = ", ".join(f"'{names[i]}'" for i in first[:3].tolist())
        return self.shortcut(
            part,
            FrequentWords(table, top=WORDS_COUNTED),
            f"A small tree on the words in the {label} alone ({examples}; {part.n:,} of"
            f" {subject.n:,} records)",
            label,
            fact="domain" if label == PATH else None,
            records=holding(part, table, first),
            details={"words": word_details(part, names, table)["words"]},
        )


CHECK = Identifiers()


def published_ids(subject: Subject) -> pl.Series:
    """The ids that came with the data; null where claimlab made them: loaders of the catalogue put
    parts, languages and labels into theirs, a merge the names of the datasets, and records that a
    model wrote are named after their kind.
    """
    data = subject.dataset
    merged = any(step.step == "merge" for step in data.lineage)
    own = data.card is not None or data.synthetic or merged
    return pl.Series([None] * subject.n, dtype=pl.String) if own else subject.rows["id"]


def like_ids(rows: pl.DataFrame) -> dict[str, pl.Series]:
    """Keys of `meta` with a value of its own in most records, and without whitespace: names of
    files, ids, addresses. Those with free text are what `text-columns` tests, those that recur what
    `columns` tests."""
    fit: dict[str, pl.Series] = {}
    for key, values in meta_values(rows).items():
        filled = values.drop_nulls()
        if filled.dtype == pl.String and filled.n_unique() > filled.len() / 2:
            fit |= {} if filled.str.contains(r"\s").any() else {key: values}
    often = sorted(fit, key=lambda key: (-fit[key].count(), key))[:KEYS]
    return {key: values for key, values in fit.items() if key in often}


def words_in(values: pl.Series) -> pl.Series:
    """The words of each identifier, in small letters; of an address its host and the parts of its
    path.
    """
    address = values.str.contains(r"(?i)^https?://").fill_null(False)
    plain = pl.when(~address & ~values.str.contains(RANDOM)).then(
        values.str.to_lowercase().str.extract_all(WORD)
    )
    hosts = values.str.to_lowercase().str.extract(r"^https?://(?:www\.)?([^/?#]+)", 1)
    parts = pl.DataFrame({"values": values, "host": hosts, "path": path_parts(values)})
    whole = pl.concat_list("host", "path")
    return parts.select(words=pl.when(pl.lit(address)).then(whole).otherwise(plain))["words"]


def paths(rows: pl.DataFrame) -> pl.Series:
    """The parts of the path of the record's own URL, or else of the first link in its text."""
    both = pl.DataFrame({"own": rows["url"], "cited": find_urls(rows["text"]).list.first()})
    return path_parts(both.select(pl.coalesce("own", "cited")).to_series())

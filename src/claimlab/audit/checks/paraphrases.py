"""Do test rows say what training rows say, in other words or in another language?

Near-duplicates are found by shared letters. A copy with a few words changed is found by shared
words, over all rows; a paraphrase or a translation shares only its meaning, and is found by
sentence vectors, in a sample.
"""

from __future__ import annotations

import numpy as np

from claimlab.audit.check import FairCheck, Findings
from claimlab.audit.checks.near_duplicates import Sides, sides
from claimlab.audit.rule import ShareRule
from claimlab.audit.subject import Subject
from claimlab.core.errors import MissingExtra
from claimlab.core.finding import Finding
from claimlab.core.stats.scores import Flags, Floats32, Ints
from claimlab.core.words import several
from claimlab.text.near import SHARE_IN_ORDER, reworded
from claimlab.text.tokens import without_words
from claimlab.text.vectors import (
    CHARACTERS_READ,
    COSINE,
    COSINE_ACROSS,
    by_words_only,
    known,
    nearest,
    spoken,
)

# By cosine, how many pairs in one language two model readers called the same claim, and the lower
# end of its 95% interval (docs/benchmarks/audit-truth.md). Pairs across languages were not read.
PRECISION_BY_COSINE = ((0.9, 0.66, 0.52), (0.85, 0.50, 0.37), (COSINE, 0.42, 0.29))
TEST, TRAIN = 300, 1_200  # rows, drawn at random where there are more
LEAST_TEST_ROWS = 20
PARAPHRASED_SHARE = ShareRule(fail=0.05, warn=0.01)
PAIRS_SHOWN = 6
CHANGED_COPY = "a copy with a few words changed"
MOST_TEXTS = 100_000
UNREADABLE_SHARE = 0.1  # of the texts, in a script whose words cannot be told apart
Index = Ints
Nearest = tuple[Index, Floats32, Flags]
Alike = tuple[Index, Index, Floats32]  # rows, what each is like, and how much


class Paraphrases(FairCheck):
    name = "paraphrases"
    title = "Paraphrases and translations"
    question = "Are test records paraphrases or translations of training records?"
    rule = (
        f"Copies with a few words changed (at least {100 * SHARE_IN_ORDER:.0f}% of the words in the"
        f" same order): fail when more than {100 * PARAPHRASED_SHARE.fail:.0f}% of the test"
        f" records have one in train, warn when more than {100 * PARAPHRASED_SHARE.warn:.0f}%,"
        " otherwise pass; all are counted (of a split that was drawn: surely more, Wilson"
        f" interval). Paraphrases (cosine at least {COSINE}, or {COSINE_ACROSS} across languages)"
        f" are looked for among {TEST} test and {TRAIN:,} training records, drawn at random. They"
        " never fail, since two model readers called only 42 to 66% of such pairs the same claim:"
        " warn when as many as the lower ends of these shares leave are surely more than"
        f" {100 * PARAPHRASED_SHARE.warn:.0f}% (Wilson interval), pass when surely fewer,"
        " otherwise inconclusive."
    )

    needs = ("text",)

    def measure(self, subject: Subject) -> Findings:
        subject = subject.with_hidden
        split = sides(subject)
        yield self._few_words_changed(subject, split)
        yield self._same_meaning(subject, split)

    def _few_words_changed(self, subject: Subject, split: Sides) -> Finding:
        with_text = subject.near.text_of >= 0
        n = int((split.test & with_text).sum())
        if (
            n < LEAST_TEST_ROWS
            or not (split.train & with_text).any()
            or subject.near.texts > MOST_TEXTS
        ):
            why = (
                f"It needs {LEAST_TEST_ROWS} test records and training records, and at most"
                f" {MOST_TEXTS:,}"
                " distinct texts."
            )
            return self.unmeasured(subject, why, CHANGED_COPY)
        blind = without_words(subject.rows["text"]).to_numpy() & with_text
        if blind.sum() > UNREADABLE_SHARE * with_text.sum():
            why = (
                f"In {blind.sum():,} of {with_text.sum():,} texts words are not separated, and"
                " there is no dictionary for their script."
            )
            return self.unmeasured(subject, why, CHANGED_COPY)
        rows, others = _copied(subject, split.train & with_text, split.test & with_text)
        alike = rows, others, np.ones(len(rows), np.float32)
        return self._finding(subject, alike, n, split, CHANGED_COPY, drawn=split.drawn)

    def _same_meaning(self, subject: Subject, split: Sides) -> Finding:
        has_text = subject.rows["text"].is_not_null().to_numpy()
        rng = np.random.default_rng(subject.seed)
        drawn = [
            _draw(np.flatnonzero(side & has_text), most, rng)
            for side, most in ((split.test, TEST), (split.train, TRAIN))
        ]
        (test_rows, others), (train_rows, _) = (_readable(subject, rows) for rows in drawn)
        left_out = "".join(
            f" Not measured: {several(n, f'{split.part} record')} of those drawn ({why})."
            for why, n in others.items()
        )
        if len(test_rows) < LEAST_TEST_ROWS or len(train_rows) < LEAST_TEST_ROWS:
            why = (
                f"It needs {LEAST_TEST_ROWS} test and {LEAST_TEST_ROWS} training records in one"
                f" of the 16 languages of the encoder.{left_out}"
            )
            return self.unmeasured(subject, why)
        try:
            closest, cosine, enough = _nearest(subject, test_rows, train_rows)
        except MissingExtra as error:
            return self.unmeasured(subject, str(error))
        alike = test_rows[enough], closest[enough], cosine[enough]
        finding = self._finding(subject, alike, len(test_rows), split, "a paraphrase", drawn=True)
        crosses = _crosses(subject, *alike[:2])
        _as_read(finding, alike[2][~crosses], len(test_rows))
        finding.why += left_out
        return finding

    def _finding(
        self,
        subject: Subject,
        alike: Alike,
        n: int,
        split: Sides,
        what: str,
        *,
        drawn: bool,
    ) -> Finding:
        rows, others, cosine = alike
        order = np.argsort(-cosine, kind="stable")
        crossing = int(_crosses(subject, rows, others).sum())
        same = int((subject.y[rows] == subject.y[others]).sum())
        return self.found(
            subject,
            PARAPHRASED_SHARE.verdict(len(rows), n, drawn=drawn),
            f"Under {split.name}, {len(rows):,} of {n:,} {split.part} records"
            f" ({PARAPHRASED_SHARE.shown(len(rows), n, drawn=drawn)}) have {what} in train that"
            " is not a near-duplicate;"
            f" {same:,} of them under the same label, {crossing:,} in another language.",
            n=n,
            feature=f"{what}, {split.label}",
            records=[subject.ids[i] for i in rows[order].tolist()],
            details={
                "paraphrased": len(rows),
                "share": len(rows) / n,
                "part": split.part,
                "same_label": same,
                "translations": crossing,
                "pairs": [
                    {
                        "record": subject.ids[rows[i]],
                        "other": subject.ids[others[i]],
                        "cosine": float(cosine[i]),
                    }
                    for i in order[:PAIRS_SHOWN].tolist()
                ],
            },
        )


CHECK = Paraphrases()


def _copied(subject: Subject, train: Flags, test: Flags) -> tuple[Index, Index]:
    """Test rows with a copy in train that has a few words changed, and the first such copy of each;
    near-duplicates are another check's."""
    near = subject.near
    first: dict[int, int] = {}
    for text, row in zip(near.text_of[train].tolist(), np.flatnonzero(train).tolist(), strict=True):
        first.setdefault(text, row)
    of_test, of_train = np.zeros((2, near.texts), bool)
    of_test[near.text_of[test]] = of_train[near.text_of[train]] = True
    copies = {
        text: first[other]
        for text, other in reworded(subject.normal_text, of_test, of_train).items()
    }
    tested = zip(np.flatnonzero(test).tolist(), near.text_of[test].tolist(), strict=True)
    pairs = [(row, copies[text]) for row, text in tested if text in copies]
    rows, others = np.array(pairs, np.int64).reshape(-1, 2).T
    apart = near.clusters[rows] != near.clusters[others]
    return rows[apart], others[apart]


def _as_read(finding: Finding, cosine: Floats32, n: int) -> None:
    """Let the verdict rest on the pairs that say the same, as far as readers could tell: `cosine`
    is of pairs in one language. Near 0.8 half of them are of one event and say different things."""
    bands = [
        next((band for band in PRECISION_BY_COSINE if c >= band[0]), PRECISION_BY_COSINE[-1])
        for c in cosine.tolist()
    ]
    expected, least = (sum(band[k] for band in bands) for k in (1, 2))
    if finding.verdict in ("fail", "warn"):
        finding.verdict = (
            "warn"
            if PARAPHRASED_SHARE.ends(int(least), n, drawn=True)[0] > PARAPHRASED_SHARE.warn
            else "inconclusive"
        )
    finding.details["same_claim"] = expected
    shares = ", ".join(
        f"{100 * share:.0f}% from {low}" for low, share, _ in reversed(PRECISION_BY_COSINE)
    )
    read = f"Two model readers called the same claim, by cosine: {shares}"
    finding.why += f" {read}; so about {expected:.0f} of them are."


def _crosses(subject: Subject, rows: Index, others: Index) -> Flags:
    """Which pairs are in two languages; a language that is not known is not another one."""
    languages = subject.rows["language"]
    code, readable_rows = (
        languages.fill_null("").rank("dense").to_numpy(),
        languages.is_not_null().to_numpy(),
    )
    return np.asarray((code[rows] != code[others]) & readable_rows[rows] & readable_rows[others])


def _readable(subject: Subject, rows: Index) -> tuple[Index, dict[str, int]]:
    """Those of `rows` whose language the encoder knows, and how many it does not, with the reason;
    where no language is named, the text is identified.
    """
    part = subject.rows[rows]
    languages = spoken(part["text"], part["language"])
    return rows[known(languages)], by_words_only(languages)


def _draw(rows: Index, most: int, rng: np.random.Generator) -> Index:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _nearest(subject: Subject, test: Index, train: Index) -> Nearest:
    """For each test row the training row nearest in meaning (no near-duplicate of it), the cosine,
    and whether that is near enough."""
    texts = subject.rows["text"].str.slice(0, CHARACTERS_READ)
    language = subject.rows["language"].fill_null("").rank("dense").to_numpy()
    near = subject.near.clusters
    best, cosine, enough = nearest(
        texts.gather(test).to_list(),
        texts.gather(train).to_list(),
        across=language[test][:, None] != language[train][None, :],
        never=near[test][:, None] == near[train][None, :],
    )
    return train[best], cosine, enough

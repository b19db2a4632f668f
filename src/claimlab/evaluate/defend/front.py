"""`cl.defend` and `claimlab defend`: what the score of a run is made of.

Where a run fails: subgroups of records found by search, corrected for how many were looked at.

A subgroup is a value of one trait, a frequent word, or two of these together. Whether a record was
answered right is permuted among the records, groups kept together; a subgroup counts where its
share of wrong answers, in standard errors, is above the largest of any subgroup in all but 5% of
the permutations (max-T; Westfall and Young 1993).

How much of a run the best shortcut of its data explains, beside a control for difficulty.

The shortcut is chosen and fitted on training rows alone: of the properties of a text that need no
reading, the one that answers best for training rows that were held out. Records on which it fails
may just be harder. So the same difference is shown among the records that an independent model gets
right, and among those that it gets wrong: a model of the characters of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Unpack

import numpy as np
import polars as pl

from claimlab.claims.contamination.result import FILE, KNOWN, read_contamination
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DataError, MissingExtra
from claimlab.core.options import Argument, Force, Option, OptionalFolder, Place, Seed, Setting
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.stats.attribution import Attribution
from claimlab.core.stats.chance import LEVEL
from claimlab.core.stats.deal import codes_of, deal
from claimlab.core.stats.interval import DRAWS, Resampling, intervals, wilson
from claimlab.core.stats.permute import Exchange
from claimlab.core.stats.ranks import UNITS, foreseen
from claimlab.core.stats.scores import Flags, Floats, Ints, macro_f1_of, ratio
from claimlab.detect.detector import Part
from claimlab.detect.detectors.shortcut import Shortcut
from claimlab.detect.linear import Linear
from claimlab.detect.ngrams import Characters, TfIdf
from claimlab.evaluate.compare import (
    SHORTCUT,
    Board,
    by_metric,
    explained_by,
    on_shared_records,
)
from claimlab.evaluate.defend.result import (
    FEATURES,
    KIND,
    PARAPHRASED,
    PERMUTATIONS,
    SEEN,
    Alarms,
    Citations,
    Copied,
    Defence,
    Difference,
    Search,
    Seen,
    Segment,
    Subgroup,
    contents,
)
from claimlab.evaluate.front import evaluate_run, telling
from claimlab.evaluate.metric import SMALLEST, metrics
from claimlab.evaluate.scored_run import OwnTask, ScoredRun, open_runs, predictions_in
from claimlab.evaluate.slices import contrast, slice_run
from claimlab.pages.folder import fill, write_report
from claimlab.text.near import NEAR, claims_of
from claimlab.text.telling import held_words, keywords, presence
from claimlab.text.urls import canonical_url, find_urls
from claimlab.text.vectors import CHARACTERS, nearest, readable

TERMS, READ = 20_000, 1_500  # of the control: sequences of characters, and characters of a text
ALWAYS_RIGHT = "the shortcut is right on every test record, so nothing tells it from the label"
HELD_OUT = 0.25  # of the training rows, whole groups, on which the shortcut is chosen
MOST_ROWS = 20_000  # training rows; a property as simple as these needs no more


def copied(
    run: ScoredRun,
    train: Part,
    feature: str | None,
    **how: Unpack[Resampling],
) -> Copied:
    """What `feature`, or else the best shortcut of the training rows, explains of `run`."""
    if len(set(train.labels)) < 2:
        return Copied(why="the training records are of fewer than two classes")
    seed = how.get("seed", 0)
    rows = np.zeros(len(train.labels), np.bool_)
    rows[np.random.default_rng(seed).permutation(len(rows))[:MOST_ROWS]] = True
    train = _part(train, rows)
    progress("shortcut", 0, 3)
    feature = feature or best_feature(train, seed)
    if feature is None:
        return Copied(why="no property of the training records could be fitted")
    progress("shortcut", 1, 3)
    records = run.table.select(train.records.columns)
    shortcuts = shortcuts_of(run, train, feature, seed)
    shortcut = shortcuts[feature]
    right = shortcut.answers.right
    explained = explained_by(run, [shortcut], **how)
    if explained is None:
        few = "the test records are too few to tell a shortcut from own signal"
        return Copied(feature, float(right.mean()), why=ALWAYS_RIGHT if right.all() else few)
    progress("shortcut", 2, 3)
    together = explained_by(run, list(shortcuts.values()), **how) if len(shortcuts) > 1 else None
    easy = _answering(run, _read(train, records, seed)).answers.right
    return Copied(
        feature,
        float(right.mean()),
        explained.shares,
        tuple(shortcuts) if together else (),
        together.shares if together else None,
        differences(run, right, easy, **how),
        segments(run, shortcut, explained.shares),
    )


def shortcuts_of(run: ScoredRun, train: Part, first: str, seed: int) -> dict[str, ScoredRun]:
    """The answers of every property, `first` at the head. One that differs from an earlier one, or
    from the labels, on fewer than 30 records cannot be told from it, and is left out, and so is one
    that always gives the same answer."""
    records = run.table.select(train.records.columns)
    out = {first: _answering(run, _answers(train, records, first, seed))}
    for feature in FEATURES:
        try:
            mine = _answering(run, _answers(train, records, feature, seed))
        except DataError:  # the training rows do not have it
            continue
        guess = mine.answers.guess
        others = [run.answers.truth, *(one.answers.guess for one in out.values())]
        if np.ptp(guess) and all((guess != other).sum() >= SMALLEST for other in others):
            out[feature] = mine
    return out


def best_feature(train: Part, seed: int) -> str | None:
    """The property with the highest macro-F1 on held-out training rows; null where none fits."""
    labels = pl.Series(train.labels)
    cells, groups = codes_of(labels), codes_of(train.records["group"])
    held = deal(cells, groups, [1 - HELD_OUT, HELD_OUT], seed) == 1
    train_part, held_out = _part(train, ~held), _part(train, held)
    if len(set(train_part.labels)) < 2 or not held_out.labels:
        return None
    place = {name: i for i, name in enumerate(sorted(set(train.labels)))}
    truth = np.array([place[name] for name in held_out.labels])
    scores: dict[str, float] = {}
    for feature in FEATURES:
        try:
            answers = _answers(train_part, held_out.records, feature, seed)
        except DataError:  # the training rows do not have it
            continue
        guess = np.array([place[name] for name in answers])
        scores[feature] = macro_f1_of(truth, guess)
    return max(scores, key=lambda feature: scores[feature], default=None)


def differences(
    run: ScoredRun, right: Flags, easy: Flags, **how: Unpack[Resampling]
) -> list[Difference]:
    """Where the shortcut is `right`, and where not: of all records, of those that the control finds
    `easy`, and of the others."""
    hit, cluster = run.answers.right, run.answers.cluster
    strata = {"all records": np.ones_like(easy), "control right": easy, "control wrong": ~easy}
    return [
        _difference(name, hit[mine], right[mine], cluster[mine], **how)
        for name, mine in strata.items()
    ]


def segments(run: ScoredRun, shortcut: ScoredRun, shares: Attribution) -> list[Segment]:
    """The accuracy in parts: guesses, what repeating the shortcut adds to them, and what own signal
    adds. A rest that the model does not fit is a part of its own."""
    answers, other = run.answers, shortcut.answers
    classes = len(answers.classes)
    both = (answers.guess < classes) & (other.guess < classes)
    covered, guess = float(both.mean()), 1 / classes
    right = float(other.right[both].mean())
    parts = {
        "guessing": covered * guess,
        "shortcut": covered * shares.shortcuts[0][0] * (right - guess),
        "own signal": covered * shares.own[0] * (1 - guess),
    }
    rest = float(answers.right.mean()) - sum(parts.values())
    if abs(rest) >= 0.005:
        parts["not fitted"] = rest
    return [Segment(name, share) for name, share in parts.items()]


def _difference(
    among: str, hit: Flags, right: Flags, cluster: Ints, **how: Unpack[Resampling]
) -> Difference:
    counts = int(right.sum()), int((~right).sum())
    if min(counts) < SMALLEST:
        return Difference(among, *counts)
    (ends,) = intervals(cluster, 2 * right + hit, 4, _gap, **how)
    one, other = float(hit[right].mean()), float(hit[~right].mean())
    return Difference(among, *counts, one, other, one - other, ends)


def _gap(counts: Floats) -> Floats:
    """The difference of two accuracies, from counts of wrong and right answers where the shortcut
    is wrong, then where it is right."""
    tables = counts.reshape(-1, 2, 2)
    share = ratio(tables[:, :, 1], tables.sum(axis=2), nothing=np.nan)
    return np.asarray(share[:, 1] - share[:, 0])


def _answering(run: ScoredRun, labels: Sequence[str]) -> ScoredRun:
    """The same records with other answers."""
    table = run.table.with_columns(
        pl.Series("said", labels, dtype=pl.String), abstained=pl.lit(None, pl.String), scores=None
    )
    return replace(run, name=SHORTCUT, table=table)


def _read(train: Part, records: pl.DataFrame, seed: int) -> list[str]:
    """The answers of the control: a linear model of characters."""
    terms, model = TfIdf(Characters(), most=TERMS), Linear("svm", strength=1.0)
    beginning = pl.col("text").fill_null("").str.head(READ)
    known, unknown = (table.select(beginning)["text"] for table in (train.records, records))
    model.fit(terms.fit_transform(known), train.labels, seed=seed)
    answers = model.predict(terms.transform(unknown))
    return [answer.label or "" for answer in answers]


def _answers(train: Part, records: pl.DataFrame, feature: str, seed: int) -> list[str]:
    """The answers of one property."""
    detector = Shortcut(feature=feature)
    detector.fit(train, Part(train.records.clear(), []), seed=seed)
    return [one.label or "" for one in detector.predict(records)]


def _part(part: Part, rows: Flags) -> Part:
    mine = pl.Series(rows)
    return Part(part.records.filter(mine), pl.Series(part.labels).filter(mine).to_list())


SMALLEST_SHARE = 0.02  # of the records
MOST = 1_000  # subgroups that are looked at, the largest first
SAME = 0.8  # of the records of two subgroups together: then the second says nothing new


@dataclass(frozen=True)
class _Candidate:
    traits: frozenset[str]  # the columns that it is made of
    name: str
    rows: Flags


def search(run: ScoredRun, *, seed: int = 0) -> Search:
    """The subgroups in which `run` fails more often than elsewhere."""
    answers = run.answers
    if len(np.unique(answers.cluster)) < UNITS:
        return Search(why=f"the records are fewer than {UNITS} groups")
    wrong = ~answers.right
    if wrong.all() or not wrong.any():
        return Search(why=f"{'no' if wrong.all() else 'every'} answer is right")
    candidates = _candidates(run)
    if not candidates:
        return Search(why="no subgroup has records enough")
    p = _corrected(wrong, np.stack([one.rows for one in candidates]), answers.cluster, seed)
    return Search(len(candidates), _clear(candidates, wrong, p))


def _candidates(run: ScoredRun) -> list[_Candidate]:
    """Values of traits and words, then pairs of them; neither too few records nor too many."""
    records = run.table.height
    least = max(SMALLEST, round(SMALLEST_SHARE * records))

    def fit(rows: Flags) -> bool:
        return least <= int(rows.sum()) <= records - least

    fitting = [one for one in (*_values(run), *_words(run)) if fit(one.rows)]
    # a language and its family are often the same records: the first name stands for them
    distinct = {one.rows.tobytes(): one for one in reversed(fitting)}
    single = sorted(distinct.values(), key=lambda one: (-int(one.rows.sum()), one.name))
    pairs = [
        _Candidate(one.traits | other.traits, f"{one.name} and {other.name}", both)
        for one, other in combinations(single, 2)
        if not one.traits & other.traits and fit(both := one.rows & other.rows)
    ]
    pairs.sort(key=lambda one: (-int(one.rows.sum()), one.name))
    return [*single, *pairs][:MOST]


def _values(run: ScoredRun) -> list[_Candidate]:
    every = np.arange(run.table.height)
    return [
        _Candidate(frozenset([trait]), f"{trait} {value}", np.isin(every, part["row"].to_numpy()))
        for trait in telling(run)
        for (value,), part in run.trait(trait).group_by("value", maintain_order=True)
    ]


def _words(run: ScoredRun) -> list[_Candidate]:
    texts = run.table["text"].fill_null("")
    words = keywords(texts, run.table["language"].drop_nulls().unique().to_list())
    held = presence(held_words(texts), words, texts.len()).toarray().astype(np.bool_)
    return [
        _Candidate(frozenset([f"word {word}"]), f"the word '{word}'", held[:, i])
        for i, word in enumerate(words)
    ]


def _corrected(wrong: Flags, rows: Flags, cluster: Ints, seed: int) -> Floats:
    """The p-value of each subgroup (one row of `rows` each), corrected for all of them."""
    from scipy.sparse import csr_array

    members, n = csr_array(rows.astype(np.float64)), wrong.size
    size, share = rows.sum(axis=1).astype(np.float64), float(wrong.mean())
    expected = size * share
    error = np.sqrt(expected * (1 - share) * (1 - size / n))  # drawn without putting back

    def clear(marks: Flags | Ints) -> Floats:
        """How many standard errors each subgroup has more wrong answers than expected."""
        counts = members @ marks.T.astype(np.float64)
        return np.asarray((counts.T - expected) / error)

    exchange = Exchange(wrong.astype(np.int64), cluster)
    drawn = exchange.draw_labels(np.random.default_rng([seed, n]), PERMUTATIONS)
    largest = np.concatenate([clear(marks).max(axis=1) for marks in drawn])
    own = clear(wrong[None])[0]
    as_clear = (largest[:, None] >= own - 1e-9).sum(axis=0)
    return np.asarray((1 + as_clear) / (1 + len(largest)))


def _clear(candidates: Sequence[_Candidate], wrong: Flags, p: Floats) -> list[Subgroup]:
    """Those that are clear, the worst first, none of which repeats one before it."""

    def share(one: _Candidate) -> float:
        return float(wrong[one.rows].mean())

    def repeats(one: _Candidate, before: _Candidate) -> bool:
        """Whether it has nearly the same records, or is a part of the one before and no worse."""
        both, either = (one.rows & before.rows).sum(), (one.rows | before.rows).sum()
        inside = before.traits <= one.traits and share(one) <= share(before)
        return bool(both >= SAME * either) or inside

    chosen: dict[int, _Candidate] = {}
    clear = [(i, candidates[i]) for i in np.flatnonzero(p < LEVEL).tolist()]
    for i, one in sorted(clear, key=lambda item: (len(item[1].traits), -share(item[1]))):
        if not any(repeats(one, before) for before in chosen.values()):
            chosen[i] = one
    weak = [
        Subgroup(
            one.name,
            int(one.rows.sum()),
            1 - share(one),
            1 - float(wrong[~one.rows].mean()),
            float(p[i]),
        )
        for i, one in chosen.items()
    ]
    return sorted(weak, key=lambda one: one.accuracy)


COLUMN, OTHER = "seen_before", "the others"
BESIDE = 50  # folders that are looked at for other runs
MOST_COMPARED, AT_ONCE = 50_000, 500  # texts of training, and test records, compared in meaning
NO_TRAINING = "the dataset with the training records was not passed in (`data`)"


class Defended(Defence):
    """A defence that was just made; it can write its report."""

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the report: JSON, the page, the paragraph and one row of a table."""
        write_report(contents(self), Path(folder), force=force)


@repeatable()
def defend(
    run: Annotated[Stored, Argument("A run folder that claimlab detect wrote.")],
    *,
    output: OptionalFolder = None,
    data: Annotated[
        Source | None,
        Option("The dataset folder that the run was made on: it has the training records."),
    ] = None,
    shortcut: Annotated[
        str | None,
        Option(
            "The property to take as the shortcut: a feature of the detector shortcut, or any"
            " column. Default: the best of length, surface, keywords, giveaways and url."
        ),
    ] = None,
    overlap: Annotated[
        Place | None,
        Setting("A folder that claimlab overlap wrote about these records: what was seen where."),
    ] = None,
    task: OwnTask = None,
    draws: Annotated[int, Setting("Resamples behind each interval.", least=200)] = DRAWS,
    seed: Seed = 0,
    force: Force = False,
) -> Defended:
    """Say what a score is made of: chance, a shortcut, own signal, records seen before.

    Also what the score could be at most, in which subgroups the run fails, and its rank among the
    runs in the same folder. Without `data`, what needs the training records is not measured.
    """
    reads = folders_of(run, data)
    with Run("defend", None, output, kind=KIND, reads=reads, force=force, seed=seed) as job:
        runs = open_runs(run, task=task)
        if len(runs) > 1:
            names = ", ".join(f"'{one.name}'" for one in runs[:3])
            raise DataError(
                f"The folder holds {len(runs)} runs: {names}.",
                "Defend a folder that holds one run.",
            )
        (scored,) = runs
        train = training(scored, Dataset.of(run if data is None else data), known=data is not None)
        progress("scores", 0, None)
        how: Resampling = {"seed": seed, "draws": draws}
        shallow, seen = Copied(why=NO_TRAINING), [Seen(why=NO_TRAINING)]
        if train:
            shallow = copied(scored, train, shortcut, **how)
            seen = seen_before(scored, train, **how)
        known, alarms = known_from(scored, Path(overlap), **how) if overlap else ([], None)
        defence = Defended(
            evaluate_run(scored, by=[], **how),
            foreseen(scored.answers.truth, scored.answers.cluster, seed=seed),
            shallow,
            seen[0],
            search(scored, seed=seed),
            seed,
            ranked_beside(scored, run, **how),
            (*seen[1:], *known),
            alarms,
            citations(Dataset.of(run)),
        )
        job.fill(lambda folder: fill(contents(defence), folder))
    return defence


def training(run: ScoredRun, dataset: Dataset, *, known: bool) -> Part | None:
    """The labelled training records, less those that the run answered; null where there are none.
    A dataset that was named must be the one of the run."""
    records = dataset.records
    answered = records["id"].is_in(run.table["id"].implode())
    if known and not answered.any():
        raise DataError(
            f"'{dataset.name}' has none of the records of the run '{run.name}'.",
            "Pass as `data` the dataset that the run was made on.",
        )
    labels = run.task.labels(records)
    mine = (records["split"] == "train").fill_null(False) & labels.is_not_null() & ~answered
    if known and not mine.any():
        raise DataError(
            f"'{dataset.name}' has no labelled training records.",
            "Pass as `data` a dataset with a split, or leave `data` out.",
        )
    return Part(records.filter(mine), labels.filter(mine).to_list()) if mine.any() else None


def seen_before(run: ScoredRun, train: Part, **how: Unpack[Resampling]) -> list[Seen]:
    """The run on test records that training has nearly the same, and on the others; and, of the
    others, on those that it has in other words.
    """
    mine, trained = run.table["text"], train.records["text"]
    if mine.null_count() == mine.len():
        return [Seen(why="the records have no text")]
    claims = claims_of(pl.concat([mine, trained]), near=NEAR)
    part = np.repeat([0, 1], [mine.len(), trained.len()])
    in_training = claims.held(part, 2)[:, 1]
    held = pl.Series(in_training[: mine.len()])
    return [_sides(run, held, SEEN, **how), paraphrased(run, train, ~held, **how)]


def paraphrased(run: ScoredRun, train: Part, new: pl.Series, **how: Unpack[Resampling]) -> Seen:
    """The run on those of the `new` records that have a paraphrase in training, and on the rest."""
    tables = [one.select("text", "language") for one in (run.table, train.records)]
    both = pl.concat(tables)
    mine = np.arange(both.height) < run.table.height
    known = readable(both["text"], both["language"])
    rows = np.flatnonzero(known[mine] & new.to_numpy())
    trained = np.flatnonzero(known & ~mine)
    if not len(rows) or not 0 < len(trained) <= MOST_COMPARED:
        why = (
            f"it needs texts in one of the 16 languages of the encoder, at most {MOST_COMPARED:,}"
            " of them in training"
        )
        return Seen(PARAPHRASED, why=why)
    texts = both["text"].str.slice(0, CHARACTERS)
    language = both["language"].fill_null("").rank("dense").to_numpy()
    alike: list[bool | None] = [None] * run.table.height
    try:
        for start in range(0, len(rows), AT_ONCE):
            progress("paraphrases", start, len(rows))
            part = rows[start : start + AT_ONCE]
            across = language[part][:, None] != language[trained][None, :]
            some, others = texts.gather(part).to_list(), texts.gather(trained).to_list()
            for row, near in zip(part, nearest(some, others, across)[2].tolist(), strict=True):
                alike[row] = near
    except MissingExtra:
        why = "the encoder is not installed (pip install 'claimlab[vectors]')"
        return Seen(PARAPHRASED, why=why)
    return _sides(run, pl.Series(alike, dtype=pl.Boolean), PARAPHRASED, **how)


def _sides(run: ScoredRun, held: pl.Series, what: str, **how: Unpack[Resampling]) -> Seen:
    """The run on the records that are `held` (null: not known), and on the others."""
    names = {True: what, False: OTHER}
    side = held.replace_strict(names, default=None, return_dtype=pl.String)
    marked = replace(run, table=run.table.with_columns(side.alias(COLUMN)))
    cells = slice_run(marked, COLUMN, **how).cells
    difference = contrast(marked, COLUMN, what, OTHER, **how)
    return Seen(what, int(held.sum()), int((~held).sum()), tuple(cells), difference)


def known_from(
    run: ScoredRun, folder: Path, **how: Unpack[Resampling]
) -> tuple[list[Seen], Alarms | None]:
    """What an overlap folder knows of the records: which are also in other datasets, which occur in
    corpora, and which are dated until the cut-off; and false alarms after it."""
    claims, seen, alarms = folder / "claims.parquet", [], None
    if claims.is_file():
        shared = pl.read_parquet(claims, columns=["dataset", "id"]).filter(dataset=run.dataset)
        held = run.table["id"].is_in(shared["id"].implode())
        seen.append(_sides(run, held, "are also in another dataset", **how))
    if (folder / FILE).is_file():
        report = read_contamination(folder)
        ids = run.table.select("id")
        known = ids.join(report.records, on="id", how="left", maintain_order="left")
        if "status" in known.columns and report.settings.get("corpora"):
            held = known["status"] == KNOWN
            seen.append(_sides(run, held, "occur in the corpora", **how))
        if "dated" in known.columns:
            cutoff = str(report["cutoff"].details["cutoff"])
            words = f"are dated until the cut-off {cutoff}"
            seen.append(_sides(run, known["dated"] == "until", words, **how))
            alarms = false_alarms(run, known["dated"], cutoff, **how)
    elif not claims.is_file():
        raise DataError(
            f"'{folder}' was not written by claimlab overlap.",
            "Pass as `overlap` a folder with claims.parquet or contamination.json.",
        )
    return seen, alarms


def false_alarms(
    run: ScoredRun, dated: pl.Series, cutoff: str, **how: Unpack[Resampling]
) -> Alarms | None:
    """True claims called false after the cut-off and until it; null for other classes."""
    if not {"true", "false"} <= set(run.answers.classes):
        return None
    mine = ((run.table["truth"] == "true") & dated.is_not_null()).to_numpy()
    false = (run.table["said"] == "false").fill_null(False).to_numpy()
    after = (dated == "after").fill_null(False).to_numpy()
    sides = false[mine], after[mine], run.answers.cluster[mine]
    return Alarms(cutoff, _difference("true claims", *sides, **how))


def citations(run: Dataset) -> Citations | None:
    """The rationales that cite evidence or an address, and those that cite what was not retrieved;
    null where none cites anything."""
    answers = predictions_in(run, run.name)
    pattern = r'"unsupported_citations": ?(\d+)'
    strange = answers["meta"].str.extract(pattern).cast(pl.Int64).fill_null(0) > 0
    known: dict[str, set[str | None]] = {}
    if "evidence" in run.tables:
        retrieved = run.tables["evidence"].select("record_id", "url").drop_nulls()
        for record, url in retrieved.iter_rows():
            known.setdefault(record, set()).add(canonical_url(url))
    named = find_urls(answers["rationale"].fill_null("")).to_list()
    outside = [
        any(canonical_url(url) not in known.get(record, ()) for url in urls)
        for record, urls in zip(answers["record_id"], named, strict=True)
    ]
    cites = strange | (answers["evidence_ids"].list.len().fill_null(0) > 0)
    citing = int((cites | pl.Series([bool(urls) for urls in named], dtype=pl.Boolean)).sum())
    unsupported = int((strange | pl.Series(outside, dtype=pl.Boolean)).sum())
    return Citations(citing, unsupported, wilson(unsupported, citing)) if citing else None


def ranked_beside(run: ScoredRun, place: Stored, **how: Unpack[Resampling]) -> Board | None:
    """The run among the others on the same dataset in the folder that its own folder is in; null
    where there are none."""
    folder = place.path if isinstance(place, Dataset) else Path(place)
    if folder is None:
        return None
    beside = sorted(folder.resolve().parent.glob("*/predictions.parquet"))[:BESIDE]
    others: list[ScoredRun] = []
    for file in beside:
        if file.parent == folder.resolve():
            continue
        try:
            others += open_runs(file.parent, task=run.task.name)
        except ClaimlabError:
            continue  # a folder that is no run of this task is not compared
    same = [one for one in others if one.dataset == run.dataset and one.answers.answered]
    if not same:
        return None
    board, _ = by_metric(on_shared_records([run, *same]), metrics()[0], **how)
    return board if len(board.standings) > 1 else None

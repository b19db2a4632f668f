"""BLUFF as what a catalogue loader returns: records, side tables and notes.

From Python every choice is an argument; from the command line the named variants of the catalogue
make the usual ones.

uuids are joined to metadata and splits; every problem is kept with its uuid, for the side table
`orphans`, and the sentences count them. What can only be known from the whole tree (metadata without
text) is not measured when a part of it was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from claimlab.catalog.cards import entry_of
from claimlab.catalog.columns import dated, title_and_body
from claimlab.catalog.entry import Loaded
from claimlab.catalog.readers.bluff.layout import (
    DEFAULT,
    Kind,
    Part,
    membership,
    parts,
    read_lists,
    settings,
)
from claimlab.catalog.readers.bluff.layout import read as read_part
from claimlab.catalog.readers.bluff.texts import (
    ENGLISH,
    Oddities,
    again,
    check_rule,
    coverage,
    explode,
    listed,
    resource_class,
)
from claimlab.catalog.table import Table
from claimlab.core.errors import UnknownName, UnreadableFile
from claimlab.core.languages import describe
from claimlab.core.words import several
from claimlab.files.bundle import Bundle

SAME = "repeated as the same row (read once)"
DIFFERENT = "repeated with different rows (all kept, in one group)"
BOTH = "both generated and human-written"
NO_METADATA = "with text but without metadata"
NO_TEXT = "with metadata but without text"
METADATA_TWICE = "repeated in the metadata (the first row is used)"
LISTED_ONLY = "in a split list but without text"
SEVERAL_SPLITS = "in several lists of one split setting (left out of the split)"
VERDICTS = "with a verdict that contradicts the metadata (the row's own is used)"


@dataclass
class Joins:
    """Problems by kind, with the uuids that have them."""

    whole: bool
    problems: dict[str, list[str]] = field(default_factory=dict)

    def add(self, problem: str, uuids: Iterable[str]) -> None:
        known = self.problems.setdefault(problem, [])
        known.extend(sorted(set(uuids) - set(known)))

    def table(self) -> pl.DataFrame:
        rows = [(uuid, problem) for problem, uuids in self.problems.items() for uuid in uuids]
        return pl.DataFrame(rows, schema={"group": pl.String, "problem": pl.String}, orient="row")

    def sentences(self) -> list[str]:
        sentences = [
            f"{several(len(uuids), 'uuid')} {problem}, such as {uuids[0]}."
            for problem, uuids in self.problems.items()
            if uuids
        ]
        if not self.whole:
            sentences.append(
                "Only a part of the tree was read: metadata and split lists without text were not"
                " looked for."
            )
        return sentences


def with_occurrence(samples: pl.DataFrame, joins: Joins) -> pl.DataFrame:
    """Same rows once; rows that share a uuid but differ are numbered in `occurrence`, from 0."""
    same = samples.filter(pl.struct(pl.all()).is_duplicated())["uuid"]
    joins.add(SAME, same.to_list())
    once = samples.unique(maintain_order=True)
    joins.add(DIFFERENT, once.filter(pl.col("uuid").is_duplicated())["uuid"].to_list())
    return once.with_columns((pl.col("uuid").cum_count().over("uuid") - 1).alias("occurrence"))


def with_metadata(
    samples: pl.DataFrame, metadata: pl.DataFrame | None, joins: Joins
) -> pl.DataFrame:
    """Fill the samples' gaps from their metadata, and put the standard verdict beside their own."""
    if metadata is None:
        joins.add(NO_METADATA, samples["uuid"].to_list())
        return samples.with_columns(pl.lit(None, pl.String).alias("standard_veracity"))
    joins.add(METADATA_TWICE, metadata.filter(pl.col("uuid").is_duplicated())["uuid"].to_list())
    first = metadata.unique("uuid", keep="first", maintain_order=True)
    joins.add(NO_METADATA, set(samples["uuid"].to_list()) - set(first["uuid"].to_list()))
    if joins.whole:
        joins.add(NO_TEXT, set(first["uuid"].to_list()) - set(samples["uuid"].to_list()))
    carried = [c for c in listed("carried") if c in first.columns]
    chosen = first.select(
        "uuid", *(pl.col(c).alias(f"{c}|meta") for c in carried), _standard(first)
    )
    joined = samples.join(chosen, on="uuid", how="left", maintain_order="left")
    filled = [
        (
            pl.coalesce(c, f"{c}|meta").alias(c)
            if c in samples.columns
            else pl.col(f"{c}|meta").alias(c)
        )
        for c in carried
    ]
    out = joined.with_columns(filled).drop(f"{c}|meta" for c in carried)
    joins.add(VERDICTS, contradictions(out))
    return out


def _standard(metadata: pl.DataFrame) -> pl.Expr:
    known = "veracity" in metadata.columns
    return (pl.col("veracity") if known else pl.lit(None, pl.String)).alias("standard_veracity")


def contradictions(samples: pl.DataFrame) -> list[str]:
    """uuids whose own verdict is true and the metadata's false, or the other way round."""
    if "veracity" not in samples.columns:
        return []
    rows = samples.select("uuid", "veracity", "standard_veracity").drop_nulls().iter_rows()
    clear = {"true", "false"}
    strict = entry_of("bluff").maps["strict"]
    return [
        uuid
        for uuid, own, standard in rows
        if {mine := strict.verdict(own), theirs := strict.verdict(standard)} <= clear
        and mine != theirs
    ]


METADATA: dict[Kind, Kind] = {
    "generated": "meta-generated",
    "human": "meta-human",
    "raw-human": "meta-human",
}


def read(
    bundle: Bundle,
    *,
    sources: Sequence[Kind] = ("generated", "human"),
    languages: Iterable[str] | None = None,
    models: Iterable[str] | None = None,
    organisations: Iterable[str] | None = None,
    rule: str = "per-field",
    verdict: Literal["own", "standard"] = "own",
    setting: str | None = None,
) -> Loaded:
    """The texts of the tree. `rule` says whose authorship a text has, `verdict` whether a row's own
    verdict or the metadata's standard one is the label, `setting` which lists fill the column
    `split`."""
    wanted = None if languages is None else list(languages)
    whole = wanted is None and models is None and organisations is None
    problems, odd, chosen_rule = Joins(whole=whole), Oddities(), check_rule(rule)
    makers: dict[Kind, Iterable[str] | None] = {"generated": models, "human": organisations}
    metadata = {
        kind: _metadata(bundle, kind) for kind in dict.fromkeys(METADATA[s] for s in sources)
    }
    classes, odd.clashes = resource_classes([m for m in metadata.values() if m is not None])
    texts: dict[Kind, pl.DataFrame] = {}
    for source in sources:
        chosen = parts(bundle, source, languages=wanted, makers=makers.get(source))
        if chosen:
            rows = _rows(bundle, chosen, wanted, odd)
            samples = with_metadata(
                with_occurrence(rows, problems), metadata[METADATA[source]], problems
            )
            samples = samples.with_columns(_label(samples, verdict))
            classes = completed(classes, samples["declared"])
            texts[source] = explode(
                samples, odd, human=source != "generated", rule=chosen_rule, classes=classes
            )
    if not texts:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no texts of the kind {' or '.join(sources)} (or none that"
            " were asked for).",
            "Give the folder that holds processed/, meta_data/ and splits/, as on the hub.",
        )
    if len(texts) > 1:
        problems.add(BOTH, set.intersection(*(set(t["group"].to_list()) for t in texts.values())))
    lists = read_lists(bundle)
    records, several_lists, split_note = _with_split(
        pl.concat(texts.values()), lists, settings(bundle), setting
    )
    problems.add(SEVERAL_SPLITS, several_lists)
    if whole and {"generated", "human"} <= set(texts):
        problems.add(LISTED_ONLY, set(lists["group"].to_list()) - set(records["group"].to_list()))
    covered, coverage_notes = coverage(records, classes, whole=whole)
    tables = {"languages": covered, "splits": lists, "orphans": problems.table()}
    notes = [
        f"Authorship is {rule}.",
        split_note,
        *coverage_notes,
        *problems.sentences(),
        *odd.sentences(),
    ]
    return Loaded(_unique_ids(records), {k: t for k, t in tables.items() if t.height}, notes)


def read_seeds(
    bundle: Bundle, *, languages: Iterable[str] | None = None, by_model: bool = False
) -> Loaded:
    """The news that generation started from: one record per seed of the per-language files, or of
    those by model.

    The label is the reputation of the publisher, not a verdict on the article.
    """
    wanted = None if languages is None else list(languages)
    frames = []
    for part in parts(bundle, "seeds", languages=wanted):
        if (part.maker is not None) == by_model:
            rows = read_part(bundle, part, languages=wanted)
            constants = {"direction": part.direction, "folder_veracity": part.veracity}
            frames.append(
                rows.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
            )
    if not frames:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no seeds.",
            "Give the folder that holds raw/source_data/, as on the hub.",
        )
    problems = Joins(whole=wanted is None)
    rows = with_occurrence(pl.concat(frames, how="diagonal").drop_nulls("uuid"), problems)
    raw = Table("seeds", rows)
    form = raw.maybe("content_type").str.to_lowercase()
    records = rows.select(
        id=pl.format("bluff-seed-{}{}", "uuid", again()),
        text=title_and_body(raw.maybe("title"), raw.maybe("content")),
        kind=form.set(~form.is_in(["article", "post"]).fill_null(False), "article"),
        label_raw=raw.maybe("news_type").fill_null(rows["folder_veracity"]),
        language="declared",
        **dated({"published": raw.maybe("date")}),
        source=raw.maybe("organization_standardized", "organization"),
        url=raw.maybe("url"),
        group="uuid",
        authorship=pl.lit(None if by_model else "HWT", pl.String),
    )
    notes = ["A seed's label is the reputation of its publisher.", *problems.sentences()]
    return Loaded(records, {"orphans": problems.table()} if problems.table().height else {}, notes)


def resource_classes(metadata: Sequence[pl.DataFrame]) -> tuple[dict[str, str], list[str]]:
    """head or tail for each language, as most of its metadata rows say; and the languages whose
    rows disagree.
    """
    tally: dict[str, Counter[str]] = {}
    for frame in metadata:
        if "language_category" not in frame.columns:
            continue
        counts = (
            frame.group_by("declared", "language_category")
            .len()
            .drop_nulls()
            .sort("declared", "language_category")
        )
        for code, word, n in counts.iter_rows():
            if (name := resource_class(word)) is not None:
                tally.setdefault(code, Counter())[name] += n
    classes = {code: votes.most_common(1)[0][0] for code, votes in tally.items()}
    return classes, sorted(code for code, votes in tally.items() if len(votes) > 1)


def completed(classes: dict[str, str], codes: pl.Series) -> dict[str, str]:
    """`classes` with the language table's word for the languages that no metadata row refers to,
    English included.
    """
    more = {
        c: facts.resource
        for c in {*codes.drop_nulls(), ENGLISH}
        if (facts := describe(c)) and facts.resource
    }
    return {**more, **classes}


def _metadata(bundle: Bundle, kind: Kind) -> pl.DataFrame | None:
    frames = [read_part(bundle, part) for part in parts(bundle, kind)]
    return pl.concat(frames, how="diagonal").drop_nulls("uuid") if frames else None


def _rows(
    bundle: Bundle,
    chosen: Sequence[Part],
    wanted: list[str] | None,
    odd: Oddities,
) -> pl.DataFrame:
    """The rows of all chosen parts, read one after another."""
    frames = []
    for part in chosen:
        rows = read_part(bundle, part, languages=wanted)
        if part.language is not None:
            odd.misplaced += rows.filter(pl.col("declared") != part.language).height
        frames.append(rows)
    rows = pl.concat(frames, how="diagonal")
    odd.nameless += rows["uuid"].null_count()
    return rows.drop_nulls("uuid")


def _label(samples: pl.DataFrame, verdict: Literal["own", "standard"]) -> pl.Expr:
    order = (
        ("veracity", "standardized_veracity") if verdict == "own" else ("standardized_veracity",)
    )
    return pl.coalesce(*(c for c in order if c in samples.columns), "standard_veracity").alias(
        "label"
    )


def _unique_ids(records: pl.DataFrame) -> pl.DataFrame:
    """A uuid used by two kinds of samples gives the same id twice: the later ones are marked."""
    nth = pl.col("id").cum_count().over("id")
    return records.with_columns(
        pl.when(nth > 1).then(pl.format("{}~{}", "id", nth)).otherwise("id").alias("id")
    )


def _with_split(
    records: pl.DataFrame, lists: pl.DataFrame, known: list[str], setting: str | None
) -> tuple[pl.DataFrame, list[str], str]:
    """Fill `split` from the lists of `setting` (by default the multilingual ones, where they are
    there); the uuids that are in several lists; and what to say of it.
    """
    chosen = DEFAULT if setting is None else setting
    if chosen in known:
        member, several_lists = membership(lists, chosen)
        split = pl.col("group").replace_strict(member, default=None, return_dtype=pl.String)
        note = (
            f"The split is that of '{chosen}'; all settings ({len(known)}) are in the table"
            " 'splits'."
        )
        return records.with_columns(split=split), several_lists, note
    if setting is not None:
        raise UnknownName("split setting", chosen, known)
    note = (
        f"No split lists for '{chosen}' (there are: {', '.join(known) or 'none'}): no split is set."
    )
    return records.with_columns(split=pl.lit(None, pl.String)), [], note

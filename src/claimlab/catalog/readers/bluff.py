"""BLUFF, a benchmark of false and synthetic content in many languages.

Made from the data card and the public repository, which holds no data: the published files have not
been met. Where the published material contradicts itself the reader is driven by the data and
reports, and offers both readings by name. Files are known by their place in the tree (`places` on
the card); listing them reads nothing.

Samples are exploded into their texts: the article and the post, each in its own language and in
translation. Each text becomes a record; `group` is the sample's uuid, because its texts tell the
same story and must not be split. The condensed summary of human files is not a separate text and is
left out.

The keys of techniques index our list of 36, the one of two published lists that `technique_keys`
most likely means. Keys 37 to 39 stand for three ways of editing real news whose order is published
nowhere twice alike: they are kept as they are, not named.

Who wrote a text is told by a named rule, because the published material has two.

per-field   (the experiment notes) Each text of a sample has its own author. Generated: the article
            and the post are MGT when the degree is critical, HAT when it is minor or moderate;
            translations are MTT. Human: the article is HWT, the post MGT (a model made it from the
            article), translations MTT.
per-sample  (the data card) One flag per sample holds for all its texts: HAT, MGT, MTT or HWT marked
            "y", exclusively. Human files have no flags: HWT.

A text whose author the rule cannot tell (no known degree; no flag, or several) gets null, and is
counted.

A sample has two languages, its own and English: the detected language of a text only decides which
of the two it is in. A detector's answer outside the pair (Croatian for Serbian) is noise; it is
counted, not believed.

uuids are joined to metadata and splits; every problem is kept with its uuid, for the side table
`orphans`, and the sentences count them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from typing import Literal

import polars as pl
import polars.selectors as cs

from claimlab.catalog import kit
from claimlab.core.languages import describe
from claimlab.core.record import AUTHORSHIPS
from claimlab.core.words import several
from claimlab.files.tables import read_json

LISTS = kit.lists_of("bluff")

METADATA = {"generated": "meta-generated", "human": "meta-human", "raw-human": "meta-human"}
# The texts of a sample by form, translated or not, and the columns that hold them in generated and
# in human files.
TEXT_COLUMNS = (*(name for *_, names in LISTS["texts"] for name in names), "content")
REPUTATIONS = {"f": "fake_news", "r": "real_news"}
ENGLISH = "eng"
DEFAULT = "multilingual"
SPLITS = {"val": "dev", "valid": "dev", "validation": "dev"}
SCHEMA = {"group": pl.String(), "setting": pl.String(), "split": pl.String()}
SAME = "repeated as the same row (read once)"
DIFFERENT = "repeated with different rows (all kept, in one group)"
BOTH = "both generated and human-written"
NO_METADATA = "with text but without metadata"
NO_TEXT = "with metadata but without text"
METADATA_TWICE = "repeated in the metadata (the first row is used)"
LISTED_ONLY = "in a split list but without text"
SEVERAL_SPLITS = "in several lists of one split setting (left out of the split)"
VERDICTS = "with a verdict that contradicts the metadata (the row's own is used)"


@dataclass(frozen=True)
class Part:
    """One file of the tree and what its place says. `language` is ISO 639-3, `maker` a model or an
    organisation.
    """

    kind: str
    name: str
    language: str | None = None
    maker: str | None = None
    direction: str | None = None
    veracity: str | None = None
    setting: str | None = None


def place(name: str) -> Part | None:
    """What a member is, by its path; null for what the card does not describe."""
    for kind, pattern in LISTS["places"]:
        if match := re.search(rf"(?:^|/){pattern}", name):
            facts = match.groupdict()
            if "language" in facts:
                facts["language"] = kit.normalise(facts["language"])
            if "veracity" in facts:
                facts["veracity"] = REPUTATIONS[facts["veracity"]]
            return Part(kind, name, **facts)
    return None


def parts(bundle: kit.Bundle, kind: str) -> list[Part]:
    """The files of `kind`."""
    return [part for name in bundle.names() if (part := place(name)) and part.kind == kind]


def read_part(bundle: kit.Bundle, part: Part) -> pl.DataFrame:
    """The rows of a part, every column as text, empty cells as null.

    Added: `declared`, the language of the sample as ISO 639-3 (the row's own code, else that of the
    path; an unknown code gives null).
    """
    table = kit.Table.read(bundle, part.name)
    table.need("uuid")
    raw = table.pick((), table.frame.columns)
    if not part.kind.startswith("meta-") and not set(TEXT_COLUMNS) & set(raw.columns):
        raise kit.UnreadableFile(
            f"'{part.name}' has no text column.", f"The card has: {', '.join(TEXT_COLUMNS)}."
        )
    written = _either(raw, "standardized_language", "language")
    codes = [kit.normalise(code) if code else part.language for code in written]
    return raw.with_columns(declared=kit.as_text(codes))


def settings(bundle: kit.Bundle) -> list[str]:
    """The settings that the tree has lists for, such as "cross_lingual_family/Turkic"."""
    return sorted({part.setting for part in parts(bundle, "splits") if part.setting is not None})


def read_lists(bundle: kit.Bundle) -> pl.DataFrame:
    """uuid ("group"), setting and split of every list; rows in file order. Test lists are withheld
    by the authors; where a tree has some, they are read as well.
    """
    rows = []
    for part in parts(bundle, "splits"):
        stem = PurePosixPath(part.name).stem.lower()
        value = read_json(bundle.text(part.name), part.name)
        rows += [(uuid, part.setting, SPLITS.get(stem, stem)) for uuid in _uuids(value, part.name)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _uuids(value: object, name: str) -> Iterator[str]:
    """The card has lists of uuids; lists of rows with a uuid, and one list inside an object, are
    read too.
    """
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list):
        raise kit.UnreadableFile(
            f"'{name}' is not a list of uuids.",
            "Give the split lists in the layout of the data card.",
        )
    for item in value:
        uuid = item.get("uuid") if isinstance(item, dict) else item
        if not isinstance(uuid, str):
            raise kit.UnreadableFile(
                f"'{name}' holds {str(item)[:40]!r}, which is not a uuid.", "Fix the list."
            )
        yield uuid


@dataclass
class Findings:
    """Problems by kind, with the uuids that have them; and what was odd in the rows."""

    problems: dict[str, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    names: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, problem: str, uuids: Iterable[str]) -> None:
        listed = self.problems.setdefault(problem, [])
        listed.extend(sorted(set(uuids) - set(listed)))

    def table(self) -> pl.DataFrame:
        rows = [(uuid, problem) for problem, uuids in self.problems.items() for uuid in uuids]
        return pl.DataFrame(rows, schema={"group": pl.String, "problem": pl.String}, orient="row")

    def sentences(self) -> Iterator[str]:
        for problem, uuids in self.problems.items():
            if uuids:
                yield f"{several(len(uuids), 'uuid')} {problem}, such as {uuids[0]}."
        for key, (noun, what) in LISTS["counted"].items():
            if self.counts[key]:
                yield f"{several(self.counts[key], noun)} {what}."
        for key, what in LISTS["named"].items():
            if self.names[key]:
                yield f"{what}: {', '.join(sorted(self.names[key]))}."


def read(
    bundle: kit.Bundle,
    *,
    sources: Sequence[str] = ("generated", "human"),
    rule: Literal["per-field", "per-sample"] = "per-field",
    verdict: Literal["own", "standard"] = "own",
    only_clean: bool = False,
) -> kit.Loaded:
    """The texts of the tree. `only_clean` leaves out samples that failed the authors' filter or
    check of language or are marked as duplicates. `rule` says whose authorship a text has,
    `verdict` whether a row's own verdict or the metadata's standard one is the label.
    """
    findings, doubts = Findings(), Counter[str]()
    metadata = {
        kind: _metadata(bundle, kind) for kind in dict.fromkeys(METADATA[s] for s in sources)
    }
    classes, clashes = resource_classes([m for m in metadata.values() if m is not None])
    findings.names["clashes"] |= clashes
    texts = {}
    for source, chosen in _present(bundle, sources):
        samples = with_occurrence(_rows(bundle, chosen, findings), findings)
        samples = with_metadata(samples, metadata[METADATA[source]], findings)
        samples = with_doubts(samples, doubts, only_clean=only_clean)
        own = ["veracity"] if verdict == "own" else []
        label = _either(samples, *own, "standardized_veracity", "standard_veracity")
        samples = samples.with_columns(label=label)
        classes = completed(classes, samples["declared"])
        human = source != "generated"
        texts[source] = explode(samples, findings, human=human, rule=rule, classes=classes)
    if not texts:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no texts of the kind {' or '.join(sources)} (or none that"
            " were asked for).",
            "Give the folder that holds processed/, meta_data/ and splits/, as on the hub.",
        )
    if len(texts) > 1:
        findings.add(BOTH, set.intersection(*(set(t["group"]) for t in texts.values())))
    lists = read_lists(bundle)
    records, split_note = _with_split(pl.concat(texts.values()), lists, settings(bundle), findings)
    if {"generated", "human"} <= set(texts):
        findings.add(LISTED_ONLY, set(lists["group"]) - set(records["group"]))
    covered, coverage_notes = coverage(records, classes)
    tables = {"languages": covered, "splits": lists, "orphans": findings.table()}
    notes = [
        f"Authorship is {rule}.",
        split_note,
        *coverage_notes,
        *(f"{several(n, 'sample')} {what}." for what, n in doubts.items() if n),
        *findings.sentences(),
    ]
    # a uuid used by two kinds of samples gives the same id twice: the later ones are marked
    nth = pl.col("id").cum_count().over("id")
    again = pl.when(nth > 1).then(pl.format("{}~{}", "id", nth)).otherwise("id")
    records = records.with_columns(id=again)
    return kit.Loaded(records, {k: t for k, t in tables.items() if t.height}, notes)


def _present(bundle: kit.Bundle, kinds: Iterable[str]) -> Iterator[tuple[str, list[Part]]]:
    """The kinds of files that the tree has, with the files of each."""
    return ((kind, files) for kind in kinds if (files := parts(bundle, kind)))


def read_seeds(bundle: kit.Bundle) -> kit.Loaded:
    """The news that generation started from: one record per seed of the per-language files.

    The label is the reputation of the publisher, not a verdict on the article.
    """
    frames = [
        read_part(bundle, part).with_columns(
            direction=pl.lit(part.direction), folder_veracity=pl.lit(part.veracity)
        )
        for part in parts(bundle, "seeds")
        if part.maker is None
    ]
    if not frames:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no seeds.",
            "Give the folder that holds raw/source_data/, as on the hub.",
        )
    findings = Findings()
    rows = with_occurrence(pl.concat(frames, how="diagonal").drop_nulls("uuid"), findings)
    raw = kit.Table("seeds", rows)
    form = raw.maybe("content_type").str.to_lowercase()
    records = rows.select(
        id=pl.format("bluff-seed-{}{}", "uuid", again()),
        text=kit.title_and_body(raw.maybe("title"), raw.maybe("content")),
        kind=form.set(~form.is_in(["article", "post"]).fill_null(False), "article"),
        label_raw=raw.maybe("news_type").fill_null(rows["folder_veracity"]),
        language="declared",
        **kit.dated({"published": raw.maybe("date")}),
        source=raw.maybe("organization_standardized", "organization"),
        url=raw.maybe("url"),
        group="uuid",
        authorship=pl.lit("HWT"),
    )
    orphans = findings.table()
    notes = ["A seed's label is the reputation of its publisher.", *findings.sentences()]
    return kit.Loaded(records, {"orphans": orphans} if orphans.height else {}, notes)


def _metadata(bundle: kit.Bundle, kind: str) -> pl.DataFrame | None:
    frames = [read_part(bundle, part) for part in parts(bundle, kind)]
    return pl.concat(frames, how="diagonal").drop_nulls("uuid") if frames else None


def _rows(bundle: kit.Bundle, chosen: Sequence[Part], findings: Findings) -> pl.DataFrame:
    """The rows of all chosen parts, read one after another."""
    frames = [read_part(bundle, part) for part in chosen]
    for part, frame in zip(chosen, frames, strict=True):
        if part.language is not None:
            findings.counts["misplaced"] += int((frame["declared"] != part.language).sum())
    rows = pl.concat(frames, how="diagonal")
    findings.counts["nameless"] += rows["uuid"].null_count()
    return rows.drop_nulls("uuid")


def with_occurrence(samples: pl.DataFrame, findings: Findings) -> pl.DataFrame:
    """Same rows once; rows that share a uuid but differ are numbered in `occurrence`, from 0."""
    findings.add(SAME, samples.filter(pl.struct(pl.all()).is_duplicated())["uuid"])
    once = samples.unique(maintain_order=True)
    findings.add(DIFFERENT, once.filter(pl.col("uuid").is_duplicated())["uuid"])
    return once.with_columns(occurrence=pl.col("uuid").cum_count().over("uuid") - 1)


def again() -> pl.Expr:
    """What ends the id of a row whose uuid came before."""
    number = pl.format("-{}", pl.col("occurrence") + 1)
    return pl.when(pl.col("occurrence") > 0).then(number).otherwise(pl.lit(""))


def with_metadata(
    samples: pl.DataFrame, metadata: pl.DataFrame | None, findings: Findings
) -> pl.DataFrame:
    """Fill the samples' gaps from their metadata, and put the standard verdict beside their own."""
    if metadata is None:
        findings.add(NO_METADATA, samples["uuid"])
        return samples.with_columns(standard_veracity=pl.lit(None, pl.String))
    findings.add(METADATA_TWICE, metadata.filter(pl.col("uuid").is_duplicated())["uuid"])
    first = metadata.unique("uuid", keep="first", maintain_order=True)
    findings.add(NO_METADATA, set(samples["uuid"]) - set(first["uuid"]))
    findings.add(NO_TEXT, set(first["uuid"]) - set(samples["uuid"]))
    carried = [c for c in LISTS["carried"] if c in first.columns]
    chosen = first.select("uuid", *carried, standard_veracity=_either(first, "veracity"))
    joined = samples.join(chosen, on="uuid", how="left", suffix="|meta", maintain_order="left")
    filled = {c: _either(joined, c, f"{c}|meta") for c in carried}
    out = joined.with_columns(**filled).select(~cs.ends_with("|meta"))
    findings.add(VERDICTS, contradictions(out))
    return out


def contradictions(samples: pl.DataFrame) -> list[str]:
    """uuids whose own verdict is true and the metadata's false, or the other way round."""
    if "veracity" not in samples.columns:
        return []
    rows = samples.select("uuid", "veracity", "standard_veracity").drop_nulls().iter_rows()
    strict = kit.entry_of("bluff").maps["strict"]
    return [
        uuid
        for uuid, *both in rows
        if {strict.verdict(verdict) for verdict in both} == {"true", "false"}
    ]


def with_doubts(samples: pl.DataFrame, doubts: Counter[str], *, only_clean: bool) -> pl.DataFrame:
    """Count the samples that the release itself calls into question; `samples` without them where
    only clean ones are wanted.
    """
    clean = pl.lit(True)
    for column, words, what in LISTS["doubts"]:
        if column in samples.columns:
            doubtful = pl.col(column).str.to_lowercase().is_in(words).fill_null(False)
            doubts[what] += samples.filter(doubtful).height
            clean = clean & ~doubtful if column in LISTS["kept_out"] else clean
    return samples.filter(clean) if only_clean else samples


def resource_classes(metadata: Sequence[pl.DataFrame]) -> tuple[dict[str, str], set[str]]:
    """head or tail for each language, as most of its metadata rows say; and the languages whose
    rows disagree.
    """
    meaning = meanings("resources")
    tally: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for frame in metadata:
        category = _either(frame, "language_category")
        words = category.str.to_lowercase().str.replace_all("[^a-z]", "")
        named = words.replace_strict(meaning, default=None, return_dtype=pl.String)
        rows = pl.DataFrame({"code": frame["declared"], "name": named}).drop_nulls()
        for code, name in rows.sort("name").iter_rows():
            tally[code][name] += 1
    classes = {code: votes.most_common(1)[0][0] for code, votes in tally.items()}
    return classes, {code for code, votes in tally.items() if len(votes) > 1}


def completed(classes: dict[str, str], codes: pl.Series) -> dict[str, str]:
    """`classes` with the language table's word for the languages that no metadata row refers to,
    English included.
    """
    more = {
        c: facts.resource
        for c in {*codes.drop_nulls(), ENGLISH}
        if (facts := describe(c)) and facts.resource
    }
    return more | classes


def _with_split(
    records: pl.DataFrame, lists: pl.DataFrame, settings: list[str], findings: Findings
) -> tuple[pl.DataFrame, str]:
    """Fill `split` from the multilingual lists, where they are there, and say so. A uuid in several
    of them gets none.
    """
    rows = lists.filter(setting=DEFAULT).unique(["group", "split"], maintain_order=True)
    twice = pl.col("group").is_duplicated()
    findings.add(SEVERAL_SPLITS, rows.filter(twice)["group"])
    member = dict(rows.filter(~twice).select("group", "split").iter_rows())
    split = pl.col("group").replace_strict(member, default=None, return_dtype=pl.String)
    note = (
        f"The split is that of '{DEFAULT}'; all settings ({len(settings)}) are in the table 'splits'."
        if DEFAULT in settings
        else f"No split lists for '{DEFAULT}' (there are: {', '.join(settings) or 'none'}): no split"
        " is set."
    )
    return records.with_columns(split=split), note


@cache
def meanings(kind: str) -> dict[str, str]:
    """The words of one kind, each with what it means."""
    return {word: meaning for meaning, spellings in LISTS[kind].items() for word in spellings}


@cache
def technique_names(keys: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for "[10, 32]", "10;32" or "['polish']"; and the keys that no list names."""
    names = {str(number): name for number, name in enumerate(LISTS["techniques"], 1)}
    names |= meanings("edits")
    written = [key.lower() for key in re.findall(r"[A-Za-z]+|\d+", keys or "")]
    techniques = tuple(names[key] for key in written if key in names)
    return techniques, tuple(key for key in written if key not in names)


@cache
def degree_of(word: str | None) -> str | None:
    """minor, moderate or critical; null when the word is not known. "light change (10-20%)" reads
    by its first word.
    """
    first = re.match(r"\s*([A-Za-z]+)", word or "")
    return meanings("degrees").get(first[1].lower()) if first else None


def authorship(
    columns: Sequence[str], *, human: bool, form: str, translated: bool, rule: str
) -> pl.Expr:
    """The authorship of one text of each sample; `columns` are those of the samples (`degree`
    decoded).
    """
    if rule == "per-sample":
        return pl.lit("HWT") if human else per_sample(columns)
    if translated:
        return pl.lit("MTT")
    if human:
        return pl.lit("HWT" if form == "article" else "MGT")
    generated = pl.when(pl.col("degree") == "critical").then(pl.lit("MGT"))
    return generated.when(pl.col("degree").is_not_null()).then(pl.lit("HAT"))


def per_sample(columns: Sequence[str]) -> pl.Expr:
    yes = ["y", "yes", "true", "1"]
    marks = {
        flag: pl.col(flag).str.to_lowercase().is_in(yes).fill_null(False)
        for flag in AUTHORSHIPS
        if flag in columns
    }
    if not marks:
        return pl.lit(None, pl.String)
    author = pl.coalesce(pl.when(mark).then(pl.lit(flag)) for flag, mark in marks.items())
    return pl.when(pl.sum_horizontal(marks.values()) == 1).then(author)


@cache
def text_language(
    sample: str | None, detected: str | None, *, translated: bool
) -> tuple[str | None, bool]:
    """The language of a text, and whether the detector named neither it nor its pair."""
    expected = ENGLISH if translated else sample
    candidates = {kit.normalise(word) for word in re.findall(r"[A-Za-z]{2,}", detected or "")}
    pair = (candidates - {None}) & {sample, ENGLISH}
    if len(pair) == 1:
        return pair.pop(), False
    return expected, bool(candidates - {None}) and not pair


def explode(
    samples: pl.DataFrame, findings: Findings, *, human: bool, rule: str, classes: dict[str, str]
) -> pl.DataFrame:
    """The texts of `samples` (columns as in the card, `declared`, `occurrence` and `label` added by
    the reader); what is odd in them is added to `findings`.
    """
    ready = _decoded(samples, findings)
    texts = []
    for form, translated, columns in LISTS["texts"]:
        names = [column for column in columns if column in ready.columns]
        if names:
            rows = ready.with_columns(_either(ready, *names).alias(names[0])).drop_nulls(names[0])
            author = authorship(
                rows.columns, human=human, form=form, translated=translated, rule=rule
            )
            rows = rows.with_columns(authorship=author, field=pl.lit(names[0]))
            findings.counts["no author"] += rows["authorship"].null_count()
            texts.append(_records(rows, names[0], form, translated, findings, classes))
    records = pl.concat(texts) if texts else pl.DataFrame({"order": [], "group": []})
    findings.counts["no text"] += samples["uuid"].n_unique() - records["group"].n_unique()
    return records.sort("order", maintain_order=True).drop("order")


def _decoded(samples: pl.DataFrame, findings: Findings) -> pl.DataFrame:
    keys, words = _either(samples, "technique_keys"), _either(samples, "degree")
    decoded = [technique_names(key) for key in keys]
    findings.names["keys"] |= {key for _, strange in decoded for key in strange}
    findings.names["degrees"] |= {word for word in words.drop_nulls() if degree_of(word) is None}
    techniques = [list(names) or None for names, _ in decoded]
    return samples.with_columns(
        techniques=pl.Series(techniques, dtype=pl.List(pl.String)),
        degree=kit.as_text(map(degree_of, words)),
        degree_raw=words,
    ).with_row_index("order")


def _records(
    rows: pl.DataFrame,
    name: str,
    form: str,
    translated: bool,
    findings: Findings,
    classes: dict[str, str],
) -> pl.DataFrame:
    detected = _either(rows, f"language({name})", f"{name}_lang")
    pairs = zip(rows["declared"], detected, strict=True)
    languages = [text_language(sample, word, translated=translated) for sample, word in pairs]
    findings.counts["language"] += sum(strange for _, strange in languages)
    codes = [code for code, _ in languages]
    rows = rows.with_columns(
        detected=detected, resource=kit.as_text(classes.get(code or "") for code in codes)
    )
    suffix = f"{form}-translation" if translated else form
    return rows.select(
        *["order", "authorship"],
        id=pl.format("bluff-{}-{}{}", "uuid", pl.lit(suffix), again()),
        text=name,
        kind=pl.lit(form),
        label_raw="label",
        language=kit.as_text(codes),
        **kit.dated({"published": _either(rows, "date")}),
        author=_either(rows, "model", "mLLM", "organization"),
        source=_either(rows, "standardized_organization", "organization", "source_dataset"),
        url=_either(rows, "url_factchecking_website"),
        topic=_either(rows, "standardized_topics", "topic", "category"),
        group="uuid",
        meta=kit.meta_column(rows, [c for c in LISTS["meta"] if c in rows.columns]),
    )


def _either(frame: pl.DataFrame, *columns: str) -> pl.Series:
    """Of several columns the first that says something, row by row."""
    raw = kit.Table("samples", frame)
    return pl.select(pl.coalesce(raw.maybe(name) for name in columns)).to_series()


@cache
def declared() -> dict[str, frozenset[str]]:
    """The three published lists of languages, by place."""
    codes = {place: map(kit.normalise, text.split()) for place, text in LISTS["languages"].items()}
    return {place: frozenset(filter(None, each)) for place, each in codes.items()}


def coverage(records: pl.DataFrame, classes: dict[str, str]) -> tuple[pl.DataFrame, list[str]]:
    """One row per language found or declared: where it is declared, how much of it there is, what
    is known of it; and what to say of it.
    """
    counts = records.drop_nulls("language").group_by("language")
    present = {
        code: numbers
        for code, *numbers in counts.agg(pl.len(), pl.col("group").n_unique()).iter_rows()
    }
    lists = declared()
    rows = []
    for code in sorted(frozenset(present).union(*lists.values())):
        facts = describe(code)
        texts, samples = present.get(code, (0, 0))
        rows.append(
            {
                "language": code,
                "name": facts.name if facts else None,
                **{f"in_{place}": code in codes for place, codes in lists.items()},
                "texts": texts,
                "samples": samples,
                "resource": classes.get(code),
                "family": facts.family if facts else None,
                "script": facts.script if facts else None,
                "word_order": facts.word_order if facts else None,
            }
        )
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table, list(_covered(table.filter(pl.col("texts") > 0), frozenset(present)))


def _covered(table: pl.DataFrame, present: frozenset[str]) -> Iterator[str]:
    """What was declared against what was found."""
    lists = declared()
    counts = ", ".join(f"{len(codes)} in the {place}" for place, codes in lists.items())
    yield f"Texts in {several(len(present), 'language')}; declared are {counts}."
    if strangers := sorted(present - frozenset().union(*lists.values())):
        yield f"Declared nowhere, but found: {', '.join(strangers)}."
    if missing := sorted(lists["card"] - present):
        count = several(len(missing), "language")
        yield f"{count} of the card without text here: {', '.join(missing)}."
    if bare := table.filter(pl.col("family").is_null())["language"].to_list():
        yield (
            f"No family, script or word order is known for: {', '.join(bare)}; they belong to no"
            " group."
        )

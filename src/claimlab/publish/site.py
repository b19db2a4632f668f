"""A static site of audits, boards, studies and overlaps: a matrix of datasets and checks, a page,
figures and a badge for each dataset, and a feed of changes.

Only aggregates leave: no record, no id, no text of one, no word of the data. A page reads without a
network; one that would be larger than 300 kB is written shorter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from html import escape
from itertools import chain, count, groupby
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import TypeAdapter, ValidationError

from claimlab.audit.result import FILE as AUDIT
from claimlab.audit.result import Audit, read_audits
from claimlab.audit.views.pictures import overview
from claimlab.audit.views.tables import MATRIX_NOTE, scored
from claimlab.audit.views.wording import (
    MARKS,
    VERDICT_WORDS,
    check_title,
    finding_title,
    in_a_line,
    ordered,
    verdict_line,
)
from claimlab.catalog.entry import Card
from claimlab.catalog.load import DATASETS
from claimlab.catalog.terms import in_words, known_decay
from claimlab.catalog.views import bibtex, language_names
from claimlab.claims.result import FILE as OVERLAP
from claimlab.core.call import repeatable
from claimlab.core.digest import digest_json
from claimlab.core.errors import DataError
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.guard import seal_folder
from claimlab.core.options import Argument, Force, OutputFolder, Place, Setting
from claimlab.core.plain import slug
from claimlab.core.progress import progress
from claimlab.core.run import Run
from claimlab.core.settings import each_of
from claimlab.core.shown import Shown
from claimlab.core.stats.chance import STAR, Chance
from claimlab.core.stats.ranks import rank_words
from claimlab.core.types import Json, JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.evaluate.compare import Board
from claimlab.evaluate.tables import standings
from claimlab.pages.blocks import (
    Block,
    Blocks,
    Cell,
    Column,
    Columns,
    Figure,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Value,
    percent,
    span,
)
from claimlab.pages.html import to_html_within
from claimlab.publish.bundle import BOARD

KIND, FILE, FEED, BADGE = "site", "site.json", "feed.xml", "badge.svg"
STUDY = "study.json"
MOST_BYTES = 300_000  # of a page
_FILES = (
    ("audit.json", AUDIT),
    ("errata.json", "errata.json"),
    ("badge", BADGE),
)
MOST_ENTRIES = 100  # of the feed
# A quote begins after no letter and ends before none: the apostrophe in "Cramér's" is neither.
_VALUE = r"(?<!\w)'(?:[^']|(?<=\w)'(?=\w)){1,200}?'(?!\w)"
_QUOTED = re.compile(rf"{_VALUE}(?:, {_VALUE})*(?: and \d+ more)?")
_IN_BRACKETS = re.compile(r"\s?\((?:–|[^()']*+'[^()]*+)\)")
_FRONT = (
    "Each audit asks what a detector could use instead of reading the claim. A fail does not judge"
    " a dataset's authors: it means that a score needs the split or the comparison that is named on"
    " the page of the dataset. What was not measured is not a pass."
)


@dataclass(frozen=True, repr=False)
class Site(Shown):
    """What the site shows, from the folders that were given."""

    audits: dict[str, Audit]  # by the name of their page
    overlaps: list[JsonObject]
    results: dict[str, JsonObject]  # boards and studies by name
    as_of: date
    changes: list[JsonObject] = field(default_factory=list)

    @property
    def table(self) -> pl.DataFrame:
        rows = [
            {"dataset": audit.dataset, "records": audit.records, **audit.counts()}
            for audit in self.audits.values()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def headline(self) -> str:
        results = several(len(self.results), "table") if self.results else ""
        more = f" and {results} of results" if results else ""
        return f"{several(len(self.audits), 'dataset')}{more}, as of {self.as_of}"

    def to_json(self) -> JsonObject:
        datasets = {name: summary(audit) for name, audit in self.audits.items()}
        return {
            "tool": f"claimlab {__version__}",
            "as_of": self.as_of.isoformat(),
            "datasets": datasets,
            "changes": self.changes,
        }


@repeatable()
def publish_site(
    folders: Annotated[
        Place | Sequence[Place],
        Argument("Folders of audits, overlaps, boards and studies, or a folder of such folders."),
    ],
    output: OutputFolder = None,
    *,
    as_of: Annotated[date | None, Setting("The day to print; today by default.")] = None,
    force: Force = False,
) -> Site:
    """Write a static site: a matrix, a page with badge and figures for each dataset, and a feed of
    what changed since the site that it replaces.
    """
    places = [Path(one) for one in each_of(folders)]
    with Run(
        "publish site",
        None,
        output,
        kind=KIND,
        reads=places,
        force=force,
    ) as run:
        site = _site(places, as_of or date.today())
        earlier = Path(output or "") / FILE  # of the site that is to be replaced
        before = _json(earlier) if output is not None and earlier.is_file() else {}
        site.changes.extend(_changes(site, before))
        run.fill(lambda building: _write(site, building))
    return site


def _site(places: Sequence[Path], as_of: date) -> Site:
    audits: dict[str, Audit] = {}
    site = Site(audits, [], {}, as_of)
    for folder in (part for place in places for part in _parts(place)):
        if (folder / AUDIT).is_file():
            for audit in read_audits(folder):
                name = slug(audit.card or audit.dataset)
                if name in audits:
                    raise DataError(
                        f"Two of the audits are of '{audit.dataset}'; '{folder}' holds the second.",
                        "Pass in one audit of each dataset.",
                    )
                audits[name] = aggregate(audit)
        elif (folder / OVERLAP).is_file():
            site.overlaps.append(_json(folder / OVERLAP))
        elif (folder / BOARD).is_file():
            site.results[_free(site.results, folder)] = _json(folder / BOARD)
        else:
            site.results[_free(site.results, folder)] = _json(folder / "report" / STUDY)
    return site


def _free(taken: Collection[str], folder: Path) -> str:
    """The name of a page that no other folder of this name has."""
    name = slug(folder.name)
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(one for one in names if one not in taken)


def _parts(place: Path) -> list[Path]:
    """The folder itself, or those of its folders that hold something to show."""
    known = (AUDIT, OVERLAP, BOARD, f"report/{STUDY}")
    inside = sorted(place.iterdir()) if place.is_dir() else []
    parts = [one for one in [place, *inside] if any((one / file).is_file() for file in known)]
    if not parts:
        raise DataError(
            f"'{place}' holds no audit, overlap, board or study.",
            "Name folders of: claimlab audit, overlap, publish board or study run",
        )
    return parts[:1] if parts[0] == place else parts


def _json(file: Path) -> JsonObject:
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"'{file}' cannot be read: {error}.", "Make it again.") from None
    if not isinstance(content, dict):
        raise DataError(f"'{file}' does not hold a JSON object.", "Make it again.")
    return content


def aggregate(audit: Audit) -> Audit:
    """The audit without anything of a single record: no ids, examples, values or words."""
    return Audit.from_json(
        {
            **{k: v for k, v in audit.to_json().items() if k != "examples"},
            "findings": [_figures(finding).model_dump() for finding in audit.findings],
        }
    )


def _figures(finding: Finding) -> Finding:
    change: JsonObject = {
        "why": unquoted(finding.why),
        "records": [],
        "records_in_all": finding.pointed_at,
        "others": [_figures(one) for one in finding.others],
        "details": {
            name: value
            for name, value in finding.details.items()
            if isinstance(value, int | float) or name == "filled"  # columns, which advice names
        },
    }
    return finding.model_copy(update=change)


def unquoted(text: str) -> str:
    """A sentence without the examples from the data that it quotes."""
    return _QUOTED.sub("…", _IN_BRACKETS.sub("", text))


def summary(audit: Audit) -> JsonObject:
    """The verdict of each check, the most severe finding counting."""
    checks = sorted({f.check for finding in audit.findings for f in finding.every})
    worst = {check: audit.worst(check) for check in checks}
    return {
        "dataset": audit.dataset,
        "records": audit.records,
        "verdicts": {check: one.verdict for check, one in worst.items() if one},
    }


def tally(audit: Audit) -> dict[str, int]:
    """How many findings came to each verdict, in words."""
    return {words: n for v, words in VERDICT_WORDS.items() if (n := audit.counts()[v])}


def _changes(site: Site, before: JsonObject) -> list[JsonObject]:
    """What is new since the site before, and after it what was new then."""
    old, changes = before.get("datasets", {}), []
    for name, audit in site.audits.items():
        now = summary(audit)
        then = old.get(name)
        if then == now:
            continue
        if then is None:
            text = f"Audited: {_counted(audit)}."
        else:
            known = then["verdicts"]
            text = "; ".join(
                f"{check}: {known.get(check, 'not run')} to {verdict}"
                for check, verdict in now["verdicts"].items()
                if known.get(check) != verdict
            )
            text = f"{text or 'Same verdicts on other records'}."
        changes.append(
            {
                "dataset": name,
                "title": _title(audit),
                "day": site.as_of.isoformat(),
                "text": text.replace("-", " "),
                "id": digest_json([name, site.as_of.isoformat(), now]),
            }
        )
    return [*changes, *before.get("changes", [])][:MOST_ENTRIES]


def _counted(audit: Audit) -> str:
    return ", ".join(f"{n} {words}" for words, n in tally(audit).items()) or "nothing"


def _card(audit: Audit) -> Card | None:
    return DATASETS.get(audit.card).card if audit.card and audit.card in DATASETS else None


def _title(audit: Audit) -> str:
    card = _card(audit)
    return audit.dataset if card is None else card.title


def _write(site: Site, folder: Path) -> None:
    """Every page and file of the site."""
    files: dict[str, str] = {
        "index.html": to_html_within(_front(site), MOST_BYTES),
        FILE: _dumped(site.to_json()),
        FEED: feed(site),
    }
    for number, (name, audit) in enumerate(site.audits.items()):
        progress("pages", number, len(site.audits))
        place, card = f"datasets/{name}", _card(audit)
        files[f"{place}/index.html"] = to_html_within(_pages(site, name, audit), MOST_BYTES)
        files[f"{place}/{AUDIT}"] = _dumped({"audits": [audit.to_json()]})
        errata = [] if card is None else list(card.errata)
        about = {"dataset": name, "as_of": site.as_of.isoformat(), "errata": errata}
        files[f"{place}/errata.json"] = _dumped(about)
        files[f"{place}/{BADGE}"] = badge(audit)
        if card is not None:
            files[f"{place}/cite.bib"] = f"{bibtex(card)}\n"
    back = Text("", links=[("All datasets and results", "../index.html")])
    for name, content in site.results.items():
        kind, blocks = _results(content)
        page = Report(f"{kind}: {name}", _stamp(site), [back, *blocks])
        files[f"results/{name}.html"] = to_html_within([page], MOST_BYTES)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    seal_folder(folder, KIND)


def _dumped(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _stamp(site: Site) -> str:
    return f"As of {site.as_of}, claimlab {__version__}."


def _front(site: Site) -> Iterator[Report]:
    """The front page; where it is too large, without what is shown on hover, then without links."""
    labelled = [audit for audit in site.audits.values() if audit.labelled]
    failing = sum(audit.counts()["fail"] > 0 for audit in labelled)
    unmeasured = sum(audit.counts()["not-measured"] for audit in labelled)
    without = len(site.audits) - len(labelled)
    tiles = Tiles(
        [
            ("datasets with labels", f"{len(labelled):,}", "plain"),
            ("with a fail", f"{failing:,}", "fail" if failing else "pass"),
            ("checks not measured", f"{unmeasured:,}", "plain"),
            ("without labels", f"{without:,}", "plain"),
        ]
    )
    for detail in (2, 1, 0):
        blocks: Blocks = [Text(_FRONT)]
        if site.audits:
            blocks += [tiles, Section("Datasets", [_matrix(site, detail)], "datasets")]
        if site.results:
            links = [(name, f"results/{name}.html") for name in site.results]
            blocks.append(Section("Results", [Text("Leaderboards and studies:", links=links)]))
        changes = [f"{one['day']}, {one['title']}: {one['text']}" for one in site.changes[:10]]
        blocks.append(Section("Changes", [Items(changes), Text("", links=[("Feed", FEED)])]))
        yield Report("What each dataset can be used for", _stamp(site), blocks)


def _matrix(site: Site, detail: int) -> Table:
    checks, empty = _checks(site)
    rows: list[list[Value]] = []
    for name, audit in sorted(site.audits.items(), key=lambda one: _title(one[1]).casefold()):
        page, card = f"datasets/{name}/index.html", _card(audit)
        counts, many = audit.counts(), len(card.languages) if card else 0
        languages = f"{many} languages" if many > 2 or card is None else language_names(card)
        rows.append(
            [
                Cell(_title(audit), link=page),
                audit.labelled,
                counts["fail"],
                counts["warn"],
                *(_mark(audit.worst(check), page, detail) for check in checks),
                *([] if card is None else [card.topic, languages]),
            ]
        )
    known = any(map(_card, site.audits.values()))  # only the catalogue knows these
    heads, about = ["Dataset", "Labelled", "Fail", "Warn"], ["Topic", "Languages"] if known else []
    for row in rows:
        row.extend([""] * (len(heads + checks + about) - len(row)))
    caption = f"{MATRIX_NOTE} Scroll sideways for all checks; the address keeps filter and order."
    caption += f" Measured in no dataset: {', '.join(empty)}." if empty else ""
    return Table([*heads, *checks, *about], rows, caption, upright=True)


def _checks(site: Site) -> tuple[list[str], list[str]]:
    """The checks that were measured in a dataset, and those that were in none."""
    findings = [finding for audit in site.audits.values() for finding in audit.findings]
    names = {one.check for one in findings}
    every = (inner for one in findings for inner in one.every)
    measured = {one.check for one in every if one.verdict != "not-measured"}
    return sorted(names & measured), sorted(names - measured)


def _mark(finding: Finding | None, page: str, detail: int) -> Cell:
    if finding is None:
        return Cell("·", sort=9.0)
    score = "" if finding.score is None else f" {100 * finding.score:.0f}"
    measured = finding.verdict != "not-measured"
    words = f"{check_title(finding.check)}: {VERDICT_WORDS[finding.verdict]}"
    return Cell(
        MARKS[finding.verdict] + score,
        float(VERDICTS.index(finding.verdict) - (finding.score or 0.0) / 2),
        finding.verdict,
        link=f"{page}#{finding.check}" if measured and detail else None,
        title=words if measured and detail > 1 else None,
    )


_POINTS = "In brackets: by how many percentage points a finding can change a score, at most."
_NO_STEP = "No check asks for a step."
FINDINGS: Columns[Finding] = (
    Column(
        "Verdict",
        lambda f: Cell(
            VERDICT_WORDS[f.verdict],
            float(VERDICTS.index(f.verdict)),
            f.verdict,
            anchor=f.check,
        ),
    ),
    Column("Check", finding_title),
    Column("Score, % (95% interval)", scored),
    Column("Best baseline", lambda f: f.baselines.best(), percent),
    Column("n", lambda f: f.n or None),
    Column("Records to look at", lambda f: f.pointed_at or None),
)


def _pages(site: Site, name: str, audit: Audit) -> Iterator[Report]:
    """The page of a dataset; a smaller one has no chart."""
    card, done, counts = _card(audit), audit.concluded(), audit.counts()
    # what is quoted outside of brackets are names of columns, and parts of commands
    steps = [_IN_BRACKETS.sub("", in_a_line(one)) for one in done.advice]
    todo: Blocks = [Text(_POINTS), Items(steps, steps=True)] if steps else [Text(_NO_STEP)]
    findings = ordered(one for finding in audit.findings for one in finding.every)
    note = "The most severe first."
    if len(findings) > sum(counts.values()):
        note += " Above, findings that measure the same fact count once, by the most severe."
    figures = overview(audit, name)
    for chart in (figures, list[Figure]()):
        blocks: Blocks = [
            Text("", links=[("All datasets", "../../index.html")]),
            Text(verdict_line(done), "conclusion"),
            Tiles([(VERDICT_WORDS[v], f"{counts[v]}", v) for v in VERDICTS]),
            Section("Before you report a score", todo),
            Section(
                "Verdicts",
                [
                    *chart,
                    Table.of(FINDINGS, findings, note),
                    *_reasons(findings),
                ],
            ),
            Section("Errata", _errata(card)),
            Section("Overlap with other datasets", _overlap(site, name, audit)),
            Section("Load it", [Items(_loading(name, card))]),
            Section("Cite it", _citing(card)),
            Section("Files", [Text(f"Aggregates only, no records. {_stamp(site)}", links=_FILES)]),
        ]
        size = f"{several(audit.labelled, 'labelled record')} of {audit.records:,}"
        about = f"{size}, protocol {audit.protocol}. {_stamp(site)}"
        subtitle = about if card is None else f"{card.summary} {about}"
        yield Report(_title(audit), subtitle, blocks)


def _reasons(findings: Sequence[Finding]) -> Iterator[Fold]:
    """Why each verdict is what it is, those that call for a step first."""
    for verdict in VERDICTS:
        mine = [f"{finding_title(f)}: {f.why}" for f in findings if f.verdict == verdict]
        if mine:
            words = f"Reasons: {VERDICT_WORDS[verdict]} ({len(mine)})"
            yield Fold(words, [Items(mine)], open=verdict == "fail")


def _errata(card: Card | None) -> Blocks:
    if card is None:
        return [Text("The dataset is not in the catalogue.")]
    return [Items(card.errata)] if card.errata else [Text("None is known.")]


def _overlap(site: Site, name: str, audit: Audit) -> Blocks:
    """What other datasets hold of its records, where that was measured."""
    own = {name, audit.dataset, audit.folder}
    pages = {
        known: f"../{page}/index.html"
        for page, other in site.audits.items()
        for known in (page, other.dataset)
    }
    rows = [
        row
        for one in site.overlaps
        for row in one.get("matrix", [])
        if row.get("dataset") in own and row.get("shared")
    ]
    measured = any(own & set(one.get("datasets", {})) for one in site.overlaps)
    if not measured:
        return [Text("Not measured here.")]
    if not rows:
        return [Text("None of its records was found in the others.")]
    rows.sort(key=lambda row: -row["shared"])
    columns: list[Column[JsonObject]] = [
        Column("Dataset", "other", link=lambda row: pages.get(row["other"])),
        Column("Records of this one in it", "shared"),
        Column("Share, %", lambda row: row["shared"] / max(1, row["records"]), percent),
    ]
    return [Table.of(columns, rows)]


def _loading(name: str, card: Card | None) -> list[str]:
    if card is None:
        return ["It is not in the catalogue: ask whoever audited it."]
    licence = f"Licence: {card.licence or 'none stated'}."
    left = known_decay(card.name)
    decay = [f"What is left of its texts: {in_words(left)}."] if left else []
    return [card.access, f"`claimlab load {name} FILES -o {name}`", licence, *decay]


def _citing(card: Card | None) -> Blocks:
    if card is None:
        return [Text("No citation is known.")]
    homepage = [] if card.homepage is None else [("Homepage", card.homepage)]
    return [Text(card.citation, links=[("BibTeX", "cite.bib"), *homepage])]


def _results(content: JsonObject) -> tuple[str, Blocks]:
    """The figures of a leaderboard or a study, and which of both it is."""
    try:
        if "evaluation" in content:
            return "Leaderboard", list(_board(content))
        return "Study", list(_study(content))
    except (ValidationError, KeyError, TypeError) as error:
        raise DataError(f"A board or study cannot be read: {error}.", "Make it again.") from None


def _board(content: JsonObject) -> Iterator[Block]:
    boards = TypeAdapter(list[Board]).validate_python(content["evaluation"]["boards"])
    runs = {one["name"]: one for one in content["evaluation"]["runs"]}
    intervals = {name: one["intervals"] for name, one in runs.items()}
    for (task, dataset), same in groupby(boards, lambda one: (one.task, one.dataset)):
        first, *others = (_with_own(board, intervals) for board in same)
        folds = [Fold(f"By {one.title}", [standings(one)]) for one in others]
        blocks: Blocks = [Text(first.headline(), "conclusion"), standings(first)]
        blocks += [Text(_beside_luck(first, runs)), Text(first.limits())]
        yield Section(f"{dataset}, {task}", [*blocks, *folds])
    bundles: Columns[JsonObject] = (
        Column("Run", "run"),
        Column("Bundle", lambda one: one["bundle"][:12]),
        Column("Flags", "flags", optional=True),
    )
    yield Section("Bundles", [Table.of(bundles, content["runs"], "Each was verified.")])
    if content["refused"]:
        yield Section("Refused", [Table(("File", "Why"), list(content["refused"].items()))])


def _beside_luck(board: Board, runs: JsonObject) -> str:
    """Which systems do more than guess, beside what guesses reach: a rank does not say so."""
    names = [one.name for one in board.standings]
    luck = [TypeAdapter(Chance).validate_python(runs[name]["chance"]) for name in names]
    above = ", ".join(name for name, one in zip(names, luck, strict=True) if one.beaten)
    trivial = f"majority class {percent(luck[0].majority).text}"
    trivial += f", random guess {percent(luck[0].stratified).text}, permuted labels"
    return f"Above every baseline that does not read the text ({trivial}): {above or 'none'}."


def _with_own(board: Board, intervals: JsonObject) -> Board:
    """The board with the intervals that the leaderboard itself shows: those of each run, not those
    of the draws by which all runs were compared."""
    own = {name: known.get(board.metric) for name, known in intervals.items()}
    standings = [replace(one, interval=own[one.name] or one.interval) for one in board.standings]
    return replace(board, standings=standings)


def _study(content: JsonObject) -> Iterator[Block]:
    entries: list[JsonObject] = content["entries"]
    axes = list(dict.fromkeys(axis for row in entries for axis in row["axes"]))
    rows = [
        [
            *(str(row["axes"].get(axis, "")) for axis in axes),
            _starred(row),
            span(row["interval"]),
            rank_words(row["ranks"]),
            row["records"],
        ]
        for row in entries
    ]
    caption = f"{STAR.format('figures of this study')} Ranks are among the detectors of a setting."
    yield Text(content["conclusion"], "conclusion")
    heads = [*axes, "Macro-F1, %", "95% interval", "Rank", "Records"]
    yield Section("Settings", [Table(heads, rows, caption)])


def _starred(row: JsonObject) -> Cell:
    score = percent(row["macro_f1"])
    beaten = TypeAdapter(Chance).validate_python(row["chance"]).beaten
    return replace(score, text=f"{score.text}*") if beaten else score


def badge(audit: Audit) -> str:
    """A badge for a README: what the audit came to."""
    words = f"audited: {_counted(audit)}"
    worst = next(iter(tally(audit)), "")
    colour = {"fail": "#a4262c", "warn": "#8a5a00", "pass": "#1b6e3c"}.get(worst, "#57606a")
    width = 7 * len(words) + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="22" role="img"'
        f' aria-label="{escape(words)}"><rect width="{width}" height="22" rx="4" fill="{colour}"/>'
        f'<text x="10" y="15" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif"'
        f' font-size="11" textLength="{width - 20}">{escape(words)}</text></svg>\n'
    )


def feed(site: Site) -> str:
    """The changes as an Atom feed; links are relative to it."""
    entries = "".join(
        f"<entry><id>urn:sha256:{one['id']}</id><title>{escape(str(one['title']))}</title>"
        f"<updated>{one['day']}T00:00:00Z</updated>"
        f'<link href="datasets/{one["dataset"]}/index.html"/>'
        f"<summary>{escape(str(one['text']))}</summary></entry>\n"
        for one in site.changes
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        "<id>urn:claimlab:site</id><title>What each dataset can be used for</title>"
        f"<updated>{site.as_of}T00:00:00Z</updated><author><name>claimlab</name></author>"
        f'<link rel="self" href="{FEED}"/>\n{entries}</feed>\n'
    )

"""Which column is what: the weights of `claimlab import`, fitted, and tested on what is left out.

    python bench/import_roles.py [--data ../shared/data] [--write] [--quick] [--only ARCHIVE]

`import_roles.toml` says which column of each published table has which role. Every table is taken
as published and with other headers: renamed (another English name), translated (a name in another
language), shuffled (columns in another order), nameless (column_1, column_2) and doubled (a copy of
the text and of the label beside them). The weight of each feature is fitted by maximum likelihood
of the right column, pulled to its prior, and each family of datasets is decided by weights that
were fitted without it. The shown intervals are of a bootstrap over families. `--write` puts the
weights of all tables into the package and the figures into docs/benchmarks/import-roles.md.

The names that renamed and translated headers take are those of the package's own list, so that
they test how names and values work together, not how complete the list is.
"""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
import polars as pl
from harness import ROOT, begin, parser, shared
from scipy.optimize import minimize

from claimlab.core import packaged
from claimlab.core.digest import digest_json
from claimlab.core.labels import general
from claimlab.exchange.importing import propose as model
from claimlab.exchange.importing.profile import ColumnProfile, Profiled, profile
from claimlab.exchange.importing.propose import ROLES, Pick, propose
from claimlab.exchange.importing.read import inner_columns
from claimlab.exchange.vocabulary import HEADER_WORDS
from claimlab.files.bundle import Bundle
from claimlab.files.layout import ReadOptions
from claimlab.files.raw import literal_text
from claimlab.files.read import read_table

HERE = Path(__file__).parent
FILE = ROOT / "src/claimlab/exchange/data/roles.toml"
PAGE = ROOT / "docs/benchmarks/import-roles.md"
KNOWN = tomllib.loads((HERE / "import_roles.toml").read_text(encoding="utf-8"))
PRIOR: dict[str, dict[str, float]] = KNOWN["prior"]
NAMES: dict[str, dict[str, list[str]]] = packaged.toml("claimlab.exchange", "names.toml")
PUBLISHED = "as published"
HEADERS = ("renamed", "translated", "shuffled", "nameless", "doubled")
ROWS = 3_000
PULL = 0.15  # of a weight to its prior: the precision of its normal prior
RULE = 12.0  # a prior that is not fitted: without dates no column is the date
PUBLISHED_WEIGHT, OTHER_WEIGHT = 1.0, 0.4
BOOTSTRAPS = 1_000
RARE = 5  # tables with a role, below which its accuracy is not shown

Weights = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    """A table under one set of headers, and the columns that are right for each role."""

    archive: str
    family: str
    file: str
    headers: str
    seen: Profiled
    inner: frozenset[str]
    truth: dict[str, frozenset[str]]
    unknowable: frozenset[str]  # roles that only the paper tells


@dataclass(frozen=True)
class Outcome:
    """What was decided about one role of one case."""

    case: Case
    role: str
    pick: Pick | None

    @property
    def right(self) -> bool:
        accepted = self.case.truth.get(self.role, frozenset())
        return self.pick.column in accepted if self.pick else not accepted

    @property
    def has(self) -> bool:
        return self.role in self.case.truth

    @property
    def asked(self) -> bool:
        return self.pick is not None and bool(self.pick.close)

    @property
    def offered(self) -> bool:
        """Whether the right column is one of those asked about."""
        accepted = self.case.truth.get(self.role, frozenset())
        return self.right or bool(self.pick and accepted & set(self.pick.close))


def family_of(archive: str) -> str:
    """Datasets that share rows or headers are left out together."""
    families: dict[str, list[str]] = KNOWN["families"]
    return next((name for name, members in families.items() if archive in members), archive)


def cases(data: Path, only: Sequence[str] | None) -> Iterator[Case]:
    for entry in KNOWN["tables"]:
        archive = entry["archive"]
        if only and archive not in only:
            continue
        table = read(shared(f"{archive}.zip", data), entry["file"])
        if table is None:
            print(f"{archive}: no table like {entry['file']}")
            continue
        frame, inner = table
        truth = {
            role: frozenset([columns] if isinstance(columns, str) else columns)
            for role, columns in entry.items()
            if role in ROLES
        }
        published = Case(
            archive,
            family_of(archive),
            entry["file"],
            PUBLISHED,
            profile(frame, general()),
            inner,
            truth,
            frozenset(entry.get("unknowable", ())),
        )
        model.features(published.seen, published.seen.visible)  # once for all sets of headers
        yield published
        yield from (with_headers(published, headers) for headers in HEADERS)


def read(path: Path, pattern: str) -> tuple[pl.DataFrame, frozenset[str]] | None:
    """Some rows of a published table as plain text, and its columns that are fields of objects."""
    with Bundle.open(path) as bundle:
        names = [name for name in bundle.names() if PurePosixPath(name).match(pattern)]
        for name in sorted(names, key=bundle.size, reverse=True)[:1]:
            table = read_table(bundle, name, ReadOptions(), HEADER_WORDS)
            frame = table.frame.gather_every(max(1, table.frame.height // ROWS)).head(ROWS)
            inner = inner_columns(frame, table.literal)
            plain = frame.with_columns(literal_text(frame[column]) for column in table.literal)
            return plain.hstack(inner), frozenset(inner.columns)
    return None


def with_headers(case: Case, headers: str) -> Case:
    """The same table under other headers. Fields of objects keep their names."""
    chance = random.Random(f"{case.archive}/{case.file}/{headers}")
    columns = list(case.seen.frame.columns)
    names = {column: column for column in columns}
    if headers in ("renamed", "translated"):
        names |= synonyms(case, chance, translated=headers == "translated")
    elif headers == "nameless":
        names = {column: f"column_{place}" for place, column in enumerate(columns, 1)}
    elif headers == "shuffled":
        chance.shuffle(columns)
    copies = doubled(case) if headers == "doubled" else {}
    return renamed(case, headers, [*columns, *copies], names, copies)


def synonyms(case: Case, chance: random.Random, *, translated: bool) -> dict[str, str]:
    """Another name for the columns of each role, each name once."""
    languages = sorted(NAMES["label"])
    language = chance.choice([one for one in languages if one != "en"]) if translated else "en"
    names: dict[str, str] = {}
    for role, columns in case.truth.items():
        known = NAMES[role].get(language, [])
        for column in sorted(columns - case.inner):
            free = [name for name in known if name not in {*names.values(), *case.seen.columns}]
            if column not in names and free:
                names[column] = chance.choice(free[: max(3, len(free) // 2)])
    return names


def doubled(case: Case) -> dict[str, str]:
    """A second column for the text and for the label, as a merge of two tables leaves it."""
    return {
        f"{column}_y": column
        for role in ("text", "label")
        for column in sorted(case.truth.get(role, ()))[:1]
        if f"{column}_y" not in case.seen.columns
    }


def renamed(
    case: Case,
    headers: str,
    columns: Sequence[str],
    names: Mapping[str, str],
    copies: Mapping[str, str],
) -> Case:
    frame = case.seen.frame.with_columns(
        case.seen.frame[column].alias(name) for name, column in copies.items()
    )
    final = {column: names.get(column, column) for column in columns}
    profiles = {}
    for column, name in final.items():
        again = copy.copy(case.seen.columns[copies.get(column, column)])
        again.rename(name)
        profiles[name] = again
    truth = {
        role: frozenset(
            final[name] for name in columns if name in accepted or copies.get(name) in accepted
        )
        for role, accepted in case.truth.items()
    }
    seen = Profiled(
        frame.select(pl.col(column).alias(name) for column, name in final.items()),
        profiles,
        case.seen.verdicts,
        case.seen.hidden,
    )
    inner = frozenset(final[name] for name in case.inner)
    return replace(case, headers=headers, seen=seen, inner=inner, truth=truth)


class Design:
    """The features of every column of every case for one role, and which columns are right."""

    def __init__(
        self, role: str, tables: Sequence[tuple[Case, Mapping[str, model.Features]]]
    ) -> None:
        self.features = list(PRIOR[role])
        self.prior = np.array([PRIOR[role][name] for name in self.features])
        rows: list[list[float]] = []
        right: list[bool] = []
        starts: list[int] = []
        families: list[str] = []
        weights: list[float] = []
        for case, columns in tables:
            accepted = case.truth.get(role, frozenset())
            if role in case.unknowable or (accepted and not accepted & set(columns)):
                continue
            starts.append(len(rows))
            families.append(case.family)
            weights.append(PUBLISHED_WEIGHT if case.headers == PUBLISHED else OTHER_WEIGHT)
            for column, facts in columns.items():
                facts = {**facts, **model.by_name(case.seen.columns[column].name, role)}
                rows.append([facts.get(name, 0.0) for name in self.features])
                right.append(column in accepted)
        self.rows, self.right = np.array(rows), np.array(right)
        self.starts, self.families = np.array(starts), np.array(families)
        self.weights = np.array(weights)
        self.sizes = np.diff([*starts, len(rows)])

    def fit(self, without: str | None, start: np.ndarray | None = None) -> np.ndarray:
        """The weights that make the right columns likeliest, without one family of datasets."""
        share = self.weights * (self.families != without)
        rules = np.abs(self.prior) >= RULE
        lows = np.where(rules, self.prior, np.where(self.prior > 0, 0.0, -np.inf))
        highs = np.where(rules, self.prior, np.where(self.prior < 0, 0.0, np.inf))
        found = minimize(
            self._loss,
            self.prior if start is None else start,
            args=(share,),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(lows, highs, strict=True)),
            options={"maxiter": 300},
        )
        return np.asarray(found.x)

    def _loss(self, weights: np.ndarray, share: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the log likelihood of the right columns, or of none, and its gradient."""
        scores = self.rows @ weights
        largest = np.maximum(np.maximum.reduceat(scores, self.starts), 0.0)
        grown = np.exp(scores - np.repeat(largest, self.sizes))
        none = np.exp(-largest)
        every = np.add.reduceat(grown, self.starts) + none
        rights = np.add.reduceat(grown * self.right, self.starts)
        has = rights > 0
        wanted = np.where(has, rights, none)
        loss = float(np.sum(share * (np.log(every) - np.log(wanted))))
        spread = grown / np.repeat(every, self.sizes)
        aim = np.where(
            np.repeat(has, self.sizes), grown * self.right / np.repeat(wanted, self.sizes), 0.0
        )
        slope = self.rows.T @ (np.repeat(share, self.sizes) * (spread - aim))
        away = weights - self.prior
        return loss + PULL * float(away @ away) / 2, slope + PULL * away


def fitted(designs: Mapping[str, Design], without: str | None, near: Weights | None) -> Weights:
    out: Weights = {}
    for role, design in designs.items():
        start = None if near is None else np.array([near[role][n] for n in design.features])
        values = design.fit(without, start)
        out[role] = {
            name: round(float(value), 2)
            for name, value in zip(design.features, values, strict=True)
        }
    return out


def outcomes(every: Sequence[Case], weights: Weights) -> Iterator[Outcome]:
    """What `claimlab import` decides with these weights."""
    model.WEIGHTS.update(weights)
    for case in every:
        picks = propose(case.seen, {}, case.inner)
        asked = (role for role in ROLES if role not in case.unknowable)
        yield from (Outcome(case, role, picks.get(role)) for role in asked)


def interval(results: Sequence[tuple[str, bool]], seed: int = 0) -> tuple[float, float]:
    """A 95% bootstrap interval of the share that is right, over families of datasets."""
    families: dict[str, list[bool]] = {}
    for family, right in results:
        families.setdefault(family, []).append(right)
    totals = np.array([(sum(each), len(each)) for each in families.values()])
    chosen = np.random.default_rng(seed).integers(len(totals), size=(BOOTSTRAPS, len(totals)))
    sums = totals[chosen].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    return float(low), float(high)


def percent(results: Sequence[tuple[str, bool]]) -> str:
    if len(results) < RARE:
        return "–"
    share = sum(right for _, right in results) / len(results)
    low, high = interval(results)
    return f"{share:.0%} ({low:.0%} to {high:.0%})"


def role_rows(every: Sequence[Outcome], headers: str | None) -> Iterator[list[str]]:
    for role in ROLES:
        mine = [
            case for case in every if case.role == role and headers in (None, case.case.headers)
        ]
        has = [case for case in mine if case.has]
        lacks = [case for case in mine if not case.has]
        asked = sum(case.asked for case in has)
        yield [
            role,
            str(len(has)),
            percent([(case.case.family, case.right) for case in has]),
            percent([(case.case.family, case.right) for case in lacks]),
            f"{asked / len(has):.0%}" if len(has) >= RARE else "–",
            percent([(case.case.family, case.offered) for case in has]),
        ]


def header_rows(every: Sequence[Outcome]) -> Iterator[list[str]]:
    for headers in (PUBLISHED, *HEADERS):
        row = [headers]
        for role in ("text", "label", "date", "url", "id"):
            of_role = [
                (one.case.family, one.right)
                for one in every
                if one.role == role and one.has and one.case.headers == headers
            ]
            row.append(percent(of_role))
        yield row


def table(header: Sequence[str], rows: Iterator[list[str]]) -> str:
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


ROLE_HEADER = (
    "role",
    "tables that have it",
    "right column",
    "none, where there is none",
    "close",
    "right, or among the close ones",
)


def unsure(every: Sequence[Outcome]) -> Iterator[str]:
    """The published tables whose text or label is wrong or close."""
    for case in every:
        if case.case.headers != PUBLISHED or case.role not in ("text", "label"):
            continue
        if case.right and not case.asked:
            continue
        chosen = case.pick.column if case.pick else None
        second = case.pick.rivals[0].column if case.pick and case.pick.rivals else None
        said = ("right" if case.right else "wrong") + (", close" if case.asked else "")
        wanted = sorted(case.case.truth.get(case.role, ["none"]))[:3]
        yield (
            f"{case.case.archive}, {PurePosixPath(case.case.file).name}: {case.role} {said}:"
            f" {chosen!r} before {second!r}, wanted {', '.join(wanted)}"
        )


def stamp() -> str:
    """A hash of what the weights are fitted from: features, names of columns, and the answers."""
    shown = model.facts_of(ColumnProfile(pl.Series(["a"]), general()))
    features = [*shown, *model.NAME_FEATURES.values()]
    digest = digest_json({"features": features, "names": NAMES, "answers": KNOWN})
    return f"# fitted from {digest[:16]}"


def write_weights(weights: Weights) -> None:
    lines = [
        "# What speaks for each role, in log odds; `python bench/import_roles.py --write` fits it.",
        "# What each feature means: exchange/importing/propose.py.",
        stamp(),
    ]
    for role, own in weights.items():
        lines += ["", f"[{role}]"]
        lines += [f'"{name}" = {value}' for name, value in own.items()]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_page(every: Sequence[Outcome], tables: int, families: int) -> None:
    published = [one for one in every if one.case.headers == PUBLISHED]
    asked = sum(one.asked for one in published if one.has and one.role in ("text", "label"))
    words = f"""# Import: which column is what

`python bench/import_roles.py --write` fits the weights of `claimlab import` on {tables} published
tables of {families} families of datasets, and decides each family with weights that were fitted
without it. Which column is right was typed by hand from the readers of the catalogue
(`bench/import_roles.toml`), by the author of the weights. Intervals are 95% intervals of a
bootstrap over families.

## As published

{table(ROLE_HEADER, role_rows(published, None))}

*Close*: another column is within a factor of three in odds. For the text and the label that is a
question ({asked} of them here), not a guess; so is a label that is less than three times as likely
as no label at all.

## Under other headers

The right column, of the tables that have one. *Renamed* and *translated* headers take names of the
package's own list of {len(NAMES["label"])} languages, so they show how names and values work
together, not how complete the list is; *nameless* tables have none, and some of their roles cannot
be known.

{table(("headers", "text", "label", "date", "url", "id"), header_rows(every))}
"""
    PAGE.write_text(words, encoding="utf-8")


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("--only", nargs="*", help="these archives")
    made.add_argument("--write", action="store_true", help="write the weights and the page")
    made.add_argument("--quick", action="store_true", help="the packaged weights, nothing left out")
    options = begin(made)
    every = list(cases(options.data, options.only))
    families = {case.family for case in every}
    if options.quick:
        results = list(outcomes(every, packaged.toml("claimlab.exchange", FILE.name)))
    else:
        tables = [(case, model.features(case.seen, case.seen.visible)) for case in every]
        designs = {role: Design(role, tables) for role in ROLES}
        weights = fitted(designs, None, None)
        if options.write:
            write_weights(weights)
        results = list(left_out(every, designs, weights))
    published = [one for one in results if one.case.headers == PUBLISHED]
    print(table(ROLE_HEADER, role_rows(published, None)))
    print(table(("headers", "text", "label", "date", "url", "id"), header_rows(results)))
    print("\n".join(unsure(results)))
    if options.write and not options.quick:
        write_page(results, len(every) // (1 + len(HEADERS)), len(families))
    return 0


def left_out(
    every: Sequence[Case], designs: Mapping[str, Design], near: Weights
) -> Iterator[Outcome]:
    """Each family of datasets, decided by weights that were fitted without it."""
    for family in sorted({case.family for case in every}):
        mine = [case for case in every if case.family == family]
        yield from outcomes(mine, fitted(designs, family, near))


if __name__ == "__main__":
    raise SystemExit(main())

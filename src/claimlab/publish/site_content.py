"""What a site shows, read from the folders that were given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, count
from pathlib import Path

import polars as pl

from claimlab.audit.result import FILE as AUDIT
from claimlab.audit.result import Audit, read_audits
from claimlab.catalog.entry import Card
from claimlab.catalog.load import DATASETS
from claimlab.claims.result import FILE as OVERLAP
from claimlab.core.errors import DataError
from claimlab.core.plain import slug
from claimlab.core.shown import Shown
from claimlab.core.toml_file import OF_OURS
from claimlab.core.toml_file import read_json as read_json_file
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.publish.aggregates import aggregate, summary
from claimlab.publish.bundle import BOARD

FEED = "feed.xml"
STUDY = "study.json"


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


def site_of(places: Sequence[Path], as_of: date) -> Site:
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
            site.overlaps.append(read_json(folder / OVERLAP))
        elif (folder / BOARD).is_file():
            site.results[_free(site.results, folder)] = read_json(folder / BOARD)
        else:
            site.results[_free(site.results, folder)] = read_json(folder / "report" / STUDY)
    return site


def _free(taken: Collection[str], folder: Path) -> str:
    """The name of a page that no other folder of this name has."""
    name = slug(folder.name)
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(free for free in names if free not in taken)


def _parts(place: Path) -> list[Path]:
    """The folder itself, or those of its folders that hold something to show."""
    wanted = (AUDIT, OVERLAP, BOARD, f"report/{STUDY}")
    inside = sorted(place.iterdir()) if place.is_dir() else []
    parts = [part for part in [place, *inside] if any((part / file).is_file() for file in wanted)]
    if not parts:
        raise DataError(
            f"'{place}' holds no audit, overlap, board or study.",
            "Name folders of: claimlab audit, overlap, publish board or study run",
        )
    return parts[:1] if parts[0] == place else parts


def read_json(file: Path) -> JsonObject:
    content = read_json_file(file, most=OF_OURS)
    if not isinstance(content, dict):
        raise DataError(f"'{file}' does not hold a JSON object.", "Make it again.")
    return content


def card_of(audit: Audit) -> Card | None:
    return DATASETS.get(audit.card).card if audit.card and audit.card in DATASETS else None


def title_of(audit: Audit) -> str:
    card = card_of(audit)
    return audit.dataset if card is None else card.title


def stamp(site: Site) -> str:
    return f"As of {site.as_of}, claimlab {__version__}."

"""The seven kinds of files of the card, found by their place in the tree and read one part at a
time.

generated       processed/generated_data/ai_generated/{model}/{lang}/data.csv
human           processed/generated_data/human_written/{organisation}/{lang}/data.csv
meta-human      meta_data/metadata_human_written.csv
meta-generated  meta_data/metadata_ai_generated.csv
raw-human       raw/source_data/human/**/*.csv
seeds           raw/source_data/sd_{eng_x|x_eng}_{f|r}/source_data/{lang}/*.csv, and by model:
                sd_*/{model folder}/*.csv
splits          splits/evaluation/{setting}/{train|val|...}.json

Listing reads nothing. A language is matched as ISO 639-1, 639-3 or by name; what the path does not
tell (raw files by organisation, seeds by model) is left to the rows.

Each setting has its lists of uuids as splits. Test lists are withheld by the authors; where a tree has
some, they are read as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, get_args

import polars as pl

from claimlab.catalog.table import Table
from claimlab.core.errors import UnknownName, UnreadableFile
from claimlab.core.languages import normalise, require
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_json

Kind = Literal["generated", "human", "meta-human", "meta-generated", "raw-human", "seeds", "splits"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEXTS = (
    "article_content",
    "translated_content",
    "translated_article",
    "post_content",
    "translated_post",
    "content",
)
METADATA_FILES: dict[str, Kind] = {
    "metadata_human_written": "meta-human",
    "metadata_ai_generated": "meta-generated",
}
TEXT_FOLDERS: dict[str, Kind] = {"ai_generated": "generated", "human_written": "human"}
DIRECTIONS = {"sd_eng_x": "eng_x", "sd_x_eng": "x_eng"}


@dataclass(frozen=True)
class Part:
    """One file of the tree and what its place says. `language` is ISO 639-3, `maker` a model or an
    organisation.
    """

    kind: Kind
    name: str
    language: str | None = None
    maker: str | None = None
    direction: str | None = None
    veracity: str | None = None
    setting: str | None = None


def parts(
    bundle: Bundle,
    kind: Kind,
    *,
    languages: Iterable[str] | None = None,
    makers: Iterable[str] | None = None,
) -> list[Part]:
    """The files of `kind`, those of the wanted languages and makers; a maker that is not there is
    an error.
    """
    matching = [
        part for name in bundle.names() if (part := place(name)) is not None and part.kind == kind
    ]
    if makers is not None:
        known = {fold_maker(p.maker): p.maker for p in matching if p.maker}
        wanted = {fold_maker(maker): maker for maker in makers}
        for key in wanted.keys() - known.keys():
            raise UnknownName(f"maker of {kind} texts", wanted[key], known.values())
        matching = [p for p in matching if fold_maker(p.maker) in wanted]
    if languages is not None:
        codes = {require(code) for code in languages}
        matching = [p for p in matching if p.language is None or p.language in codes]
    return matching


def place(name: str) -> Part | None:
    """What a member is, by its path; null for what the card does not describe (figures, read-mes,
    statistics).
    """
    path = PurePosixPath(name)
    folders, stem, ending = list(path.parent.parts), path.stem, path.suffix.lower()
    if ending == ".json" and "splits" in folders and stem != "stats":
        below = folders[folders.index("splits") + 1 :]
        setting = "/".join(below[1:] if below[:1] == ["evaluation"] else below)
        return Part("splits", name, setting=setting) if setting else None
    if ending != ".csv":
        return None
    if stem in METADATA_FILES:
        return Part(METADATA_FILES[stem], name)
    for folder, kind in TEXT_FOLDERS.items():
        below = folders[folders.index(folder) + 1 :] if folder in folders else []
        if len(below) == 2:
            return Part(kind, name, normalise(below[1]), maker=below[0])
    return _raw(name, folders)


def _raw(name: str, folders: list[str]) -> Part | None:
    if "source_data" not in folders:
        return None
    below = folders[folders.index("source_data") + 1 :]
    if below[:1] == ["human"]:
        return Part("raw-human", name)
    stem, _, mark = below[0].rpartition("_") if below else ("", "", "")
    if stem in DIRECTIONS and mark in ("f", "r"):
        seed_fields = {
            "direction": DIRECTIONS[stem],
            "veracity": "fake_news" if mark == "f" else "real_news",
        }
        if below[1:2] == ["source_data"] and len(below) == 3:
            return Part("seeds", name, normalise(below[2]), **seed_fields)
        return Part("seeds", name, maker=below[1] if len(below) > 1 else None, **seed_fields)
    return None


def read(bundle: Bundle, part: Part, *, languages: Iterable[str] | None = None) -> pl.DataFrame:
    """The rows of a part, every column as text, empty cells as null; only rows of the wanted
    languages.

    Added: `declared`, the language of the sample as ISO 639-3 (the row's own code, else that of the
    path; an unknown code gives null).
    """
    if part.kind == "splits":
        raise UnreadableFile(
            f"'{part.name}' is a list of uuids, not a table.", "Read it with splits.read_lists()."
        )
    table = Table.read(bundle, part.name)
    table.need("uuid")
    raw = table.pick((), table.frame.columns)
    if part.kind in ("generated", "human", "raw-human", "seeds") and not set(TEXTS) & set(
        raw.columns
    ):
        raise UnreadableFile(
            f"'{part.name}' has no text column.", f"The card has: {', '.join(TEXTS)}."
        )
    raw = raw.with_columns(_declared(raw, part))
    if languages is not None:
        raw = raw.filter(pl.col("declared").is_in(list({require(code) for code in languages})))
    return raw


def _declared(raw: pl.DataFrame, part: Part) -> pl.Series:
    columns = [c for c in ("standardized_language", "language") if c in raw.columns]
    written = (
        raw.select(pl.coalesce(columns))[columns[0]].to_list() if columns else [None] * raw.height
    )
    codes = [normalise(code) if code else part.language for code in written]
    return pl.Series("declared", codes, dtype=pl.String)


def fold_maker(name: str | None) -> str | None:
    """What spellings of one model or organisation share: "CohereForAI/aya" is the folder
    "CohereForAI_aya".
    """
    return None if name is None else "".join(c for c in name.casefold() if c.isalnum())


DEFAULT = "multilingual"
SPLITS = {"val": "dev", "valid": "dev", "validation": "dev"}
SCHEMA = {"group": pl.String(), "setting": pl.String(), "split": pl.String()}


def settings(bundle: Bundle) -> list[str]:
    """The settings that the tree has lists for, such as "cross_lingual_family/Turkic"."""
    return sorted({part.setting for part in parts(bundle, "splits") if part.setting is not None})


def read_lists(bundle: Bundle, setting: str | None = None) -> pl.DataFrame:
    """uuid ("group"), setting and split, of one setting or of all; rows in file order."""
    known = settings(bundle)
    if setting is not None and setting not in known:
        raise UnknownName("split setting", setting, known)
    rows = []
    for part in parts(bundle, "splits"):
        if setting is not None and part.setting != setting:
            continue
        stem = PurePosixPath(part.name).stem.lower()
        value = read_json(bundle.text(part.name), part.name)
        rows += [(uuid, part.setting, SPLITS.get(stem, stem)) for uuid in _uuids(value, part.name)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def membership(lists: pl.DataFrame, setting: str) -> tuple[dict[str, str], list[str]]:
    """The split of each uuid in one setting; and the uuids that are in several, which get none."""
    rows = lists.filter(pl.col("setting") == setting).unique(
        ["group", "split"], maintain_order=True
    )
    twice = (
        rows.filter(pl.col("group").is_duplicated())["group"].unique(maintain_order=True).to_list()
    )
    once = rows.filter(~pl.col("group").is_duplicated()).select("group", "split")
    return dict(once.iter_rows()), twice


def _uuids(value: object, name: str) -> Iterator[str]:
    """The card has lists of uuids; lists of rows with a uuid, and one list inside an object, are
    read too.
    """
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list):
        raise UnreadableFile(
            f"'{name}' is not a list of uuids.",
            "Give the split lists in the layout of the data card.",
        )
    for item in value:
        uuid = item.get("uuid") if isinstance(item, dict) else item
        if not isinstance(uuid, str):
            raise UnreadableFile(
                f"'{name}' holds {str(item)[:40]!r}, which is not a uuid.", "Fix the list."
            )
        yield uuid

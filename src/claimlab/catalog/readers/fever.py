"""FEVER, FEVEROUS and HoVer: claims with Wikipedia as evidence, a file per split, pages named in a
code of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import polars as pl

from claimlab.catalog import kit
from claimlab.core.types import JsonObject
from claimlab.core.words import several

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":"}
PARTS = ("train", "dev", "test")
FEVER = {
    "train": ("train.json*", "fever_train.json*", "*fever*train*.json*"),
    "dev": (
        "fever_labelled_dev.json*",
        "labelled_dev.json*",
        "shared_task_dev.json*",
        "paper_dev.json*",
        "*dev*.json*",
    ),
    "test": ("shared_task_test.json*", "paper_test.json*", "*fever*test*.json*"),
}
FEVEROUS = {split: (f"feverous_{split}*.json*", f"{split}*.json*") for split in PARTS}
HOVER = {
    split: (f"hover_{split}_release*.json*", f"hover_{split}*.json*", f"{split}*.json*")
    for split in PARTS
}


def fever(bundle: kit.Bundle, splits: Sequence[str] = PARTS) -> kit.Loaded:
    rows = _rows(bundle, FEVER, splits, ["id", "claim"])
    return _loaded("fever", "id", rows, _fever_pages)


def feverous(bundle: kit.Bundle, splits: Sequence[str] = PARTS) -> kit.Loaded:
    rows = _rows(bundle, FEVEROUS, splits, ["id", "claim"])
    return _loaded(
        "feverous", "id", rows, _feverous_pages, meta=["challenge", "expected_challenge"]
    )


def hover(bundle: kit.Bundle, splits: Sequence[str] = PARTS) -> kit.Loaded:
    """Claims made from one HotpotQA question are a group."""
    rows = _rows(bundle, HOVER, splits, ["uid", "claim"])
    result = _loaded("hover", "uid", rows, _hover_pages, meta=["num_hops"], group="hpqa_id")
    bare = result.records["label_raw"].null_count()
    result.notes += [f"{several(bare, 'claim')} published without a label."] if bare else []
    return result


def _rows(
    bundle: kit.Bundle,
    files: Mapping[str, Sequence[str]],
    wanted: Sequence[str],
    required: Sequence[str],
) -> list[JsonObject]:
    """The objects of the wanted splits, each with its `split`. One split must be there; of several,
    those that are.

    Objects without a claim are placeholders (FEVEROUS opens each file with one) and are left out.
    """
    present = [split for split in wanted if bundle.match(*files[split])]
    return [
        {**row, "split": split}
        for split in present or wanted[:1]
        for row in kit.read_objects(bundle, bundle.one(*files[split]), required)
        if str(row["claim"]).strip()
    ]


def _loaded(
    name: str,
    key: str,
    rows: Sequence[JsonObject],
    pages: Callable[[JsonObject], Iterable[JsonObject]],
    *,
    meta: Sequence[str] = (),
    group: str | None = None,
) -> kit.Loaded:
    """`rows` as records of dataset `name`, and what `pages` makes of each as its evidence."""
    raw = kit.frame_of(rows, [key, "claim", "label", "split", *meta, *filter(None, [group])])
    records = raw.select(
        "split",
        id=pl.format(f"{name}-{{}}-{{}}", "split", key),
        text=pl.col("claim").str.strip_chars(),
        label_raw="label",
        group=pl.col(group) if group else pl.lit(None, pl.String),
        meta=kit.meta_column(raw, list(meta)) if meta else pl.lit(None, pl.String),
    )
    evidence = (
        {
            "record_id": record,
            "evidence_id": f"{record}-{rank}",
            "rank": rank,
            "provider": "Wikipedia",
            **page,
        }
        for record, row in zip(records["id"], rows, strict=True)
        for rank, page in enumerate(pages(row), 1)
    )
    return kit.Loaded(records, {"evidence": kit.side_rows("evidence", evidence)})


def _fever_pages(row: JsonObject) -> Iterator[JsonObject]:
    """Pages only (`evidence_pages`), or as published: sets of [annotation, evidence, page,
    sentence] that go together.
    """
    pages = [(page, None, None) for page in row.get("evidence_pages") or []]
    sets = enumerate(row.get("evidence") or [], 1)
    published = [(e[2], e[3], n) for n, together in sets for e in together if e[2] is not None]
    for page, sentence, number in [*pages, *published]:
        yield {
            "evidence_id": page if sentence is None else f"{page}:{sentence}",
            "title": _page_title(page),
            "stance": row.get("label"),
            "meta": kit.meta_json({"set": number}),
        }


def _page_title(page: str) -> str:
    """The title of a Wikipedia page from FEVER's name for it."""
    for code, sign in BRACKETS.items():
        page = page.replace(code, sign)
    return page.replace("_", " ")


def _feverous_pages(row: JsonObject) -> Iterator[JsonObject]:
    """A text of lines `title TAB sentence`, or as published: sets whose content names sentences and
    cells of pages.
    """
    evidence, stance = row.get("evidence") or [], row.get("label")
    if isinstance(evidence, str):
        for line in filter(str.strip, evidence.split("\n")):
            title, _, text = line.partition("\t")
            yield {"title": title, "text": text or None, "stance": stance}
    else:
        for name in (name for together in evidence for name in together.get("content", [])):
            yield {"evidence_id": name, "title": name.split("_")[0], "stance": stance}


def _hover_pages(row: JsonObject) -> list[JsonObject]:
    facts = row.get("supporting_facts") or []
    return [{"evidence_id": f"{title}:{sentence}", "title": title} for title, sentence in facts]

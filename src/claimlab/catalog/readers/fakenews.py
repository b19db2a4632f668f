"""FakeNews (Fake News vs Satire): political stories that are all untrue, as deceit or as a joke."""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit


def load(bundle: kit.Bundle) -> kit.Loaded:
    """One text file per story in folders Fake and Satire: headline, address, body. A workbook adds
    addresses and rebuttals.

    Stories that the authors discarded lie in folders of their own ("ditched", "rejected") and are
    not read.
    """
    final = bundle.match("finalFake/*.txt", "finalSatire/*.txt")
    raw = kit.frame_of(
        _story(bundle, name) for name in final or kit.members(bundle, "Fake/*.txt", "Satire/*.txt")
    )
    raw = raw.join(_listed(bundle), on=["number", "label"], how="left", maintain_order="left")
    records = raw.select(
        url=pl.coalesce("url", "listed_url"),
        id=pl.format("fakenews-{}-{}", pl.col("label").str.to_lowercase(), "number"),
        text=kit.title_and_body(raw["title"], raw["body"]),
        label_raw="label",
        meta=kit.meta_column(raw, ["rebuttal"]),
    )
    return kit.Loaded(records)


def _story(bundle: kit.Bundle, name: str) -> dict[str, str | None]:
    folders = [part.lower() for part in name.split("/")[:-1]]
    lines = [line.strip() for line in kit.western_text(bundle, name).splitlines()]
    address = next(
        (i for i, line in enumerate(lines[:3]) if line.startswith(("http://", "https://", "www."))),
        None,
    )
    body = [line for i, line in enumerate(lines[1:], 1) if i != address and line]
    return {
        "number": name.rsplit("/", 1)[-1].removesuffix(".txt"),
        "label": "Satire" if "satire" in folders else "Fake",
        "title": lines[0] if lines and address != 0 else None,
        "url": lines[address] if address is not None else None,
        "body": "\n".join(body),
    }


def _listed(bundle: kit.Bundle) -> pl.DataFrame:
    """The addresses of a story and its rebuttal by number and class; none where the workbook is not
    there.
    """
    names = bundle.match("Fake News Stories.xlsx")
    columns = {
        "number": "Article Number",
        "label": "Fake or Satire?",
        "listed_url": "URL of article",
        "rebuttal": "URL of rebutting article",
    }
    sheet = kit.Table.read(bundle, names[0]) if names else kit.Table("", pl.DataFrame())
    return (
        sheet.pick((), columns)
        .drop_nulls("number")
        .unique(["number", "label"], keep="last", maintain_order=True)
    )

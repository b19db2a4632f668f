"""Articles kept as one text file each, in folders named after their label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import Bundle, UnreadableFile, western_text


def articles(bundle: Bundle, labels: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """The articles under each label's folders (`stem` of the file's name, `label`, `title`,
    `text`): for a label, the first of its patterns that matches anything counts."""
    rows = []
    for label, patterns in labels.items():
        members = next((m for p in patterns if (m := bundle.match(p))), [])
        if not members:
            raise UnreadableFile(
                f"'{bundle.path.name}' holds no articles like {' or '.join(map(repr, patterns))}.",
                "Give the folder as published, with one folder per label.",
            )
        rows += [
            (PurePosixPath(m).name.removesuffix(".txt"), label, *_article(bundle, m))
            for m in members
        ]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(("stem", "label", "title", "text"), pl.String), orient="row"
    )


def _article(bundle: Bundle, name: str) -> tuple[str | None, str | None]:
    """Title and text: the first line is the title where more follows it, as these collections write
    it.
    """
    head, _, body = (part.strip() or None for part in read_text(bundle, name).partition("\n"))
    return (head, body) if body else (None, head)


def read_text(bundle: Bundle, name: str) -> str:
    return western_text(bundle, name).replace("\r\n", "\n").strip().lstrip("\ufeff")

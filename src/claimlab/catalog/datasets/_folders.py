"""Articles kept as one text file each, in folders named after their label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from claimlab.catalog.datasets._tolerant import western_text
from claimlab.core.errors import UnreadableFile
from claimlab.files.bundle import Bundle


@dataclass(frozen=True)
class Article:
    path: PurePosixPath
    label: str
    title: str | None
    text: str | None

    @property
    def stem(self) -> str:
        return self.path.name.removesuffix(".txt")


def articles(bundle: Bundle, labels: Mapping[str, Sequence[str]]) -> list[Article]:
    """The articles under each label's folders: for a label, the first of its patterns that matches anything counts.
    The first line is the title where more follows it, as these collections write it."""
    found = []
    for label, patterns in labels.items():
        members = next((m for p in patterns if (m := bundle.match(p))), [])
        if not members:
            raise UnreadableFile(
                f"'{bundle.path.name}' holds no articles like {' or '.join(map(repr, patterns))}.",
                "Give the folder as published, with one folder per label.",
            )
        found += [_article(bundle, name, label) for name in members]
    return found


def _article(bundle: Bundle, name: str, label: str) -> Article:
    head, _, body = read_text(bundle, name).partition("\n")
    if body.strip():
        return Article(PurePosixPath(name), label, head.strip() or None, body.strip())
    return Article(PurePosixPath(name), label, None, head.strip() or None)


def read_text(bundle: Bundle, name: str) -> str:
    return western_text(bundle, name).replace("\r\n", "\n").strip().lstrip("\ufeff")

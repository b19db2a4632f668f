"""Words of a text that are marked: what was searched for, and what tells the classes apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from claimlab.core.plain import plain
from claimlab.web.workspace import Workspace, WorkspaceFolder, audits_of, digests_of

if TYPE_CHECKING:
    pass


MOST_MARKED_WORDS = 200  # that are marked


def marked(text: str, hits: str, words: Mapping[str, str]) -> Markup:
    """The text as HTML: what was searched for is marked, and words with the class they lean to."""
    parts = [re.escape(hit) for hit in sorted(hits.split(), key=len, reverse=True)]
    if words:
        parts.append(rf"\b(?:{'|'.join(map(re.escape, words))})\b")
    if not parts:
        return escape(plain(text))
    pieces = re.split(f"({'|'.join(parts)})", plain(text), flags=re.IGNORECASE)
    for at in range(1, len(pieces), 2):
        lean = words.get(pieces[at].lower())
        leaning = lean and Markup(' class="leans-{0}" title="{0}"').format(lean)
        pieces[at] = Markup("<mark{}>{}</mark>").format(leaning or "", pieces[at])
    return Markup("").join(pieces)


def telling_words(workspace: Workspace, place: WorkspaceFolder) -> dict[str, str]:
    """The words that the audits of these records name, each with the class that it leans to."""
    words: dict[str, str] = {}
    for _, audit in audits_of(workspace, digests_of(place)):
        for row in [
            row for finding in audit.findings for row in finding.details.get("words") or ()
        ]:
            if isinstance(row, dict) and row.get("leans") and len(words) < MOST_MARKED_WORDS:
                words.setdefault(str(row.get("word")).lower(), str(row["leans"]))
    return words

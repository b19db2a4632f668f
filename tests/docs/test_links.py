"""Every relative link of the documentation leads somewhere, on the site and in the repository, and
every page is in the navigation."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from manual.sitepages import REFERENCE, ROOT_FILES, moved, reference
from markdown.extensions.toc import slugify

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = {f"notebooks/{file.stem}.md" for file in (DOCS / "notebooks").glob("*.ipynb")}
GENERATED = {
    REFERENCE,
    *NOTEBOOKS,
    *ROOT_FILES.values(),
}  # made with the site, not kept in the repository
KEPT = sorted(DOCS.rglob("*.md"))
ROOT_PAGES = [p for p in sorted(ROOT.glob("*.md")) if p.is_file()]
WORKS = re.compile(r"\b[Tt]he (?:paper|guide|release|released)\b|\bFUSE-EVAL\b|\bBUP\b|\bBLUFF\b")


@cache
def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def links(text: str) -> list[str]:
    """Targets of links and images outside of code."""
    plain = re.sub(r"`[^`\n]*`", "", text)
    return re.findall(r"\]\(([^)\s]+)\)", plain)


@cache
def anchors(page: Path) -> frozenset[str]:
    """What `page#...` can lead to: a heading, as both the site and the repository's host name it,
    or an id of ours.
    """
    text = prose(page)
    headings = [
        re.sub(r"<[^>]+>|`", "", h).strip() for h in re.findall(r"^#+ (.+)$", text, flags=re.M)
    ]
    hosted = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-"): h for h in headings}
    return frozenset(
        {a for a, h in hosted.items() if slugify(h, "-") == a}
        | set(re.findall(r'id="([^"]+)"', text))
    )


def broken(page: Path) -> list[str]:
    out = []
    for link in links(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        where, _, anchor = link.partition("#")
        target = (page.parent / where).resolve() if where else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            out.append(link)
    return out


@pytest.mark.parametrize("page", [*ROOT_PAGES, *KEPT], ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One two\n\n[a](#one-two) [b](#three) [c](none.md) [d](https://example.org) `[e](f.md)`\n"
    )
    assert broken(page) == ["#three", "none.md"]


def test_pages_of_the_root_keep_their_links_on_the_site() -> None:
    text = "[a](docs/audit.md) [b](CHANGELOG.md#x) [c](LICENSE) [d](https://x.org) [e](#here)"
    assert moved(text, "reference/python.md") == (
        "[a](../audit.md) [b](../changelog.md#x) [c](../../LICENSE) [d](https://x.org) [e](#here)"
    )


def listed(entries: Any) -> list[str]:
    if isinstance(entries, str):
        return [entries]
    return [
        page
        for entry in (entries.values() if isinstance(entries, dict) else entries)
        for page in listed(entry)
    ]


def test_the_navigation_lists_every_page_once() -> None:
    nav = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert len(nav) == len(set(nav))
    assert set(nav) == {str(p.relative_to(DOCS)) for p in KEPT} | GENERATED


@pytest.mark.parametrize(
    "page", [p for p in KEPT if p.parent != DOCS / "help"], ids=lambda p: p.name
)
def test_works_are_cited_where_they_are_mentioned(page: Path) -> None:
    text = prose(page)
    if WORKS.search(text) and page.name != "papers.md":
        assert "papers.md" in text, f"{page.name} speaks of a paper and does not say which"


def test_the_reference_has_every_public_function() -> None:
    import claimlab as cl

    text = reference()
    assert [
        name for name in cl.__all__ if name != "__version__" and f"## cl.{name}\n" not in text
    ] == []
    assert "at 0x" not in text  # an address would differ from run to run

"""MultiClaim: social-media posts in many languages, each linked to the fact-checks that deal with
its claim.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from claimlab.catalog import kit
from claimlab.core.types import JsonObject


class PostText(NamedTuple):
    """One text in its three forms: as written, in Google's English, and the language it was found
    to be in.
    """

    original: str | None = None
    english: str | None = None
    language: str | None = None


def load(bundle: kit.Bundle, form: Literal["posts", "english", "pairs"] = "posts") -> kit.Loaded:
    """One record per post; the fact-checks it is linked to are evidence, and posts that share one
    are a group.

    As `english`, the posts are in machine-made English, with the authorship that says so; English
    posts stay as they are. As `pairs`, there is one record per link of a post and a fact-check, as
    the guide counts them: a post with three fact-checks comes three times.
    """
    name = bundle.one("fact_check_post_mapping.csv", "*pairs.csv", "*mapping.csv")
    links = kit.Table.read(bundle, name).pick(["post_id", "fact_check_id"]).rows()
    groups = _components(links)
    posts = {
        number: {**post, "group": groups.get(number)}
        for number, post in _posts(bundle, english=form == "english").items()
    }
    kept = [(f"multiclaim-{post}", post, check) for post, check in links if post in posts]
    if form == "pairs":
        kept = [(f"{record}-{check}", post, check) for record, post, check in kept]
        records = [{"id": record, **posts[post]} for record, post, _ in kept]
    else:
        records = [{"id": f"multiclaim-{number}", **post} for number, post in posts.items()]
    checks = {} if form == "english" else _checks(bundle)
    evidence = [{"record_id": r, **checks[check]} for r, _, check in kept if check in checks]
    tables = {"evidence": kit.side_rows("evidence", evidence)} if evidence else {}
    return kit.Loaded(kit.record_rows(records), tables)


def _posts(bundle: kit.Bundle, *, english: bool) -> dict[str, JsonObject]:
    """Posts by number, as records without id and group."""
    name = bundle.one("posts.csv", "trial_posts.csv")
    raw = kit.Table.read(bundle, name).pick(["post_id", "text", "ocr", "verdicts", "instances"])
    posts = {}
    for number, *cells in raw.iter_rows():
        text, ocr, verdicts, instances = (_literal(cell, name) for cell in cells)
        # what the user wrote, then what was read from the images
        texts = [part for part in map(_text, [text, *(ocr or [])]) if (part.original or "").strip()]
        clean = {" ".join(str(verdict).split()).strip(" .") for verdict in verdicts or []} - {""}
        when, platform = _first(instances or [])
        posts[number] = {
            **_words(texts, english=english),
            "label_raw": "; ".join(sorted(clean, key=str.casefold)) or None,
            "date": when,
            "date_source": "date column" if when else None,
            "source": platform,
        }
    return posts


def _words(texts: Sequence[PostText], *, english: bool) -> JsonObject:
    """The words of a post as they were written, or in English, and who wrote them."""
    spoken = next((part.language for part in texts if part.language), None)
    original = "\n\n".join(str(part.original) for part in texts) or None
    translated = "\n\n".join(part.english for part in texts if part.english) or None
    author = "HWT"
    if not english:
        text, language = original, spoken
        more = {"english": None if spoken == "eng" else translated}
    else:
        text, language, more = translated, "eng", {"original_language": spoken}
        author = "HWT" if spoken == "eng" else "MTT"
    return {
        "text": text,
        "language": language,
        "authorship": author if original else None,
        "meta": kit.meta_json(more),
    }


def _checks(bundle: kit.Bundle) -> dict[str, JsonObject]:
    """Fact-checks by number, as evidence without a record."""
    name = bundle.one("fact_checks.csv", "trial_fact_checks.csv")
    raw = kit.Table.read(bundle, name).pick(["fact_check_id", "claim", "title", "instances"])
    checks = {}
    for number, *cells in raw.iter_rows():
        claim, title, instances = (_literal(cell, name) for cell in cells)
        statement = _text(claim)
        when, url = _first(instances or [])
        checks[number] = {
            "evidence_id": f"fact-check-{number}",
            "provider": "multiclaim",
            "text": statement.original,
            "title": _text(title).original,
            "url": url,
            "domain": url.split("/")[2] if url and url.count("/") >= 2 else None,
            "published": when,
            "meta": kit.meta_json({"english": statement.english, "language": statement.language}),
        }
    return checks


def _components(links: Sequence[tuple[str, str]]) -> dict[str, str]:
    """post -> its connected group of posts and fact-checks, named after the group's first
    fact-check.
    """
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for post, check in links:
        parent[root(f"p{post}")] = root(f"f{check}")
    return {post: f"fact-check-{root(f'p{post}')[1:]}" for post, _ in links}


def _text(value: object) -> PostText:
    if not isinstance(value, tuple | list) or not value or not value[0]:
        return PostText()
    original, english, spoken = (*value, None, None)[:3]
    code = max(spoken, key=lambda pair: pair[1])[0] if spoken else None
    language = kit.normalise(code) if code else None
    return PostText(str(original), str(english) if english else None, language)


def _first(instances: Sequence[Sequence[object]]) -> tuple[datetime | None, str | None]:
    """The earliest time and the first place of a post or fact-check."""
    times = [float(str(i[0])) for i in instances if i and i[0]]
    where = next((str(i[1]) for i in instances if len(i) > 1 and i[1]), None)
    return (kit.moment(str(min(times))) if times else None), where


def _literal(cell: str | None, name: str) -> Any:
    """A cell holds a Python literal; with line breaks in it. Only literals are parsed, nothing is
    run.
    """
    if cell is None or not cell.strip():
        return None
    try:
        return ast.literal_eval(cell.replace("\r", "").replace("\n", "\\n"))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise kit.UnreadableFile(
            f"A cell of '{name}' is not a list or tuple as MultiClaim writes them: {cell[:60]!r}.",
            "Give the first version of MultiClaim (Zenodo 7737983); the second has another layout.",
        ) from None

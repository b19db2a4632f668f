"""MultiClaim: social-media posts in many languages, each linked to the fact-checks that deal with
its claim.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from claimlab.catalog import kit
from claimlab.core.types import JsonObject


@dataclass(frozen=True)
class Translated:
    """One text in its three forms: as written, in Google's English, and the languages it was found
    to be in.
    """

    original: str
    english: str | None
    language: str | None


@dataclass(frozen=True)
class Post:
    number: str
    texts: list[Translated]  # what the user wrote, then what was read from the images
    verdicts: list[str]
    when: datetime | None
    platform: str | None


def load(bundle: kit.Bundle) -> kit.Loaded:
    """One record per post; the fact-checks it is linked to are evidence, and posts that share one
    are a group.
    """
    posts, checks, links = _posts(bundle), _checks(bundle), _links(bundle)
    groups = _components(links)
    records = [_record(p, f"multiclaim-{p.number}", groups.get(p.number)) for p in posts]
    known = {p.number for p in posts}
    evidence = [
        _evidence(f"multiclaim-{p}", c, checks) for p, c in links if p in known and c in checks
    ]
    return _loaded(records, evidence)


def load_english(bundle: kit.Bundle) -> kit.Loaded:
    """The posts in machine-made English, with the authorship that says so; English posts stay as
    they are.
    """
    groups = _components(_links(bundle))
    records = [
        _record(p, f"multiclaim-{p.number}", groups.get(p.number), english=True)
        for p in _posts(bundle)
    ]
    return _loaded(records, [])


def load_pairs(bundle: kit.Bundle) -> kit.Loaded:
    """One record per link of a post and a fact-check, as the guide counts them: a post with three
    fact-checks comes three times.
    """
    posts, checks, links = {p.number: p for p in _posts(bundle)}, _checks(bundle), _links(bundle)
    groups = _components(links)
    pairs = [(p, c) for p, c in links if p in posts]
    records = [_record(posts[p], f"multiclaim-{p}-{c}", groups.get(p)) for p, c in pairs]
    return _loaded(
        records, [_evidence(f"multiclaim-{p}-{c}", c, checks) for p, c in pairs if c in checks]
    )


def _loaded(records: Sequence[JsonObject], evidence: Sequence[JsonObject]) -> kit.Loaded:
    return kit.Loaded(
        kit.record_rows(records),
        {"evidence": kit.side_rows("evidence", evidence)} if evidence else {},
    )


def _record(post: Post, record_id: str, group: str | None, *, english: bool = False) -> JsonObject:
    spoken = next((text.language for text in post.texts if text.language), None)
    translated = "\n\n".join(text.english for text in post.texts if text.english) or None
    original = "\n\n".join(text.original for text in post.texts) or None
    is_english = spoken == "eng"
    author = "MTT" if english and not is_english else "HWT"
    extra = {"english": None if is_english else translated}
    return {
        "id": record_id,
        "text": translated if english else original,
        "label_raw": "; ".join(sorted(set(post.verdicts), key=str.casefold)) or None,
        "language": "eng" if english else spoken,
        "date": post.when,
        "date_source": "date column" if post.when else None,
        "source": post.platform,
        "group": group,
        "authorship": author if original else None,
        "meta": kit.meta_json({"original_language": spoken} if english else extra),
    }


def _evidence(record_id: str, check: str, checks: Mapping[str, JsonObject]) -> JsonObject:
    return {
        "record_id": record_id,
        "evidence_id": f"fact-check-{check}",
        "provider": "multiclaim",
        **checks[check],
    }


def _posts(bundle: kit.Bundle) -> list[Post]:
    name = bundle.one("posts.csv", "trial_posts.csv")
    raw = kit.Table.read(bundle, name).pick(["post_id", "text", "ocr", "verdicts", "instances"])
    out = []
    for number, text, ocr, verdicts, instances in raw.iter_rows():
        texts = [_bilingual(text, name), *(_tuple(t) for t in _literal(ocr, name) or [])]
        when, platform = _first(_literal(instances, name) or [])
        clean = [" ".join(str(v).split()).strip(" .") for v in _literal(verdicts, name) or []]
        out.append(
            Post(
                number,
                [t for t in texts if t and t.original.strip()],
                [v for v in clean if v],
                when,
                platform,
            )
        )
    return out


def _checks(bundle: kit.Bundle) -> dict[str, JsonObject]:
    """Fact-checks by number, as evidence without a record."""
    name = bundle.one("fact_checks.csv", "trial_fact_checks.csv")
    raw = kit.Table.read(bundle, name).pick(["fact_check_id", "claim", "title", "instances"])
    out = {}
    for number, claim, title, instances in raw.iter_rows():
        statement, headline = _bilingual(claim, name), _bilingual(title, name)
        when, url = _first(_literal(instances, name) or [])
        out[number] = {
            "text": statement.original if statement else None,
            "title": headline.original if headline else None,
            "url": url,
            "domain": url.split("/")[2] if url and url.count("/") >= 2 else None,
            "published": when,
            "meta": kit.meta_json(
                {
                    "english": statement.english if statement else None,
                    "language": statement.language if statement else None,
                }
            ),
        }
    return out


def _links(bundle: kit.Bundle) -> list[tuple[str, str]]:
    name = bundle.one("fact_check_post_mapping.csv", "*pairs.csv", "*mapping.csv")
    return kit.Table.read(bundle, name).pick(["post_id", "fact_check_id"]).rows()


def _components(links: Iterable[tuple[str, str]]) -> dict[str, str]:
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

    pairs = list(links)
    for post, check in pairs:
        parent[root(f"p{post}")] = root(f"f{check}")
    return {post: f"fact-check-{root(f'p{post}')[1:]}" for post, _ in pairs}


def _bilingual(cell: str | None, name: str) -> Translated | None:
    return _tuple(_literal(cell, name))


def _tuple(value: object) -> Translated | None:
    if not isinstance(value, tuple | list) or not value or not value[0]:
        return None
    spoken = value[2] if len(value) > 2 and value[2] else []
    code = max(spoken, key=lambda pair: pair[1])[0] if spoken else None
    return Translated(
        str(value[0]),
        str(value[1]) if len(value) > 1 and value[1] else None,
        kit.normalise(code) if code else None,
    )


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

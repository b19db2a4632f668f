"""Untrusted text inside Markdown, YAML and JSON: shown as it is, never taken as markup."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_MARKUP = re.compile(r"([\\`*_\[\]<>&|~$^#])")
_LEADING = re.compile(r"^([-+=]|\d+(?=[.)]))")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown(text: object) -> str:
    """`text` on one line of Markdown: no emphasis, link, heading, table cell, HTML or formula can
    come out of it.
    """
    line = " ".join(_INVISIBLE.sub(" ", str(text)).split())
    line = _MARKUP.sub(r"\\\1", line)
    line = (
        line.replace("://", ":\\//").replace("@", "\\@").replace("www.", "www\\.")
    )  # else they become links
    match = _LEADING.match(line)
    if match is None:
        return line
    rest = line[match.end() :]
    return f"{match[1]}\\{rest}" if match[1].isdigit() else f"\\{line}"


def yaml(value: Any, indent: int = 0) -> str:
    """Nested lists and mappings as block YAML; every text in double quotes, so that "no" stays
    Norwegian.
    """
    pad = "  " * indent
    if isinstance(value, dict):
        return "".join(f"{pad}{key}:{_yaml_under(item, indent)}" for key, item in value.items())
    lines = []
    for item in value:
        if isinstance(item, dict):
            block = yaml(item, indent + 1)
            lines.append(f"{pad}- {block[len(pad) + 2 :]}")
        else:
            lines.append(f"{pad}- {yaml_scalar(item)}\n")
    return "".join(lines)


def yaml_scalar(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str):
        return json.dumps(value)
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(
        lambda m: f"\\u{ord(m[0]):04x}" if ord(m[0]) < 0x10000 else f"\\U{ord(m[0]):08x}", quoted
    )


def json_ld(value: Any) -> str:
    """JSON that may also be pasted into a page: "<" is written as an escape, so no text can close a
    script element.
    """
    return json.dumps(value, ensure_ascii=False, indent=2).replace("<", "\\u003c") + "\n"


def _yaml_under(item: Any, indent: int) -> str:
    if isinstance(item, dict | list | tuple):
        return "\n" + yaml(item, indent + 1) if item else " []\n"
    return f" {yaml_scalar(item)}\n"

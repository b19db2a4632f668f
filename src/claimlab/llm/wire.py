"""The chat-completions format as endpoints really send it: replies read defensively, waits parsed, keys kept out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from claimlab.llm.messages import Usage

UNKNOWN = Usage()
_SHOWN = 300  # characters of an endpoint's own words in a message


@dataclass(frozen=True)
class Reply:
    text: str | None = None
    refusal: str | None = None
    finish: str | None = None
    usage: Usage = UNKNOWN
    error: Any = None  # some routers answer 200 with an error inside
    status: int = 200


def read_reply(raw: bytes) -> Reply | str:
    """The reply in a body; a sentence when it is none (HTML, cut JSON, nothing at all)."""
    if not raw.strip():
        return "the body is empty"
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        start = raw[:60].decode("utf-8", "replace").strip()
        return f"the body is not JSON (it starts with {start!r})"
    if not isinstance(data, dict):
        return "the body is no JSON object"
    if data.get("error"):
        code = data["error"].get("code") if isinstance(data["error"], dict) else None
        return Reply(error=data["error"], status=code if isinstance(code, int) and code >= 400 else 500)
    try:
        choice = data["choices"][0]
        message = choice["message"]
        return Reply(
            text=_text(message.get("content")),
            refusal=message.get("refusal") or None,
            finish=choice.get("finish_reason"),
            usage=_usage(data.get("usage")),
        )
    except (KeyError, IndexError, TypeError, AttributeError):
        return "the body holds no choices with a message"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How long the endpoint asks us to wait, in seconds: a number or a date; null when it does not say."""
    try:
        if headers.get("retry-after-ms"):
            wait = float(headers["retry-after-ms"]) / 1000
        else:
            said = headers.get("retry-after", "")
            wait = float(said) if _number(said) else (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return max(0.0, wait) if math.isfinite(wait) else None


def refusal_in(body: Any) -> bool:
    """Whether an error body says that the content was refused by a filter, not that the call was wrong."""
    if not isinstance(body, dict):
        return False
    return any(str(body.get(field)) in ("content_filter", "content_policy_violation") for field in ("code", "type"))


def scrub(text: str, key: str | None) -> str:
    """An endpoint's words, shortened, with our key taken out should it have echoed it."""
    clean = text.replace(key, "***") if key else text
    return " ".join(clean.split())[:_SHOWN]


def _text(content: Any) -> str | None:
    if isinstance(content, list):  # some endpoints send parts
        parts = [str(p.get("text", "")) for p in content if isinstance(p, dict) and p.get("type") == "text"]
        return "".join(parts)
    return None if content is None else str(content)


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return UNKNOWN
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

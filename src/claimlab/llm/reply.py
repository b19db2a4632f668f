"""The replies of the chat-completions format as endpoints really send them, read defensively."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from claimlab.core.calls.scrub import excerpt, scrubbed
from claimlab.core.types import JsonObject
from claimlab.llm.messages import Usage

UNKNOWN_USAGE = Usage()
_SCHEMA = re.compile(
    r"response_?format|response_?schema|json[ _]schema|output_config|structured output",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ModelReply:
    text: str | None = None
    refusal: str | None = None
    finish: str | None = None
    usage: Usage = UNKNOWN_USAGE
    error: object = None  # some routers answer 200 with an error inside
    status: int = 200

    @property
    def cut(self) -> bool:
        return self.finish == "length"


def read_reply(raw: bytes, key: str | None) -> ModelReply | str:
    """The reply in a body, without our key should it be in there; a sentence when it is not one
    (HTML, cut JSON).
    """
    if not raw.strip():
        return "the body is empty"
    try:
        data = scrubbed(json.loads(raw), key)
    except (ValueError, RecursionError):
        start = excerpt(raw[:400].decode("utf-8", "replace"), key, 60)
        return f"the body is not JSON (it starts with {start!r})"
    if not isinstance(data, dict):
        return "the body is not a JSON object"
    if data.get("error"):
        code = data["error"].get("code") if isinstance(data["error"], dict) else None
        return ModelReply(
            error=data["error"], status=code if isinstance(code, int) and code >= 400 else 500
        )
    try:
        choice = data["choices"][0]
        message = choice["message"]
        return ModelReply(
            text=_text(message.get("content")),
            refusal=message.get("refusal") or None,
            finish=choice.get("finish_reason"),
            usage=_usage(data.get("usage")),
        )
    except (KeyError, IndexError, TypeError, AttributeError):
        return "the body holds no choices with a message"


def error_in(raw: bytes) -> object:
    """What the body of an error says, as these endpoints lay it out; its text where it is something
    else.
    """
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace")
    if isinstance(data, list) and data and isinstance(data[0], dict):
        data = data[0]  # as Google's endpoint wraps it
    return data.get("error", data) if isinstance(data, dict) else data


def schema_refused(status: int, body: object) -> bool:
    """Whether an error says that the schema of the answer is not taken, which it will say of every
    call. A reply that a model could not bring into the schema is the fault of one call."""
    own_fault = isinstance(body, dict) and body.get("code") == "json_validate_failed"
    if status not in (400, 422) or own_fault:
        return False
    return bool(_SCHEMA.search(json.dumps(body, ensure_ascii=False, default=str)))


def refusal_in(error: JsonObject) -> bool:
    """Whether an error says that the content was refused by a filter, not that the call was
    wrong.
    """
    kinds = {str(error.get("code")), str(error.get("type"))}
    return bool(kinds & {"content_filter", "content_policy_violation"})


def _text(content: object) -> str | None:
    if isinstance(content, list):  # some endpoints send parts
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(str(part.get("text", "")) for part in parts)
    return None if content is None else str(content)


def _usage(usage: object) -> Usage:
    """The tokens of a reply. Input that came from the endpoint's cache has two names in use; null
    where it does not say.
    """
    if not isinstance(usage, dict):
        return UNKNOWN_USAGE
    read, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    details = usage.get("prompt_tokens_details")
    hit = usage.get("prompt_cache_hit_tokens")
    cached = _count(details.get("cached_tokens") if isinstance(details, dict) else hit)
    return Usage(read, written, None if cached is None or read is None else min(cached, read))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

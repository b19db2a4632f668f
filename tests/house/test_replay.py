"""Whatever asks a model or a search replays to the same bytes: with the servers gone, and no key
and no address set.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from parts.standin import StandIn, own_profile

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import BudgetSpent
from claimlab.core.fetch.addresses import Guard
from claimlab.core.record import to_side_table
from claimlab.search import snapshot

TEXT = "Neighbours in the market hall say that the old mill of Ostrel sold looms to a family from the coast, number {}."
PAGE = "<html><head><title>Looms</title></head><body><p>The old mill of Ostrel sold seventeen looms.</p></body></html>"
_SCHEMA = re.compile(r"JSON Schema, and with nothing else:\n(\{.*\})", re.DOTALL)


def fitting(schema: dict[str, Any], whole: dict[str, Any] | None = None) -> Any:
    """The first value that fits a schema."""
    whole = whole or schema
    if "$ref" in schema:
        return fitting(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        return fitting(schema["anyOf"][0], whole)
    if schema.get("type") == "object":
        return {name: fitting(part, whole) for name, part in schema["properties"].items()}
    values = {
        "string": "The old mill sold looms.",
        "number": 0.5,
        "integer": 1,
        "boolean": True,
        "array": [],
    }
    return values.get(schema.get("type", ""))


def answer(body: dict[str, Any]) -> str:
    found = _SCHEMA.search(body["messages"][-1]["content"])
    return json.dumps(fitting(json.loads(found[1]))) if found else "The old mill sold looms."


class Web(BaseHTTPRequestHandler):
    """A search service whose results are pages of its own."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        port = self.server.server_address[1]
        hits = [
            {"url": f"http://page{i}.example:{port}/", "title": "Looms", "content": "Looms ..."}
            for i in (1, 2)
        ]
        page = self.path.startswith("/search")
        body = (json.dumps({"results": hits}) if page else PAGE).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if page else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A model and a search service on loopback, which pages may be read from for once."""
    web = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    monkeypatch.setenv("SEARXNG_URL", f"http://127.0.0.1:{web.server_address[1]}")

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    ports = {80, web.server_address[1]}
    opened = lambda: Guard(ports=ports, allowed_numbers=["127.0.0.1"], resolve=resolve)  # noqa: E731
    monkeypatch.setattr(snapshot, "Guard", opened)
    with StandIn(answer) as model:
        own_profile(tmp_path / "m.toml", f'[m]\nbase_url = "{model.url}"\nmodel = "m"\n')
        yield model
    web.shutdown()
    web.server_close()
    monkeypatch.delenv("SEARXNG_URL")


def data() -> Dataset:
    rows = [
        {
            "id": f"r{i}", "text": TEXT.format(i), "veracity": ("true", "false")[i % 2], "language": "eng",
            "split": "test" if i < 2 else "train", "date": None,
        }
        for i in range(8)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema_overrides={"date": pl.Datetime("us")})
    return Dataset.build("looms", frame)


def judged() -> Dataset:
    run = data()
    said = [
        {"record_id": i, "run": "m", "label": "true", "rationale": "So it is."}
        for i in ("r0", "r1")
    ]
    checks = [
        {"record_id": i, "evidence_id": i, "rank": 1, "text": TEXT, "rating": "True"}
        for i in ("r0", "r1")
    ]
    run.tables |= {
        "predictions": to_side_table("predictions", pl.DataFrame(said)),
        "evidence": to_side_table("evidence", pl.DataFrame(checks)),
    }
    return run


def detected(detector: str, **more: Any) -> Callable[..., object]:
    return lambda **ask: cl.detect(data(), detector, **more, **ask)


VERBS: dict[str, Callable[..., object]] = {
    "zero-shot": detected("llm-zero-shot"),
    "few-shot": detected("llm-few-shot", settings={"examples": 4}),
    "search": detected("llm-search", provider="searxng"),
    "enrich": lambda **ask: cl.enrich(
        data(), "searxng", extract="model", snapshot=True, limit=2, **ask
    ),
    "overlap": lambda **ask: cl.overlap(data(), cutoff="2020", **ask),
    "judge": lambda **ask: cl.judge(judged(), runs=2, **ask),
    "feasibility": lambda profile, **ask: cl.audit(
        data(), judge=profile, judge_sample=4, provider="searxng", checks=["feasibility"], **ask
    ),
}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_replay_gives_the_same_bytes_with_nobody_to_ask(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask: dict[str, Any] = {"profile": str(tmp_path / "m.toml"), "cache": tmp_path / "calls"}
    with servers(tmp_path, monkeypatch) as model:
        VERBS[verb](output=tmp_path / "first", **ask)
        assert model.requests > 0
    VERBS[verb](output=tmp_path / "again", mode="replay", **ask)
    assert bytes_of(tmp_path / "again") == bytes_of(tmp_path / "first")


def test_pages_that_are_read_count_as_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask: dict[str, Any] = {"profile": str(tmp_path / "m.toml"), "mode": "live", "limit": 1}
    Web.asked.clear()
    with servers(tmp_path, monkeypatch) as model:
        run = detected("llm-search", provider="searxng")(**ask)
        assert isinstance(run, Dataset)
        meta = json.loads(run.tables["predictions"]["meta"][0])
        spent = run.report["budget"]["spent"]["calls"]  # type: ignore[attr-defined]
        assert meta["pages_read"] == 2
        assert spent == model.requests + len(Web.asked)
        with pytest.raises(BudgetSpent, match=f"{spent - 1} of {spent - 1} calls"):
            detected("llm-search", provider="searxng")(max_calls=spent - 1, **ask)

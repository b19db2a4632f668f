"""Schemas against endpoints that refuse as vendors document it: every schema of the house is taken,
and still checked.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.packages import HAS_SIMULATE
from parts.standin import Body, StandIn, own_profile
from pydantic import BaseModel, Field

from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.core.errors import EndpointRefused
from claimlab.detect.detectors.llm_search import move_schema
from claimlab.detect.run import detect
from claimlab.detect.verdicts import verdict_schema
from claimlab.llm.asking import ask_sync
from claimlab.llm.judge import Reasoned
from claimlab.llm.messages import Request
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Profile
from claimlab.llm.schema import wire_schema

MODULES = ("audit.judge", "enrich.extract", "evaluate.judge.opinions", "llm.open")
OF_SIMULATE = (
    "evolve.auditors.known.model", "evolve.claims.seeding", "evolve.drift.judged", "evolve.rewrite.known.model",
    "evolve.worth.score",
)  # fmt: skip
LENGTHS = {"minLength", "maxLength", "pattern", "format"}
RANGES = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
LISTS = {"minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"}
NEVER = {
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "patternProperties",
    "default",
}


def nodes(
    node: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every schema within a schema; names of properties are not keywords."""
    if isinstance(node, dict):
        yield path, node
        for key, below in node.items():
            if key in ("properties", "$defs"):
                for name, part in below.items():
                    yield from nodes(part, (*path, key, name))
            elif key in ("items", "anyOf", "oneOf", "allOf"):
                yield from nodes(below, (*path, key))
    elif isinstance(node, list):
        for part in node:
            yield from nodes(part, path)


def closed(schema: dict[str, Any]) -> str | None:
    """OpenAI's, Azure's and Groq's first rule: objects are closed and every property is
    required.
    """
    for path, node in nodes(schema):
        if node.get("type") == "object" and node.get("additionalProperties") is not False:
            return f"In context={path}, 'additionalProperties' is required to be supplied and to be false."
        if node.get("type") == "object" and set(node.get("required", ())) != set(
            node.get("properties", ())
        ):
            return f"In context={path}, 'required' is required to be supplied and to be an array including every key."
        if "$ref" in node and len(node) > 1:
            return f"In context={path}, $ref cannot have keywords {sorted(set(node) - {'$ref'})}."
    return None


def azure(schema: dict[str, Any]) -> str | None:
    for path, node in nodes(schema):
        if bad := sorted(set(node) & (LENGTHS | RANGES | LISTS | NEVER)):
            return f"Invalid schema for response_format 'x': In context={path}, '{bad[0]}' is not permitted."
    if schema.get("type") != "object":
        return "Invalid schema for response_format 'x': schema must be a JSON Schema of 'type: \"object\"'."
    return closed(schema)


def anthropic(schema: dict[str, Any]) -> str | None:
    for _, node in nodes(schema):
        if bad := sorted(
            set(node) & (RANGES | {"minLength", "maxLength", "maxItems", "uniqueItems"})
        ):
            kind = node.get("type", "string")
            return f"output_config.format.schema: For '{kind}' type, properties {', '.join(bad)} are not supported"
        if node.get("minItems", 0) > 1:
            return "output_config.format.schema: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
        if node.get("type") == "object" and node.get("additionalProperties") is not False:
            return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    return None


def groq(schema: dict[str, Any]) -> str | None:
    wrong = closed(schema)
    bad = sorted(
        {key for _, node in nodes(schema) for key in node}
        & (NEVER | {"$schema", "minLength", "maxLength"})
    )
    if wrong or bad:
        return f"invalid JSON schema for response_format: {wrong or bad[0]}"
    return None


VENDORS = {"azure": azure, "anthropic": anthropic, "groq": groq}


def schemas() -> dict[str, type[BaseModel]]:
    """Everything that a model is asked to fit."""
    found: dict[str, type[BaseModel]] = {}
    modules = {name: f"claimlab.{name}" for name in MODULES}
    if HAS_SIMULATE:
        modules |= {name: f"claimlab_simulate.{name}" for name in OF_SIMULATE}
    for name, path in modules.items():
        module = importlib.import_module(path)
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, BaseModel)
                and value.__module__ == module.__name__
            ):
                found[f"{name}.{value.__name__}"] = value
    classes = ("true", "false")
    found |= {
        f"verdict {n}": verdict_schema(classes, a, r, cites=c)
        for n, (a, r, c) in enumerate(((True, None, True), (False, 400, False)))
    }
    found |= {"turn": move_schema(classes, True), "turn, bounded": move_schema(classes, False, 400)}
    if HAS_SIMULATE:
        from claimlab_simulate.evolve.claims.seeding import answer_schema
        from claimlab_simulate.evolve.drift.fuse import FuseReading, schema_of

        found |= {"seeds": answer_schema("claim", 3), "fuse": schema_of(FuseReading())}
    return found


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_schema_is_taken_by_a_strict_endpoint(vendor: str) -> None:
    """Over a real socket: a server that answers 400 in the vendor's words where it would, and else
    obliges.
    """
    asked: list[str] = []

    def fault(body: Body, _: int) -> tuple[int, bytes] | None:
        wrong = VENDORS[vendor](body["response_format"]["json_schema"]["schema"])
        asked.append(wrong or "taken")
        error = {
            "message": wrong,
            "type": "invalid_request_error",
            "param": "response_format",
            "code": None,
        }
        return (400, json.dumps({"error": error}).encode()) if wrong else None

    with StandIn(answer=lambda _: "{}", fault=fault) as server:
        provider = open_provider(
            Profile(name="strict", base_url=server.url, model="m", schema_bound=True),
            calls=Calls(mode="live"),
        )
        for name, schema in schemas().items():
            answer = ask_sync(provider, Request.of("x", schema=schema))
            assert answer.failure in (None, "invalid-schema"), (name, answer.detail)
    assert set(asked) == {"taken"}
    assert len(asked) >= len(schemas()) > (15 if HAS_SIMULATE else 8)


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_servers_refuse_what_pydantic_would_send(vendor: str) -> None:
    class Scored(BaseModel):
        words: str = Field(max_length=4)
        score: int = Field(ge=0, le=10)
        tags: list[str] = Field(min_length=2)

    assert VENDORS[vendor](Scored.model_json_schema()) is not None
    assert VENDORS[vendor](wire_schema(Scored)["schema"]) is None


# As the vendors' references print them: status and body.
REFUSALS = {
    "openai": (400, {"error": {
        "message": "Invalid schema for response_format 'Verdict': In context=('properties', 'rationale'), 'maxLength' is "
                   "not permitted.",
        "type": "invalid_request_error", "param": "response_format", "code": None}}),
    "azure": (400, {"error": {
        "message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "type": "invalid_request_error", "param": None, "code": None}}),
    "anthropic": (400, {"type": "error", "error": {
        "type": "invalid_request_error",
        "message": "output_config.format.schema: For 'string' type, properties maxLength are not supported"}}),
    "groq": (400, {"error": {
        "message": "This model does not support response format `json_schema`.", "type": "invalid_request_error",
        "param": "response_format"}}),
    "google": (400, [{"error": {
        "code": 400, "message": "Invalid JSON payload received. Unknown name \"const\" at "
                                "'generation_config.response_schema'", "status": "INVALID_ARGUMENT"}}]),
}  # fmt: skip


@pytest.mark.parametrize("vendor", REFUSALS)
def test_a_refused_schema_stops_the_run_with_a_sentence(vendor: str, tmp_path: Path) -> None:
    status, body = REFUSALS[vendor]
    rows = pl.DataFrame({"id": ["a", "b"], "text": ["One.", "Two."], "veracity": ["true", "false"]})
    with StandIn(
        answer=lambda _: "{}", fault=lambda *_: (status, json.dumps(body).encode())
    ) as server:
        own_profile(
            tmp_path / "m.toml",
            f'[strict]\nbase_url = "{server.url}"\nmodel = "m"\nschema_bound = true\n',
        )
        with pytest.raises(EndpointRefused) as stopped:
            detect(
                Dataset.build("d", rows),
                "llm-zero-shot",
                profile=str(tmp_path / "m.toml"),
                mode="live",
            )
    told = json.dumps(body).split('"message": "')[1].split('"')[0].split("\\")[0]
    assert f"does not take the schema that answers are bound to (HTTP 400: {told}" in str(
        stopped.value
    )
    assert "schema_bound = false" in str(stopped.value)


def test_a_reply_that_a_model_could_not_bring_into_the_schema_fails_alone() -> None:
    error = {"message": "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
             "type": "invalid_request_error", "code": "json_validate_failed", "failed_generation": "{"}  # fmt: skip
    fault = lambda *_: (400, json.dumps({"error": error}).encode())  # noqa: E731
    with StandIn(answer=lambda _: "{}", fault=fault) as server:
        profile = Profile(name="strict", base_url=server.url, model="m", schema_bound=True)
        answer = ask_sync(
            open_provider(profile, calls=Calls(mode="live")), Request.of("x", schema=Reasoned)
        )
    assert (answer.failure, answer.transient) == ("http-400", False)
    assert answer.detail is not None
    assert answer.detail.startswith("Failed to generate JSON")


def test_bounds_are_said_in_words_and_checked_on_the_way_in() -> None:
    class Scored(BaseModel):
        score: int = Field(ge=0, le=10, description="how bad it is")

    described = wire_schema(Scored)["schema"]["properties"]["score"]
    assert described == {"type": "integer", "description": "how bad it is; at least 0, at most 10"}
    kept = wire_schema(Scored, bounds=True)["schema"]["properties"]["score"]
    assert (kept["minimum"], kept["maximum"]) == (0, 10), "an endpoint that enforces them gets them"
    with StandIn(answer=lambda _: '{"score": 11}') as server:
        provider = open_provider(
            Profile(name="strict", base_url=server.url, model="m", schema_bound=True),
            calls=Calls(mode="live"),
        )
        assert ask_sync(provider, Request.of("x", schema=Scored)).failure == "invalid-schema"


def test_the_rationale_comes_before_the_verdict_in_every_schema_of_a_judge() -> None:
    judged = {name: schema for name, schema in schemas().items() if issubclass(schema, Reasoned)}
    assert len(judged) > (11 if HAS_SIMULATE else 4)
    for name, schema in judged.items():
        assert next(iter(schema.model_fields)) == "rationale", name
        assert next(iter(wire_schema(schema)["schema"]["properties"])) == "rationale", name

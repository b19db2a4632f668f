"""Profiles: an endpoint as data. Name, base URL, the NAME of the variable that holds the key,
prices, abilities.

Built-in ones are in data/profiles.toml; your own are TOML files of the same layout, given as a path
or named in the variable CLAIMLAB_PROFILES. A bare name is never a file. A profile never holds a
key, and one from a file gets no host, no key and no model file before the user has allowed the
file. Its own price wins over a published one that is lower; where neither is known the cost is
null, and a cap in money is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from claimlab.core import packaged
from claimlab.core.errors import ClaimlabError, DataError, UnreadableFile, UsageError, check_name
from claimlab.core.grants import Grant, Wanted, grant, host_of, is_loopback, sent_to
from claimlab.core.toml_file import is_file_name, read_raw_toml
from claimlab.core.types import JsonObject
from claimlab.llm.messages import Answer, Request, T, Unread, Usage
from claimlab.llm.prices import Price, listed_price

GGUF = "gguf:"
SLOTS = 2  # calls at once of a model file
CONTEXT_TOKENS = 8192  # tokens for a call of a model file: 15 examples with evidence fit


class Profile(BaseModel):
    # A key pasted where a variable's name belongs must not be shown again in the message about it.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str
    provider: str = "openai-compatible"
    base_url: str | None = None
    model: str | None = None
    key_variable: str | None = Field(default=None, pattern=r"^[A-Z][A-Z0-9_]*$")
    prices: dict[str, Price] = {}  # by model id; "*" for any other
    schema_bound: bool = False  # takes response_format json_schema; else JSON is asked for in words
    schema_bounds: bool = (
        False  # enforces lengths, ranges and patterns too; others refuse them, or do not look
    )
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reply_tokens: dict[
        str, int
    ] = {}  # the limit of a reply, by the name of the prompt; "*" for any other
    reasoning_tokens: int | dict[str, int] = (
        0  # room for hidden reasoning, added to every limit; by model, with * and ?
    )
    batch_price: float = Field(
        default=1.0, ge=0, le=1
    )  # of a call in a batch, as a share of its usual price
    timeout: float = Field(default=120.0, gt=0)
    concurrency: int | None = Field(default=None, ge=1)  # the most calls at once that it can take
    parameters: JsonObject = {}  # sent with every call, such as {reasoning_effort = "low"}
    options: JsonObject = {}  # for the provider itself, never sent
    standing: str | None = None  # what results made with it are worth, where that must be said
    note: str | None = None

    _file: Path | None = PrivateAttr(default=None)  # the received file that says all this
    _listed: tuple[Wanted, ...] = PrivateAttr(default=())  # what that file wants

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        parts = urlsplit(url or "http://none")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the base URL must start with http:// or https://")
        if parts.username or parts.password:
            raise ValueError("keys belong into the environment, not into the base URL")
        if url is not None and parts.scheme == "http" and not is_loopback(parts.hostname):
            raise ValueError(
                "http:// sends texts and keys in clear: use https://, or a tunnel to 127.0.0.1"
            )
        return url

    @field_validator("parameters")
    @classmethod
    def _no_second_opinion(cls, parameters: JsonObject) -> JsonObject:
        ours = {
            "model",
            "messages",
            "max_tokens",
            "max_completion_tokens",
            "n",
            "stream",
            "response_format",
            "seed",
        }
        if taken := sorted(ours & set(parameters)):
            raise ValueError(
                f"{', '.join(taken)} cannot be set here: caps, cache and schema depend on it"
            )
        return parameters

    def limited(self, request: Request[T]) -> Request[T]:
        """`request` with the limit of tokens that this endpoint needs. Hidden reasoning counts as
        output everywhere: a limit that fits the visible reply alone would cut it, or leave nothing.
        """
        tokens = self.reply_tokens.get(
            request.prompt_name, self.reply_tokens.get("*", request.max_tokens)
        )
        return replace(request, max_tokens=tokens + self.room_for_reasoning())

    def room_for_reasoning(self) -> int:
        if isinstance(self.reasoning_tokens, int):
            return self.reasoning_tokens
        models = self.reasoning_tokens.items()
        return next((room for name, room in models if fnmatchcase(self.model or "", name)), 0)

    def of_file(self, file: Path, listed: Iterable[Wanted]) -> Profile:
        """The same, as what a received file says that wants all that is `listed`."""
        profile = self.model_copy()
        profile._file, profile._listed = file, tuple(listed)
        return profile

    def with_model(self, model: str | None) -> Profile:
        return self if model is None else self.model_copy(update={"model": model})

    @property
    def price(self) -> Price | None:
        """The profile's own, else the one that is published for this endpoint; null where neither
        is known.
        """
        own = self.prices.get(self.model or "", self.prices.get("*"))
        listed = listed_price(self.base_url, self.model) if self.model is not None else None
        return listed if own is None else own if listed is None else own.at_least(listed)

    @property
    def batch_share(self) -> float:
        """What a call in a batch costs, as a share of its usual price: of a known vendor no less
        than the vendor says."""
        vendor = _vendor(self.base_url)
        return self.batch_price if vendor is None else max(self.batch_price, vendor.batch_price)

    def cost(self, usage: Usage) -> float | None:
        """Null when the price or the usage is not known."""
        if self.price is None or usage.input is None or usage.output is None:
            return None
        return self.price.cost(usage.input, usage.output, usage.cached or 0)

    def failed(self, failure: str, detail: str | None, **more: Any) -> Unread:
        """The answer to a call that brought none, with the reason."""
        return Answer(model=self.chosen_model(), failure=failure, detail=detail or None, **more)

    def chosen_model(self) -> str:
        if self.model is None:
            raise UsageError(
                f"The profile '{self.name}' does not say which model to ask.", "Pass `model`."
            )
        return self.model

    def wanted(self) -> list[Wanted]:
        """What the profile would reach: its host, the key that the host gets, a model file that is
        opened by native code, and a price that is said to be nothing."""
        asked = []
        if self.base_url is not None:
            asked.append(Wanted("host", host_of(self.base_url), "gets texts of the records"))
            if self.key_variable is not None:
                asked.append(sent_to(self.key_variable, self.base_url))
        for option in ("path", "adapter"):
            if file := self.options.get(option):
                place = Path(str(file)).expanduser().absolute()
                asked.append(Wanted("path", str(place), "a model file, opened by native code"))
        for model, price in sorted(self.prices.items()):
            listed = listed_price(self.base_url, model if model != "*" else self.model or "")
            if price.input == price.output == 0:
                asked.append(Wanted("price", f"of {model}: nothing", f"says '{self.name}'"))
            elif listed is not None and price.at_least(listed) != price:
                words = f"of {model}: {price.input:g} and {price.output:g} dollars"
                known = f"the published {listed.input:g} and {listed.output:g} count instead"
                asked.append(Wanted("price", words, known))
        return asked

    def granted(self, kind: str) -> list[Grant]:
        """Leave for everything of this kind that the profile would reach."""
        wanted = [each for each in self.wanted() if each.kind == kind]
        return [grant(each, file=self._file, listed=self._listed) for each in wanted]

    def key(self) -> str | None:
        """The key itself, straight from the environment; null when the endpoint takes none."""
        if self.key_variable is None:
            return None
        self.granted("variable")
        value = os.environ.get(self.key_variable, "").strip()
        if not value:
            raise ClaimlabError(
                f"The profile '{self.name}' takes its key from the variable {self.key_variable},"
                " which is not set.",
                f"Set it (export {self.key_variable}=…), or try the embedded model: claimlab llm"
                " install",
            )
        return value


def find_profile(which: str) -> Profile:
    """A profile by name, by the path of a TOML file that holds one, by FILE#NAME, or gguf:PATH for
    a local model.
    """
    if which.startswith(GGUF):
        path, _, settings = which.removeprefix(GGUF).partition("?")
        return _gguf(Path(path).expanduser(), settings)
    path, _, name = which.partition("#")
    if not is_file_name(path):
        return _named(which, all_profiles())
    profiles = read_profiles(Path(path))
    if not name and len(profiles) > 1:
        raise UsageError(
            f"'{path}' holds {len(profiles)} profiles.", f"Say which: {path}#{next(iter(profiles))}"
        )
    profile = _named(name or next(iter(profiles), ""), profiles)
    return profile.of_file(Path(path), wanted_of(profiles))


def wanted_of(profiles: Mapping[str, Profile]) -> list[Wanted]:
    """What the profiles of one file would reach."""
    return sorted({wanted for profile in profiles.values() for wanted in profile.wanted()})


def _named(name: str, profiles: Mapping[str, Profile]) -> Profile:
    check_name("model profile", name, profiles)
    return profiles[name]


def _vendor(base_url: str | None) -> Profile | None:
    """The built-in profile with the host of this address; this machine is no vendor."""
    host = urlsplit(base_url or "").hostname
    if host is None or is_loopback(host):
        return None
    built_in = _built_in().values()
    return next((each for each in built_in if urlsplit(each.base_url or "").hostname == host), None)


def _gguf(path: Path, settings: str) -> Profile:
    """A model file on this machine, with what stands behind its name: `?context=8192&slots=1`. A
    replay does not need the file itself, only its name."""
    chosen: dict[str, int] = {"context": CONTEXT_TOKENS, "slots": SLOTS}
    for part in filter(None, settings.split("&")):
        name, _, value = part.partition("=")
        if name not in ("context", "slots", "threads") or not value.isdigit() or int(value) < 1:
            raise UsageError(
                f"A local model has no setting '{part}'.",
                "Write gguf:PATH?context=8192&slots=1&threads=4, each a whole number from 1.",
            )
        chosen[name] = int(value)
    if path.is_file():
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise UnreadableFile(
                    f"'{path}' is not a GGUF file.", "Pass the weights of a model in that format."
                )
    elif path.suffix != ".gguf":
        raise UnreadableFile(f"There is no model file '{path}'.", "Check the path.")
    options = {"path": str(path), **chosen}
    return Profile(
        name=f"{GGUF}{path.name}",
        provider="gguf",
        model=path.stem,
        schema_bound=True,
        schema_bounds=True,
        timeout=1800,
        concurrency=chosen["slots"],
        prices={"*": Price(input=0, output=0)},
        options=options,
        standing="a local model file: its quality is not known to claimlab",
    )


def all_profiles() -> dict[str, Profile]:
    """The built-in profiles and those of the files named in CLAIMLAB_PROFILES, which win."""
    profiles = dict(_built_in())
    for place in os.environ.get("CLAIMLAB_PROFILES", "").split(os.pathsep):
        if place:
            profiles |= read_profiles(Path(place).expanduser())
    return dict(sorted(profiles.items()))


def read_profiles(path: Path) -> dict[str, Profile]:
    """The profiles of one TOML file: a table each, its heading the name."""
    try:
        return _profiles(read_raw_toml(path), path.name)
    except UsageError:
        raise UnreadableFile(
            f"The profile file '{path}' cannot be read.", "Check the path."
        ) from None
    except DataError as error:
        raise UnreadableFile(error.problem, "See docs/llm.md for the layout.") from None


@cache
def _built_in() -> dict[str, Profile]:
    return _profiles(packaged.toml("claimlab.llm", "profiles.toml"), "profiles.toml")


def _profiles(tables: JsonObject, where: str) -> dict[str, Profile]:
    name = ""
    try:
        profiles = {}
        for name, table in tables.items():
            if not isinstance(table, dict):
                raise UnreadableFile(
                    f"'{name}' in '{where}' is not a table.", f"Write it as [{name}] with settings."
                )
            profiles[name] = Profile(name=name, **table)
        return profiles
    except (ValidationError, TypeError) as error:
        raise UnreadableFile(
            f"The profile '{name}' in '{where}' is wrong: {_wrong(error)}.",
            "See docs/llm.md for its fields; a key is never one of them.",
        ) from None


def _wrong(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "it sets its own name"
    return "; ".join(
        f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}"
        for e in error.errors(include_input=False)
    )

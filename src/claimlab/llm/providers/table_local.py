"""Models on this machine, with no key, no network and no bill: "embedded" is SmolLM2-135M, too
small for results; "gguf" is any GGUF file by its path (`gguf:PATH`), as good as the file.

llama.cpp runs inside this process: an OpenAI-compatible server on loopback, on a free port, behind
a key of its own. It is started when first asked, shared by everything in the process, and stopped
when the process ends.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib
import os
import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claimlab.core.errors import ClaimlabError, MissingExtra, UnreadableFile
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.profiles import Profile
from claimlab.llm.providers.openai_compatible import OpenAICompatible
from claimlab.llm.weights import installed, weights_path

SLOTS = 2
CONTEXT = 4096  # tokens per slot
_lock = threading.Lock()
_running: dict[tuple[Path, int, str | None], LocalServer] = {}


class Local:
    """Weights on this machine, loaded when first asked."""

    def __init__(self, profile: Profile, weights: Path, *, context: int = CONTEXT) -> None:
        self.profile, self.weights, self.context = profile, weights, context
        self.adapter: str | None = profile.options.get("adapter")
        self._endpoint: OpenAICompatible | None = None

    async def ask(self, request: Request[T]) -> Answer[T]:
        if self._endpoint is None:
            self.check()
            server = await asyncio.to_thread(local_server, self.weights, self.context, self.adapter)
            profile = self.profile.model_copy(update={"base_url": server.url})
            self._endpoint = self._endpoint or OpenAICompatible(profile, key=server.key)
        return await self._endpoint.ask(request)

    def check(self) -> None:
        """Raise where the weights are not there."""

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()


class Embedded(Local):
    def __init__(self, profile: Profile) -> None:
        super().__init__(profile, weights_path())

    def check(self) -> None:
        if not installed():
            raise ClaimlabError(
                "The embedded model is not installed.", "Fetch it (98 MB): claimlab llm install"
            )


class Gguf(Local):
    def __init__(self, profile: Profile) -> None:
        options = profile.options
        super().__init__(profile, Path(options["path"]), context=int(options["context"]))

    def check(self) -> None:
        if not self.weights.is_file():
            raise UnreadableFile(f"There is no model file '{self.weights}'.", "Check the path.")


ENTRIES = {"embedded": Embedded, "gguf": Gguf}


@dataclass(frozen=True)
class LocalServer:
    url: str
    key: str
    engine: Any


def local_server(weights: Path, context: int = CONTEXT, adapter: str | None = None) -> LocalServer:
    """The server of these weights, with this many tokens of context per call and an adapter (a LoRA
    in GGUF) where one is named; blocks while it loads.
    """
    key = weights, context, adapter
    with _lock:
        if key not in _running:
            _running[key] = _start(*key)
            atexit.register(stop, *key)
        return _running[key]


def stop(weights: Path, context: int = CONTEXT, adapter: str | None = None) -> None:
    """Stop the server, if it runs."""
    with _lock:
        _running.pop((weights, context, adapter), None)  # the engine ends with its last reference


def _start(weights: Path, context: int, adapter: str | None) -> LocalServer:
    try:
        library: Any = importlib.import_module("xllamacpp")
    except ImportError:
        raise MissingExtra("A model inside this process", "local-llm") from None
    key = secrets.token_urlsafe(24)  # other users of this machine can reach loopback too
    params = library.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {weights.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_parallel = SLOTS
    params.n_ctx = context * SLOTS
    params.warmup = False
    params.ui = False
    params.verbosity = -1
    if adapter is not None:
        lora = library.CommonAdapterLoraInfo()
        lora.path, lora.scale = adapter, 1.0
        params.lora_adapters = [lora]
        params.chat_template = "chatml"  # as in training: without a system message of the model's
    # Its threads wait for each other in a busy loop: with none to spare, a loaded machine slows it
    # tenfold.
    threads = max(1, (os.cpu_count() or 2) // 2)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    try:
        engine = library.Server(params)
    except Exception as error:
        raise ClaimlabError(
            f"The model could not be started from '{weights}': {error}.",
            "Fetch the embedded model again (claimlab llm install), or pass another GGUF file.",
        ) from error
    return LocalServer(url=f"{engine.listening_address}/v1", key=key, engine=engine)

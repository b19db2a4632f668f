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
CONTEXT_TOKENS = 4096  # tokens per slot
NUMBERS = ("context", "slots", "threads")
_lock = threading.Lock()
_running: dict[Load, LocalServer] = {}


@dataclass(frozen=True)
class Load:
    """What a server is started with: the weights, tokens of context per call, calls at once,
    threads (half of the processors by default), and an adapter (a LoRA in GGUF).
    """

    weights: Path
    context: int = CONTEXT_TOKENS
    adapter: str | None = None
    slots: int = SLOTS
    threads: int | None = None


class LocalModel:
    """Weights on this machine, loaded when first asked."""

    def __init__(self, profile: Profile, weights: Path) -> None:
        numbers = {k: int(profile.options[k]) for k in NUMBERS if k in profile.options}
        self.profile, self.weights = profile, weights
        self.load = Load(weights, adapter=profile.options.get("adapter"), **numbers)
        self._endpoint: OpenAICompatible | None = None

    async def ask(self, request: Request[T]) -> Answer[T]:
        if self._endpoint is None:
            self.profile.granted("path")
            self.check()
            server = await asyncio.to_thread(server_of, self.load)
            profile = self.profile.model_copy(update={"base_url": server.url})
            self._endpoint = self._endpoint or OpenAICompatible(profile, key=server.key)
        return await self._endpoint.ask(request)

    def check(self) -> None:
        """Raise where the weights are not there."""

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()


class Embedded(LocalModel):
    def __init__(self, profile: Profile) -> None:
        super().__init__(profile, weights_path())

    def check(self) -> None:
        if not installed():
            raise ClaimlabError(
                "The embedded model is not installed.", "Fetch it (98 MB): claimlab llm install"
            )


class Gguf(LocalModel):
    def __init__(self, profile: Profile) -> None:
        super().__init__(profile, Path(profile.options["path"]))

    def check(self) -> None:
        if not self.weights.is_file():
            raise UnreadableFile(f"There is no model file '{self.weights}'.", "Check the path.")
        needed, free = self.weights.stat().st_size / 1e9, free_memory() / 1e9
        if needed > free:
            raise ClaimlabError(
                f"'{self.weights.name}' needs {needed:.1f} GB of memory for its weights alone, and"
                f" {free:.1f} GB are free.",
                "Use a smaller file (fewer bits per weight), or free memory.",
            )


ENTRIES = {"embedded": Embedded, "gguf": Gguf}


@dataclass(frozen=True)
class LocalServer:
    url: str
    key: str
    engine: Any


def server_of(load: Load) -> LocalServer:
    """The server of these weights; blocks while it loads."""
    with _lock:
        if load not in _running:
            _running[load] = _start(load)
            atexit.register(_stop, load)
        return _running[load]


def stop(weights: Path, context: int = CONTEXT_TOKENS, adapter: str | None = None) -> None:
    """Stop the server, if it runs."""
    _stop(Load(weights, context, adapter))


def _stop(load: Load) -> None:
    with _lock:
        _running.pop(load, None)  # the engine ends with its last reference


def free_memory() -> int:
    """Bytes that a process may still take; as many as there may be where that is not told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 1 << 62
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    return sizes.get("MemAvailable", 1 << 62)


def _start(load: Load) -> LocalServer:
    weights, adapter = load.weights, load.adapter
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
    params.n_parallel = load.slots
    params.n_ctx = load.context * load.slots
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
    threads = load.threads or max(1, (os.cpu_count() or 2) // 2)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    try:
        engine = library.Server(params)
    except Exception as error:
        raise ClaimlabError(
            f"The model could not be started from '{weights}': {error}.",
            "Fetch the embedded model again (claimlab llm install), or pass another GGUF file.",
        ) from error
    return LocalServer(url=f"{engine.listening_address}/v1", key=key, engine=engine)

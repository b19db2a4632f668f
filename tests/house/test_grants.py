"""What was received has no effect before this user allows it, and has it afterwards.

Every kind of received file goes through every verb that takes it, and through `trust`, in a process
in which Python itself tells what happens (`sys.addaudithook`): which addresses are connected to,
which files outside the folder are opened, which programs are started, and whether the variable with
the canary is read. Before a grant there is no such event; with all grants there is the one that the
file is about: a gate that blocks everything would be none.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from parts import forked
from parts.packages import module_files
from parts.planted import planted

import claimlab as cl
from claimlab.core.call import digest_input
from claimlab.core.dataset import Dataset
from claimlab.evaluate.eqa.study import QUESTIONS
from claimlab.llm.profiles import all_profiles

CANARY = "AWS_SECRET_ACCESS_KEY"
CHILD = """
import json, os, sys
events, outside = [], os.environ.pop("OUTSIDE")
log = os.environ.pop("EVENTS")
def note(*what):
    with_hook.append(what)
with_hook = []
def hook(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple):
        with_hook.append(("host", str(args[1][0])))
    elif event == "socket.getaddrinfo":
        with_hook.append(("host", str(args[0])))
    elif event == "open" and isinstance(args[0], str) and args[0].startswith(outside):
        with_hook.append(("path", args[0]))
    elif event == "subprocess.Popen" and "claimlab.detect.own.process" in map(str, args[1]):
        with_hook.append(("code", str(args[1][-1])))
class Watched(type(os.environ)):
    def get(self, name, default=None):
        if name == "AWS_SECRET_ACCESS_KEY":
            with_hook.append(("variable", name))
        return super().get(name, default)
os.environ.__class__ = Watched
sys.addaudithook(hook)
from claimlab.cli.app import run
code = 99
try:
    code = run(sys.argv[1:])
except BaseException as error:
    with_hook.append(("raised", repr(error)))
with open(log, "w") as file:
    json.dump({"code": code, "events": with_hook}, file)
"""


class Canary:
    """A server on loopback that counts who connects, and sends all away."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.asked.append(b"")
            try:
                connection.settimeout(0.2)
                connection.sendall(b"HTTP/1.0 400 no\r\nContent-Length: 0\r\n\r\n")
                self.asked[-1] = connection.recv(65536)
            except OSError:
                pass
            connection.close()

    def close(self) -> None:
        self._listener.close()


@dataclass
class World:
    """A folder that was received, a folder beside it that is the user's own, and the canary."""

    gift: Path
    outside: Path
    canary: Canary
    log: Path
    said: str = ""  # on stderr by the last command

    def call(self, words: str) -> tuple[int, list[list[str]]]:
        """The exit code and the events of a command in the received folder."""
        self.log.unlink(missing_ok=True)
        env = {
            **os.environ,
            "EVENTS": str(self.log),
            "OUTSIDE": str(self.outside),
            CANARY: "AKIA-CANARY-1",
            "PYTHONPATH": str(Path(cl.__file__).parents[1]),
            "HF_ENDPOINT": f"http://127.0.0.1:{self.canary.port}",
            "HF_HUB_OFFLINE": "0",
            "CLAIMLAB_STATE": str(self.log.parent / "state"),
            "CLAIMLAB_CACHE": str(self.log.parent / "cache"),
        }
        self.said = forked.run(
            [sys.executable, "-c", CHILD, *words.split()],
            cwd=self.gift,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        ).stderr
        said = json.loads(self.log.read_text("utf-8"))
        return said["code"], said["events"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return cl.split(planted(size=120)[0], output=tmp_path_factory.mktemp("data") / "d").dataset


@pytest.fixture
def world(tmp_path: Path, data: Dataset) -> Iterator[World]:
    gift, outside = tmp_path / "gift", tmp_path / "outside"
    gift.mkdir()
    outside.mkdir()
    data.write(gift / "data")
    data.write(outside / "data")
    (outside / "weights.gguf").write_bytes(b"GGUF" + bytes(64))
    (gift / "own.py").write_text("def answer(texts):\n    return ['true' for _ in texts]\n")
    world = World(gift, outside, Canary(), tmp_path / "events.json")
    yield world
    world.canary.close()


def eqa(dataset: str, runs: str = "") -> str:
    answers = "\n".join(f'{name} = "A sentence that answers it, fully."' for name in QUESTIONS)
    return f'title = "A gift"\n[formulation]\n{answers}\n[data]\ndatasets = ["{dataset}"]\n{runs}'


def study(detector: str = '"majority"', folder: str = "data", more: str = "") -> str:
    return f'[datasets.d]\nfolder = "{folder}"\n[grid]\ndetector = [{detector}]\n{more}'


PROFILE = (
    f'[nice]\nbase_url = "http://127.0.0.1:{{port}}/v1"\nmodel = "m"\nkey_variable = "{CANARY}"\n'
)
ASKED = study('"a"', more='[detector.a]\ndetector = "llm-zero-shot"\nprofile = "nice.toml"\n')
STORED = "ftp://127.0.0.1:{port}/set"
ONE_SLASH = "ftp:/127.0.0.1:{port}/set"
OUTSIDE = "{outside}/data"
HUB = study('"h"', more='[detector.h]\ndetector = "encoder"\nsettings = { model = "x/y" }\n')
GGUF = '[local]\nprovider = "gguf"\nmodel = "m"\noptions = { path = "{outside}/weights.gguf" }\n'
RUN = '[[runs]]\nname = "r"\npath = "data/records.parquet"\ndataset = "{outside}/data"\n'
CALL = json.dumps(
    {
        "function": "claimlab.evaluate.eqa.write.report",
        "arguments": {"study": {"$input": "eqa.toml", "sha256": "{digest}"}},
        "tool": "claimlab",
    }
)
# kind of file -> (files, what is trusted, verbs that take it, the event that it is about)
KINDS: dict[str, tuple[dict[str, str], str, list[str], str]] = {
    "profile": (
        {"nice.toml": PROFILE},
        "nice.toml",
        [
            "llm test --profile nice.toml",
            "detect data --detector llm-zero-shot --profile nice.toml -o out",
        ],
        "variable",
    ),
    "profile of a model file": (
        {"local.toml": GGUF},
        "local.toml",
        ["llm test --profile local.toml"],
        "",  # native code opens it, which Python does not hear of
    ),
    "study with a profile": (
        {"study.toml": ASKED, "nice.toml": PROFILE},
        "study.toml",
        ["study run study.toml -o out --set max_calls=2", "study check study.toml"],
        "variable",
    ),
    "study in storage": (
        {"study.toml": study(folder=STORED)},
        "study.toml",
        ["study run study.toml -o out", "study check study.toml"],
        "host",
    ),
    "study in storage, one slash": (
        {"study.toml": study(folder=ONE_SLASH)},
        "study.toml",
        ["study run study.toml -o out", "study check study.toml"],
        "host",
    ),
    "study of a folder outside": (
        {"study.toml": study(folder=OUTSIDE)},
        "study.toml",
        ["study run study.toml -o out", "study check study.toml"],
        "path",
    ),
    "study with a model of a hub": (
        {"study.toml": HUB},
        "study.toml",
        ["study run study.toml -o out", "study check study.toml"],
        "host",
    ),
    "study with code": (
        {"study.toml": study('"own.py:answer"')},
        "study.toml",
        ["study run study.toml -o out", "study check study.toml"],
        "code",
    ),
    "EQA file in storage": (
        {"eqa.toml": eqa(STORED)},
        "eqa.toml",
        ["report eqa.toml -o out"],
        "host",
    ),
    "EQA file of a folder outside": (
        {"eqa.toml": eqa(OUTSIDE)},
        "eqa.toml",
        ["report eqa.toml -o out"],
        "path",
    ),
    "EQA file with a run of a dataset outside": (
        {"eqa.toml": eqa("data", RUN)},
        "eqa.toml",
        ["report eqa.toml -o out"],
        "path",
    ),
    "folder to rerun": (
        {"eqa.toml": eqa(STORED), "made/call.json": CALL},
        "made",
        ["rerun made"],
        "host",
    ),
}


def give(world: World, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = world.gift / name
        file.parent.mkdir(exist_ok=True)
        text = text.replace("{port}", str(world.canary.port))
        text = text.replace("{outside}", str(world.outside))
        if "{digest}" in text:
            text = text.replace("{digest}", str(digest_input(world.gift / "eqa.toml")))
        file.write_text(text, encoding="utf-8")


def is_there(kind: str) -> bool:
    import importlib.util as finder

    return "hub" not in kind or all(
        finder.find_spec(name) for name in ("torch", "transformers", "huggingface_hub")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_happens_before_a_grant_and_everything_after(kind: str, world: World) -> None:
    files, subject, verbs, event = KINDS[kind]
    give(world, files)
    for words in (f"trust {subject}", f"trust {subject} --json", *verbs):
        code, events = world.call(words)
        assert events == [], words
        assert code == 1, (words, world.said)
        assert words.startswith("trust") or "claimlab trust" in world.said, (words, world.said)
    assert world.canary.asked == []
    assert not (world.gift / "out").exists()
    assert world.call(f"trust {subject} --yes") == (0, []), world.said
    assert world.canary.asked == []
    if not is_there(kind):
        pytest.skip("what would be done needs an extra that is not installed")
    code, events = world.call(verbs[0])
    assert "claimlab trust" not in world.said
    assert not event or event in {each[0] for each in events}, (code, events, world.said)
    if event == "variable":
        assert any(b"AKIA-CANARY-1" in asked for asked in world.canary.asked) or world.canary.asked


@pytest.mark.parametrize("name", ["", ".txt"])
def test_a_file_named_like_a_profile_is_not_read(name: str, world: World) -> None:
    for profile in all_profiles():
        give(world, {f"{profile}{name}": PROFILE})
    for profile in ["", *(f" --profile {profile}" for profile in ("embedded", "ollama"))]:
        world.call(f"llm test{profile}")
        assert world.canary.asked == []
    code, events = world.call("llm test --profile ./openai")
    assert (code, world.canary.asked) == (1, [])  # a file that is named is one that was received
    assert ["variable", CANARY] not in events


def test_one_host_is_not_allowed_the_key_of_another(world: World) -> None:
    """Two profiles with two hosts and two keys are allowed; changed about, they are asked again."""
    two = (
        '[a]\nbase_url = "https://a.example/v1"\nmodel = "m"\nkey_variable = "ONE"\n'
        '[b]\nbase_url = "https://b.example/v1"\nmodel = "m"\nkey_variable = "TWO"\n'
    )
    give(world, {"study.toml": ASKED.replace("nice.toml", "nice.toml#a"), "nice.toml": two})
    assert world.call("trust study.toml --yes")[0] == 0
    assert world.call("trust study.toml")[0] == 0
    give(world, {"nice.toml": two.replace("ONE", "X").replace("TWO", "ONE").replace("X", "TWO")})
    assert world.call("trust study.toml")[0] == 1


@pytest.mark.slow
def test_trust_is_silent_exactly_where_a_run_has_no_effect(world: World) -> None:
    """Studies drawn from what a study can name: `trust` lists something if, and only if, the run
    with every grant makes an event."""
    draw = random.Random(5)
    folders = ["data", "data", OUTSIDE, STORED]
    detectors = ['"majority"', '"length"', '"own.py:answer"', '"a"']
    for number in range(10):
        detector, folder = draw.choice(detectors), draw.choice(folders)
        text = study(detector, folder)
        if detector == '"a"':
            text += '[detector.a]\ndetector = "llm-zero-shot"\nprofile = "nice.toml"\n'
        give(world, {"study.toml": text + f"# {number}\n", "nice.toml": PROFILE})
        silent = world.call("trust study.toml")[0] == 0
        _, before = world.call(f"study run study.toml -o out{number}")
        assert before == []
        world.call("trust study.toml --yes")
        _, after = world.call(f"study run study.toml -o out{number} --set max_calls=1")
        assert silent is (after == []), (text, after, world.said)


# -- the house ----------------------------------------------------------------------------------

# What has an effect, and the files that may do it: each takes a grant, or is the user's own machine.
EFFECTS = {
    r"\bhttpx2\.(Async)?Client\b|DefaultAsyncHttpxClient|urllib\.request|import requests\b|import aiohttp": {
        "llm/providers/openai_compatible.py",
        "core/fetch/download.py",
        "search/http.py",
        "search/snapshot.py",
    },
    r"\bfsspec\b": {"core/remote.py"},
    r"\bcreate_engine\(": {"review/store.py"},
    r"\bfrom_pretrained\(|snapshot_download|HfApi": {"detect/pretrained.py"},
    r"\bsocket\.(create_connection|socket|getaddrinfo)\b|open_connection|getaddrinfo\(": {
        "core/engine/cluster.py",
        "core/fetch/addresses.py",
        "web/serve.py",
    },
    r"\bdistributed\b.*\bClient\b|\bClient\(": {"core/engine/cluster.py"},
    r"\bGrant\((?!kind)": {"core/grants.py"},
    r"\bpl\.(read|scan)_parquet\(": {"core/tables.py", "files/parquet.py"},
}
# Variables that are not claimlab's own, and who may read them.
FOREIGN = {
    "llm/profiles.py": {"CLAIMLAB_PROFILES", "self.key_variable"},
    "search/web.py": {"variable"},
    "core/fetch/front.py": {"name"},  # tokens of hosts of data, and the offline switches
    "core/fetch/download.py": {"name"},  # whether a proxy is set
    "detect/pretrained.py": {"name"},  # the offline switches of other libraries
    "study/check.py": {"variable"},  # whether it is set
    "cli/verbs/llm.py": {"key"},
    "cli/verbs/doctor.py": {"name"},
}
OWN = re.compile(
    r"^(CLAIMLAB_\w+|NO_COLOR|XDG_|OMP_NUM_THREADS|PYTHONPATH|LOCALAPPDATA|TIKTOKEN_\w+|SLURM_\w+|f)"
)


def _sources() -> Iterator[tuple[str, Path]]:
    """Every module: those of claimlab by their place in it, those of leaves by their full name."""
    root = Path(cl.__file__).parent
    for name, file in module_files():
        own = file.is_relative_to(root)
        yield (file.relative_to(root).as_posix() if own else name), file


def _module(name: str) -> str:
    own = name.endswith(".py")
    return f"claimlab.{name.removesuffix('.py').replace('/', '.')}" if own else name


def _code(file: Path) -> str:
    """The source without its comments and docstrings."""
    return ast.unparse(_bare(ast.parse(file.read_text("utf-8"))))


def _bare(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body[0] = ast.Pass()
    return tree


@pytest.mark.parametrize("effect", EFFECTS)
def test_effects_are_in_few_files(effect: str) -> None:
    places = {name for name, file in _sources() if re.search(effect, _code(file))}
    assert places - EFFECTS[effect] == set()


def test_each_of_these_files_takes_a_grant() -> None:
    root = Path(cl.__file__).parent
    for name in sorted(set().union(*EFFECTS.values())):
        if name in (
            *("core/tables.py", "files/parquet.py", "core/fetch/addresses.py", "web/serve.py"),
            "core/fetch/download.py",  # addresses come by core/fetch/front alone, pins are packaged
        ):
            continue  # they bound, check addresses themselves, or listen
        assert re.search(r"\bgrant(ed)?\(|\bGrant\b", _code(root / name)), name


def test_foreign_variables_are_read_in_few_files() -> None:
    odd = []
    for name, file in _sources():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("get", "getenv")
                and ast.unparse(node.func.value) in ("os.environ", "os", "environ")
                and node.args
            ):
                word = ast.unparse(node.args[0]).strip("'\"")
                if word.isupper() and word.isidentifier():  # a constant of the module
                    word = getattr(import_module(_module(name)), word, word)
                if not OWN.match(word) and word not in FOREIGN.get(name, set()):
                    odd.append(f"{name}: {word}")
    assert odd == []

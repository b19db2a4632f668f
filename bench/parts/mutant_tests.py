"""Tests against a fault in the code: a warm process has everything imported, and forks a child for
each fault, which puts it into the functions in memory and runs the quick tests that call them.

Which tests those are is recorded once by a run of each test file: every function that a test calls,
also in threads, and in fixtures of a file for all tests that use them. What runs in a process of
its own is not seen. Nothing here runs a query before it forks: a child would lose the pool of
threads.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import resource
import select
import shutil
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from parts.forked import HEAVY, NOT_WARM
from parts.mutations import Mutation, mutated

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "claimlab"
QUICK = "not (slow or needs or realdata)"
ALSO_WARM = ("pytest", "hypothesis", "sklearn.metrics", "sklearn.linear_model", "scipy.stats")
MOST_SECONDS = 60.0  # of the tests that one fault is shown, those of its own room first
GRACE, TIMES_AS_LONG = 20.0, 6.0  # a child may take so many seconds, and so many times its tests
BY_THE_CLOCK = 20  # seconds by the clock for one of processor time, at most
# the tests of a room, where they are not those of its folder alone
TESTS = {
    "core/stats": ("core/test_stats_*.py",),
    "tasks": ("tasks/**/test_*.py", "claims/**/test_*.py"),
}

Functions = frozenset[str]  # as "evaluate/board.py:placed"


@dataclass
class Seen:
    """What the tests of a file call, and the seconds that each takes."""

    digest: str
    seconds: dict[str, float] = field(default_factory=dict)
    calls: dict[str, Functions] = field(default_factory=dict)


class Recorder:
    """A plugin of pytest that notes the functions of ours that each test calls."""

    def __init__(self) -> None:
        self.calls: dict[str, set[str]] = {}
        self.of_fixtures: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self._current: set[types.CodeType] = set()

    def _note(self, frame: types.FrameType, event: str, _: object) -> None:
        if event == "call":
            self._current.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before, self._current = self._current, set()
        try:
            return (yield)
        finally:
            self.of_fixtures[fixturedef.argname] = names_of(self._current)
            before |= self._current
            self._current = before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._current, start = set(), time.perf_counter()
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
            self.seconds[item.nodeid] = round(time.perf_counter() - start, 3)
            used = getattr(item, "fixturenames", ())
            shared = [self.of_fixtures.get(name, set()) for name in used]
            self.calls[item.nodeid] = names_of(self._current).union(*shared)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)

    def to_json(self) -> dict[str, Any]:
        passed = [name for name in self.calls if name not in self.failed]
        return {
            "seconds": {name: self.seconds[name] for name in passed},
            "calls": {name: sorted(self.calls[name]) for name in passed},
        }


class FirstFailure:
    """A plugin of pytest that remembers the test that failed."""

    test: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.test is None:
            self.test = report.nodeid


def names_of(codes: set[types.CodeType]) -> set[str]:
    """The outermost functions that code of ours is in."""
    start = f"{SOURCE}{os.sep}"
    return {
        f"{code.co_filename.removeprefix(start)}:{code.co_qualname.split('.<locals>')[0]}"
        for code in tuple(codes)  # what is called here may still be noted
        if code.co_filename.startswith(start)
    }


def warm_up() -> None:
    """Import every module of ours, and what they import while they run."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    sys.path[:0] = [str(ROOT / "bench")]
    for name in (*HEAVY, *ALSO_WARM):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    package = importlib.import_module("claimlab")
    assert Path(package.__path__[0]) == SOURCE, f"claimlab is imported from {package.__path__[0]}"
    for module in pkgutil.walk_packages(package.__path__, "claimlab."):
        if not NOT_WARM.search(module.name):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def in_child(job: Callable[[], Any], seconds: float) -> Any:
    """What a job in a forked process gives, as JSON; null where it breaks, or takes more `seconds`
    of processor time or many times as many by the clock: a busy machine is no verdict."""
    line, out = os.pipe()
    if (child := os.fork()) == 0:
        os.close(line)
        os.setpgid(0, 0)
        limit = ceil(seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        answer = b"null"
        with contextlib.suppress(BaseException):
            answer = json.dumps(job()).encode()
        with os.fdopen(out, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(out)
    until, parts = time.monotonic() + BY_THE_CLOCK * seconds, []
    while (left := until - time.monotonic()) > 0 and select.select([line], [], [], left)[0]:
        if not (part := os.read(line, 1 << 16)):
            break
        parts.append(part)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # with what it may have started
    os.waitpid(child, 0)
    os.close(line)
    return json.loads(b"".join(parts) or b"null") if left > 0 else None


def run_tests(words: Sequence[str], plugin: object, scratch: Path) -> int:
    shutil.rmtree(scratch, ignore_errors=True)
    options = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--basetemp",
        str(scratch),
    ]
    return int(pytest.main([*options, *words], plugins=[plugin]))


def test_files(rooms: Sequence[str]) -> list[Path]:
    patterns = {name for room in rooms for name in TESTS.get(room, (f"{room}/**/test_*.py",))}
    return sorted({file for name in patterns for file in (ROOT / "tests").glob(name)})


def recorded(files: Sequence[Path], store: Path, marks: str = QUICK) -> Iterator[Seen]:
    """What each test file calls, from the store where the file is as it was."""
    store.mkdir(parents=True, exist_ok=True)
    for file in files:
        name = str(file.relative_to(ROOT))
        digest = hashlib.sha256(marks.encode() + file.read_bytes()).hexdigest()[:16]
        kept = store / f"{name.replace('/', '-')}.json"
        content = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
        if content.get("digest") != digest or not content.get("calls"):
            content = in_child(lambda name=name: _record(name, marks, store), 900) or {}
            content |= {"digest": digest}
            if not content.get("calls"):  # broken off, or every test failed: tried again next time
                print(f"not recorded: {name}", file=sys.stderr)
            kept.write_text(json.dumps(content), encoding="utf-8")
        calls = content.get("calls", {})
        yield Seen(
            digest,
            content.get("seconds", {}),
            {test: frozenset(functions) for test, functions in calls.items()},
        )


def _record(name: str, marks: str, store: Path) -> dict[str, Any]:
    recorder = Recorder()
    run_tests([name, "-m", marks], recorder, store / "tmp")
    return recorder.to_json()


def tests_for(mutation: Mutation, seen: Sequence[Seen], room: str) -> dict[str, float]:
    """The tests that call what was changed, with their seconds: of its own room first, then the
    quickest, as many as `MOST_SECONDS` allow."""
    wanted = functions_of(mutation)
    found = {
        test: one.seconds[test]
        for one in seen
        for test, functions in one.calls.items()
        if not wanted.isdisjoint(functions)
    }
    own = f"tests/{room.split('/')[0]}/"
    order = sorted(found, key=lambda test: (not test.startswith(own), found[test]))
    chosen: dict[str, float] = {}
    for test in order:
        if chosen and sum(chosen.values()) + found[test] > MOST_SECONDS:
            continue
        chosen[test] = found[test]
    return chosen


def functions_of(mutation: Mutation) -> Functions:
    """The functions that a fault changes: the one that it is in, or all that read the constant."""
    if mutation.constant is None:
        return frozenset([f"{mutation.file}:{mutation.function}"])
    return frozenset(
        f"{Path(module.__file__ or '').relative_to(SOURCE)}:{function.__qualname__}"
        for module, name in importers(mutation.file, mutation.constant)
        for function in _functions(module)
        if name in _names(function.__code__)
    )


def _names(code: types.CodeType) -> set[str]:
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _functions(module: types.ModuleType) -> list[types.FunctionType]:
    """The functions and methods that were written in a module."""
    found: list[types.FunctionType] = []
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else [value]
        for member in members:
            inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
            inner = inspect_unwrapped(inner)
            if isinstance(inner, types.FunctionType) and inner.__module__ == module.__name__:
                found.append(inner)
    return found


def inspect_unwrapped(value: Any) -> Any:
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return getattr(value, "func", value)  # of a cached property


def importers(file: str, constant: str) -> list[tuple[types.ModuleType, str]]:
    """The modules that know a constant, with its name there."""
    home = module_of(file)
    found = [(sys.modules[home], constant)]
    for name, module in list(sys.modules.items()):
        if not name.startswith("claimlab.") or not getattr(module, "__file__", None):
            continue
        for alias in _imports(Path(str(module.__file__))).get((home, constant), ()):
            found.append((module, alias))
    return found


_read: dict[Path, Mapping[tuple[str, str], list[str]]] = {}


def _imports(file: Path) -> Mapping[tuple[str, str], list[str]]:
    if file not in _read:
        names: dict[tuple[str, str], list[str]] = {}
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    key = node.module, alias.name
                    names.setdefault(key, []).append(alias.asname or alias.name)
        _read[file] = names
    return _read[file]


def module_of(file: str) -> str:
    return "claimlab." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def put_in(mutation: Mutation) -> None:
    """Change the code that is imported."""
    file = SOURCE / mutation.file
    tree = mutated(file, mutation.number)
    if mutation.constant is not None:
        _put_constant(mutation, tree)
        return
    code = compile(tree, str(file), "exec")
    changed = _code_of(code, mutation.function.split("."))
    gc.unfreeze()  # what is frozen is not listed
    for thing in gc.get_objects():
        if (
            isinstance(thing, types.FunctionType)
            and thing.__code__.co_filename == str(file)
            and thing.__code__.co_qualname == mutation.function
            and thing.__code__.co_firstlineno == changed.co_firstlineno
        ):
            thing.__code__ = changed


def _put_constant(mutation: Mutation, tree: ast.Module) -> None:
    name = str(mutation.constant)
    statement = next(
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name
    )
    module = sys.modules[module_of(mutation.file)]
    value = eval(compile(ast.Expression(statement.value), "constant", "eval"), vars(module).copy())
    for knows, alias in importers(mutation.file, name):
        setattr(knows, alias, value)


def _code_of(code: types.CodeType, names: Sequence[str]) -> types.CodeType:
    for name in names:
        inside = [part for part in code.co_consts if isinstance(part, types.CodeType)]
        code = next(part for part in inside if part.co_name == name)
    return code


def shown(mutation: Mutation, tests: Mapping[str, float], scratch: Path) -> tuple[str, str | None]:
    """What becomes of a fault: killed, and by which test; survived; or timed out."""

    def job() -> list[Any]:
        put_in(mutation)
        first = FirstFailure()
        code = run_tests(["-x", *tests], first, scratch)
        return [code, first.test]

    if not tests:
        return "no test", None
    answer = in_child(job, GRACE + TIMES_AS_LONG * sum(tests.values()))
    if answer is None:
        return "timed out", None
    if answer[0] > 2:  # not a failing test: pytest itself broke
        raise RuntimeError(f"pytest ended with {answer[0]} on {mutation.place}")
    return ("survived" if answer[0] == 0 else "killed"), answer[1]

"""Commands as processes of their own, without the start of Python: a warm parent has everything
imported and forks a child for each, which takes a fifth of the processor time of a new start.

`Popen` and `run` stand in for those of `subprocess`. They fork where the words are `python -c CODE`
with this Python and nothing differs that Python reads while it starts; all else is a new start, and
so is everything on a system without `fork`. `put_programs` does the same for a shell. A child has
its own arguments, folder, environment, streams and signals and a `__main__` of its own; it ends as
Python ends, but for clearing hundreds of modules. The parents run no query before they fork, so
that no pool of threads is lost in a child; they are two with different hash seeds, used in turn, so
that what depends on the order of a set still differs between two runs. All workers share them.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import itertools
import json
import os
import pkgutil
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

try:
    import fcntl
except ImportError:  # Windows
    FORKS = False
else:
    FORKS = hasattr(os, "fork") and hasattr(socket, "send_fds")

HASH_SEEDS = ("1", "2")
SIZE = struct.Struct("!I")  # of the request that follows
TIMES = ".times"  # beside the socket of a parent: what its children took, for which test
SOURCE = Path(__file__).resolve().parents[2] / "src"
BENCH = Path(__file__).resolve().parents[1]
# What Python, the C library and compiled packages read once, while they start.
READ_AT_START = (
    "PYTHON", "LD_", "DYLD_", "MALLOC", "LC_", "LANG", "TZ", "OMP_", "OPENBLAS_", "MKL_", "POLARS_",
    "RAYON_",
)  # fmt: skip
PER_CHILD = {"PYTHONPATH", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "PYTHONSAFEPATH"}
PARENT = f"""
import sys
sys.path.append({str(BENCH)!r})
from parts.forked import run_code, serve
run_code(*serve(sys.argv[1]))
"""
# Imported by commands while they run, from inside their functions.
HEAVY = (
    "polars", "numpy", "scipy.sparse", "scipy.optimize", "pydantic", "typer", "jinja2", "httpx2",
    "selectolax.lexbor", "tantivy", "rapidfuzz.fuzz", "ftfy", "ftfy.bad_codecs", "icu4py.breakers",
    "iso639", "charset_normalizer", "publicsuffixlist", "openpyxl", "yaml", "rich", "gcld3",
    "pycld2", "py3langid", "RAKE", "vaderSentiment.vaderSentiment", "threadpoolctl", "sqlite3",
    "asyncio", "multiprocessing.pool", "concurrent.futures.thread", "encodings.idna", "openai",
    "email.mime.multipart", "email.mime.text",
)  # fmt: skip
PACKAGES = ("claimlab", "claimlab_simulate")
NOT_WARM = re.compile(r"plugin$|__main__$|\.web\b|\.migrations\b|\.tour$")  # for few, and slow
MAIN = "from claimlab.cli.app import main; main()"
PROGRAM = """#!{python} -IS
import json, os, signal, socket, struct, sys
words = sys.argv[1:]
if {main!r}:
    code, arguments = {main!r}, [sys.argv[0], *words]
elif words[:1] == ["-c"]:
    code, arguments = words[1], ["-c", *words[2:]]
elif words[:1] == ["-"]:
    code, arguments = sys.stdin.read(), words
else:
    os.execv({python!r}, [{python!r}, *words])
line = socket.socket(socket.AF_UNIX)
line.connect({places!r}[os.getpid() % {parents}])
asked = dict(code=code, arguments=arguments, cwd=os.getcwd(), env=dict(os.environ))
body = json.dumps(asked).encode()
socket.send_fds(line, [struct.pack("!I", len(body))], [0, 1, 2])
line.sendall(body)
child = struct.unpack("!I", line.recv(4))[0]
if child == 0:
    os.execv({python!r}, [{python!r}, "-c", code, *arguments[1:]])
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(child, number))
status = struct.unpack("!I", line.recv(4))[0]
code = os.waitstatus_to_exitcode(status)
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class Popen(subprocess.Popen[Any]):
    """A process forked from a warm parent, or a new start where that would not be the same."""

    _line: socket.socket | None = None

    def _execute_child(
        self, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, cwd: Any,
        env: Any, startupinfo: Any, creationflags: Any, shell: Any, *more: Any,
    ) -> None:  # fmt: skip
        plain = not (executable or preexec_fn or pass_fds or shell)
        if FORKS and plain and is_code(args) and (cwd is None or Path(cwd).is_dir()):
            given, taken, errors = more[0:2], more[2:4], more[4:6]
            streams = [
                mine if mine != -1 else number
                for number, mine in enumerate((given[0], taken[1], errors[1]))
            ]
            environment = dict(os.environ) if env is None else {**env}
            folder = os.fspath(cwd) if cwd is not None else str(Path.cwd())
            request = {"code": args[2], "arguments": ["-c", *map(os.fspath, args[3:])]}
            answer = ask(next_parent(), request | {"cwd": folder, "env": environment}, streams)
            if answer is not None:
                self._line, self.pid = answer
                self._child_created = True
                self._close_pipe_fds(*more[:6])
                return
        super()._execute_child(
            args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags,
            shell, *more,
        )  # fmt: skip

    def _status(self, *, block: bool) -> int | None:
        """How the child ended, as `waitpid` says it: from its parent, whose line ends with it."""
        assert self._line is not None
        if not block and not select.select([self._line], [], [], 0)[0]:
            return None
        answer = self._line.recv(SIZE.size)
        self._line.close()
        if not answer:
            raise RuntimeError(f"the parent of process {self.pid} ended before it")
        return int(SIZE.unpack(answer)[0])

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._line is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc,no-any-return]
        status = self._status(block=wait_flags == 0)
        return (0, 0) if status is None else (self.pid, status)

    def _internal_poll(self, _deadstate: int | None = None, **more: Any) -> int | None:
        if self._line is None:
            return super()._internal_poll(_deadstate, **more)  # type: ignore[misc,no-any-return]
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None and (status := self._status(block=False)) is not None:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


def run(
    words: Any,
    *,
    input: Any = None,
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **more: Any,
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` with such a process."""
    if input is not None:
        more["stdin"] = subprocess.PIPE
    if capture_output:
        more |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(words, **more) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def put_programs(folder: Path) -> None:
    """`claimlab` and `python` for the PATH of a shell, whose processes are forked as well."""
    if not FORKS:
        return
    places = [str(next_parent()) for _ in HASH_SEEDS]
    for name, main in (("claimlab", MAIN), ("python", "")):
        program = PROGRAM.format(
            python=sys.executable, main=main, places=places, parents=len(places)
        )
        (folder / name).write_text(program, encoding="utf-8")
        (folder / name).chmod(0o755)


def is_code(words: Any) -> bool:
    """This Python with `-c`, and no option before it."""
    return (
        isinstance(words, list)
        and len(words) > 2
        and words[0] == sys.executable
        and words[1] == "-c"
    )


_shared: dict[str, socket.socket] = {}  # by hash seed: while this is open, its parent lives
_lock = threading.Lock()
_turns = itertools.cycle(HASH_SEEDS)


def next_parent() -> Path:
    """The socket of the parent whose turn it is. It is started by whoever asks first, and ends when
    the last who asked has ended.
    """
    with _lock:
        seed = next(_turns)
        place = _place(seed)
        if seed not in _shared:
            with Path(__file__).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                _shared[seed] = _connected(place) or _started(place, seed)
        return place


class Taken:
    """What the children of each test took, as far as they have ended; it is read as it grows."""

    def __init__(self) -> None:
        self.places = [Path(f"{_place(seed)}{TIMES}") for seed in HASH_SEEDS]
        self.read = dict.fromkeys(self.places, 0)  # bytes
        self.seconds: Counter[str] = Counter()

    def by(self, test: str) -> float:
        """Seconds of processor time."""
        for place in self.places:
            with contextlib.suppress(OSError), place.open("rb") as times:
                times.seek(self.read[place])
                for line in times:
                    seconds, _, name = line.decode().rstrip().partition(" ")
                    self.seconds[name.rpartition(" (")[0]] += float(seconds)
                self.read[place] = times.tell()
        return self.seconds[test]


def _place(seed: str) -> Path:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    return Path(tempfile.gettempdir()) / f"forked-{run[:12]}-{seed}"  # a socket's name is short


def _connected(place: Path) -> socket.socket | None:
    """A line to the parent there, for as long as this process lives; none where there is none."""
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(str(place))
    except OSError:
        line.close()
        return None
    line.sendall(SIZE.pack(0))
    return line if line.recv(SIZE.size) else None


def _started(place: Path, seed: str) -> socket.socket:
    place.unlink(missing_ok=True)
    path = [entry for entry in _path(os.environ) if Path(entry) != SOURCE]
    paths = os.pathsep.join([str(SOURCE), *path])
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(place)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        process.returncode = 0  # not waited for: it may outlive this process
    line = _connected(place) if ready else None
    if line is None:
        raise RuntimeError("the warm parent of forked commands did not start")
    return line


def ask(
    place: Path, request: Mapping[str, object], streams: list[int]
) -> tuple[socket.socket, int] | None:
    """Ask for a child: the line on which its end is told, and its number; none where the parent
    was started in another environment than the child needs.
    """
    line = socket.socket(socket.AF_UNIX)
    line.connect(str(place))
    body = json.dumps(request).encode()
    socket.send_fds(line, [SIZE.pack(len(body))], streams)
    line.sendall(body)
    pid = SIZE.unpack(line.recv(SIZE.size))[0]
    if pid == 0:
        line.close()
        return None
    return line, pid


# In the parent


def serve(place: str) -> tuple[str, dict[str, Any]]:
    """Fork a child for each request. In the child this returns what it is to run; the parent ends
    when nobody is left who could ask.
    """
    sys.path.remove(str(BENCH))
    started = at_start(os.environ)
    _import_all()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the children
    woken, waker = socket.socketpair()
    for end in (woken, waker):
        end.setblocking(False)
    signal.set_wakeup_fd(waker.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    os.write(1, b"ready\n")
    asking: list[socket.socket] = []  # who may still ask
    lines: dict[int, socket.socket] = {}  # on which the end of a child is told
    tests: dict[int, str] = {}  # the test that asked for a child
    while True:
        ready, _, _ = select.select([woken, listener, *asking], [], [])
        if woken in ready:
            woken.recv(4096)
            for pid, status, seconds in _ended():
                with Path(f"{place}{TIMES}").open("a", encoding="utf-8") as times:
                    times.write(f"{seconds:.3f} {tests.pop(pid)}\n")
                with contextlib.suppress(OSError), lines.pop(pid) as line:
                    line.sendall(SIZE.pack(status))
        if listener in ready:
            line, _ = listener.accept()
            request, streams = _request(line)
            if request is None:
                line.sendall(SIZE.pack(1))
                asking.append(line)
            elif at_start(request["env"]) != started:
                line.sendall(SIZE.pack(0))
                line.close()
            elif (pid := os.fork()) == 0:
                for end in (woken, waker, listener, *asking, *lines.values()):
                    end.close()
                return _become(request, streams, line)
            else:
                lines[pid] = line
                tests[pid] = request["env"].get("PYTEST_CURRENT_TEST", "")
            for stream in streams:
                os.close(stream)
        for line in [line for line in asking if line in ready]:
            asking.remove(line)
            line.close()
            if not asking:
                Path(place).unlink()
                Path(f"{place}{TIMES}").unlink(missing_ok=True)
                os._exit(0)


def _ended() -> Iterator[tuple[int, int, float]]:
    """Children that have ended: how, and the seconds of processor time of each and of its own."""
    with contextlib.suppress(ChildProcessError):
        while (end := os.wait4(-1, os.WNOHANG))[0]:
            pid, status, use = end
            yield pid, status, use.ru_utime + use.ru_stime


def _request(line: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """What is asked for, with its streams; nothing where somebody only says that it is there."""
    head, streams, _, _ = socket.recv_fds(line, SIZE.size, 3)
    left, body = SIZE.unpack(head)[0], b""
    if left == 0:
        return None, streams
    while len(body) < left:
        body += line.recv(left - len(body))
    return json.loads(body), streams


def at_start(env: Mapping[str, str]) -> dict[str, str]:
    """What of the environment was read while Python and its packages started."""
    kept = {
        name: value
        for name, value in env.items()
        if name.startswith(READ_AT_START) and name not in PER_CHILD
    }
    if path := [entry for entry in _path(env) if Path(entry) != SOURCE]:
        kept["PYTHONPATH"] = os.pathsep.join(path)
    return kept


def _path(env: Mapping[str, str]) -> list[str]:
    return [entry for entry in env.get("PYTHONPATH", "").split(os.pathsep) if entry]


def _import_all() -> None:
    """Every module of ours, and what they import while they run, if it is installed."""
    gc.disable()
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # as the command line does before it imports
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in PACKAGES:
        with contextlib.suppress(ImportError):
            for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
                if not NOT_WARM.search(module.name):
                    with contextlib.suppress(ImportError):
                        importlib.import_module(module.name)
    gc.enable()
    gc.collect()
    gc.freeze()  # a collection in a child leaves these pages shared


def _become(
    request: dict[str, Any], streams: list[int], line: socket.socket
) -> tuple[str, dict[str, Any]]:
    """Make this child what a new start would have been."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = request["arguments"]
    sys.orig_argv = [sys.executable, "-c", request["code"], *sys.argv[1:]]
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    if str(SOURCE) not in _path(os.environ) and sys.path[1:2] == [str(SOURCE)]:
        del sys.path[1]
    if os.environ.get("PYTHONSAFEPATH") and sys.path[0] == "":
        del sys.path[0]
    _open_streams()
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    line.sendall(SIZE.pack(os.getpid()))
    line.close()
    return request["code"], vars(main)


def _open_streams() -> None:
    """The standard streams as Python opens them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        raw: Any = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        raw.name = f"<{name}>"
        if number == 0:
            buffer: Any = io.BufferedReader(raw)
        else:
            buffer = raw if old.write_through else io.BufferedWriter(raw)
        stream = io.TextIOWrapper(
            buffer,
            encoding=old.encoding,
            errors=old.errors,
            newline=None if number == 0 else "\n",
            line_buffering=not old.write_through and (number == 2 or raw.isatty()),
            write_through=old.write_through,
        )
        stream.mode = "r" if number == 0 else "w"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def run_code(code: str, main: dict[str, Any]) -> NoReturn:
    """Run it and end as Python does: threads, functions of `atexit`, streams, exit code."""
    interrupted, left = False, 0
    try:
        exec(compile(code, "<string>", "exec"), main)
    except SystemExit as exit:
        left = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
        if isinstance(exit.code, str):
            print(exit.code, file=sys.stderr)
    except BaseException as error:
        below = error.__traceback__.tb_next if error.__traceback__ else None  # the first is ours
        sys.excepthook(type(error), error.with_traceback(below), below)
        interrupted, left = isinstance(error, KeyboardInterrupt), 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(left & 0xFF)

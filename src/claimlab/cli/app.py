"""The command line: one lazily loaded file per verb in `cli/verbs/`.

A verb file defines `app`, a `typer.Typer` with one command or several sub-commands, and imports
anything heavy inside its functions, so that `claimlab --help` feels instant. Exit codes: 0 done, 1
a problem the message explains, 2 wrong usage, 3 a check failed under --strict, 130 stopped by
Ctrl-C.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command as to_command

from claimlab.cli.asked import be_quiet
from claimlab.cli.complete import COMPLETING
from claimlab.cli.flags import as_flag, in_flags
from claimlab.cli.lazy import LazyVerbs
from claimlab.cli.output import complain, echo, say
from claimlab.core.errors import ClaimlabError, Question, UnmappedLabels
from claimlab.core.plain import one_line
from claimlab.core.version import __version__

STOPPED = 130
_QUIET = {"-q", "--quiet"}
YES = "--yes"
_SHORT = (
    "There is not enough memory for this. Use fewer records with --limit, or a machine with more"
    " memory."
)
_FAULT = "This is a fault in it or in claimlab: run again with --debug and report what it prints."
_on_abort: object = None
# What `claimlab` alone prints
FIRST = """\
claimlab demo                     try everything on synthetic data
claimlab check FILE or FOLDER     what can this data carry?
claimlab load NAME FILE -o DIR    a published dataset; the names: claimlab catalog
All commands: claimlab --help"""
DESCRIPTION = "From raw misinformation data to a number you can defend."


app = typer.Typer(
    cls=LazyVerbs,
    help=DESCRIPTION,
    epilog=(
        "Every command takes --json (one JSON object on stdout), -q or --quiet (results and errors"
        " only) and --debug (the traceback of an error). Start with: claimlab demo"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,  # importing rich would triple the time of --help
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
_DEBUG = "CLAIMLAB_DEBUG"


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"claimlab {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


def main(argv: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    warnings.formatwarning = lambda message, *_: (
        f"Warning: {message}\n"
    )  # one line, without our source
    _explain_aborts()
    # looking for plug-ins of Pydantic would read what every installed package says of itself
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    code = run(sys.argv[1:] if argv is None else argv)
    if code == STOPPED:  # leave at once: a background thread may still be inside compiled code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # all is done: Ctrl-C while the interpreter ends changes nothing
    sys.exit(code)


def _explain_aborts() -> None:
    """Compiled packages abort the process, mostly where memory is short: there is no exception to
    catch, but a signal. What to say is known before: there may be no memory left to say it with."""
    if sys.platform == "win32":
        return
    import ctypes

    from claimlab.core.shortage import is_short

    words = {
        short: f"\nError: A compiled package gave up. {_SHORT if short else _FAULT}\n".encode()
        for short in (True, False)
    }

    def last_words(_: int) -> None:
        try:
            short = is_short()
        except MemoryError:
            short = True
        os.write(2, words[short])
        os._exit(1)

    global _on_abort  # kept alive as long as the process: C calls it
    _on_abort = ctypes.CFUNCTYPE(None, ctypes.c_int)(last_words)
    ctypes.CDLL(None).signal(int(signal.SIGABRT), _on_abort)


def _tell_workers(args: list[str]) -> None:
    """With --engine shared the command waits: say for what, and how its workers get the secret of
    the run.
    """
    if ("--engine", "shared") not in pairwise(args) and "--engine=shared" not in args:
        return
    from claimlab.core.engine.secret import VARIABLE, secret_file

    where = (
        f"with the same {VARIABLE}"
        if VARIABLE in os.environ
        else f"where '{secret_file()}' is yours, too"
    )
    say(
        f"Note: start workers {where} (else: --secret with a copy): claimlab engine work OUTPUT"
        " --shard N --of M"
    )


def run(argv: list[str]) -> int:
    """Run `argv` and return the exit code; an error is a sentence on stderr, a traceback only with
    --debug.
    """
    debug = "--debug" in argv
    be_quiet(bool(_QUIET & set(argv)))
    args = _plain_help([a for a in argv if a != "--debug" and a not in _QUIET])
    _tell_workers(args)
    if not args and COMPLETING not in os.environ:
        echo(FIRST)
        return 0
    try:
        with _debugging(debug):
            to_command(app).main(args=args, prog_name="claimlab", standalone_mode=True)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
        return (
            _stopped(args) if code == STOPPED else code
        )  # typer turns Ctrl-C into an exit without a word
    except KeyboardInterrupt:
        return _stopped(args)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away (claimlab … | head): not an error
        return 0
    except (Question, UnmappedLabels) as question:
        answer = answered(question, args)
        if answer is None:
            return explain(question, args)
    except BaseException as error:  # a panic inside a compiled package is not an Exception
        if debug:
            raise
        return explain(error, args)
    else:
        return 0
    return run(_with(argv, answer))


@contextmanager
def _debugging(debug: bool) -> Iterator[None]:
    """Tell code that would otherwise report a fault and go on, and the processes that it starts;
    for this run only.
    """
    before = os.environ.get(_DEBUG)
    if debug:
        os.environ[_DEBUG] = "1"
    try:
        yield
    finally:
        if debug and before is None:
            del os.environ[_DEBUG]


def _plain_help(args: list[str]) -> list[str]:
    """`claimlab help`, `claimlab help audit` and `claimlab version`, as one may type them
    first.
    """
    if args and args[0] == "help":
        return [*args[1:], "--help"]
    return ["--version", *args[1:]] if args[:1] == ["version"] else args


def _stopped(args: Sequence[str]) -> int:
    from claimlab.core.atomic import in_place

    output = _output(args)
    if output is not None and Path(output).absolute() in in_place:
        complain(f"Stopped. '{output}' had been written by then and is complete.")
    else:
        complain("Stopped. Nothing was left half-written; run the same command again to continue.")
    return STOPPED


def _output(args: Sequence[str]) -> str | None:
    """The output that was asked for."""
    return next(
        (args[args.index(flag) + 1] for flag in ("-o", "--output") if flag in args[:-1]), None
    )


def answered(question: Question | UnmappedLabels, args: Sequence[str]) -> list[str] | None:
    """The options that answer a question: what a person at the terminal types, or the first choice
    with --yes, but for what labels mean; null where there is no one to ask.
    """
    flags = [as_flag(choice.argument, choice.value, args) for choice in question.choices]
    meaning = not isinstance(question, Question) or question.about_meaning
    if YES in args:
        return None if meaning else flags[0]
    if not (flags and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    complain(question.problem)
    for place, choice in enumerate(question.choices, 1):
        value = choice.value if isinstance(choice.value, str) else " ".join(choice.value)
        complain(f"  {place}. {value}: {choice.words}")
    typed = _typed(len(flags), preset=not meaning)
    return None if typed is None else flags[typed - 1]


def _typed(last: int, *, preset: bool) -> int | None:
    """The number that a person types, or the first where that is `preset`; null where the input has
    ended, so that no one is there.
    """
    places = {str(place): place for place in range(1, last + 1)}
    typed = ""
    while typed not in places:
        sys.stderr.write(f"Choose 1 to {last}{' [1]' * preset}: ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return None
        typed = line.strip() or ("1" if preset else "")
    return places[typed]


def explain(error: BaseException, args: Sequence[str]) -> int:
    """Print `error` as a sentence on stderr, and return the exit code."""
    own_error = error if isinstance(error, ClaimlabError) else None
    if own_error and own_error.choices:
        return _explain_choices(own_error, args)
    complain(
        f"Error: {one_line(in_flags(str(own_error), args) if own_error else sentence(error, args))}"
    )
    return own_error.exit_code if own_error else 1


def _explain_choices(error: ClaimlabError, args: Sequence[str]) -> int:
    """What is wrong, and the whole command for each answer."""
    complain(f"Error: {one_line(error.problem)} Choose one:")
    whole = error.whole if isinstance(error, Question) else ()
    for answers in whole or [[choice] for choice in error.choices]:
        command = list(args)
        for answer in answers:
            command = _with(command, as_flag(answer.argument, answer.value, args))
        complain(f"  claimlab {shlex.join(command)}")
        complain(f"      {one_line('; '.join(answer.words for answer in answers))}")
    return error.exit_code


def _with(args: Sequence[str], flag: Sequence[str]) -> list[str]:
    """A command with an answer in place of what it said before: `--only` adds up otherwise."""
    before = ["", *args]
    if flag[0] == "--set":
        return [*args, *flag]
    rest = [w for w, last in zip(args, before, strict=False) if flag[0] not in (w, last)]
    return [*rest, *flag]


def sentence(error: BaseException, args: Sequence[str]) -> str:
    """What went wrong and what to do, for an error that claimlab did not raise itself."""
    from claimlab.core.shortage import was_disk, was_memory

    if was_disk(error):
        return (
            f"The disk is full: {_place(error, args)} could not be written. Free some space, or"
            " choose an output on another disk; what was there before is unchanged."
        )
    if was_memory(error):
        return _SHORT
    if isinstance(error, RecursionError):
        return "A file is nested too deeply to be read. Check that it is the file you meant."
    if isinstance(error, OSError):
        return f"{error}. Check the path and its permissions."
    return (
        f"something claimlab did not expect ({type(error).__name__}: {error}). Run again with"
        " --debug and report what it prints."
    )


def _place(error: BaseException, args: Sequence[str]) -> str:
    """What was being written: the output that was asked for, or the file that the error names."""
    name = _output(args) or getattr(error, "filename", None)
    return f"'{name}'" if name else "the output"

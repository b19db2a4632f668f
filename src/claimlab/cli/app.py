"""The command line: one lazily loaded file per verb in `cli/verbs/`.

A verb file defines `app`, a `typer.Typer` with one command or several sub-commands, and imports anything heavy inside
its functions, so that `claimlab --help` feels instant. Exit codes: 0 done, 1 a problem the message explains, 2 wrong
usage, 3 a check failed under --strict, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command as to_command

from claimlab import __version__
from claimlab.cli.flags import in_flags
from claimlab.cli.lazy import LazyVerbs

STOPPED = 130
DESCRIPTION = "From raw misinformation data to a number you can defend: load, clean, audit, split, evaluate, report."


app = typer.Typer(
    cls=LazyVerbs,
    help=DESCRIPTION,
    epilog="Every verb: --json for one JSON object on stdout, --debug for the traceback of an error. "
    "Try it: claimlab demo",
    no_args_is_help=True,
    rich_markup_mode=None,  # importing rich would triple the time of --help
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"claimlab {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main(argv: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    warnings.formatwarning = lambda message, *_: f"Warning: {message}\n"  # one line, without our source
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(argv: list[str]) -> int:
    """Run `argv` and return the exit code; an error is a sentence on stderr, a traceback only with --debug."""
    debug = "--debug" in argv
    if debug:
        os.environ["CLAIMLAB_DEBUG"] = "1"  # for code that would otherwise tell a fault and go on
    args = [a for a in argv if a != "--debug"]
    try:
        to_command(app).main(args=args, prog_name="claimlab", standalone_mode=True)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
        return _stopped() if code == STOPPED else code  # typer turns Ctrl-C into an exit without a word
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away (claimlab … | head): not an error
        return 0
    except Exception as error:
        if debug:
            raise
        return _explain(error, args)
    return 0


def _stopped() -> int:
    print("Stopped. Nothing was left half-written; run the same command again.", file=sys.stderr)  # noqa: T201
    return STOPPED


def _explain(error: Exception, args: Sequence[str]) -> int:
    from claimlab.core.errors import ClaimlabError

    if isinstance(error, ClaimlabError):
        print(f"Error: {in_flags(str(error), args)}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    if isinstance(error, OSError):
        print(f"Error: {error}. Check the path, its permissions and the space left on the disk.", file=sys.stderr)  # noqa: T201
        return 1
    print(  # noqa: T201
        f"Error: something claimlab did not expect ({type(error).__name__}: {error}). "
        "Run again with --debug and report what it prints.",
        file=sys.stderr,
    )
    return 1

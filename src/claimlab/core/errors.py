"""Every error that claimlab raises on purpose. Each message is a sentence that names the thing and
ends in what to do.

ClaimlabError                exit 1: a problem the message explains
├── UsageError               exit 2: the call itself is wrong (unknown option value, missing column
                             name)
│   ├── UnknownName          a name that no registry knows; says the near miss
│   └── Question             what only the user can decide; carries the choices
├── DataError                the input cannot be used as it is
│   ├── UnreadableFile       not the format it claims to be, truncated, or refused as unsafe
│   ├── SchemaError          a table or folder that is not a claimlab dataset, or a newer one
│   └── UnmappedLabels       values that no label map knows; carries them with their counts
├── SearchFailed             a search provider gave no usable answer; carries the provider and the
                             kind of failure
├── PageRefused              a page that is not fetched or not kept, because it is unsafe, too large
                             or no text
├── DownloadFailed           a file that could not be had from its address, or is not the one that
                             was expected
├── OutputExists             writing would overwrite something
├── OutputBusy               another process is writing the same output
├── FileChanged              a file of a dataset is not the one that claimlab wrote
├── MissingExtra             an optional package is not installed; says the pip line
├── NotTrusted               a file names a host, variable or outside path that the user has not
                             allowed
├── BudgetSpent              a cap on money, tokens or calls was reached; what was done is kept
├── Pending                  a run waits for answers that come with a batch; the same run goes on
                             when they are there
├── ShardsMissing            some shards of a stage were not done; the others are kept, and the same
                             run goes on
├── ReplayMiss               a replay was asked for a call that was never recorded; names the call
├── NotFound                 nothing has the name or id that was asked for
├── NotAllowed               not permitted: no token, or another role
└── EndpointRefused          an endpoint that will answer no call at all: key refused, no credit,
                             unknown model
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple


class Choice(NamedTuple):
    """One answer to a question: the argument that gives it, and what it looks like."""

    argument: str
    value: str | list[str]
    words: str

    def __str__(self) -> str:
        return f"`{self.argument}={self.value!r}` ({self.words})"


class ClaimlabError(Exception):
    """A problem that the message explains. `problem` says what is wrong; `todo` says what to do
    about it, and where one argument more would do, `choices` names it.
    """

    exit_code = 1
    choices: Sequence[Choice] = ()

    def __init__(self, problem: str, todo: str) -> None:
        self.problem = problem.rstrip()
        self.todo = todo.rstrip()
        super().__init__(f"{self.problem} {self.todo}")

    def __reduce__(self) -> tuple[object, ...]:
        # Subclasses take other arguments; crossing a process boundary must keep the message whole.
        return (_rebuild, (type(self), self.problem, self.todo, self.__dict__.copy()))


def _rebuild(
    kind: type[ClaimlabError], problem: str, todo: str, state: dict[str, object]
) -> ClaimlabError:
    error = kind.__new__(kind)
    ClaimlabError.__init__(error, problem, todo)
    error.__dict__.update(state)
    return error


class UsageError(ClaimlabError):
    exit_code = 2


def either(names: Sequence[str]) -> str:
    """'a', 'b' or 'c'."""
    quoted = [repr(name) for name in names]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


class UnknownName(UsageError):
    def __init__(
        self, kind: str, name: str, names: Iterable[str], problem: str | None = None
    ) -> None:
        self.name = name
        self.known = sorted(names)
        near = difflib.get_close_matches(name.lower(), self.known, n=1, cutoff=0.9)
        near = near or difflib.get_close_matches(name.lower(), self.known, n=3, cutoff=0.5)
        problem = problem or f"There is no {kind} named '{name}'."
        if near:
            todo = f"Did you mean {either(near)}?"
        elif self.known:
            choices = ", ".join(self.known[:12]) + (", …" if len(self.known) > 12 else "")
            todo = f"Choose one of: {choices}."
        else:
            todo = f"No {kind} is installed; install a package that provides one."
        super().__init__(problem, todo)


def check_name(kind: str, name: str, names: Collection[str]) -> None:
    """Refuse a name that is not one of the known ones."""
    if name not in names:
        raise UnknownName(kind, name, names)


class Question(UsageError):
    """What only the user can decide; each of `choices` is one argument more. `whole` has the
    arguments that answer it together with what would be asked next. What labels mean is never
    answered by a default.
    """

    exit_code = 1
    whole: Sequence[Sequence[Choice]] = ()
    about_meaning = False
    column: str | None = None  # whose values it is about

    def __init__(self, problem: str, choices: Sequence[Choice]) -> None:
        self.choices = list(choices)
        super().__init__(problem, f"Choose: {' or '.join(map(str, choices))}.")


class DataError(ClaimlabError):
    pass


class UnreadableFile(DataError):
    pass


class SchemaError(DataError):
    pass


class UnmappedLabels(DataError):
    """With `choices` it is a question to the user, and not a fault of the data; `examples` say
    what the values are like.
    """

    def __init__(
        self,
        map_name: str,
        counts: Mapping[str, int],
        choices: Sequence[Choice] = (),
        examples: Sequence[str] = (),
    ) -> None:
        self.choices = list(choices)
        self.counts = dict(sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])))
        listed = ", ".join(f"'{value}' ({n})" for value, n in list(self.counts.items())[:20])
        more = f" and {len(self.counts) - 20} more" if len(self.counts) > 20 else ""
        seen = f" {'; '.join(examples)}." if examples else ""
        super().__init__(
            f"The meaning of these label values is not known: {listed}{more} (map '{map_name}')."
            + seen,
            f"Say what they mean: {' or '.join(map(str, choices))}."
            if choices
            else "Add them to a map file and pass it as `map`, or accept them:"
            " `unmapped='unknown'`.",
        )


class SearchFailed(ClaimlabError):
    """`kind` is one word for counting (see claimlab.search.results.KINDS); `tries` is how often it
    was tried.
    """

    def __init__(
        self, provider: str, kind: str, problem: str, todo: str, *, tries: int = 1
    ) -> None:
        self.provider = provider
        self.kind = kind
        self.tries = tries
        self.attempts: tuple[object, ...] = ()  # for a chain: how each of its providers fared,
        self.kinds = frozenset({kind})  # and of what kinds the failures were
        super().__init__(problem, todo)


class NotTrusted(ClaimlabError):
    """`needs` is what the file names; see core/trust."""

    def __init__(self, problem: str, todo: str, *, needs: Sequence[object]) -> None:
        self.needs = list(needs)
        super().__init__(problem, todo)


class PageRefused(ClaimlabError):
    """`kind` is one word for counting (see claimlab.search.snapshot.KINDS)."""

    def __init__(self, url: str, kind: str, problem: str, todo: str) -> None:
        self.url = url
        self.kind = kind
        super().__init__(problem, todo)


class DownloadFailed(ClaimlabError):
    """`why` goes on after the address: "is gone (status 404)"."""

    def __init__(self, url: str, why: str, todo: str) -> None:
        self.url = url
        readable = "".join(c if c.isprintable() else "?" for c in url)[:300]
        super().__init__(f"'{readable}' {why}.", todo)


class OutputExists(ClaimlabError):
    def __init__(
        self,
        path: object,
        reason: str = "already exists",
        todo: str = "Choose another output, or pass `force=True` to replace it.",
    ) -> None:
        super().__init__(f"'{path}' {reason}.", todo)


class OutputBusy(ClaimlabError):
    def __init__(self, path: object, holder: str) -> None:
        super().__init__(
            f"'{path}' is being written by {holder}.",
            "Wait until that run has ended, or choose another output.",
        )


class FileChanged(SchemaError):
    def __init__(self, folder: object, files: Iterable[str]) -> None:
        self.files = sorted(files)
        super().__init__(
            f"'{folder}' was changed after claimlab wrote it: {', '.join(self.files)}.",
            f"Restore it or make it again; to keep the edit and record it: `show('{folder}',"
            " accept_edits=WHY)`",
        )


class MissingExtra(ClaimlabError):
    """`package` has the extra, as pip is given it: another than claimlab, or the folder of one."""

    def __init__(self, what: str, extra: str, package: str = "claimlab") -> None:
        super().__init__(
            f"{what} needs packages that are not installed.",
            f"Install them with: pip install '{package}[{extra}]'",
        )


class NotFound(ClaimlabError):
    pass


class NotAllowed(ClaimlabError):
    pass


class BudgetSpent(ClaimlabError):
    pass


class Pending(ClaimlabError):
    pass


class ShardsMissing(ClaimlabError):
    pass


class ReplayMiss(ClaimlabError):
    pass


class EndpointRefused(ClaimlabError):
    pass

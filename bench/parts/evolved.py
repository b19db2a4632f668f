"""What the scripts on evolution share: where the released archive is, and lines that are printed as
they come.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping

from harness import shared


def archive(file: str | None) -> str:
    """The released evolved claims: the file that was named, or the one among the published data."""
    return file or str(shared("evolved-claims.zip"))


def show(options: argparse.Namespace, jobs: Mapping[str, Callable[..., Iterator[str]]]) -> None:
    """The lines of the job that was asked for, each as soon as it is there; the other options are
    its arguments.
    """
    settings = vars(options)
    if "archive" in settings:
        settings["archive"] = archive(settings["archive"])
    for line in jobs[settings.pop("job")](**settings):
        print(line, flush=True)

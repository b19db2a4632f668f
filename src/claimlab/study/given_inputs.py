"""Where the inputs of a folder are today: a folder says the names and digests of what was read,
never a path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from claimlab.core.call import digest_input
from claimlab.core.dataset import MANIFEST
from claimlab.core.errors import DataError

MOST_DEPTH, MOST_ENTRIES = 4, 20_000  # how far below a folder, and at how many entries, one looks
_TODO = "Pass `inputs`, a folder that holds what was read."


class GivenInputs:
    """Looks in `given` for whatever has the digest, under any name, and in `near` for what has the
    name too. `links` is a folder for links to inputs that were renamed: results may say the name of
    what was read."""

    def __init__(self, files: Sequence[Path], near: Sequence[Path], links: Path) -> None:
        self.given, self.near, self.links = list(files), list(near), links

    def find(self, name: str, digest: str | None) -> Path:
        """The input, under its recorded name, which a stranger may have written."""
        if name in ("", ".", "..") or any(sign in name for sign in "/\\\0"):
            raise DataError(f"'{name[:60]}' is not the name of an input.", "Make the folder again.")
        changed: Path | None = None
        for path, any_name in self._candidates(name):
            if path.name != name and not any_name:
                continue
            if digest is not None and digest_input(path) == digest:
                return path if path.name == name else self._linked(path, name)
            changed = path if path.name == name else changed
        if changed is not None:
            raise DataError(
                f"'{changed}' is not the input that was read: its content differs.", _TODO
            )
        looked = ", ".join(f"'{place}'" for place in dict.fromkeys((*self.given, *self.near)))
        raise DataError(f"The input '{name}' is not in {looked}.", _TODO)

    def _candidates(self, name: str) -> Iterator[tuple[Path, bool]]:
        """Every file or folder that may be it; whether its name does not matter. Names are compared
        first: to digest is slow."""
        for place in (*self.given, *self.near):
            if (place / name).exists():
                yield place / name, False
        for place in self.given:
            yield from ((path, True) for path in _below(place))
        for place in self.near:
            yield from ((path, (path / MANIFEST).is_file()) for path in _below(place))

    def _linked(self, path: Path, name: str) -> Path:
        place = self.links / str(len(list(self.links.iterdir())) if self.links.is_dir() else 0)
        place.mkdir(parents=True)
        (place / name).symlink_to(path.resolve(), target_is_directory=path.is_dir())
        return place / name


def _below(place: Path) -> Iterator[Path]:
    """Files and folders below `place`, hidden ones left out; a dataset is one thing."""
    count = 0
    for folder, folders, files in os.walk(place):
        here = Path(folder)
        deep = len(here.relative_to(place).parts)
        if (here / MANIFEST).is_file():
            folders.clear()
            files.clear()
            yield here
            continue
        folders[:] = (
            []
            if deep >= MOST_DEPTH
            else sorted(name for name in folders if not name.startswith("."))
        )
        names = [*files, *folders]
        yield from (here / name for name in sorted(names) if not (here / name / MANIFEST).is_file())
        count += len(names)
        if count > MOST_ENTRIES:
            return

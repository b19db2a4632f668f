"""Any GGUF file as a local model, by its path: `gguf:PATH`. No key, no network, no bill; as good as
the file.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.core.errors import UnreadableFile
from claimlab.llm.profiles import Profile
from claimlab.llm.providers.embedded import Local


class Gguf(Local):
    def __init__(self, profile: Profile) -> None:
        super().__init__(
            profile, Path(profile.options["path"]), context=int(profile.options["context"])
        )

    def check(self) -> None:
        if not self.weights.is_file():
            raise UnreadableFile(f"There is no model file '{self.weights}'.", "Check the path.")


PROVIDER = Gguf

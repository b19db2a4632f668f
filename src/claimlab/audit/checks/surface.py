"""Do punctuation, capital letters or digits give the label away?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit.check import SHORTCUT_RULE, Context, no_such_protocol, not_measured, sampled, shortcut
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding

# Shares of characters (and two flags), so that length itself does not leak in.
PATTERNS = {
    "punctuation": {
        "punctuation": r"\p{P}", "exclamation marks": r"!", "question marks": r"\?", "quotation marks": r"[\"“”„«»'’]",
        "hashes": r"#", "mentions": r"@", "ellipses": r"\.\.\.|…", "brackets": r"[\[\](){}]",
    },
    "case": {"capitals": r"\p{Lu}"},
    "digits": {"digits": r"\p{Nd}"},
}  # fmt: skip


class Surface:
    name = "surface"
    title = "Punctuation, case and digits"
    question = "Does the way a text is typed give its label away?"
    rule = SHORTCUT_RULE

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if context.protocol == "cdl":
            return no_such_protocol(self.name)
        part = sampled(subject, context)
        texts = part.subject.rows["text"]
        if texts.null_count() == texts.len():
            return [not_measured(self.name, "fair", "The records have no text.", n=subject.n)]
        out = []
        for family in PATTERNS:
            names, matrix = shares(texts, family)
            means = class_means(part.subject, names, matrix)
            out.append(
                shortcut(
                    part.subject,
                    context,
                    self.name,
                    Numbers(matrix),
                    why=f"A small tree on {family} alone",
                    label=family,
                    details={"share_of_characters": means, **part.note},
                )
            )
        return out


def shares(texts: pl.Series, family: str) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Share of characters per pattern; for case also whether the text starts, or is wholly, in capitals."""
    filled = texts.fill_null("")
    size = filled.str.len_chars().clip(1).to_numpy().astype(np.float32)
    columns = {
        name: filled.str.count_matches(pattern).to_numpy().astype(np.float32) / size
        for name, pattern in PATTERNS[family].items()
    }
    if family == "case":
        columns["words in capitals"] = filled.str.count_matches(r"\b\p{Lu}{2,}\b").to_numpy().astype(np.float32) / size
        columns["capitalised words"] = filled.str.count_matches(r"\b\p{Lu}\p{Ll}").to_numpy().astype(np.float32) / size
    return list(columns), np.stack(list(columns.values()), axis=1)


def class_means(subject: Subject, names: list[str], matrix: npt.NDArray[np.float32]) -> list[dict[str, object]]:
    return [
        {
            "feature": name,
            **{c: round(float(matrix[subject.y == k, i].mean()), 5) for k, c in enumerate(subject.classes)},
        }
        for i, name in enumerate(names)
    ]


CHECK = Surface()

"""Where an intervened claim is meant to go: one dimension of the Open Claims Model and one of its values.

Target.parse("style=colloquial-emotional")      short names, or the names of the released files
"""

from __future__ import annotations

from dataclasses import dataclass

from claimlab.core.errors import UnknownName, UsageError

# Dimension, value and what it means. Veracity is absent on purpose: nothing steers a claim to be false.
VALUES: dict[str, dict[str, str]] = {
    "style": {
        "rational-official": "sober, formal wording, as in a report of an institution, with next to no feeling in it",
        "colloquial-emotional": "everyday spoken wording that shows what the speaker feels",
    },
    "expression": {
        "fact": "says what is the case, so that it could be checked, and judges nothing",
        "opinion": "openly judges, values or interprets from the speaker's point of view",
        "corrective": "contradicts or sets right a statement or view that the speaker holds to be wrong",
    },
    "granularity": {
        "macro": "speaks of the large picture or a trend and leaves particulars out",
        "micro": "gives particulars: numbers, cases, examples, people, places",
    },
    "causal": {
        "direct": "says that one thing brings about another at once, with nothing in between",
        "indirect": "says that one thing acts on another by way of further factors or several steps",
        "refutation": "denies that one thing causes another, or corrects such a claim",
        "none": "neither states nor denies that anything causes anything",
    },
    "stance": {
        "support": "plainly agrees with a view, a measure, an act or a person",
        "oppose": "plainly disagrees with it, criticises it or objects to it",
        "neutral": "takes no side",
        "multi-perspective": "sets several views side by side and takes none of them",
    },
}
# What other writers call them: the released files, the paper's tables.
_DIMENSIONS = {
    "linguistic-style": "style", "language-style": "style",
    "expression-type": "expression", "message-type": "expression",
    "message-granularity": "granularity", "causal-structure": "causal", "stance-polarity": "stance",
}  # fmt: skip
_VALUES = {
    "rational": "rational-official", "official": "rational-official",
    "colloquial": "colloquial-emotional", "emotional": "colloquial-emotional",
    "macro-high-level": "macro", "high-level": "macro", "high-level-macro": "macro",
    "micro-detailed": "micro", "detailed": "micro", "detailed-micro": "micro",
    "direct-causation": "direct", "indirect-causation": "indirect", "causal-refutation": "refutation",
    "no-causation": "none", "multi-perspective-comparison": "multi-perspective",
}  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class Target:
    dimension: str
    value: str

    @classmethod
    def of(cls, dimension: str, value: str) -> Target:
        """A target by any of the names in use."""
        plain = _slug(dimension)
        plain = _DIMENSIONS.get(plain, plain)
        if plain not in VALUES:
            raise UnknownName("dimension to steer", dimension, VALUES)
        wanted = _slug(value)
        wanted = _VALUES.get(wanted, wanted)
        if wanted not in VALUES[plain]:
            raise UnknownName(f"value of '{plain}'", value, VALUES[plain])
        return cls(plain, wanted)

    @classmethod
    def parse(cls, text: str) -> Target:
        dimension, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' is not a target.", "Write it as DIMENSION=VALUE, such as style=colloquial.")
        return cls.of(dimension, value)

    @property
    def meaning(self) -> str:
        return VALUES[self.dimension][self.value]

    def __str__(self) -> str:
        return f"{self.dimension}={self.value}"


def all_targets() -> list[Target]:
    return [Target(dimension, value) for dimension, values in VALUES.items() for value in values]


def _slug(text: str) -> str:
    """Lower case, and one hyphen for whatever stands between words (the released files use several dashes)."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())

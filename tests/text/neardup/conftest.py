"""Near-duplicates the slow way, and made-up texts with known ones, handed to the tests as the
fixture `truth`.
"""

from __future__ import annotations

import random
import re
from types import SimpleNamespace

import pytest

from claimlab.text.neardup import normalise
from claimlab.text.neardup.normal import is_word

_VOCABULARY = """
river stone window market bread signal doctor village engine paper winter bridge garden money letter island
forest number station voice harvest copper ribbon kettle lantern meadow orchard pocket quarry saddle timber valley
wagon anchor basket candle dagger elbow feather goblet hammer inkwell jacket ladder mirror needle oyster pepper
"""
WORDS = _VOCABULARY.split()
_HAN_OR_KANA = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)


def gram_set(text: str, ngram: int = 5, unit: str = "char") -> frozenset[str]:
    """The n-grams of a text as the documentation defines them."""
    normal = normalise(text)
    if not normal:
        return frozenset()
    if unit == "char":
        brief = max(1, -(-3 * ngram // 5))  # of Han and kana three characters say as much as five
        ends = [i + (brief if _HAN_OR_KANA.match(c) else ngram) for i, c in enumerate(normal)]
        grams = [normal[i:end] for i, end in enumerate(ends) if end <= len(normal)]
        return frozenset(grams or [normal])
    units = re.findall(r"\S+", "".join(c if is_word(c) else " " for c in normal)) or [normal]
    if len(units) <= ngram:
        return frozenset(["\0".join(units)])
    return frozenset("\0".join(units[i : i + ngram]) for i in range(len(units) - ngram + 1))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0


def all_pairs(
    texts: list[str], threshold: float, ngram: int = 5, unit: str = "char"
) -> dict[tuple[int, int], float]:
    """Every pair at the threshold or above, by comparing each text with each."""
    sets = [gram_set(t, ngram, unit) for t in texts]
    found = {}
    for i in range(len(sets)):
        for j in range(i + 1, len(sets)):
            score = jaccard(sets[i], sets[j])
            if score >= threshold:
                found[i, j] = score
    return found


def sentence(rng: random.Random, words: int) -> list[str]:
    return [rng.choice(WORDS) + rng.choice(["", "s", "ed", "ing"]) for _ in range(words)]


def planted(count: int, seed: int = 0, families: int = 40) -> list[str]:
    """Sentences, of which `families` have one to four edited versions further on; no two are the
    same.
    """
    rng = random.Random(seed)
    base = [sentence(rng, rng.randint(4, 30)) for _ in range(count)]
    texts = [" ".join(words) for words in base]
    for words in base[:families]:
        for _ in range(rng.randint(1, 4)):
            edited = list(words)
            for _ in range(rng.randint(1, max(1, len(words) // 5))):
                edited[rng.randrange(len(edited))] = rng.choice(WORDS)
            texts.append(" ".join(edited))
    texts = list(dict.fromkeys(texts))
    rng.shuffle(texts)
    return texts


@pytest.fixture(scope="session")
def truth() -> SimpleNamespace:
    return SimpleNamespace(
        gram_set=gram_set,
        jaccard=jaccard,
        all_pairs=all_pairs,
        planted=planted,
        sentence=sentence,
        words=WORDS,
    )


@pytest.fixture(params=["compiled", "numpy"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with each kernel; the compiled one is skipped, and said so, where it was not
    built.
    """
    if request.param == "compiled":
        pytest.importorskip(
            "claimlab.text.neardup._kernel", reason="the compiled kernel was not built"
        )
    monkeypatch.setenv("CLAIMLAB_NEARDUP", request.param)
    return str(request.param)

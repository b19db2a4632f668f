"""What is left in texts of a wrong encoding or of a rating is named, and nothing else is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.audit.checks.surface import _at_least
from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding
from claimlab.text.traits import marks

NAMES = {
    "letters of a wrong code page": "Velmore isnÕt on the Òold roadÓ, says the mayor {n}",
    "a rating word at the start": "MOSTLY “The old road to Velmore is {n} miles long”",
    "a rating word at the end": "The old road to Velmore is {n} miles long: mostly false.",
}


def leftovers(texts: list[str], verdicts: list[str]) -> list[Finding]:
    frame = pl.DataFrame(
        {"id": [str(n) for n in range(len(texts))], "text": texts, "veracity": verdicts}
    )
    found = audit(Dataset.build("x", frame), checks=["surface"], debug=True).findings
    return [f for f in found if f.feature in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_a_leftover_of_one_class_is_named(name: str) -> None:
    plain = [f"The mayor of Velmore opened bridge {n} of the valley" for n in range(300)]
    texts = [NAMES[name].format(n=n) if n % 10 == 0 else plain[n] for n in range(300)]
    verdicts = ["false" if n % 2 == 0 else "true" for n in range(300)]
    (found,) = leftovers(texts, verdicts)
    assert (found.feature, found.verdict) == (name, "fail")
    assert found.why.startswith(f"30 texts hold {name} (0 true, 30 false)")
    assert set(found.records) == {str(n) for n in range(0, 300, 10)}
    split_evenly = ["false" if n % 20 < 10 else "true" for n in range(300)]
    assert leftovers(texts, split_evenly) == []


def test_plain_words_are_no_leftovers() -> None:
    good = [
        "True love lasts, says a poet", "Mostly people stayed at home", "É verdade que NÃO há vagas", "Fake news spread fast",
        "Half of the town voted", "Truth is never false hope", "Ótimo! Não é fácil", "Größe “zählt” – oft", "What is true?",
    ]  # fmt: skip
    _, matrix = marks(pl.Series(good), "leftovers")
    assert matrix.sum(axis=0).tolist() == [0, 0, 1]  # "What is true?" ends in one


def test_the_tail_of_the_hypergeometric_distribution_is_scipy_s() -> None:
    from scipy.stats import hypergeom

    rng = np.random.default_rng(0)
    for _ in range(200):
        records = int(rng.integers(5, 3000))
        of_class, drawn = int(rng.integers(0, records + 1)), int(rng.integers(1, records + 1))
        hits = int(rng.integers(0, drawn + 1))
        expected = hypergeom.sf(hits - 1, records, of_class, drawn)
        assert _at_least(hits, records, of_class, drawn) == pytest.approx(expected, abs=1e-8)

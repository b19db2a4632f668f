"""Shortcuts outside the words of a text: in ids, paths, the order of the file, whitespace,
typography, other texts.

Each plant is found by its own check and by no other; without it nothing is found.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.audit.run import audit
from claimlab.audit.views.pictures import overview
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.finding import Finding

N = 600
CHECKS = ("identifiers", "order", "surface", "text-columns", "url", "columns", "length", "missing")
WORDS = np.array(
    [
        "bridge",
        "mayor",
        "school",
        "river",
        "market",
        "train",
        "museum",
        "garden",
        "harbour",
        "tower",
    ]
)
Rows = dict[str, Any]
Plant = Callable[[Rows, "np.ndarray[Any, Any]", np.random.Generator], None]


def rows() -> tuple[Rows, np.ndarray[Any, Any], np.random.Generator]:
    """Records with ids, links, quotation marks and a note each, whose labels are drawn by lot."""
    rng = np.random.default_rng(5)
    false = rng.permutation(np.arange(N) % 2 == 0)
    quoted = rng.random(N) < 0.3
    texts = [
        f'The "{rng.choice(WORDS)}" of {" ".join(rng.choice(WORDS, 9))} {i}'
        if q
        else " ".join(rng.choice(WORDS, 11)) + f" {i}"
        for i, q in enumerate(quoted)
    ]
    notes = [
        f"seen at the {rng.choice(WORDS)} and the {rng.choice(WORDS)}, sheet {i}" for i in range(N)
    ]
    return (
        {
            "id": [f"item_{i}" for i in rng.permutation(N)],
            "text": texts,
            "url": [f"https://paper.example/{rng.choice(WORDS)}/{i}" for i in range(N)],
            "meta": [
                json.dumps({"note": note, "file": f"scan{i}.txt"}) for i, note in enumerate(notes)
            ],
            "veracity": np.where(false, "false", "true").tolist(),
        },
        false,
        rng,
    )


def built(made: Rows, **more: Any) -> Dataset:
    return Dataset.build("made", pl.DataFrame(made), **more)


def alarms(
    data: Dataset, checks: tuple[str, ...] = CHECKS
) -> dict[tuple[str, str | None], Finding]:
    found = audit(data, checks=list(checks), debug=True).findings
    return {(f.check, f.feature): f for f in found if f.verdict in ("warn", "fail")}


def in_id(made: Rows, false: Any, rng: Any) -> None:
    made["id"] = [f"{'fake' if y else 'real'}_{i}" for i, y in enumerate(false)]


def in_path(made: Rows, false: Any, rng: Any) -> None:
    made["url"] = [
        f"https://paper.example/{'fact-check' if y else 'news'}/{i}" for i, y in enumerate(false)
    ]


def in_file_name(made: Rows, false: Any, rng: Any) -> None:
    made["meta"] = [
        json.dumps({"file": f"img/{'hoax' if y else 'photo'}_{i}.jpg"}) for i, y in enumerate(false)
    ]


def at_the_end(made: Rows, false: Any, rng: Any) -> None:
    made["text"] = [
        t + "  " if y and rng.random() < 0.5 else t
        for t, y in zip(made["text"], false, strict=True)
    ]


def curly(made: Rows, false: Any, rng: Any) -> None:
    made["text"] = [
        t.replace('"', "”") if y and rng.random() < 0.9 else t
        for t, y in zip(made["text"], false, strict=True)
    ]


def sorted_by_class(made: Rows, false: Any, rng: Any) -> None:
    order = np.argsort(false, kind="stable")
    made.update({name: [values[i] for i in order] for name, values in made.items()})


def begins_with_the_claim(made: Rows, false: Any, rng: Any) -> None:
    made["meta"] = [
        json.dumps(
            {
                "note": f"{t if y else ' '.join(rng.permutation(t.split()))} {' '.join(rng.choice(WORDS, 8))}"
            }
        )
        for t, y in zip(made["text"], false, strict=True)
    ]


def explains(made: Rows, false: Any, rng: Any) -> None:
    made["meta"] = [
        json.dumps(
            {
                "note": f"we {'rate it wrong' if y else 'found it right'} at the {rng.choice(WORDS)}, sheet {i}"
            }
        )
        for i, y in enumerate(false)
    ]


PLANTS: dict[Plant, tuple[str, str]] = {
    in_id: ("identifiers", "id"),
    in_path: ("identifiers", "URL path"),
    in_file_name: ("identifiers", "meta.file"),
    at_the_end: ("surface", "whitespace"),
    curly: ("surface", "typography"),
    sorted_by_class: ("order", "position in the file"),
    begins_with_the_claim: ("text-columns", "meta.note, what it shares with the text"),
    explains: ("text-columns", "meta.note"),
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_each_plant_is_found_by_its_own_check_and_by_no_other(plant: Plant) -> None:
    made, false, rng = rows()
    plant(made, false, rng)
    found = alarms(built(made))
    check, feature = PLANTS[plant]
    assert {name for name, _ in found} == {check}, {name: f.why for name, f in found.items()}
    assert [str(label).startswith(feature) for _, label in found] == [True]


def test_without_a_plant_nothing_is_found() -> None:
    found = audit(built(rows()[0]), checks=list(CHECKS), debug=True).findings
    assert [f.why for f in found if f.verdict in ("warn", "fail")] == []
    measured = {(f.check, f.feature) for f in found if f.verdict != "not-measured"}
    expected = {
        ("identifiers", "URL path"),
        ("surface", "typography"),
        ("order", "position in the file"),
    }
    assert expected <= measured


def test_ids_that_count_up_in_a_sorted_file_are_a_matter_of_order_only() -> None:
    made, false, rng = rows()
    sorted_by_class(made, false, rng)
    made["id"] = [f"claim-{i}" for i in range(N)]
    assert set(alarms(built(made), ("identifiers", "order"))) == {("order", "position in the file")}


def test_ids_that_claimlab_made_raise_no_alarm() -> None:
    """By a loader of the catalogue, by a merge, or for records that it wrote."""
    made, false, _ = rows()
    labels = ["fake" if y else "true" for y in false]
    plain = {**made, "id": [f"{y}-set/item-{i}" for i, y in enumerate(labels)]}
    assert ("identifiers", "id") in alarms(built(plain), ("identifiers",)), (
        "or the plant would not be one"
    )
    assert alarms(built(plain, card="fake-br"), ("identifiers",)) == {}
    assert alarms(built(plain, lineage=[Lineage(step="merge")]), ("identifiers",)) == {}
    assert alarms(built(plain, synthetic=True), ("identifiers",)) == {}


def test_a_text_that_tells_what_the_records_own_text_tells_is_no_shortcut() -> None:
    made, false, _ = rows()
    made["text"] = [
        f"{t} {'cursed' if y else 'blessed'}" for t, y in zip(made["text"], false, strict=True)
    ]
    made["meta"] = [json.dumps({"title": " ".join(t.split()[-5:])}) for t in made["text"]]
    done = audit(built(made), checks=["text-columns"], debug=True)
    (title,) = [f for finding in done.findings for f in finding.every if f.feature == "meta.title"]
    assert title.verdict == "pass"
    assert title.score is not None
    assert title.score > 0.95
    assert title.baselines.own_text == title.baselines.best()
    assert ">own text<" in overview(done, "titles")[0].svg


def test_evidence_that_begins_with_the_claim_is_found_in_the_table() -> None:
    made, false, rng = rows()
    pieces = [
        t if y else " ".join(rng.permutation(t.split()))
        for t, y in zip(made["text"], false, strict=True)
    ]
    table = pl.DataFrame(
        {"record_id": made["id"], "text": [f"{p} as the paper wrote" for p in pieces]}
    )
    found = alarms(built(made, tables={"evidence": table}), ("text-columns",))
    (finding,) = found.values()
    assert (finding.feature or "").startswith("evidence, ")
    assert finding.verdict == "fail"

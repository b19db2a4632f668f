"""A third person decides, or the annotators discuss: blind vote, reveal, second vote."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.core.errors import NotAllowed
from claimlab.review.review import Review

from .made import key, review, task


def vote(made: Review, answers: dict[str, str]) -> None:
    """Item -> one letter a person: y or n, of ana, ben and so on."""
    for item, letters in answers.items():
        for who, letter in zip(("ana", "ben", "cem"), letters, strict=False):
            made.decide(who, item, "yes" if letter == "y" else "no", key=key())


def test_a_third_person_decides_what_is_disputed(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=3)
    made.add_person("adi", "adjudicator")
    vote(made, {"1": "yy", "2": "yn", "3": "ny"})
    assert [item.id for item in made.disputed("adi")] == ["2", "3"]
    assert [(v.who, v.value) for v in made.disputed("adi")[0].votes] == [
        ("ana", "yes"),
        ("ben", "no"),
    ]
    with pytest.raises(NotAllowed, match="may not adjudicate"):
        made.adjudicate("ana", "2", "no", key=key())
    with pytest.raises(NotAllowed, match="may not see the votes"):
        made.disputed("ben")
    made.adjudicate("adi", "2", "no", key=key(), comment="The source says so.")
    assert [item.id for item in made.disputed()] == ["3"]
    rows = made.results().select("value", "how").rows()
    assert rows == [("yes", "agreed"), ("no", "final"), (None, "disputed")]
    with pytest.raises(NotAllowed, match="has a final decision"):
        made.decide("ana", "2", "no", key=key())
    with pytest.raises(NotAllowed, match="has a final decision"):
        made.decide("ben", "2", "yes", key=key())


def test_an_adjudicator_takes_back_and_changes_a_final_decision(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=1)
    for name in ("adi", "bea"):
        made.add_person(name, "adjudicator")
    vote(made, {"1": "yn"})
    made.adjudicate("adi", "1", "no", key=key())
    made.adjudicate("bea", "1", "yes", key=key())
    assert made.results()["value"].to_list() == ["yes"]
    made.undo("bea")
    assert made.results()["value"].to_list() == ["no"]
    made.send_back("bea", "1", "ana", "Not so fast.")
    assert made.results()["how"].to_list() == ["disputed"]


def test_who_voted_is_no_third_person(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=1)
    vote(made, {"1": "yn"})
    person = made.person("ana")
    with pytest.raises(NotAllowed, match="may not adjudicate"):
        made.adjudicate(person.model_copy(update={"role": "owner"}), "1", "yes", key=key())


def test_discussion_reveals_and_votes_again(tmp_path: Path) -> None:
    made = review(tmp_path / "r", task(adjudication="discussion"), items=24)
    vote(
        made,
        {
            str(n): "yn" if n <= 6 else "ny" if n <= 8 else "yy" if n <= 16 else "nn"
            for n in range(1, 25)
        },
    )
    item = made.next_item("ana")
    assert item is not None
    assert (item.id, item.round, item.value) == ("1", "second", "yes")
    assert [(v.who, v.value) for v in item.votes] == [("Annotator 1", "no")]
    for n in range(1, 7):
        made.decide("ana", str(n), "no", key=key())
        made.decide("ben", str(n), "no", key=key())
    assert sorted(i.id for i in made.disputed()) == ["7", "8"]
    assert made.results().filter(item="1")["how"].to_list() == ["agreed"]
    before, after = (
        made.agreement().table.filter(between="all annotators", votes=when)
        for when in ("before", "after")
    )
    assert before["percent"].to_list() == pytest.approx([16 / 24])
    assert after["percent"].to_list() == pytest.approx([22 / 24])
    assert before["alpha_low"][0] < before["alpha"][0] < before["alpha_high"][0]


def test_votes_are_revealed_when_all_are_in(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=2)
    made.add_person("ola", "owner")
    made.decide("ana", "1", "yes", key=key())
    with pytest.raises(NotAllowed, match="Not every annotator has voted"):
        made.reveal("1", "ola")
    assert made.item("1", "ana").round == "first"
    made.decide("ben", "1", "no", key=key())
    with pytest.raises(NotAllowed, match="may not reveal"):
        made.reveal("1", "ana")
    made.reveal("1", "ola")
    with pytest.raises(NotAllowed, match="not assigned"):
        made.decide("ola", "1", "no", key=key())
    assert made.item("1", "ben").round == "second"
    with pytest.raises(NotAllowed, match="were revealed"):
        made.undo("ben")
    made.decide("ben", "1", "yes", key=key())
    assert made.undo("ben").value == "no"


def test_three_votes_by_majority(tmp_path: Path) -> None:
    made = review(
        tmp_path / "r",
        task(adjudication="majority", per_item=3),
        items=2,
        people=["ana", "ben", "cem"],
    )
    vote(made, {"1": "yny", "2": "nn"})
    assert made.results().select("value", "how").rows() == [("yes", "majority"), (None, "open")]


def test_a_model_is_marked_and_settles_nothing(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=2)
    made.add_person("gpt", "model")
    made.add_person("ola", "owner")
    vote(made, {"1": "yn", "2": "yy"})
    for item in ("1", "2"):
        made.decide("gpt", item, "no", key=key())
    assert [(v.who, v.model) for v in made.item("1", "ola").votes] == [
        ("ana", False),
        ("ben", False),
        ("gpt", True),
    ]
    assert made.results()["how"].to_list() == ["disputed", "agreed"]
    table = made.agreement().table
    assert table.filter(between="all annotators")["items"].to_list() == [2]
    assert sorted(table.filter(model=True)["between"].to_list()) == [
        "ana and gpt (model)",
        "ben and gpt (model)",
    ]

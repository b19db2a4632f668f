"""The queue of an annotator: balanced, blind, nothing twice, skip, undo, go back, send back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from claimlab.core.errors import NotAllowed, NotFound, UnknownName, UsageError
from claimlab.review.people import deal
from claimlab.review.review import Review
from claimlab.review.task import Blind

from .made import key, review, task


def work_through(made: Review, who: str, answer: str = "yes", most: int = 1_000) -> list[str]:
    seen = []
    while (item := made.next_item(who)) is not None and len(seen) < most:
        made.decide(who, item.id, answer, key=key())
        seen.append(item.id)
    return seen


def test_everybody_gets_an_equal_share_and_nothing_twice(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=30, people=["ana", "ben", "cem"])
    seen = {who: work_through(made, who) for who in ("ana", "ben", "cem")}
    assert [len(items) for items in seen.values()] == [20, 20, 20]
    assert all(len(set(items)) == len(items) for items in seen.values())
    assert set(Counter(i for items in seen.values() for i in items).values()) == {2}
    assert made.progress().items == {"agreed": 30}


def test_pairs_of_annotators_meet_equally_often() -> None:
    add, remove = deal([str(n) for n in range(60)], [1, 2, 3, 4], 2, {}, seed=3)
    by_item: dict[str, list[int]] = {}
    for item, person in add:
        by_item.setdefault(item, []).append(person)
    meets = Counter(tuple(sorted(people)) for people in by_item.values())
    assert remove == []
    assert len(meets) == 6
    assert max(meets.values()) - min(meets.values()) <= 2


def test_who_joins_later_takes_what_nobody_has_seen(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=40)
    before = {who: work_through(made, who, most=10) for who in ("ana", "ben")}
    last = {who: made.next_item(who) for who in ("ana", "ben")}  # on the screen, not decided
    made.add_person("cem")
    for who, item in last.items():
        assert item is not None
        made.decide(who, item.id, "yes", key=key())
    work = {who: [*before[who], last[who].id, *work_through(made, who)] for who in before}  # type: ignore[union-attr]
    work["cem"] = work_through(made, "cem")
    counts = Counter(i for items in work.values() for i in items)
    assert set(counts.values()) == {2}
    assert sorted(len(items) for items in work.values()) == [26, 27, 27]


def test_an_annotator_sees_neither_label_nor_model_nor_id_nor_others(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    work_through(made, "ben", "no")
    item = made.next_item("ana")
    assert item is not None
    shown = item.model_dump_json()
    for hidden in ("false", "true", "fake", "no"):
        assert f'"{hidden}' not in shown.replace("text", "")
    assert item.votes == ()
    owner, _ = made.add_person("ola", "owner")
    full = made.item(item.id, owner)
    assert (full.record_id, full.payload.label, len(full.votes)) == (f"fake/{item.id}", "false", 1)


def test_a_task_can_show_label_and_model(tmp_path: Path) -> None:
    made = review(tmp_path / "r", task(blind=Blind(label=False, model=False, others=True)))
    item = made.next_item("ana")
    assert item is not None
    assert item.payload.label == "false"
    assert item.payload.model is not None
    assert item.payload.model.label == "true"


def test_gold_items_and_attention_checks_go_to_all_and_are_not_told_apart(tmp_path: Path) -> None:
    made = review(
        tmp_path / "r", items=9, people=["ana", "ben", "cem"], gold={2: "yes"}, attention={5: "no"}
    )
    shapes = set()
    for who in ("ana", "ben", "cem"):
        while (item := made.next_item(who)) is not None:
            shapes.add(tuple(sorted(k for k, v in item.model_dump().items() if v is not None)))
            made.decide(who, item.id, "yes", key=key())
    assert len(shapes) == 1
    table = made.progress().table
    assert table["gold"].to_list() == table["gold_right"].to_list() == [1, 1, 1]
    assert table["attention"].to_list() == [1, 1, 1]
    assert table["attention_right"].to_list() == [0, 0, 0]
    assert made.results().height == 7  # neither is under review


def test_skipped_items_come_back_the_earliest_first(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=4)
    for expected in ("1", "2"):
        item = made.next_item("ana")
        assert item is not None
        assert item.id == expected
        made.skip("ana", item.id)
    assert work_through(made, "ana") == ["3", "4", "1", "2"]


def test_undo_takes_back_one_step_at_a_time(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=3)
    made.decide("ana", "1", "yes", key=key())
    made.decide("ana", "1", "no", key=key())
    made.skip("ana", "2")
    assert made.undo("ana").id == "2"
    assert made.item("2", "ana").status == "open"
    assert made.undo("ana").value == "yes"  # the vote before
    again = made.undo("ana")
    assert (again.id, again.value, again.status) == ("1", None, "open")
    with pytest.raises(NotFound, match="nothing to undo"):
        made.undo("ana")
    kinds = made.events()["kind"].to_list()
    assert kinds.count("undo") == 3
    assert kinds.count("decide") == 2  # nothing is erased


def test_history_goes_back_newest_first_and_an_answer_can_be_changed(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=3)
    work_through(made, "ana")
    assert made.turn("ana").standing.earlier == ("3", "2", "1")
    made.decide("ana", "2", "no", key=key(), comment="On second thoughts.")
    item = made.item("2", "ana")
    assert (item.value, item.comment) == ("no", "On second thoughts.")
    assert made.progress().table.filter(name="ana")["decisions"].to_list() == [3]


def test_saving_again_is_the_same_decision(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    one = key()
    first = made.decide("ana", "1", "yes", key=one)
    assert made.decide("ana", "1", "no", key=one) == first  # a retry never changes what was saved
    made.undo("ana")
    assert made.decide("ana", "1", "yes", key=one).superseded
    with pytest.raises(NotAllowed, match="another decision"):
        made.decide("ana", "2", "yes", key=one)
    with pytest.raises(UsageError, match="not a uuid"):
        made.decide("ana", "2", "yes", key="1")


def test_an_item_sent_back_comes_first_and_says_why(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=4)
    made.add_person("ola", "owner")
    made.decide("ana", "1", "yes", key=key())
    with pytest.raises(NotAllowed, match="owner or adjudicator"):
        made.send_back("ben", "1", "ana", "Look again.")
    with pytest.raises(UsageError, match="`why`"):
        made.send_back("ola", "1", "ana", " ")
    made.send_back("ola", "1", "ana", "Look again.")
    item = made.next_item("ana")
    assert item is not None
    assert (item.id, item.status, item.returned, item.value) == (
        "1",
        "returned",
        "Look again.",
        "yes",
    )
    made.decide("ana", "1", "no", key=key())
    assert made.item("1", "ana").status == "done"


def test_wrong_names_and_numbers_are_sentences(tmp_path: Path) -> None:
    made = review(tmp_path / "r", items=4, people=["ana", "ben", "cem", "dia"])
    with pytest.raises(NotFound, match="no item 'x'"):
        made.decide("ana", "x", "yes", key=key())
    with pytest.raises(UnknownName, match="no person named 'eva'"):
        made.next_item("eva")
    with pytest.raises(UsageError, match="already in this review"):
        made.add_person("ana")
    with pytest.raises(UnknownName, match="no role named 'boss'"):
        made.add_person("eva", "boss")
    (other, *_) = {"1", "2", "3", "4"} - set(work_through(made, "ana"))
    with pytest.raises(NotAllowed, match="not assigned to 'ana'"):
        made.decide("ana", other, "yes", key=key())


def test_a_token_opens_one_account_and_is_not_stored(tmp_path: Path) -> None:
    made = review(tmp_path / "r", people=[])
    ana, token = made.add_person("ana")
    assert made.person_of(token) == ana
    assert made.person_of(token + "x") is None
    newer = made.new_token("ana")
    assert made.person_of(token) is None
    assert made.person_of(newer) == ana
    made.close()
    for file in (tmp_path / "r").iterdir():
        assert token.encode() not in file.read_bytes()


def test_a_review_survives_being_closed(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    made.decide("ana", "1", "yes", key=key(), comment="Nul \x00 and \ud800.")
    made.close()
    again = Review.open(tmp_path / "r")
    item = again.item("1", "ana")
    assert (item.value, item.comment) == ("yes", "Nul \x00 and \ud800.")


def test_uncertain_or_random_order(tmp_path: Path) -> None:
    made = review(tmp_path / "r", task(order="random"), items=30)
    orders = {who: work_through(made, who) for who in ("ana", "ben")}
    assert orders["ana"] != orders["ben"]
    assert sorted(orders["ana"]) == sorted(orders["ben"]) == sorted(map(str, range(1, 31)))

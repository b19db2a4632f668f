"""The engine: turns come in order, visits form a tree, and a front is all who wait."""

from __future__ import annotations

from claimlab.evolve.society.engine import Model, Visit, depth, size


def test_turns_are_first_come_first_served_and_visits_name_whom_they_came_from() -> None:
    model = Model(7)
    first = model.step()
    assert first == Visit(0, 7, 0, None)
    assert model.step() is None, "nobody has been told yet"
    model.pass_on(first, [3, 5])
    second = model.step()
    assert second == Visit(1, 3, 1, 0)
    model.pass_on(second, [9])
    assert [model.step(), model.step(), model.step()] == [Visit(2, 5, 1, 0), Visit(3, 9, 2, 1), None]
    assert (depth(model), size(model)) == (2, 4)


def test_who_comes_again_is_visited_twice_and_counted_once() -> None:
    model = Model(1)
    for agent in (2, 1, 2):
        visit = model.step()
        assert visit is not None
        model.pass_on(visit, [agent])
    assert [visit.agent for visit in model.visits] == [1, 2, 1, 2]
    assert (depth(model), size(model)) == (3, 2)


def test_a_front_has_its_turn_together() -> None:
    model = Model(0)
    (start,) = model.front()
    assert model.front() == []
    model.pass_on(start, [4, 2])
    front = model.front()
    assert [visit.agent for visit in front] == [4, 2]
    model.pass_on(front[1], [8])
    assert [visit.agent for visit in model.front()] == [8]

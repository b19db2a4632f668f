"""Work on several threads: in order, with its errors, and nothing begun after one."""

from __future__ import annotations

import threading

import pytest

from claimlab.core import threads
from claimlab.core.threads import side_by_side


def test_results_are_in_the_order_of_the_items() -> None:
    counts: list[int] = []
    assert side_by_side(lambda n: n * n, range(50), counts.append) == [n * n for n in range(50)]
    assert counts == list(range(1, 51))
    assert side_by_side(str, []) == []


def test_a_result_that_comes_first_does_not_come_first_in_the_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 2)
    last = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            assert last.wait(60)
        else:
            last.set()
        return number

    assert side_by_side(work, [0, 1]) == [0, 1]


def test_an_error_is_raised_here_and_ends_the_rest() -> None:
    begun: list[int] = []
    lock = threading.Lock()

    def work(number: int) -> int:
        with lock:
            begun.append(number)
        raise ValueError(f"no {number}")

    with pytest.raises(ValueError, match="no 0|no 1"):
        side_by_side(work, range(10_000))
    assert len(begun) < 10_000

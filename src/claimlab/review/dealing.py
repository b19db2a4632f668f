"""Who gets which item: equal loads, every pair of annotators about equally often, nothing twice for
one person.

Items that an annotator has seen stay theirs. When an annotator joins, the others give up items they
have not seen yet.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from claimlab.core.stats.streams import stream

Pair = tuple[str, int]  # an item and a person


def deal(
    items: Sequence[str],
    people: Sequence[int],
    per_item: int,
    holdings: Mapping[Pair, bool],
    seed: int,
) -> tuple[list[Pair], list[Pair]]:
    """What to add to and to take from `held`, so that every item has `per_item` annotators (or all
    there are) and loads differ by one at most. `held` has for each pair whether it may still be
    moved."""
    holders: dict[str, list[int]] = defaultdict(list)
    load = Counter(dict.fromkeys(people, 0))
    for item, person in holdings:
        holders[item].append(person)
        load[person] += 1
    together: Counter[tuple[int, int]] = Counter()
    for who in holders.values():
        together.update((a, b) for a in who for b in who if a != b)
    add: list[Pair] = []
    draw = stream(seed, "deal", len(holdings))
    for item in items:
        while len(holders[item]) < min(per_item, len(people)):
            free = [p for p in people if p not in holders[item]]
            if not free:
                break
            person = min(free, key=lambda p: _rank(p, holders[item], load, together, draw.random()))
            together.update(pair for q in holders[item] for pair in ((person, q), (q, person)))
            holders[item].append(person)
            load[person] += 1
            add.append((item, person))
    movable = {pair for pair, free in holdings.items() if free} | set(add)
    moved = _level(items, people, holders, load, movable)
    wanted = set(holdings) | set(add)
    for item, old, new in moved:
        wanted.discard((item, old))
        wanted.add((item, new))
    return [p for p in sorted(wanted) if p not in holdings], [
        p for p in sorted(holdings) if p not in wanted
    ]


def _rank(
    person: int,
    beside: Sequence[int],
    load: Counter[int],
    together: Counter[tuple[int, int]],
    draw: float,
) -> tuple[int, int, float]:
    return load[person], sum(together[person, q] for q in beside), draw


def _level(
    items: Sequence[str],
    people: Sequence[int],
    holders: dict[str, list[int]],
    load: Counter[int],
    movable: set[Pair],
) -> list[tuple[str, int, int]]:
    """Moves (item, from, to) from the person with most items to the one with fewest, until loads
    are level.
    """
    stock = {p: [item for item in items if (item, p) in movable] for p in people}
    moves = []
    heavy = [(-load[p], p) for p in people]
    heapq.heapify(heavy)
    while heavy:
        giver = heapq.heappop(heavy)[1]
        taker = min(people, key=lambda p: (load[p], p))
        if load[giver] - load[taker] < 2:
            break
        item = next((i for i in reversed(stock[giver]) if taker not in holders[i]), None)
        if item is None:
            continue  # nothing of theirs can go there: the next heaviest gives
        stock[giver].remove(item)
        stock[taker].append(item)
        holders[item] = [taker if p == giver else p for p in holders[item]]
        load[giver] -= 1
        load[taker] += 1
        moves.append((item, giver, taker))
        heapq.heappush(heavy, (-load[giver], giver))
    return moves

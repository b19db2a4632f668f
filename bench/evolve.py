"""Is the society fast enough? Networks beside rustworkx, igraph and SciPy, and agent steps beside
Mesa, in one run.

    python bench/evolve.py graphs [--agents 1000000] [--kind NAME]        (needs: pip install
    'claimlab[bench]')
    python bench/evolve.py steps [--agents 90,10000,1000000]

Seconds are of the processor, so that a busy machine does not blur them; the best of --repeat runs
counts, and a ratio compares runs that stood side by side. A peer's time ends when its own graph
stands; claimlab's ends when its rows can be walked. Peers are asked for the same number of agents
and ties. None of them makes a network of similar agents: SciPy's k-d tree finds the same nearest
profiles, igraph's geometric graph ties what lies close, with as many ties.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse
from harness import Row, begin, best, need, parser, record
from parts.evolved import show
from scipy.spatial import cKDTree

from claimlab_simulate.evolve.scene import CELLS_AT_ONCE
from claimlab_simulate.evolve.society.build import NETWORKS, build
from claimlab_simulate.evolve.society.draws import Numbers, below, numbers
from claimlab_simulate.evolve.society.engine import Model, travel
from claimlab_simulate.evolve.society.network import Network
from claimlab_simulate.evolve.society.networks.clustered import INSIDE
from claimlab_simulate.evolve.society.networks.dunbar import MODERATE, STRONG
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.telling import Fresh, neighbour
from claimlab_simulate.evolve.society.ties import MEAN_DEGREE

Job = Callable[[], object]
ENOUGH = 0.5  # seconds
WALK, FAN_OUT = 10, 2
MOST_TURNS = 2_000_000  # of Mesa in one measurement
KINDS = ("random", "scale-free", "clustered", "dunbar")
# agents; beyond, peers that look at every pair (rustworkx's blocks, the k-d tree) take hours
PAIRWISE = 20_000


def planted(people: Population) -> tuple[list[int], np.ndarray[Any, Any]]:
    """Group sizes and the chances of a tie that give the density of our clustered network."""
    sizes = np.bincount(people.codes("group")).astype(float)
    ties = people.size * MEAN_DEGREE / 2
    inside = float((sizes * (sizes - 1) / 2).sum())
    chance = np.full(
        (sizes.size, sizes.size),
        ties * (1 - INSIDE) / (people.size * (people.size - 1) / 2 - inside),
    )
    np.fill_diagonal(chance, ties * INSIDE / inside)
    return [int(s) for s in sizes], chance


def scipy_random(rows: int, columns: int, ties: int) -> scipy.sparse.csr_array:
    return scipy.sparse.random_array(
        (rows, columns), density=ties / (rows * columns), format="csr", rng=1
    )


def scipy_planted(people: Population) -> scipy.sparse.csr_array:
    sizes, chance = planted(people)
    blocks = [
        [
            (
                scipy_random(a, b, round(chance[i, j] * a * b / (1 if i < j else 2)))
                if i <= j
                else None
            )
            for j, b in enumerate(sizes)
        ]
        for i, a in enumerate(sizes)
    ]
    half = scipy.sparse.block_array(blocks, format="csr")
    return half + half.T


def one_hot(people: Population) -> np.ndarray[Any, Any]:
    columns = [
        np.eye(len(people.values(a)), dtype=np.float32)[people.codes(a)] for a in people.attributes
    ]
    return np.concatenate(columns, axis=1)


def peers(kind: str, people: Population, ours: Network) -> dict[str, Job]:
    igraph, rustworkx = need("igraph"), need("rustworkx")
    if igraph is None or rustworkx is None:
        return {}
    n, ties = people.size, ours.edges
    if kind == "random":
        return {
            "rustworkx": lambda: rustworkx.undirected_gnm_random_graph(n, ties, seed=1),
            "igraph": lambda: igraph.Graph.Erdos_Renyi(n=n, m=ties),
            "SciPy": lambda: (half := scipy_random(n, n, ties)) + half.T,
        }
    if kind == "scale-free":
        each = round(MEAN_DEGREE / 2)
        return {
            "rustworkx": lambda: rustworkx.barabasi_albert_graph(n, each, seed=1),
            "igraph": lambda: igraph.Graph.Barabasi(n, each),
        }
    if kind == "clustered":
        sizes, chance = planted(people)
        jobs: dict[str, Job] = {
            "igraph": lambda: igraph.Graph.SBM(chance.tolist(), sizes),
            "SciPy": lambda: scipy_planted(people),
        }
        if n <= PAIRWISE:
            jobs["rustworkx"] = lambda: rustworkx.undirected_sbm_random_graph(
                sizes, chance, False, seed=1
            )
        return jobs
    found: dict[str, Job] = {
        "igraph (geometric)": lambda: igraph.Graph.GRG(n, math.sqrt(ours.mean_degree / math.pi / n))
    }
    if n <= PAIRWISE:
        named = (sum(STRONG) + sum(MODERATE)) // 2
        points = one_hot(people)
        found["SciPy (k-d tree)"] = lambda: cKDTree(points).query(points, k=named + 1)
    return found


def graphs(agents: int, repeat: int, kind: list[str] | None) -> Iterator[str]:
    people = Population.draw(agents, seed=1)
    yield f"Networks of {agents:,} agents, seconds of the processor, best of {repeat}."
    yield ""
    yield "| kind | ties | claimlab | peers | ratio to the fastest |"
    yield "|---|---|---|---|---|"
    for name in kind or KINDS:
        ours = build(name, people, seed=1)
        jobs = peers(name, people, ours)
        ties = ours.edges
        our_seconds = best(lambda name=name: build(name, people, seed=1), repeat).cpu  # type: ignore[misc]
        del ours
        times = {peer: best(job, repeat).cpu for peer, job in jobs.items()}
        shown = ", ".join(f"{peer} {seconds:.2f}" for peer, seconds in times.items())
        ratio = f"{our_seconds / min(times.values()):.2f}" if times else "no peer"
        yield f"| {name} | {ties:,} | {our_seconds:.2f} | {shown} | {ratio} |"


class InMesa:
    """As kind to Mesa as can be: neighbours are a plain list, whether a claim was heard is one
    number, fronts are plain lists, which are faster than an AgentSet for each, and nothing of where
    a claim went is kept.
    """

    def __init__(self, network: Network) -> None:
        import mesa

        class Person(mesa.Agent):  # type: ignore[misc]
            neighbours: list[Any]
            visits = 0
            heard = -1

            def step(self) -> None:
                self.random.choice(self.neighbours).visits += 1

            def tell(self, claim: int, front: list[Any]) -> None:
                fresh = [other for other in self.neighbours if other.heard != claim]
                for other in self.random.sample(fresh, min(FAN_OUT, len(fresh))):
                    other.heard = claim
                    front.append(other)

        self.model = mesa.Model(seed=1)
        self.people = [Person(self.model) for _ in range(network.size)]
        for i, person in enumerate(self.people):
            person.neighbours = [self.people[j] for j in network.neighbours(i).tolist()]
        self.claim = 0

    def walk(self, steps: int) -> int:
        for _ in range(steps):
            self.model.agents.shuffle_do("step")
        return steps * len(self.people)

    def cascade(self, claims: int) -> int:
        """One claim after the other."""
        visits = 0
        for start in self.model.random.choices(self.people, k=claims):
            self.claim += 1
            start.heard = self.claim
            front = [start]
            while front:
                visits += len(front)
                following: list[Any] = []
                for person in front:
                    person.tell(self.claim, following)
                front = following
        return visits


class InClaimlab:
    """Every visit is kept, with its claim, its depth and who told whom."""

    def __init__(self, network: Network) -> None:
        self.network, self.rule, self.fresh = network, neighbour(network), Fresh(network, FAN_OUT)
        self.claim = 0

    def seeds(self, claims: int) -> Numbers:
        self.claim += claims
        return numbers(np.arange(self.claim - claims, self.claim, dtype=np.uint64), 0)

    def walk(self, steps: int) -> int:
        """As many claims as agents, one at each, for so many steps."""
        n = self.network.size
        travel(Model(np.arange(n), self.seeds(n), agents=n), self.rule, steps)
        return steps * n

    def cascade(self, claims: int) -> int:
        n, visits = self.network.size, 0
        for first in range(0, claims, at_once := max(1, CELLS_AT_ONCE // n)):
            seeds = self.seeds(min(at_once, claims - first))
            model = travel(Model(below(seeds, n), seeds, agents=n), self.fresh, n)
            visits += sum(map(len, model.fronts))
        return visits


def pace(job: Callable[[int], int], size: int, repeat: int) -> float:
    """Agent turns in a second of the processor, at best; `size` steps or claims at once, as often
    as fills the time.
    """
    rates = []
    for _ in range(repeat):
        gc.collect()
        turns, start = 0, time.process_time()
        while (seconds := time.process_time() - start) < ENOUGH:
            turns += job(size)
        rates.append(turns / seconds)
    return max(rates)


def steps(agents: list[int], repeat: int) -> Iterator[str]:
    yield f"Turns of agents in a second of the processor, best of {repeat}."
    yield ""
    yield "| agents | job | claimlab | Mesa | times as fast |"
    yield "|---|---|---|---|---|"
    for size in agents:
        network = connected(size)
        ours, theirs = InClaimlab(network), InMesa(network) if need("mesa") else None
        note = "" if theirs else "Mesa is not installed"
        for job, name, count in (
            ("walk", f"walk of {WALK} steps", WALK),
            ("cascade", "cascade of 1 claim", 1),
            ("cascade", "cascade of 100 claims", 100),
        ):
            turns = pace(getattr(ours, job), count, repeat)
            # Mesa's claims follow each other, so that fewer of them give the same rate.
            few = min(count, max(1, MOST_TURNS // size))
            peer = pace(getattr(theirs, job), few, repeat) if theirs else None
            yield (
                f"| {size:,} | {name} | {turns:,.0f} | {peer or 0:,.0f} |"
                f" {turns / (peer or math.inf):.1f} |"
            )
            title = f"{name}, {size:,} agents"
            record(Row("propagation", title, "Mesa", turns, peer, "turns/s", more=True, note=note))


def connected(size: int) -> Network:
    """A scale-free network: no agent is without a neighbour, which Mesa's random choice could not
    bear.
    """
    return build("scale-free", Population.draw(size, seed=1), seed=1)


def main() -> None:
    made = parser(__doc__)
    jobs = made.add_subparsers(dest="job", required=True)
    graph = jobs.add_parser("graphs")
    graph.add_argument("--agents", type=int, default=1_000_000)
    graph.add_argument("--kind", choices=NETWORKS.names(), action="append")
    graph.add_argument("--repeat", type=int, default=3)
    step = jobs.add_parser("steps")
    step.add_argument(
        "--agents",
        type=lambda text: [int(n) for n in text.split(",")],
        default=[90, 10_000, 1_000_000],
    )
    step.add_argument("--repeat", type=int, default=3)
    random.seed(1)  # igraph draws from here
    show(begin(made), {"graphs": graphs, "steps": steps})


if __name__ == "__main__":
    main()

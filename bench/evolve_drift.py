"""What drift-lite is worth, and how claims drift by word noise: figures for docs/evolve-drift.md,
as Markdown.

    python bench/evolve_drift.py pairs [ARCHIVE]           AUC of each dimension on released pairs
    python bench/evolve_drift.py curve [ARCHIVE]           early and late slope of the null rewriter
                                                           on three networks
    python bench/evolve_drift.py details [ARCHIVE]         what released traces keep of their seeds,
                                                           and what noise keeps at the same rate
    python bench/evolve_drift.py separation [ARCHIVE]      how far style, expression and granularity
                                                           tell claims from non-claims (figure 3)
    python bench/evolve_drift.py distances                 Wasserstein distances from people, from
                                                           published counts

ARCHIVE is the released evolved-claims archive (default: in ../shared/data).

`pairs` takes each value of a steered dimension against the others of that dimension: 0.5 says that
a dimension of drift-lite cannot tell claims steered there from the rest, below 0.5 that they moved
less. Nothing is fitted. `curve` runs `claimlab evolve run` on seed240 with its defaults (word
noise, 90 agents, 30 steps) on each network, then measures. `separation` has the trained auditor of
a dimension read every text; it learned from evolved claims that come from other seeds. An evolved
claim is read in the dimensions that it was not steered in.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, parser
from parts.evolved import show
from sklearn.metrics import roc_auc_score

from claimlab.catalog.load import load
from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset
from claimlab.core.stats.streams import stream_seed
from claimlab_simulate.evolve.auditors.known.classifier import View, examples
from claimlab_simulate.evolve.claims.model import dimension
from claimlab_simulate.evolve.drift.lite import DIMENSIONS, NAMES, TOTAL, drift_lite
from claimlab_simulate.evolve.drift.measure import measure
from claimlab_simulate.evolve.worth.score import wasserstein

NETWORKS = ("random", "scale-free", "clustered")
SCORES = (0.4, 0.5, 0.6, 0.7)
PEOPLE = (15, 6, 33, 46)
METHODS = {
    "BUP": (16, 12, 34, 38),
    "text classifier": (12, 24, 30, 34),
    "model, zero-shot": (15, 35, 30, 20),
}


def pairs(archive: str) -> Iterator[str]:
    records = load("evolved-claims", archive, variant="evolved").records
    notes = [json.loads(m)["synthetic"] for m in records["meta"].to_list()]
    began = time.process_time()
    measured = drift_lite([n["origin"]["base_claim"] for n in notes], records["text"].to_list())
    seconds = time.process_time() - began
    steered = measured.with_columns(
        pl.Series("dimension", [n["changes"][0]["dimension"] for n in notes]),
        pl.Series("value", [n["changes"][0]["value"] for n in notes]),
    )
    yield (
        f"{records.height:,} released pairs, {records.height / seconds:,.0f} pairs a second of"
        " processor time."
    )
    yield ""
    yield (
        "| steered to | n | "
        + " | ".join(d.title + (" (weak)" if d.weak else "") for d in DIMENSIONS)
        + " |"
    )
    yield "|---|---" + "|---" * len(NAMES) + "|"
    best = dict.fromkeys(NAMES, 0.5)
    for _, part in steered.group_by("dimension", maintain_order=True):
        for value in part["value"].unique().sort().to_list():
            truth = (part["value"] == value).to_numpy()
            if truth.all():
                continue  # a dimension with one value has nothing to be told apart
            areas = {name: float(roc_auc_score(truth, part[name].to_numpy())) for name in NAMES}
            best = {name: max(best[name], areas[name], 1 - areas[name]) for name in NAMES}
            yield (
                f"| {value} | {int(truth.sum())} | "
                + " | ".join(f"{areas[n]:.2f}" for n in NAMES)
                + " |"
            )
    yield "| best, either way | | " + " | ".join(f"{best[n]:.2f}" for n in NAMES) + " |"


def curve(archive: str, steps: int, seed: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="claimlab-bench-") as place:
        seeds = Path(place) / "seeds"
        load("evolved-claims", archive, variant="seed240").write(seeds)
        runs = []
        for kind in NETWORKS:
            within = ["--set", "within_group=true"] if kind == "clustered" else []
            call = [
                "evolve",
                "run",
                str(seeds),
                "-o",
                f"{place}/{kind}",
                "--network",
                kind,
                "--steps",
                str(steps),
            ]
            with contextlib.redirect_stdout(io.StringIO()):
                failed = command([*call, "--seed", str(seed), *within])
            if failed:
                raise SystemExit(f"evolve run failed on {kind}")
            runs.append(Dataset.open(Path(place) / kind))
        began = time.process_time()
        found = measure(runs, seed=seed)
        seconds = time.process_time() - began
    yield ""
    counts = found.counts
    yield (
        f"{counts['hops']:,} hops of {counts['traces']:,} traces measured in {seconds:.1f} s of"
        " processor time."
    )
    yield ""
    yield (
        "| network | early slope | late slope | late / early | 95 % interval | drift-lite at the"
        " end | flattens |"
    )
    yield "|---|---|---|---|---|---|---|"
    for (by, value), c in found.curves.items():
        if by in ("all", "topology") and c.ratio is not None and c.ratio_interval is not None:
            low, high = c.ratio_interval
            name = value or "all"
            slopes = f"{c.early:.4f} | {c.late:.4f} | {c.ratio:.2f} | {low:.2f} to {high:.2f}"
            yield f"| {name} | {slopes} | {c.end:.3f} | {'yes' if c.flattens else 'no'} |"
    far = found.curves["all", ""].unrelated
    yield ""
    yield f"Ceilings: 1 by the measure's definition; {far:.3f} is what two unrelated seeds score."
    step = found.hops.group_by("depth").agg(pl.col(TOTAL).mean()).sort("depth")
    shown = [(d, v) for d, v in step.iter_rows() if d in (1, 2, 5, 10, 15, 20, 25, 30)]
    yield "Mean by step: " + ", ".join(f"{d}: {v:.3f}" for d, v in shown) + "."


def details(archive: str) -> Iterator[str]:
    found = measure([load("evolved-claims", archive, variant="traces")])
    whole = found.curves["all", ""]
    if whole.beyond is not None:
        low, high = whole.beyond
        yield (
            f"drift-lite at the end {whole.end:.3f}, null model {whole.noise_end:.3f}; difference"
            f" {low:.3f} to {high:.3f} (95% interval)."
        )
    yield ""
    yield "| kind | step | traces | kept | 95% interval | null model | difference, 95% interval |"
    yield "|---|---|---|---|---|---|---|"
    for row in found.details.filter(pl.col("step").is_in((1, 3))).drop_nulls("low").to_dicts():
        shares = [row[k] for k in ("kept", "low", "high", "null_kept")]
        kept, least, most, null = (f"{100 * share:.1f}%" for share in shares)
        low_gap, high_gap = 100 * row["difference_low"], 100 * row["difference_high"]
        yield (
            f"| {row['kind']} | {row['step']} | {row['traces']:,} | {kept} | {least} to {most} |"
            f" {null} | {low_gap:+.1f} to {high_gap:+.1f} |"
        )


SEPARATED = ("style", "expression", "granularity")
FOLDS = 5


def readings(released: Dataset, staged: pl.DataFrame, name: str) -> pl.Series:
    """The value of the dimension that each text has for an auditor that saw no text of its seed."""
    learned = examples(released, name)
    of_examples = np.array([stream_seed(0, group, "fold") % FOLDS for group in learned.groups])
    owners = staged.select(pl.coalesce("group", "id")).to_series()
    of_texts = np.array([stream_seed(0, owner, "fold") % FOLDS for owner in owners])
    values = np.empty(staged.height, dtype=object)
    for fold in range(FOLDS):
        auditor = View("words-and-characters", seed=0).fit(learned.take(of_examples != fold))
        rows = np.flatnonzero(of_texts == fold)
        values[rows] = auditor.predict(staged["text"].gather(rows).to_numpy())
    return pl.Series("value", values.tolist(), dtype=pl.String)


def apart(claims: pl.Series, others: pl.Series) -> tuple[float, float, float]:
    """The balanced accuracy of the best guess from the value alone, with its 95% interval."""
    names = sorted({*claims, *others})
    codes = [np.searchsorted(names, one.to_numpy().astype(str)) for one in (claims, others)]

    def best(*parts: np.ndarray) -> float:
        shares = [np.bincount(part, minlength=len(names)) / len(part) for part in parts]
        return float(np.maximum(*shares).sum() / 2)

    rng = np.random.default_rng(0)
    draws = [best(*(rng.choice(part, len(part)) for part in codes)) for _ in range(1000)]
    low, high = np.quantile(draws, (0.025, 0.975))
    return best(*codes), float(low), float(high)


def separation(archive: str) -> Iterator[str]:
    released = load("evolved-claims", archive, variant="evolved")
    staged = load("evolved-claims", archive, variant="stages").records
    meta = pl.col("meta").str
    staged = staged.with_columns(
        stage=meta.json_path_match("$.stage"), steered=meta.json_path_match("$.dimension")
    )
    yield "| dimension | value | non-claims | seeds | evolved |"
    yield "|---|---|---|---|---|"
    told = []
    own = {word: dimension(word).name for word in staged["steered"].drop_nulls().unique()}
    staged = staged.with_columns(pl.col("steered").replace(own))
    for name in SEPARATED:
        read = staged.with_columns(readings(released, staged, name))
        read = read.filter((pl.col("stage") != "evolved") | (pl.col("steered") != name))
        parts = {one: read.filter(stage=one)["value"] for one in ("non-claim", "seed", "evolved")}
        for value in sorted(set(read["value"])):
            shares = [f"{100 * (part == value).mean():.1f}%" for part in parts.values()]
            yield f"| {name} | {value} | {' | '.join(shares)} |"
        for stage in ("seed", "evolved"):
            figure, low, high = apart(parts[stage], parts["non-claim"])
            figures = f"{100 * figure:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            told.append(f"| {name} | {stage} | {figures} |")
    yield ""
    yield "| dimension | claims | balanced accuracy of the best guess from the value alone, % |"
    yield "|---|---|---|"
    yield from told


def distances() -> Iterator[str]:
    people = np.repeat(SCORES, PEOPLE)
    yield "| method | Wasserstein distance from people |"
    yield "|---|---|"
    for name, counts in METHODS.items():
        yield f"| {name} | {wasserstein(np.repeat(SCORES, counts), people):.3f} |"


def main() -> None:
    made = parser(__doc__)
    jobs = made.add_subparsers(dest="job", required=True)
    for name in ("pairs", "curve", "details", "separation"):
        jobs.add_parser(name).add_argument("archive", nargs="?")
    jobs.choices["curve"].add_argument("--steps", type=int, default=30)
    jobs.choices["curve"].add_argument("--seed", type=int, default=20)
    jobs.add_parser("distances")
    asked = begin(made)
    show(
        asked,
        {
            "pairs": pairs,
            "curve": curve,
            "details": details,
            "separation": separation,
            "distances": distances,
        },
    )


if __name__ == "__main__":
    main()

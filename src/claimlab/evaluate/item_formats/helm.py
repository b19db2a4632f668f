"""Runs of HELM: `per_instance_stats.json`, with `run_spec.json` beside it naming the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from claimlab.core.types import JsonObject
from claimlab.evaluate.items import ItemFormat, ItemScore, opened

USUAL = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match")


class HelmRun(ItemFormat):
    summary = "per_instance_stats.json of HELM"

    def fits(self, file: Path) -> bool:
        content = opened(file)
        return (
            isinstance(content, list)
            and bool(content)
            and isinstance(content[0], dict)
            and {"instance_id", "stats"} <= set(content[0])
        )

    def read(self, file: Path) -> Iterator[ItemScore]:
        """By the first of the usual metrics that the file has; perturbed instances are left out."""
        content = opened(file)
        rows = [row for row in content or () if isinstance(row, dict)]
        has = {str(stat["name"]["name"]) for row in rows[:1] for stat in row["stats"]}
        metric = next((name for name in USUAL if name in has), next(iter(sorted(has)), ""))
        system = _model(file)
        for row in rows:
            if row.get("perturbation"):
                continue
            for stat in row["stats"]:
                if stat["name"]["name"] == metric and stat.get("count"):
                    yield ItemScore(str(row["instance_id"]), system, _mean(stat))
                    break


FORMAT = HelmRun()


def _mean(stat: JsonObject) -> float:
    mean = stat.get("mean")
    return float(stat["sum"]) / float(stat["count"]) if mean is None else float(mean)


def _model(file: Path) -> str:
    beside = file.parent / "run_spec.json"
    spec = opened(beside) if beside.is_file() else None
    if isinstance(spec, dict):
        adapter: JsonObject = spec.get("adapter_spec") or {}
        return str(adapter.get("model") or spec.get("name") or file.parent.name)
    return file.resolve().parent.name

"""The presets run on the real files at a small size, and come to what they came to when their pages
were written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import presets as bench
import pytest
from parts.packages import leaf_marked

from claimlab.study.new import presets

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
POINTS = 0.1 + 1e-9  # values are rounded to one decimal


def test_every_published_preset_is_tried() -> None:
    assert set(bench.SAMPLES) == set(presets()) - {"compare"} == set(bench.PRESETS)
    assert {page.stem for page in bench.PAGES.glob("*.md")} == set(bench.PRESETS)


@pytest.mark.slow
@pytest.mark.parametrize("preset", leaf_marked(bench.PRESETS))
def test_a_preset_comes_to_what_its_page_was_written_from(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not DATA.is_dir():
        pytest.skip("the real datasets are not at ../shared/data")
    monkeypatch.setenv("CLAIMLAB_CL100K", str(DATA / "cl100k_base.tiktoken"))
    monkeypatch.chdir(tmp_path)
    grids = bench.small(preset, DATA, tmp_path / "small")
    for grid in grids:
        reasons = {reason for cell in grid.cells if (reason := grid.reason(cell))}
        assert all("API_KEY" in reason or "openai" in reason for reason in reasons), reasons
        models = [e for e in grid.entries if e.axes["detector"] == "tfidf"]
        assert models
        assert all(e.records > 0 for e in models)
        assert (grid.output / "report" / "index.html").is_file()
    kept = json.loads(bench.SMALL.read_text(encoding="utf-8"))[preset]
    changed = differing(kept, json.loads(json.dumps(bench.values(grids))))
    assert not changed, (
        f"figures on docs/presets/{preset}.md are of other code: run make presets. {changed[:5]}"
    )


def differing(before: Any, after: Any, place: str = "") -> list[str]:
    """Where two sets of values differ by more than 0.1."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return [
            each
            for name in before
            for each in differing(before[name], after[name], f"{place} {name}".strip())
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            each
            for old, new in zip(before, after, strict=True)
            for each in differing(old, new, place)
        ]
    if (
        isinstance(before, int | float)
        and isinstance(after, int | float)
        and abs(before - after) <= POINTS
    ):
        return []
    return [f"{place}: {before} before, {after} now"]


def test_a_change_of_more_than_a_tenth_of_a_point_is_seen() -> None:
    before = {"a": 50.0, "table": [[1.0, 2.0]]}
    assert differing(before, {"a": 50.1, "table": [[1.0, 2.0]]}) == []
    assert differing(before, {"a": 50.2, "table": [[1.0, 2.0]]}) == ["a: 50.0 before, 50.2 now"]
    assert differing(before, {"a": 50.0, "table": [[1.0, 2.2]]}) == ["table: 2.0 before, 2.2 now"]
    assert len(differing(before, {"a": 50.0})) == 1

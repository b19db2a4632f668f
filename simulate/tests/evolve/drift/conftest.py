"""A small run with everything that the measures read: two topics, three agents, a target, votes, a
network.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import meta_json

Make = Callable[..., Dataset]
TEXTS = (
    "The mill in Garrow sold 300 looms in 1931.",
    "The mill in Garrow sold many looms in 1931.",
    "Folks say the mill in Garrow sold looms!",
    "I heard the mill sold stuff, who knows!",
)


def hop(trace: str, n: int, before: str, after: str, **meta: Any) -> dict[str, Any]:
    passed = meta.pop("passed", None)
    role = meta.pop("role", "producer")
    return {
        "record_id": trace, "trace_id": trace, "round": 1, "step": n, "agent": f"a{n % 3}", "role": role,
        "input": before, "output": after, "passed": passed, "reason": "It fits." if passed else None,
        "meta": meta_json(meta),
    }  # fmt: skip


def make_run(
    traces: int = 4, *, auditors: int = 3, kind: str = "random", name: str = "looms", **meta: Any
) -> Dataset:
    """Each trace is three rewrites; the last passes its audit except in the last trace."""
    rows, records = [], []
    for t in range(traces):
        trace = f"t{t}"
        goal = {"dimension": "style", "target_value": "colloquial-emotional", **meta}
        for n in (1, 2, 3):
            ok = n == 3 and t < traces - 1
            votes = [
                {"auditor": f"v{i}", "passed": ok, "reason": "because"} for i in range(auditors)
            ]
            more = {"influencing_attributes": ["big_five", "job"], "votes": votes, **goal}
            rows.append(
                hop(trace, n, TEXTS[n - 1], TEXTS[n], passed=ok if auditors else None, **more)
            )
        note = {
            "synthetic": {"label": "claim", "origin": {"claim": "seed-0"}, "changes": [{"step": 1}]}
        }
        records.append(
            {"id": trace, "text": TEXTS[3], "kind": "claim", "label_raw": "1", "language": "eng", "authorship": "MGT",
             "topic": "Mills" if t % 2 else "Looms", "group": f"g{t // 2}", "meta": json.dumps(note)}
        )  # fmt: skip
    evidence = pl.DataFrame(
        [{"record_id": r["id"], "evidence_id": f"e{r['id']}", "rank": 1,
          "text": "The mill in Garrow sold 300 looms in 1931. The harbour of Tolm closed after the great storm."}
         for r in records]
    )  # fmt: skip
    agents = pl.DataFrame({"id": ["a0", "a1", "a2"], "group": ["North", "North", "South"]})
    edges = pl.DataFrame({"source": ["a0", "a1"], "target": ["a1", "a2"]})
    parameters = {
        "targets": ["style=colloquial-emotional"], "auditors": [{"name": "v"}] * auditors,
        "society": {"network": {"kind": kind}},
    }  # fmt: skip
    tables = {"traces": pl.DataFrame(rows), "evidence": evidence, "agents": agents, "edges": edges}
    lineage = [Lineage(step="evolve", parameters=parameters, seed=0)]
    return Dataset.build(name, pl.DataFrame(records), tables, synthetic=True, lineage=lineage)


@pytest.fixture
def looms() -> Make:
    return make_run

"""An archive, claims and answers as a retrieval task that mteb and BEIR read."""

from __future__ import annotations

import json

import polars as pl

from claimlab.claims.matches import factcheck_id
from claimlab.core.errors import UsageError
from claimlab.search.local import LocalIndex
from claimlab.tasks.matching import Qrels

# Where mteb finds the three tables. It reads all of them in one format, so the answers are there as
# JSON lines beside the TSV of BEIR.
MTEB = """---
configs:
- config_name: default
  data_files: [{split: test, path: qrels/test.jsonl}]
- config_name: corpus
  data_files: [{split: corpus, path: corpus.jsonl}]
- config_name: queries
  data_files: [{split: queries, path: queries.jsonl}]
---
"""


def task_files(archive: LocalIndex, records: pl.DataFrame, truth: Qrels | None) -> dict[str, str]:
    """The files of a retrieval task as mteb and BEIR read them: documents, queries, answers."""
    if not truth:
        raise UsageError("A task of mteb needs labelled answers.", "Pass `qrels`.")
    documents = map(archive.document, range(archive.manifest.documents))
    corpus = [
        {
            "_id": factcheck_id(d.get("source_id"), d.get("url"), d["text"]),
            "title": d.get("title") or "",
        }
        | {"text": d["text"]}
        for d in documents
    ]
    texts = dict(records.select("id", "text").iter_rows())
    queries = [{"_id": id, "text": text} for id, text in texts.items() if truth.get(id)]
    archived = {document["_id"] for document in corpus}
    answers = [(q["_id"], d) for q in queries for d in sorted(truth[q["_id"]]) if d in archived]
    judged = [{"query-id": query, "corpus-id": document, "score": 1} for query, document in answers]
    parts = {"qrels/test": judged, "corpus": corpus, "queries": queries}
    files = {
        f"mteb/{name}.jsonl": "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        for name, rows in parts.items()
    }
    lines = [
        "query-id\tcorpus-id\tscore",
        *(f"{query}\t{document}\t1" for query, document in answers),
    ]
    return {**files, "mteb/README.md": MTEB, "mteb/qrels/test.tsv": "\n".join(lines) + "\n"}

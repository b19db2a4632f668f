"""The steps of a study that the rooms below have: each is the function of a verb."""

from __future__ import annotations

from claimlab.study.verb import Verb

ENTRIES = [
    Verb("load", "claimlab.catalog.load", "load", "name", kind="source"),
    Verb("import", "claimlab.exchange.importer", "import_files", "paths", "load", "source"),
    Verb("merge", "claimlab.exchange.merge", "merge", "datasets", "import", "source"),
    Verb("clean", "claimlab.clean.front", "clean", "recipe"),
    Verb("review", "claimlab.study.review", "reviewed", "answers", "clean"),
    Verb("enrich", "claimlab.enrich.front", "enrich", "provider", "review"),
    Verb("split", "claimlab.split.run", "split", "by", "enrich", seeded=True),
    Verb("detector", "claimlab.detect.run", "detect", "detector", "split", seeded=True),
    Verb("sample", "claimlab.study.sample", "sample", "size", kind="part"),
    Verb("audit", "claimlab.audit.front", "audit", "protocol", kind="report", done="audit.json"),
    Verb(
        *("match", "claimlab.claims.match", "match", "archive"),
        after="audit",
        kind="report",
        done="match.json",
    ),
    Verb(
        *("export", "claimlab.exchange.export", "export", "to"),
        after="match",
        kind="report",
        done="claimlab.json",
    ),
]

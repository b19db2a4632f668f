"""FEVER: claims made by altering sentences of Wikipedia, with the pages that support or refute them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._fever import PARTS, VERDICTS, Row, loaded, page_title, read_splits
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_json
from claimlab.files.bundle import Bundle
from claimlab.files.tables import frame_of

FILES = {
    "train": ("train.json*", "fever_train.json*", "*fever*train*.json*"),
    "dev": (
        "fever_labelled_dev.json*",
        "labelled_dev.json*",
        "shared_task_dev.json*",
        "paper_dev.json*",
        "*dev*.json*",
    ),
    "test": ("shared_task_test.json*", "paper_test.json*", "*fever*test*.json*"),
}


def load(bundle: Bundle) -> Loaded:
    """The development claims, with labels and evidence."""
    return read(bundle, ["dev"])


def load_all(bundle: Bundle) -> Loaded:
    """Every part that is there; the claims of the shared task's test have no labels."""
    return read(bundle, PARTS)


def read(bundle: Bundle, splits: Sequence[str]) -> Loaded:
    rows = read_splits(bundle, FILES, splits, ["id", "claim"])
    return loaded("fever", "id", frame_of(rows, ["id", "claim", "label", "split"]), rows, _pages)


def _pages(row: Row) -> Iterator[Row]:
    """Pages only (`evidence_pages`), or as published: sets of [annotation, evidence, page, sentence] that go together."""
    pages = [(page, None, None) for page in row.get("evidence_pages") or []]
    sets = enumerate(row.get("evidence") or [], 1)
    published = [(e[2], e[3], n) for n, together in sets for e in together if e[2] is not None]
    for page, sentence, number in [*pages, *published]:
        yield {
            "evidence_id": page if sentence is None else f"{page}:{sentence}",
            "title": page_title(page),
            "stance": row.get("label"),
            "meta": meta_json({"set": number}),
        }


DATASET = Entry(
    card=Card(
        name="fever",
        title="FEVER",
        summary="One-fact claims that annotators made by altering sentences of popular Wikipedia pages, labelled by what "
        "Wikipedia says of them.",
        size=185_445,
        modality=("claims",),
        topic="Various",
        region="USA",
        languages=("eng",),
        labelling="Crowd-sourced",
        shares=Shares(true=46.75, false=19.65, unknown=33.6),
        quality=Quality(keywords="pass", feasibility="pass"),
        published=Published(search_f1=88.6, offline_f1=89.2, keywords_tf=41.3, keywords_tf_baseline=50.0),
        licence="CC BY-SA 3.0, with Wikipedia's terms for its text",
        access="Download train.jsonl, shared_task_dev.jsonl and shared_task_test.jsonl from the project's page.",
        homepage="https://fever.ai/dataset/fever.html",
        citation="Thorne, Vlachos, Christodoulopoulos and Mittal (2018), FEVER: a Large-scale Dataset for Fact Extraction "
        "and VERification, NAACL.",
        errata=(
            "The guide's shares need the training part; the development part is balanced (3 x 6,666).",
            "The guide's text calls the labels binary; its table counts a third, not-enough-info, as unknown.",
            "Of the 19,998 development claims 19,597 are distinct, and 54 texts stand under more than one label.",
            "The guide's zero-shot baselines are on 'paper_test', half of the development part.",
        ),
        has_evidence=True,
        survey="cdl-claims",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("fever/a5", VERDICTS), "cdl": LabelMap("fever/cdl", VERDICTS)},
    variants={"dev": load, "all": load_all},
    sample=Sample(
        files={
            "fever_labelled_dev.json": '[{"id": 11, "claim": "Salt Road is a novel.", "label": "SUPPORTS", '
            '"evidence_pages": ["Salt_Road_-LRB-novel-RRB-"]}, '
            '{"id": 12, "claim": "Salt Road is \\"a\\" film.", "label": "REFUTES", '
            '"evidence_pages": ["Salt_Road_-LRB-novel-RRB-", "Northport"]}, '
            '{"id": 13, "claim": "Salt Road sold well.", "label": "NOT ENOUGH INFO", "evidence_pages": []}]',
            "train.jsonl": '{"id": 1, "verifiable": "VERIFIABLE", "label": "SUPPORTS", "claim": "Northport has a harbour.", '
            '"evidence": [[[7, 8, "Northport", 3], [7, 9, "Harbour", 0]], [[7, 10, "Northport", 5]]]}\n'
            '{"id": 2, "verifiable": "NOT VERIFIABLE", "label": "NOT ENOUGH INFO", "claim": "Northport is loud.", '
            '"evidence": [[[7, null, null, null]]]}\n',
        },
        rows={"dev": 3, "all": 5},
        veracity={"true": 1, "false": 1, "unknown": 1},
    ),
    real_rows={"dev": 19_998, "all": 19_998},
    real_labels={"SUPPORTS": 6_666, "REFUTES": 6_666, "NOT ENOUGH INFO": 6_666},
)

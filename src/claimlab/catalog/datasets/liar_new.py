"""LIAR-New: PolitiFact statements after the training cut-off of early LLMs, with French translations and possibility labels."""

from __future__ import annotations

from typing import Any

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._guide import guide, made_up
from claimlab.catalog.datasets._layout import side_table
from claimlab.catalog.datasets._tolerant import constant, dated, dates, maybe, pick, read_any_table
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle

POSSIBILITY = {"p": "possible", "h": "hard", "i": "impossible"}
LABELLERS = ("labeler_1_possibility", "labeler_2_possibility", "labeler_3_possibility")


def load(bundle: Bundle) -> Loaded:
    return _load(bundle, "statement", "eng")


def load_french(bundle: Bundle) -> Loaded:
    """The statements as two native speakers translated them."""
    return _load(bundle, "french", "fra")


def _load(bundle: Bundle, column: str, language: str) -> Loaded:
    """One JSON object per line. The folder also holds an old labelling (`_oldversion1`), which its authors advise against."""
    name = bundle.one("LIAR-New.jsonl", "liar_new.jsonl", "LIAR-New.json")
    raw = read_any_table(bundle, name)
    number = pick(raw, "example_id", "id", where=name)
    times = dates(maybe(raw, "date"), "%B %d, %Y")
    records = pl.DataFrame(
        {
            "id": ("liar-new-" + number).alias("id"),
            "text": pick(raw, column, where=name).str.strip_chars(),
            "kind": constant("claim", raw.height),
            "label_raw": pick(raw, "label", where=name),
            "language": constant(language, raw.height),
            "date": times,
            "date_source": dated(times, "date column (claim)"),
            "source": constant("PolitiFact", raw.height),
            "group": number,
        }
    )
    return Loaded(records, {"annotations": _annotations(bundle, raw, number), **_articles(bundle, records)})


def _annotations(bundle: Bundle, raw: pl.DataFrame, number: pl.Series) -> pl.DataFrame:
    """Whether a statement holds enough context to be checked: the agreed label, and each labeller's where the raw file is there."""
    rows = _answers(number, maybe(raw, "possibility_label"), "consensus")
    known = set(number.to_list())
    for name in bundle.match("LIAR-New_raw.jsonl"):
        single = read_any_table(bundle, name)
        for labeller in LABELLERS:
            answers = _answers(pick(single, "example_id", where=name), maybe(single, labeller), labeller[:9])
            rows += [row for row in answers if row["record_id"].removeprefix("liar-new-") in known]
    return side_table("annotations", rows)


def _answers(number: pl.Series, values: pl.Series, annotator: str) -> list[dict[str, Any]]:
    return [
        {
            "record_id": f"liar-new-{n}",
            "annotator": annotator,
            "annotator_kind": "human",
            "question": "possibility",
            "value": POSSIBILITY.get(value.strip().lower()[:1], value),
        }
        for n, value in zip(number.to_list(), values.to_list(), strict=True)
        if value
    ]


def _articles(bundle: Bundle, records: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """PolitiFact's own article on each statement, where that file is there. It states the verdict: an oracle, not evidence."""
    found = bundle.match("LIAR-New_articles.jsonl", "LIAR_new_scrapedarticles.jsonl")
    if not found:
        return {}
    raw = read_any_table(bundle, found[0])
    number, text = pick(raw, "example_id", where=found[0]), pick(raw, "article_text", "text", where=found[0])
    ratings = dict(zip(records["id"].to_list(), records["label_raw"].to_list(), strict=True))
    rows = [
        {
            "record_id": f"liar-new-{n}",
            "evidence_id": f"politifact-{n}",
            "rank": 1,
            "text": t,
            "provider": "liar-new",
            "publisher": "PolitiFact",
            "domain": "politifact.com",
            "rating": ratings[f"liar-new-{n}"],
        }
        for n, t in zip(number.to_list(), text.to_list(), strict=True)
        if f"liar-new-{n}" in ratings
    ]
    return {"evidence": side_table("evidence", rows)}


A5 = {
    "true": "true", "mostly-true": "true", "half-true": "mixed",
    "barely-true": "false", "false": "false", "pants-fire": "false",
}  # fmt: skip

DATASET = Entry(
    card=Card(
        name="liar-new",
        title="LIAR-New",
        summary="PolitiFact statements of 2021-22 in English and French, each with a human label on whether it can be checked at all without more context.",
        size=1_957,
        modality=("claims",),
        topic="Politics",
        region="USA",
        languages=("eng", "fra"),
        time_start="2021-10",
        time_end="2022-11",
        labelling="Human expert",
        shares=Shares(true=19.62, false=72.87, mixed=7.51),
        quality=Quality(keywords="pass", temporal="pass", feasibility="fail"),
        published=Published(
            search_f1=69.7,
            offline_f1=63.6,
            keywords_tf=48.1,
            keywords_tf_baseline=50.0,
            keywords_tfm=31.4,
            keywords_tfm_baseline=31.9,
            temporal=53.7,
            temporal_feature="date",
        ),
        licence="MIT",
        access="Clone the repository MitigateMisinfo and give its folder LIAR-New.",
        homepage="https://github.com/ComplexData-MILA/MitigateMisinfo",
        citation="Pelrine et al. (2023), Towards Reliable Misinformation Mitigation: Generalization, Uncertainty, and GPT-4, EMNLP.",
        errata=(
            "Table 5 of the guide counts 'barely-true' as true (384 = 237 + 99 + 48 of 1,957), against the guide's own rule A.5; map 'cdl'.",
            "The published temporal score was taken with yet another map: half-true as true, barely-true as false (map 'cdl-time').",
            "LIAR-New_oldversion1.jsonl is an earlier possibility labelling that its authors advise against; it is not read.",
            "PolitiFact's articles end in the verdict: as evidence they hand the answer over.",
        ),
        has_evidence=True,
        survey="cdl-claims",
    ),
    maps={
        "a5": LabelMap("liar-new/a5", A5),
        "cdl": LabelMap("liar-new/cdl", {**A5, "barely-true": "true"}),
        "cdl-time": LabelMap("liar-new/cdl-time", {**A5, "half-true": "true"}),
    },
    variants={"statements": load, "french": load_french, "guide": guide("liar-new", "liar_new", language="eng")},
    published_rows={"french": 1_957, "guide": 1_957},
    sample=Sample(
        files={
            "LIAR-New/LIAR-New.jsonl": '{"example_id":1,"statement":"\\u201cThe bridge tax doubled.\\u201d","french":"La taxe du pont a doubl\\u00e9.","date":"October 10, 2021","label":"barely-true","possibility_label":"h"}\n'
            '{"example_id":2,"statement":"Riverton has 9,000 residents.","french":"Riverton compte 9 000 habitants.","date":"November 3, 2022","label":"true","possibility_label":"p"}\n'
            '{"example_id":3,"statement":"A photo shows the mayor.","french":"Une photo montre le maire.","date":"May 1, 2022","label":"half-true","possibility_label":"i"}\n',
            "LIAR-New/LIAR-New_oldversion1.jsonl": '{"example_id":1,"statement":"old","french":"vieux","date":"May 1, 2022","label":"false","possibility_label":"i"}\n',
            "LIAR-New/LIAR-New_raw.jsonl": '{"example_id":1,"possibility_label":"h","labeler_1_possibility":"H","labeler_2_possibility":"H","labeler_3_possibility":"I"}\n',
            "LIAR-New/LIAR-New_articles.jsonl": '{"example_id":2,"article_text":"The census counts 9,012. We rate this True."}\n',
            **made_up(
                "liar_new",
                {"claim": "riverton has 9,000 residents.", "label": "true", "date": "November 3, 2022"},
                {"claim": "the bridge tax doubled.", "label": "barely-true", "date": "October 10, 2021"},
            ),
        },
        rows={"statements": 3, "french": 3, "guide": 2},
        veracity={"true": 1, "false": 1, "mixed": 1},
    ),
)

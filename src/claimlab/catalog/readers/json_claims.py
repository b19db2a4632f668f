"""Claims as JSON objects that hold their own evidence: FEVER, FEVEROUS, HoVer, Climate-FEVER,
COVID-Fact, Check-COVID, FaVIQ, PubHealthTab, AVeriTeC, PolitiHop, Factcheck-GPT and
FacTool.

A reader gives every object its `key`, which ends the id of the record, and says what pieces of
evidence are in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

import polars as pl

from claimlab.catalog import kit
from claimlab.core.types import JsonObject
from claimlab.core.words import several

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":"}
PARTS = ("train", "dev", "test")


def fever(bundle: kit.Bundle, splits: Sequence[str] = PARTS) -> kit.Loaded:
    return _claims("fever", _split_rows("fever", bundle, splits), _fever_pages, split="split")


def feverous(bundle: kit.Bundle, splits: Sequence[str] = PARTS) -> kit.Loaded:
    rows = _split_rows("feverous", bundle, splits)
    meta = ["challenge", "expected_challenge"]
    return _claims("feverous", rows, _feverous_pages, meta=meta, split="split")


def hover(bundle: kit.Bundle, splits: Sequence[str] = PARTS) -> kit.Loaded:
    """Claims made from one HotpotQA question are a group."""
    rows = _split_rows("hover", bundle, splits, key="uid")
    loaded = _claims("hover", rows, _hover_pages, meta=["num_hops"], group="hpqa_id", split="split")
    bare = loaded.records["label_raw"].null_count()
    if bare:
        loaded.notes.append(f"{several(bare, 'claim')} published without a label.")
    return loaded


def climate_fever(bundle: kit.Bundle) -> kit.Loaded:
    """One file of JSON lines; the votes on each evidence sentence become annotations."""
    name = bundle.one("climate-fever.jsonl", "*climate*fever*.json*", "*.jsonl")
    rows = kit.read_objects(bundle, name, ["claim_id", "claim", "claim_label", "evidences"])
    keyed = [{**row, "key": row["claim_id"], "label": row["claim_label"]} for row in rows]
    loaded = _claims("climate-fever", keyed, _climate_sentences)
    votes = (
        {"record_id": record, **vote}
        for record, row in zip(loaded.records["id"], rows, strict=True)
        for vote in _climate_votes(row)
    )
    loaded.tables["annotations"] = kit.side_rows("annotations", votes)
    return loaded


def covid_fact(bundle: kit.Bundle) -> kit.Loaded:
    """One file of JSON lines. A claim and the counter-claims made from it share `gold_source`: that
    is the group.
    """
    name = bundle.one("COVIDFACT_dataset.jsonl", "*covid*fact*.json*", "*.jsonl")
    rows = kit.read_objects(bundle, name, ["claim", "label", "evidence"])
    return _claims(
        "covid-fact",
        [{**row, "key": f"{number:04}"} for number, row in enumerate(rows, 1)],
        lambda row: ({"text": sentence} for sentence in row["evidence"]),
        meta=["flair"],
        url="gold_source",
        group="gold_source",
        # a refuted claim is a person's title with its key words swapped by a model
        authorship=pl.col("label").replace_strict(
            {"SUPPORTED": "HWT", "REFUTED": "HAT"}, default=None
        ),
    )


def check_covid(bundle: kit.Bundle) -> kit.Loaded:
    """JSON lines. Evidence is named by abstract and sentence number; its words come from
    corpus.json where that lies beside.
    """
    name = bundle.one("Check-COVID_all.json", "covidCheck_all.json", "*covid*check*.json*")
    rows = kit.read_objects(bundle, name, ["id", "claim", "cord_id", "label", "evidence_set"])
    corpus = {
        row["cord_id"]: row
        for file in bundle.match("corpus.json*")
        for row in kit.read_objects(bundle, file)
    }

    def sentences(row: JsonObject) -> Iterator[JsonObject]:
        paper = corpus.get(row["cord_id"], {})
        abstract = dict(enumerate(paper.get("abstract", [])))
        for sentence in row["evidence_set"]:
            yield {
                "evidence_id": f"{row['cord_id']}:{sentence['sent_index']}",
                "title": paper.get("title"),
                "text": abstract.get(sentence["sent_index"]),
                "provider": "CORD-19",
                "stance": row["label"],
                "meta": kit.meta_json({"type": sentence.get("type")}),
            }

    loaded = _claims(
        "check-covid",
        [{**row, "key": row["id"], "extracted_from_news": row.get("is_auth")} for row in rows],
        sentences,
        meta=["cord_id", "extracted_from_news"],
        # the news claim from which the versions were made
        group=pl.col("key").str.replace(r"_\d+$", ""),
    )
    if not corpus:
        loaded.notes.append(
            "corpus.json is not here: evidence is named by abstract and sentence, without its"
            " words."
        )
    return loaded


def faviq(bundle: kit.Bundle, sets: Sequence[str] = ("a", "r")) -> kit.Loaded:
    """JSON lines in `faviq_a_set*/` (claims from ambiguous questions) and `faviq_r_set*/` (from
    regular ones); the test part of the A set is given out by its authors on request.
    """
    rows = []
    for part in sets:
        for split in PARTS:
            for name in bundle.match(
                f"*faviq_{part}_set*/{split}.jsonl",
                f"{part}_set/{split}.jsonl",
                f"{part}/{split}.jsonl",
            )[:1]:
                objects = kit.read_objects(bundle, name)
                rows += [{**row, "set": part, "split": split} for row in objects]
    if not rows:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no file like 'faviq_{sets[0]}_set/train.jsonl'.",
            "Unpack the two zips of FaVIQ into one folder and give that.",
        )
    keys = pl.Series([f"{row['set']}-{row.get('id', n)}" for n, row in enumerate(rows, 1)])
    keyed = [{**row, "key": key} for row, key in zip(rows, kit.distinct(keys), strict=True)]
    meta = ["set", "question", "answer"]
    return _claims("faviq", keyed, _faviq_passages, meta=meta, text="claim", split="split")


def pubhealthtab(bundle: kit.Bundle) -> kit.Loaded:
    """JSON lines per split, whichever are present; the table goes to the evidence."""
    rows = [
        {**row, "key": row["_id"], "split": split, "table_id": _table_id(row["table"])}
        for split, name in _present("pubhealthtab", bundle)
        for row in kit.read_objects(bundle, name, ["_id", "claim", "label", "table"])
    ]
    return _claims(
        "pubhealthtab",
        rows,
        _health_table,
        meta=["initial_claim"],
        group="table_id",
        split="split",
    )


def averitec(bundle: kit.Bundle) -> kit.Loaded:
    """JSON per split, whichever are present; each answer to a question is a piece of evidence."""
    rows = [
        {**row, "key": f"{split}-{number:04}", "label": row.get("label"), "split": split}
        for split, name in _present("averitec", bundle)
        for number, row in enumerate(
            kit.read_objects(bundle, name, ["claim", "reporting_source"]), 1
        )
    ]
    loaded = _claims(
        "averitec",
        rows,
        _averitec_answers,
        meta=["justification", "fact_checking_article", "location_ISO_code", "claim_types"],
        author="speaker",
        source="reporting_source",
        url="original_claim_url",
        split="split",
    )
    days = kit.as_text(row.get("claim_date") for row in rows)
    again = kit.repeated(loaded.records["text"], loaded.records["id"])
    loaded.records = loaded.records.with_columns(
        again, **kit.dated({"claim_date": days}, "%d-%m-%Y")
    )
    return loaded


def politihop(bundle: kit.Bundle) -> kit.Loaded:
    """TSV per split, whichever are present, with JSON in its cells; the sentences of the annotated
    chains are the evidence.
    """
    rows = []
    for split, name in _present("politihop", bundle):
        table = kit.Table.read(bundle, name, delimiter="\t")
        columns = ["article_id", "statement", "ruling", "annotated_evidence", "annotated_label"]
        cells = table.pick(columns, ["author", "politifact_label"])
        rows += [{**row, "split": split} for row in cells.iter_rows(named=True)]
    keys = kit.distinct(kit.as_text(row["article_id"] for row in rows))
    keyed = [
        {
            **row,
            "key": key,
            "claim": row["statement"],
            "label": row["annotated_label"],
            "speaker": (row["author"] or "").removeprefix("Speaker: "),
        }
        for row, key in zip(rows, keys, strict=True)
    ]
    return _claims(
        "politihop",
        keyed,
        _politihop_sentences,
        meta=["politifact_label"],
        author="speaker",
        group="article_id",
        split="split",
    )


def factcheck_gpt(bundle: kit.Bundle) -> kit.Loaded:
    """The claims with a verdict, and the passages that were found for each, with their stance."""
    rows = kit.read_objects(
        bundle, bundle.one("subtask4_claim_factuality.jsonl"), ["claim", "label"]
    )
    passages: dict[str, list[JsonObject]] = {}
    for name in bundle.match("subtask3_claim_evidence_stance.jsonl"):
        for row in kit.read_objects(bundle, name, ["claim", "evidence", "stance"]):
            piece = {"text": row["evidence"], "stance": row["stance"]}
            passages.setdefault(row["claim"], []).append(piece)
    return _claims(
        "factcheck-gpt",
        [{**row, "key": f"{number:03}"} for number, row in enumerate(rows, 1)],
        lambda row: passages.get(row["claim"], []),
        meta=["revised_claim"],
    )


def factool(bundle: kit.Bundle) -> kit.Loaded:
    """The claims of the answers to questions of knowledge; those of one answer are a group."""
    name = bundle.one("knowledge_qa.jsonl")
    rows = [
        {**claim, "key": f"{answer}-{number}", "prompt": row.get("prompt"), "answer": str(answer)}
        for answer, row in enumerate(kit.read_objects(bundle, name, ["claims"]), 1)
        for number, claim in enumerate(row["claims"], 1)
    ]
    loaded = _claims("factool", rows, lambda _: (), meta=["prompt"], group="answer")
    return kit.Loaded(loaded.records)


def _claims(
    dataset: str,
    rows: Sequence[JsonObject],
    pieces: Callable[[JsonObject], Iterable[JsonObject]],
    *,
    meta: list[str] | None = None,
    **columns: str | pl.Expr,
) -> kit.Loaded:
    """`rows` as records of `dataset`, with `columns` of their own, and `pieces` of each as its
    evidence.
    """
    named = [name for name in columns.values() if isinstance(name, str)]
    raw = kit.frame_of(rows, list(dict.fromkeys(["key", "claim", "label", *(meta or []), *named])))
    texts = {"text": pl.col("claim").str.strip_chars(), "label_raw": pl.col("label")}
    records = raw.select(
        id=pl.format(f"{dataset}-{{}}", "key"),
        meta=kit.meta_column(raw, meta) if meta else pl.lit(None, pl.String),
        **(texts | columns),
    )
    evidence = (
        {"record_id": record, "evidence_id": f"{record}-{rank}", "rank": rank, **piece}
        for record, row in zip(records["id"], rows, strict=True)
        for rank, piece in enumerate(pieces(row), 1)
    )
    return kit.Loaded(records, {"evidence": kit.side_rows("evidence", evidence)})


def _present(
    dataset: str, bundle: kit.Bundle, wanted: Sequence[str] = PARTS
) -> Iterable[tuple[str, str]]:
    """Split and file of each part that is there, as the card has them."""
    files = kit.lists_of(dataset)["files"]
    return kit.present(bundle, {split: files[split] for split in wanted}).items()


def _split_rows(
    dataset: str, bundle: kit.Bundle, wanted: Sequence[str], key: str = "id"
) -> list[JsonObject]:
    """The objects of the wanted splits. One split must be there; of several, those that are.

    Objects without a claim are placeholders (FEVEROUS opens each file with one) and are left out.
    """
    return [
        {**row, "split": split, "key": f"{split}-{row[key]}"}
        for split, name in _present(dataset, bundle, wanted)
        for row in kit.read_objects(bundle, name, [key, "claim"])
        if str(row["claim"]).strip()
    ]


def _fever_pages(row: JsonObject) -> Iterator[JsonObject]:
    """Pages only (`evidence_pages`), or as published: sets of [annotation, evidence, page,
    sentence] that go together.
    """
    pages = [(page, None, None) for page in row.get("evidence_pages") or []]
    sets = enumerate(row.get("evidence") or [], 1)
    published = [(e[2], e[3], n) for n, together in sets for e in together if e[2] is not None]
    for page, sentence, number in [*pages, *published]:
        yield {
            "evidence_id": page if sentence is None else f"{page}:{sentence}",
            "provider": "Wikipedia",
            "title": _page_title(page),
            "stance": row.get("label"),
            "meta": kit.meta_json({"set": number}),
        }


def _page_title(page: str) -> str:
    """The title of a Wikipedia page from FEVER's name for it."""
    for code, sign in BRACKETS.items():
        page = page.replace(code, sign)
    return page.replace("_", " ")


def _feverous_pages(row: JsonObject) -> Iterator[JsonObject]:
    """A text of lines `title TAB sentence`, or as published: sets whose content names sentences and
    cells of pages.
    """
    evidence = row.get("evidence") or []
    every = {"provider": "Wikipedia", "stance": row.get("label")}
    if isinstance(evidence, str):
        for line in filter(str.strip, evidence.split("\n")):
            title, _, text = line.partition("\t")
            yield {**every, "title": title, "text": text or None}
    else:
        for name in (name for together in evidence for name in together.get("content", [])):
            yield {**every, "evidence_id": name, "title": name.split("_")[0]}


def _hover_pages(row: JsonObject) -> Iterator[JsonObject]:
    for title, sentence in row.get("supporting_facts") or []:
        yield {"evidence_id": f"{title}:{sentence}", "provider": "Wikipedia", "title": title}


def _climate_sentences(row: JsonObject) -> Iterator[JsonObject]:
    for sentence in row["evidences"]:
        yield {
            "evidence_id": sentence["evidence_id"],
            "title": sentence.get("article"),
            "text": sentence["evidence"],
            "provider": "Wikipedia",
            "stance": sentence["evidence_label"],
            "meta": kit.meta_json({"entropy": sentence.get("entropy")}),
        }


def _climate_votes(row: JsonObject) -> Iterator[JsonObject]:
    """Two to five people voted on a sentence, in five numbered places; an empty place is no
    vote.
    """
    for sentence in row["evidences"]:
        for place, vote in enumerate(sentence.get("votes") or [], 1):
            if vote:
                yield {
                    "annotator": f"place-{place}",
                    "annotator_kind": "human",
                    "question": f"stance of {sentence['evidence_id']}",
                    "value": vote,
                    "meta": kit.meta_json({"evidence_id": sentence["evidence_id"]}),
                }


def _faviq_passages(row: JsonObject) -> Iterator[JsonObject]:
    """The best passage with the answer to the question, and the best without it: silver, found by
    word overlap.
    """
    for rank, kind in enumerate(("positive", "negative"), 1):
        passage = row.get(f"{kind}_evidence")
        if isinstance(passage, dict) and passage.get("text"):
            yield {
                "evidence_id": f"faviq-{row['key']}-{kind}",
                "rank": rank,
                "title": passage.get("title"),
                "text": passage["text"],
                "domain": "wikipedia.org",
                "provider": "faviq (TF-IDF)",
                "meta": kit.meta_json({"silver": kind, "passage": passage.get("id")}),
            }


def _averitec_answers(row: JsonObject) -> Iterator[JsonObject]:
    for question in row.get("questions") or []:
        for answer in question.get("answers") or []:
            words = [answer.get("answer"), answer.get("boolean_explanation")]
            yield {
                "title": question.get("question"),
                "text": " ".join(filter(None, words)) or None,
                "url": answer.get("source_url"),
                "provider": "averitec",
                "meta": kit.meta_json(
                    {"type": answer.get("answer_type"), "medium": answer.get("source_medium")}
                ),
            }


def _politihop_sentences(row: JsonObject) -> Iterator[JsonObject]:
    """A chain lists numbers of sentences, sometimes two in one text ("13,14")."""
    sentences = dict(enumerate(json.loads(row["ruling"] or "[]")))
    for chain, numbers in json.loads(row["annotated_evidence"] or "{}").items():
        for number in ",".join(numbers).split(","):
            place = int(number) if number.strip().isdigit() else None
            if place in sentences:
                yield {
                    "text": sentences[place],
                    "publisher": "PolitiFact",
                    "domain": "politifact.com",
                    "provider": "politihop",
                    "meta": kit.meta_json({"chain": chain, "sentence": place}),
                }


def _table_id(table: JsonObject) -> str:
    """Claims about one table must stay together, so a table is named by its content."""
    content = table.get("html_code") or json.dumps(table, sort_keys=True)
    return "table-" + hashlib.sha256(str(content).encode()).hexdigest()[:12]


def _health_table(row: JsonObject) -> list[JsonObject]:
    """The table as text, a line per row and a tab between cells; -1 as rationale means that no
    column was named.
    """
    table, rationale = row["table"], row.get("header_rationale")
    lines = [table.get("header_horizontal") or [], *(table.get("rows") or [])]
    meta = {
        "caption": table.get("caption"),
        "header_vertical": table.get("header_vertical") or None,
        "header_rationale": rationale if isinstance(rationale, list) else None,
    }
    return [
        {
            "evidence_id": row["table_id"],
            "title": table.get("website_title"),
            "text": "\n".join("\t".join(map(str, line)) for line in lines),
            "url": table.get("website"),
            "stance": row["label"],
            "meta": kit.meta_json(meta),
        }
    ]

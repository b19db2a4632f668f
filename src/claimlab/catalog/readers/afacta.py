"""PoliClaim (AFaCTA): sentences of political speeches, claim or not, with every human and model
answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, lists_of, meta_column

LISTS = lists_of("afacta")


def sentences(bundle: Bundle) -> Loaded:
    """The sentences with a human label: the test set of four speeches, then the training speeches
    that people checked.
    """
    return join([tested(bundle), *checked(bundle)])


def everything(bundle: Bundle) -> Loaded:
    """Also the speeches that only a model has annotated; they have no label, only the model's
    answers.
    """
    silver = [
        training(bundle, n, None) for n in bundle.match("PoliClaim_train_silver_n_bronze/*.xlsx")
    ]
    return join([tested(bundle), *checked(bundle), *silver])


def clef(bundle: Bundle) -> Loaded:
    """The tweets of a CheckThat! 2021 set that AFaCTA was also tried on."""
    raw = workbook(bundle, "CLEF2021_gpt_with_human_eval.xlsx").with_columns(
        speech=pl.lit(None, pl.String), id=pl.format("afacta-clef2021-{}", "number")
    )
    return join([judged(bundle, raw, "CLEF2021_{}.xlsx", "clef2021_test_{}_CoT.xlsx", "post")])


def tested(bundle: Bundle) -> Loaded:
    raw = workbook(bundle, "policlaim_gpt_with_human_eval_merged.xlsx").with_columns(
        speech="SPEECH", number=pl.int_range(1, pl.len() + 1).over("SPEECH")
    )
    raw = raw.with_columns(id=pl.format("afacta-{}-{}", "speech", "number"))
    return judged(bundle, raw, "policlaim_{}_merged.xlsx", "policlaim_test_{}_CoT.xlsx", "claim")


def judged(bundle: Bundle, raw: pl.DataFrame, models: str, samples: str, kind: str) -> Loaded:
    """A test file with two annotators and two GPTs, and what other models answered in files beside
    it.
    """
    answers = [
        answer(raw, f"annotator {who}", "human", question, f"{stem}{who}")
        for stem, question in LISTS["people"].items()
        for who in ("1", "2")
    ]
    for model in ("gpt-4", "gpt-3.5"):
        answers += [
            answer(raw, model, "model", question, *(model + column for column in columns))
            for question, *columns in LISTS["merged"]
        ]
    ids = raw.select("SENTENCES", "id")
    files = [
        *((models, model, model, step_answers) for model in ("llama", "zephyr")),
        (samples, "G3", "gpt-3.5", thoughts),
        (samples, "G4", "gpt-4", thoughts),
    ]
    for pattern, short, model, read in files:
        for name in bundle.match(pattern.format(short)):
            other = workbook(bundle, name).join(ids, on="SENTENCES", maintain_order="left")
            answers += read(other, model)
    return table(raw, "Golden", pl.lit("gold"), "test", kind, answers)


def checked(bundle: Bundle) -> list[Loaded]:
    return [training(bundle, n, "golden") for n in bundle.match("PoliClaim_train_golden/*.xlsx")]


def training(bundle: Bundle, name: str, label: str | None) -> Loaded:
    """One speech, annotated by GPT-4; `label` is the column of people's decisions, where there is
    one.
    """
    speech = PurePosixPath(name).name.split("_")[0]
    raw = workbook(bundle, name).with_columns(
        speech=pl.lit(speech), id=pl.format(f"afacta-{speech}-{{}}", "number")
    )
    # The authors call a model's answer silver when all its steps agree, bronze when they do not.
    agreed = pl.col("likelihood").is_in(["0", "3"])
    unchecked = pl.when(agreed).then(pl.lit("silver")).otherwise(pl.lit("bronze"))
    tier = pl.lit("gold") if label else unchecked
    return table(raw, label, tier, "train", "claim", step_answers(raw, "gpt-4"))


def table(
    raw: pl.DataFrame,
    label: str | None,
    tier: pl.Expr,
    split: str,
    kind: str,
    answers: Iterable[pl.DataFrame],
) -> Loaded:
    """Records; what is a claim says nothing of its truth, so `veracity` stays null."""
    raw = raw.with_columns(tier=tier, year=pl.col("speech").str.extract(r"(\d{4})$"))
    records = raw.select(
        "id",
        text="SENTENCES",
        kind=pl.lit(kind),
        label_raw=pl.col(label) if label else pl.lit(None, pl.String),
        source="speech",
        group="speech",
        split=pl.lit(split),
        meta=meta_column(raw, ["number", "tier", "year"]),
    )
    return Loaded(records, {"annotations": pl.concat(answers)})


def step_answers(raw: pl.DataFrame, model: str) -> Iterator[pl.DataFrame]:
    return (answer(raw, model, "model", *step) for step in LISTS["steps"] if step[1] in raw.columns)


def thoughts(raw: pl.DataFrame, model: str) -> Iterator[pl.DataFrame]:
    """Repeated answers of one model, each with the chain of thought before it."""
    for column in raw.columns:
        if column.startswith("veri_Answer_"):
            number = column.removeprefix("veri_Answer_")
            yield answer(
                raw, model, "model", f"verifiable, sample {number}", column, f"veri_CoT_{number}"
            )


def answer(
    raw: pl.DataFrame, who: str, kind: str, question: str, column: str, reasoning: str | None = None
) -> pl.DataFrame:
    """One annotator's answers to one question; what was left blank is no answer."""
    return raw.drop_nulls(column).select(
        record_id="id",
        annotator=pl.lit(who),
        annotator_kind=pl.lit(kind),
        question=pl.lit(question),
        value=column,
        rationale=pl.col(reasoning) if reasoning else pl.lit(None, pl.String),
    )


def workbook(bundle: Bundle, pattern: str) -> pl.DataFrame:
    return Table.read(bundle, bundle.one(pattern)).frame.with_row_index("number", 1)


def join(parts: Sequence[Loaded]) -> Loaded:
    records = pl.concat([p.records for p in parts])
    return Loaded(records, {"annotations": pl.concat([p.tables["annotations"] for p in parts])})

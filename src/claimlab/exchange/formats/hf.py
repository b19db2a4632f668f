"""Hugging Face: a folder that `datasets.load_dataset` reads, one Parquet file per split, side
tables as configs.

A record's place in the dataset is kept in the column `position`: the order of rows is part of a
dataset, and cutting it into splits would lose it. The column `label` is the class of the dataset's
own task, as a number whose name is in the card: a ClassLabel.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.digest import write_parquet
from claimlab.core.progress import Progress, silent
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.exchange.format import Format, FormatSettings, Marker, Road, Written
from claimlab.exchange.markup import yaml
from claimlab.exchange.questions import LETTERS
from claimlab.exchange.readme import card
from claimlab.exchange.responsible import findings_in
from claimlab.exchange.tables import RECORDS, by_name
from claimlab.tasks import TRUTH, open_task, own_task

POSITION, LABEL = "position", "label"
UNSPLIT = "unsplit"
RESERVED = {"all"}  # `load_dataset` understands it as every split together
INTERNAL = {"dropped", "doubtful", "traces"}  # in the folder, for claimlab; not offered to others
_TYPES: dict[pl.DataType, str] = {
    pl.String(): "string",
    pl.Int64(): "int64",
    pl.Datetime("us"): "timestamp[us]",
}
EVAL = "eval.yaml"  # what `inspect eval hf/OWNER/NAME` runs


class HuggingFace(Format):
    name = "hf"
    summary = "A Hugging Face dataset folder: Parquet per split, a dataset card, eval.yaml."
    accepts = frozenset({"audit"})
    records = ("data/*.parquet",)
    then = "hf upload NAME {} --repo-type dataset"
    back = (
        Road("cl.import_files(DIR)"),
        Road(
            "load_dataset(DIR).save_to_disk(DISK); cl.import_files(DISK)",
            dict.fromkeys(("side tables", "card", "licence", "notes", "lineage"), ""),
        ),
    )

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        side = {n: t for n, t in by_name(dataset).items() if n != RECORDS}
        splits = split_names(dataset.records["split"])
        (folder / "data").mkdir()
        numbered = dataset.records.with_columns(
            pl.int_range(pl.len(), dtype=pl.Int64).alias(POSITION)
        )
        numbered, features = _with_classes(dataset, numbered)
        for done, (value, name) in enumerate(splits.items()):
            progress("hf", done, len(splits) + len(side))
            part = numbered.filter(pl.col("split").eq_missing(pl.lit(value, pl.String)))
            write_parquet(part, folder / "data" / f"{name}.parquet")
        for name, table in side.items():
            (folder / "tables").mkdir(exist_ok=True)
            write_parquet(table, folder / "tables" / f"{name}.parquet")
        findings = None if settings.audit is None else findings_in(settings.audit, dataset)
        benchmark = evaluation(dataset, splits)
        if benchmark is not None:
            (folder / EVAL).write_text(yaml(benchmark), encoding="utf-8")
        readme = card(dataset, configs(splits, side), splits, findings, features)
        (folder / "README.md").write_text(readme, encoding="utf-8")
        progress("hf", len(splits) + len(side), len(splits) + len(side))
        return Written(facts={"splits": list(splits.values()), "tables": list(side)})

    def read(self, folder: Path, marker: Marker) -> Dataset:
        parts = [
            read_parquet(marker.file(folder, f"data/{name}.parquet"))
            for name in marker.fact("splits")
        ]
        records = pl.concat(parts).sort(POSITION).drop(POSITION, LABEL, strict=False)
        tables = {
            n: read_parquet(marker.file(folder, f"tables/{n}.parquet"))
            for n in marker.fact("tables")
        }
        return marker.rebuild(folder, records, tables)


FORMAT = HuggingFace()


def _with_classes(dataset: Dataset, records: pl.DataFrame) -> tuple[pl.DataFrame, list[JsonObject]]:
    """Records with the class of the dataset's own task, and what each of their columns is; both as
    they were where no record has a class.
    """
    task = open_task(own_task(dataset), records)
    names = task.classes_in(records)
    if not names:
        return records, []
    codes = {name: number for number, name in enumerate(names)}
    label = task.labels(records).replace_strict(codes, default=None, return_dtype=pl.Int64)
    features: list[JsonObject] = [
        {"name": name, "dtype": _TYPES[kind]} for name, kind in records.schema.items()
    ]
    named = {str(number): name for name, number in codes.items()}
    features.append({"name": LABEL, "dtype": {"class_label": {"names": named}}})
    return records.with_columns(label.alias(LABEL)), features


def split_names(split: pl.Series) -> dict[str | None, str]:
    """A name fit for a file and for `datasets` for each value of `split`; rows without one are
    "unsplit".
    """
    values: list[str | None] = sorted(split.drop_nulls().unique().to_list())
    if split.null_count() or not values:
        values.append(None)
    names: dict[str | None, str] = {}
    for value in values:
        name = UNSPLIT if value is None else re.sub(r"\W", "_", value, flags=re.ASCII) or "_"
        taken = RESERVED | {n.lower() for n in names.values()}
        while name.lower() in taken:
            name += "_2"
        names[value] = name
    return names


def configs(splits: dict[str | None, str], side: dict[str, pl.DataFrame]) -> list[JsonObject]:
    """The front matter's list: the records are what loads when nothing is named.

    `datasets` cannot load a config without rows: an empty side table is in the folder but is not
    offered, and neither is what only claimlab needs.
    """
    files = [{"split": name, "path": f"data/{name}.parquet"} for name in splits.values()]
    tables = [
        {"config_name": name, "data_files": [{"split": UNSPLIT, "path": f"tables/{name}.parquet"}]}
        for name, table in side.items()
        if table.height and name not in INTERNAL
    ]
    return [{"config_name": RECORDS, "default": True, "data_files": files}, *tables]


def evaluation(dataset: Dataset, splits: dict[str | None, str]) -> JsonObject | None:
    """The test records as a benchmark of the Hub: a word to say for a verdict, which may be mixed,
    and for any other task a letter, as which Inspect reads a ClassLabel. Null where a record has no
    label or text, or where the class depends on evidence, which is not in its row.
    """
    part = dataset.records.filter(split="test")
    task = open_task(own_task(dataset), dataset.records)
    if task.name == TRUTH:
        target, labels = TRUTH, part[TRUTH]
        classes = labels.drop_nulls().unique().sort().to_list()
        wanted = f"word and nothing else: {', '.join(classes[:-1])} or {''.join(classes[-1:])}."
    else:
        target, labels = LABEL, task.labels(part)
        classes = list(task.classes_in(dataset.records))
        meant = [
            f"{name}: {task.meaning[name]}" if name in task.meaning else name for name in classes
        ]
        lines = (f"{letter}) {words}" for letter, words in zip(LETTERS, meant, strict=False))
        wanted = "letter and nothing else:\n" + "\n".join(lines)
    apart = target == LABEL and "evidence" in dataset.tables
    unknown = labels.null_count() or part["text"].null_count()
    if apart or unknown or labels.n_unique() < 2 or len(classes) > len(LETTERS):
        return None
    template = f"{task.question}\n\n{{prompt}}\n\nAnswer with one {wanted}"
    benchmark: JsonObject = {
        "id": task.name,
        "config": RECORDS,
        "split": splits["test"],
        "field_spec": {"input": "text", "target": target, "metadata": ["language"]},
        "solvers": [
            {"name": "prompt_template", "args": {"template": template}},
            {"name": "generate"},
        ],
        "scorers": [{"name": "match"}],
    }
    about: JsonObject = {"name": dataset.name, "evaluation_framework": "inspect-ai"}
    return about | {"tasks": [benchmark]}

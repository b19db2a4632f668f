"""Trees in the schema of BLUFF's data card, built from a few made-up samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

Row = dict[str, Any]
Build = Callable[..., Path]


def generated(uuid: str, language: str = "afr", **more: Any) -> Row:
    """A row of processed/generated_data/ai_generated: all 22 columns of the card."""
    row: Row = {
        "uuid": uuid,
        "article_content": f"Artikel {uuid}.",
        "translated_content": f"Article {uuid}.",
        "post_content": f"Plasing {uuid}!",
        "translated_post": f"Post {uuid}!",
        "language": language,
        "translation_directionality": "x_eng",
        "model": "lab_model-1",
        "veracity": "fake_news",
        "technique_keys": "[12, 32]",
        "json_filepath": f"out/{uuid}.json",
        "language(article_content)": language,
        "language(translated_content)": "eng",
        "language(post_content)": language,
        "language(translated_post)": "eng",
        "language(source)": language,
        "degree": "critical",
        "source_dataset": "MadeUpNews",
        "HAT": "n",
        "MGT": "y",
        "MTT": "n",
        "HWT": "n",
    }
    return row | more


def human(uuid: str, language: str = "spa", **more: Any) -> Row:
    """A row of processed/generated_data/human_written: all 22 columns of the card."""
    row: Row = {
        "uuid": uuid,
        "article_content": f"Artículo {uuid}.",
        "translated_article": f"Article {uuid}.",
        "article_summary": "Breve.",
        "post_content": f"Mensaje {uuid}!",
        "translated_post": f"Post {uuid}!",
        "platform": "Postbox",
        "language": language,
        "category": "society",
        "organization": "Faro Check",
        "veracity": "false",
        "country": "mex",
        "topic": "bridges",
        "generation_model": "",
        "human_format": "article",
        "extraction_status": "full",
        "source_filepath": "x.csv",
        "article_content_lang": language,
        "translated_article_lang": "eng",
        "article_summary_lang": language,
        "post_content_lang": language,
        "translated_post_lang": "eng",
    }
    return row | more


def metadata(row: Mapping[str, Any], category: str | None = "tail", **more: Any) -> Row:
    """The metadata of a sample; the metadata of human samples hold the standard verdict."""
    standard = "real_news" if row["veracity"] in ("real_news", "true") else "fake_news"
    told = {
        "uuid": row["uuid"],
        "language": row["language"],
        "language_category": category,
        "veracity": standard,
    }
    return {**told, "lang_pass": "True", "is_duplicate": "False", **more}


@pytest.fixture
def tree(tmp_path: Path) -> Build:
    """Write a tree: samples by maker and language, metadata (made from the samples unless given)
    and split lists.
    """

    def build(
        generated: Sequence[Row] = (),
        human: Sequence[Row] = (),
        *,
        meta_generated: Sequence[Row] | None = None,
        meta_human: Sequence[Row] | None = None,
        splits: Mapping[str, Any] | None = None,
        more: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> Path:
        files: dict[str, str] = {}
        for kind, rows, maker in (
            ("ai_generated", generated, "model"),
            ("human_written", human, "organization"),
        ):
            places: dict[str, list[Row]] = {}
            for row in rows:
                places.setdefault(f"{row[maker]}/{folder or row['language']}", []).append(row)
            for place, inside in places.items():
                files[f"processed/generated_data/{kind}/{place}/data.csv"] = pl.DataFrame(
                    inside, infer_schema_length=None
                ).write_csv()
        told = {
            "ai_generated": [metadata(r) for r in generated]
            if meta_generated is None
            else meta_generated,
            "human_written": [metadata(r, "head") for r in human]
            if meta_human is None
            else meta_human,
        }
        files |= {
            f"meta_data/metadata_{name}.csv": pl.DataFrame(
                rows, infer_schema_length=None
            ).write_csv()
            for name, rows in told.items()
            if rows
        }
        files |= {
            f"splits/evaluation/{name}.json": json.dumps(uuids)
            for name, uuids in (splits or {}).items()
        }
        for name, text in {**files, **(more or {})}.items():
            target = tmp_path / "data" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return tmp_path / "data"

    return build


@pytest.fixture
def rows() -> Any:
    """The row makers, for tests that shape samples themselves."""

    class Rows:
        generated = staticmethod(generated)
        human = staticmethod(human)
        metadata = staticmethod(metadata)

    return Rows

"""The seven kinds of files of the card: found by their place, read when asked."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.readers.bluff import LISTS, parts, place
from claimlab.catalog.readers.bluff import read_part as read
from claimlab.core.errors import UnreadableFile
from claimlab.files.bundle import Bundle


@pytest.mark.parametrize(
    ("name", "kind", "language", "maker"),
    [
        (
            "data/processed/generated_data/ai_generated/lab_m-1/afr/data.csv",
            "generated",
            "afr",
            "lab_m-1",
        ),
        (
            "data/processed/generated_data/ai_generated/lab_m-1/af/data.csv",
            "generated",
            "afr",
            "lab_m-1",
        ),
        (
            "processed/generated_data/human_written/Faro Check/jam/data.csv",
            "human",
            "jam",
            "Faro Check",
        ),
        ("data/meta_data/metadata_human_written.csv", "meta-human", None, None),
        ("metadata_ai_generated.csv", "meta-generated", None, None),
        ("data/raw/source_data/human/faro/2021.csv", "raw-human", None, None),
        ("data/raw/source_data/sd_eng_x_r/source_data/zho/a.csv", "seeds", "zho", None),
        ("data/raw/source_data/sd_x_eng_f/open_source/a.csv", "seeds", None, "open_source"),
        ("data/raw/source_data/sd_x_eng_f/azure-openai_m/a.csv", "seeds", None, "azure-openai_m"),
        ("data/splits/evaluation/cross_lingual_family/Turkic/train.json", "splits", None, None),
    ],
)
def test_a_file_is_known_by_its_place(
    name: str, kind: str, language: str | None, maker: str | None
) -> None:
    part = place(name)
    assert part is not None
    assert (part.kind, part.language, part.maker) == (kind, language, maker)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "data/splits/evaluation/multilingual/stats.json",
        "figures/a.png",
        "data/other/a.csv",
    ],
)
def test_what_the_card_does_not_describe_is_passed_over(name: str) -> None:
    assert place(name) is None


def test_seeds_carry_direction_and_reputation_from_their_folder() -> None:
    fake = place("raw/source_data/sd_x_eng_f/source_data/afr/a.csv")
    real = place("raw/source_data/sd_eng_x_r/source_data/afr/a.csv")
    assert fake is not None
    assert real is not None
    assert (fake.direction, fake.veracity) == ("x_eng", "fake_news")
    assert (real.direction, real.veracity) == ("eng_x", "real_news")


def test_every_kind_is_read(tree, rows) -> None:
    made, told = rows.generated("g-1"), rows.human("h-1")
    seed = {
        "uuid": "s-1",
        "content": "Die brug is oop.",
        "language": "afr",
        "news_type": "real news",
    }
    root = tree(
        [made],
        [told],
        splits={"multilingual/train": ["g-1"]},
        more={
            "raw/source_data/human/faro.csv": pl.DataFrame(
                [{**told, "standardized_language": "spa"}], infer_schema_length=None
            ).write_csv(),
            "raw/source_data/sd_eng_x_r/source_data/afr/a.csv": pl.DataFrame(
                [seed], infer_schema_length=None
            ).write_csv(),
        },
    )
    kinds = list(dict.fromkeys(kind for kind, _ in LISTS["places"]))
    with Bundle.open(root) as bundle:
        assert {kind: len(parts(bundle, kind)) for kind in kinds} == dict.fromkeys(kinds, 1)
        for kind in kinds[1:]:
            assert read(bundle, parts(bundle, kind)[0]).height == 1, kind


def test_listing_reads_nothing(tree, rows, monkeypatch) -> None:
    root = tree([rows.generated("a", "afr"), rows.generated("b", "zul")])
    opened: list[str] = []
    original = Bundle.read
    monkeypatch.setattr(
        Bundle, "read", lambda self, name: opened.append(name) or original(self, name)
    )
    with Bundle.open(root) as bundle:
        chosen = parts(bundle, "generated")
        assert opened == []
        frames = [read(bundle, part) for part in chosen]
    assert [frame["uuid"].to_list() for frame in frames] == [["a"], ["b"]]
    assert opened[0] == "processed/generated_data/ai_generated/lab_model-1/afr/data.csv"


def test_the_rows_language_counts_and_the_path_helps_out(tree, rows) -> None:
    root = tree(
        [rows.generated("a", "af"), rows.generated("b", ""), rows.generated("c", "qq")],
        folder="afr",
    )
    with Bundle.open(root) as bundle:
        frame = read(bundle, parts(bundle, "generated")[0])
        assert frame["declared"].to_list() == ["afr", "afr", None]


def test_blanks_are_null(tree, rows) -> None:
    with Bundle.open(tree([rows.generated("a", post_content="  ")])) as bundle:
        frame = read(bundle, parts(bundle, "generated")[0])
    assert frame["post_content"].to_list() == [None]
    assert frame.schema["post_content"] == pl.String


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,article_content\n1,x\n", "no column 'uuid'"),
        ("uuid,language\n1,afr\n", "no text column"),
    ],
)
def test_a_foreign_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    target = tmp_path / "processed/generated_data/ai_generated/m/afr/data.csv"
    target.parent.mkdir(parents=True)
    target.write_text(text, encoding="utf-8")
    with Bundle.open(tmp_path) as bundle, pytest.raises(UnreadableFile, match=said):
        read(bundle, parts(bundle, "generated")[0])

"""What the reader makes of a planted tree: one test per contradiction of the published material,
and per fault of the released scorer that is a matter of loading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.catalog.entry import Loaded
from claimlab.catalog.load import load
from claimlab.catalog.readers.bluff import declared, read
from claimlab.core.errors import UnmappedLabels, UnreadableFile
from claimlab.core.languages import describe
from claimlab.files.bundle import Bundle


def reading(root: Path, **options: Any) -> Loaded:
    with Bundle.open(root) as bundle:
        return read(bundle, **options)


def by_id(loaded: Loaded, column: str) -> dict[str, Any]:
    return dict(loaded.records.select("id", column).iter_rows())


def meta(loaded: Loaded, suffix: str) -> dict[str, Any]:
    text = next(m for i, m in loaded.records.select("id", "meta").iter_rows() if i.endswith(suffix))
    return json.loads(text)


def said(loaded: Loaded, words: str) -> bool:
    return any(words in note for note in loaded.notes)


# The faults of the released scorer


@pytest.mark.parametrize(
    ("verdict", "veracity"), [("false", "false"), ("misleading", "false"), ("true", "true")]
)
def test_verdicts_are_matched_whole_not_by_the_word_fake(
    tree, rows, verdict: str, veracity: str
) -> None:
    root = tree(human=[rows.human("h", veracity=verdict)])
    assert set(load("bluff", root).records["veracity"]) == {veracity}


@pytest.mark.parametrize("verdict", ["not fake", "fake-ish", "pants on fire"])
def test_a_verdict_that_is_on_no_list_is_an_error(tree, rows, verdict: str) -> None:
    root = tree([rows.generated("g")], [rows.human("h", veracity=verdict)])
    with pytest.raises(UnmappedLabels, match=verdict):
        load("bluff", root)
    accepted = load("bluff", root, unmapped="unknown").records
    assert accepted["veracity"].value_counts(sort=True).rows() == [("false", 4), ("unknown", 4)]


def test_human_rows_keep_their_authorship_and_their_resource_class(tree, rows) -> None:
    root = tree([rows.generated("g")], [rows.human("h", "spa")])
    loaded = reading(root, rule="per-sample")
    authors = by_id(loaded, "authorship")
    assert authors["bluff-h-article"] == "HWT"
    assert authors["bluff-g-article"] == "MGT"
    assert meta(loaded, "h-article")["resource"] == "head"
    assert meta(loaded, "g-article")["resource"] == "tail"


def test_a_resource_class_is_known_even_without_metadata(tree, rows) -> None:
    loaded = reading(
        tree(
            [rows.generated("g", "yor")], [rows.human("h", "es")], meta_generated=[], meta_human=[]
        )
    )
    assert meta(loaded, "g-article")["resource"] == "tail"
    assert meta(loaded, "h-article")["resource"] == "head"
    assert meta(loaded, "g-article-translation")["resource"] == "head", "the translation is English"


@pytest.mark.parametrize("code", sorted(declared()["card"]))
def test_every_declared_language_has_its_groups_in_both_codes(code: str) -> None:
    told = describe(code)
    assert told is not None
    assert None not in (told.family, told.script, told.word_order, told.resource)
    assert told.iso1 is None or describe(told.iso1) == told


def test_two_letter_and_three_letter_codes_are_one_language(tree, rows) -> None:
    loaded = reading(tree([rows.generated("a", "af"), rows.generated("b", "afr")]))
    assert {loaded.records["language"][i] for i in (0, 4)} == {"afr"}
    row = loaded.tables["languages"].row(by_predicate=pl.col("language") == "afr", named=True)
    assert (row["samples"], row["family"], row["resource"]) == (2, "Indo-European", "tail")


# What the published material contradicts itself in


def test_the_three_language_lists() -> None:
    lists = declared()
    assert {place: len(codes) for place, codes in lists.items()} == {
        "card": 78,
        "experiments": 76,
        "scripts": 70,
    }
    assert len(frozenset.intersection(*lists.values())) == 59


def test_languages_found_are_reported_against_those_declared(tree, rows) -> None:
    loaded = reading(
        tree([rows.generated("a", "jam"), rows.generated("b", "la"), rows.generated("c", "cy")])
    )
    table = {row["language"]: row for row in loaded.tables["languages"].iter_rows(named=True)}
    assert (table["jam"]["in_card"], table["jam"]["in_scripts"]) == (False, True)
    assert (table["cym"]["in_card"], table["cym"]["texts"]) == (True, 2)
    assert table["deu"]["texts"] == 0
    assert said(loaded, "Declared nowhere, but found: lat")
    assert said(loaded, "76 languages of the card without text here")
    assert said(loaded, "No family, script or word order is known for: jam, lat")


def test_the_two_authorship_rules(tree, rows) -> None:
    root = tree(
        [
            rows.generated("g1"),
            rows.generated("g2", degree="minor", MGT="n", HAT="y"),
            rows.generated("g3", degree="?", MTT="y"),
        ],
        [rows.human("h")],
    )
    per_field = by_id(reading(root, rule="per-field"), "authorship")
    assert [per_field[f"bluff-g{n}-article"] for n in (1, 2, 3)] == ["MGT", "HAT", None]
    assert {per_field[f"bluff-g{n}-post-translation"] for n in (1, 2, 3)} == {"MTT"}
    assert [per_field[f"bluff-h-{s}"] for s in ("article", "article-translation", "post")] == [
        "HWT",
        "MTT",
        "MGT",
    ]
    sampled = reading(root, rule="per-sample")
    per_sample = by_id(sampled, "authorship")
    assert {per_sample[f"bluff-g2-{s}"] for s in ("article", "article-translation", "post")} == {
        "HAT"
    }
    assert per_sample["bluff-g3-article"] is None, "two flags are not one author"
    assert {v for k, v in per_sample.items() if k.startswith("bluff-h")} == {"HWT"}
    assert said(sampled, "4 texts without authorship")


@pytest.mark.parametrize(
    ("word", "degree"),
    [
        *((word, "minor") for word in ("minor", "light change (10-20%)", "inconspicuous", "low")),
        *((word, "moderate") for word in ("moderate", "Medium")),
        *((word, "critical") for word in ("critical", "complete", "alarming", "high")),
        ("total", None),
    ],
)
def test_degrees_in_all_their_words(tree, rows, word: str, degree: str | None) -> None:
    loaded = reading(tree([rows.generated("g", degree=word)]))
    assert meta(loaded, "g-article").get("degree") == degree
    assert meta(loaded, "g-article")["degree_raw"] == word
    assert said(loaded, "Degrees that no list names: total") == (degree is None)


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("[12, 32]", ["Conspiracy Framing", "Panic Mongering"]),
        ("['1']", ["Sensational Appeal"]),
        ("polish", ["polish"]),
        ("[36, 38]", ["Trolling & Provocation"]),
        ("", None),
    ],
)
def test_technique_keys_are_named_by_our_list(
    tree, rows, keys: str, names: list[str] | None
) -> None:
    loaded = reading(tree([rows.generated("g", technique_keys=keys)]))
    assert meta(loaded, "g-article").get("techniques") == names
    assert said(loaded, "Technique keys that no list names: 38") == ("38" in keys)


def test_the_standard_verdict_is_another_named_reading(tree, rows) -> None:
    root = tree(human=[rows.human("h", veracity="satire")])
    assert set(load("bluff", root).records["veracity"]) == {"unknown"}
    assert set(load("bluff", root, variant="standard-verdicts").records["veracity"]) == {"false"}


# Texts and languages


def test_a_sample_becomes_its_texts_in_one_group(tree, rows) -> None:
    loaded = reading(
        tree([rows.generated("g")], [rows.human("h", post_content="", translated_post="")])
    )
    kinds = by_id(loaded, "kind")
    assert kinds == {
        "bluff-g-article": "article",
        "bluff-g-article-translation": "article",
        "bluff-g-post": "post",
        "bluff-g-post-translation": "post",
        "bluff-h-article": "article",
        "bluff-h-article-translation": "article",
    }
    assert loaded.records["group"].to_list() == ["g"] * 4 + ["h"] * 2
    assert by_id(loaded, "author")["bluff-h-article"] == "Faro Check"
    assert by_id(loaded, "author")["bluff-g-post"] == "lab_model-1"


def test_a_sample_without_any_text_is_counted(tree, rows) -> None:
    blank = dict.fromkeys(
        ("article_content", "translated_content", "post_content", "translated_post"), ""
    )
    loaded = reading(tree([rows.generated("a"), rows.generated("b", **blank)]))
    assert set(loaded.records["group"]) == {"a"}
    assert said(loaded, "1 sample without any text")


def test_the_detected_language_only_chooses_between_the_samples_two(tree, rows) -> None:
    turned = {"language(article_content)": "eng", "language(translated_content)": "afr"}
    noisy = {"language(article_content)": "nld", "language(post_content)": "afr, eng"}
    loaded = reading(tree([rows.generated("a", **turned), rows.generated("b", **noisy)]))
    language = by_id(loaded, "language")
    assert (language["bluff-a-article"], language["bluff-a-article-translation"]) == ("eng", "afr")
    assert (language["bluff-b-article"], language["bluff-b-post"]) == ("afr", "afr")
    assert said(loaded, "1 text identified as a language that is neither")
    assert meta(loaded, "b-article")["detected"] == "nld"


def test_a_row_in_the_wrong_folder_is_counted(tree, rows) -> None:
    loaded = reading(tree([rows.generated("a", "zul"), rows.generated("b", "afr")], folder="afr"))
    assert loaded.records["language"][0] == "zul"
    assert said(loaded, "1 row in another language than their folder")


def test_a_tree_without_texts_says_so(tree, rows) -> None:
    root = tree([rows.generated("a")])
    with pytest.raises(UnreadableFile, match="holds no texts of the kind human"):
        reading(root, sources=["human"])


# Joins and splits


def test_orphans_and_duplicates_are_told_with_their_uuids(tree, rows) -> None:
    a, b, c = rows.generated("a"), rows.generated("b"), rows.generated("c")
    loaded = reading(
        tree(
            [a, a, b, b | {"article_content": "Iets anders."}, c],
            [rows.human("c")],
            meta_generated=[
                rows.metadata(a),
                rows.metadata(b),
                rows.metadata(b),
                rows.metadata(rows.generated("z")),
            ],
            splits={"multilingual/train": ["a", "ghost"], "multilingual/val": ["b"]},
        )
    )
    problems = set(loaded.tables["orphans"].iter_rows())
    assert problems == {
        ("a", "repeated as the same row (read once)"),
        ("b", "repeated with different rows (all kept, in one group)"),
        ("c", "both generated and human-written"),
        ("c", "with text but without metadata"),
        ("z", "with metadata but without text"),
        ("b", "repeated in the metadata (the first row is used)"),
        ("ghost", "in a split list but without text"),
    }
    ids = loaded.records["id"].to_list()
    assert len(ids) == len(set(ids)) == 4 + 8 + 4 + 4
    assert "bluff-b-article-2" in ids
    assert "bluff-c-article~2" in ids
    assert said(loaded, "1 uuid with metadata but without text, such as z.")
    assert not said(loaded, "without any text")


def test_metadata_fill_gaps_and_contradictions_are_told(tree, rows) -> None:
    bare = rows.generated("a", degree="", technique_keys="")
    told = rows.metadata(bare, degree="minor", technique_keys="[1]", chain_status="done")
    loaded = reading(
        tree(
            [bare],
            [rows.human("h", veracity="true")],
            meta_generated=[told],
            meta_human=[{"uuid": "h", "veracity": "fake_news"}],
        )
    )
    assert by_id(loaded, "authorship")["bluff-a-article"] == "HAT"
    assert meta(loaded, "a-article")["chain_status"] == "done"
    assert by_id(loaded, "label_raw")["bluff-h-article"] == "true"
    assert ("h", "with a verdict that contradicts the metadata (the row's own is used)") in set(
        loaded.tables["orphans"].iter_rows()
    )


def test_languages_that_are_head_and_tail_at_once_are_told(tree, rows) -> None:
    a, b = rows.generated("a"), rows.generated("b")
    loaded = reading(
        tree([a, b], meta_generated=[rows.metadata(a, "tail"), rows.metadata(b, "head")])
    )
    assert said(loaded, "both head and tail: afr")


def test_the_multilingual_lists_fill_the_split(tree, rows) -> None:
    root = tree(
        [rows.generated(u) for u in "abc"],
        splits={
            "multilingual/train": ["a", "b"],
            "multilingual/val": ["b", "c"],
            "cross_lingual_family/Turkic/train": ["c"],
            "cross_lingual_family/Turkic/test": [{"uuid": "a"}],
        },
    )
    loaded = reading(root)
    assert dict(loaded.records.select("group", "split").unique().iter_rows()) == {
        "a": "train",
        "b": None,
        "c": "dev",
    }
    assert said(loaded, "1 uuid in several lists of one split setting")
    assert loaded.tables["splits"].height == 6


def test_a_tree_without_lists_has_no_split_and_says_so(tree, rows) -> None:
    loaded = reading(tree([rows.generated("a")]))
    assert loaded.records["split"].null_count() == 4
    assert said(loaded, "No split lists for 'multilingual'")


def test_a_split_that_is_no_list_of_uuids_is_refused(tree, rows) -> None:
    with pytest.raises(UnreadableFile, match="which is not a uuid"):
        reading(tree([rows.generated("a")], splits={"multilingual/train": ["a", 7]}))


# Raw files


def test_raw_articles_bring_dates_and_addresses(tree, rows) -> None:
    raw = {
        **rows.human("h", "Spanish"),
        "standardized_language": "",
        "date": "2021-05-04",
        "url_factchecking_website": "https://a.example",
    }
    root = tree(
        human=[rows.human("h")],
        more={
            "raw/source_data/human/faro.csv": pl.DataFrame(
                [raw], infer_schema_length=None
            ).write_csv()
        },
    )
    records = load("bluff", root, variant="raw-human").records
    first = records.row(0, named=True)
    assert (str(first["date"]), first["date_source"]) == ("2021-05-04 00:00:00", "published")
    assert (first["url"], first["language"], first["veracity"]) == (
        "https://a.example",
        "spa",
        "false",
    )


def test_seeds_are_labelled_by_reputation(tree, rows) -> None:
    seed = {"uuid": "s", "content": "Die brug is oop.", "language": "afr", "content_type": "post"}
    root = tree(
        [rows.generated("g")],
        more={
            "raw/source_data/sd_eng_x_r/source_data/afr/a.csv": pl.DataFrame(
                [seed], infer_schema_length=None
            ).write_csv(),
            "raw/source_data/sd_eng_x_r/open_source/a.csv": pl.DataFrame(
                [seed | {"uuid": "m"}], infer_schema_length=None
            ).write_csv(),
        },
    )
    records = load("bluff", root, variant="seeds").records
    assert records.select("id", "kind", "label_raw", "veracity", "authorship").rows() == [
        ("bluff-seed-s", "post", "real_news", "true", "HWT")
    ]


def test_rows_without_uuid_are_left_out_and_counted(tree, rows) -> None:
    loaded = reading(tree([rows.generated("a"), rows.generated("")]))
    assert set(loaded.records["group"]) == {"a"}
    assert said(loaded, "1 row without a uuid")


def test_the_same_tree_gives_the_same_bytes(tree, rows, tmp_path: Path) -> None:
    root = tree(
        [rows.generated("a"), rows.generated("b", "zul")],
        [rows.human("h")],
        splits={"multilingual/train": ["a"]},
    )
    first = load("bluff", root).write(tmp_path / "one")
    second = load("bluff", root).write(tmp_path / "two")
    assert first.files == second.files


def test_what_the_release_says_of_a_sample_is_kept_counted_and_left_out_on_request(
    tree, rows
) -> None:
    samples = [rows.generated(name) for name in ("good", "failed", "mended", "twice", "foreign")]
    marks = {
        "good": {},
        "failed": {"mPURIFY": "fail"},
        "mended": {"json_repaired": "True"},
        "twice": {"is_duplicate": "True"},
        "foreign": {"lang_pass": "False", "lang_reason": "mixed"},
    }
    kept = {
        "mPURIFY": "pass",
        "lang_reason": "ok",
        "json_repaired": "False",
        "transform_technique": "rewrite",
        "source_organization": "a paper",
        "source_language": "eng",
        "language_name": "Spanish",
    }
    about = [rows.metadata(row, **{**kept, **marks[row["uuid"]]}) for row in samples]
    root = tree(samples, meta_generated=about)
    loaded = reading(root)
    assert kept.items() <= meta(loaded, loaded.records["id"][0][-4:]).items()
    for words in (
        "1 sample failed the authors' quality filter",
        "1 sample failed the authors' check of language",
        "1 sample repaired from broken JSON",
        "1 sample marked as a duplicate",
    ):
        assert said(loaded, words)
    clean = load("bluff", root, variant="clean").records
    assert set(clean["group"]) == {"good", "mended"}
    assert set(loaded.records["group"]) == set(marks)

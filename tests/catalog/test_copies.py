"""Copies of published datasets differ in form: encodings, headers, delimiters, one file or three.
The loaders must see the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.audit.feasibility_votes import votes_of
from claimlab.audit.subject import Subject
from claimlab.catalog.load import load
from claimlab.core.errors import UnmappedLabels, UnreadableFile

FA_KES = "unit_id,article_title,article_content,source,date,location,labels\n1,Title,Text at the café,nna,4/5/2017,homs,0\n2,Other,More,sana,12/31/2016,idlib,1\n"
FA_KES_COPIES: dict[str, str | bytes] = {
    "latin-1": FA_KES.encode("latin-1"),
    "utf-8": FA_KES,
    "mark": FA_KES.encode("utf-8-sig"),
    "semicolons": FA_KES.replace(",", ";"),
    "header": FA_KES.replace("article_title", "Article Title")
    .replace("article_content", "ARTICLE CONTENT")
    .replace("labels", "Label"),
    "windows": FA_KES.replace("\n", "\r\n").encode("cp1252"),
    "floats": FA_KES.replace(",0\n", ",0.0\n").replace(",1\n", ",1.0\n"),
}


@pytest.mark.parametrize("copy", FA_KES_COPIES)
def test_fa_kes_in_the_forms_it_circulates_in(
    copy: str, tmp_path: Path, write: Callable[..., Path]
) -> None:
    records = load("fa-kes", write(tmp_path, {"FA-KES-Dataset.csv": FA_KES_COPIES[copy]})).records
    assert records["text"].to_list() == ["Text at the café", "More"]
    assert records["veracity"].to_list() == ["false", "true"]
    assert records["date"].to_list() == [datetime(2017, 4, 5), datetime(2016, 12, 31)]
    assert json.loads(records["meta"][0]) == {"location": "homs", "title": "Title"}


def test_twitter16_in_its_three_files_and_with_ids_alone(
    tmp_path: Path, sample: Callable[..., Path], write: Callable[..., Path]
) -> None:
    three = {
        f"twitter16.{part}": f'61446782431310000{n}\tone "text URL\ttrue\n'
        for n, part in enumerate(("train", "dev", "test"))
    }
    records = load("twitter16", write(tmp_path / "three", dict(three))).records
    assert records["split"].to_list() == ["train", "dev", "test"]
    assert records["text"][0] == 'one "text URL'
    assert records["date"][0].year == 2015
    ids = load(
        "twitter16",
        sample("twitter16", tmp_path / "ids", without=("source_tweets", "_All", "parquet")),
    )
    assert ids.records["kind"].unique().to_list() == ["id-only"]
    assert any("ids without text" in note for note in ids.notes)


def test_twitter16_keeps_label_order_and_events_and_ignores_twitter15(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    records = load("twitter16", sample("twitter16", tmp_path)).records
    assert records["label_raw"].to_list() == ["true", "non-rumor", "false", "unverified"]
    assert records["group"].to_list() == ["E1", "riverton_news", "E2", None]
    assert records["kind"].to_list() == ["post", "post", "post", "id-only"]
    assert records["source"].to_list() == ["IJCAI", "news_account", "IJCAI", None]
    assert records["author"].to_list() == [None, "riverton_news", None, None]


def test_liar_new_has_possibility_labels_french_and_articles(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    found = load("liar-new", sample("liar-new", tmp_path))
    answers = found.tables["annotations"]
    agreed = answers.filter(pl.col("annotator") == "consensus")["value"].to_list()
    assert agreed == ["hard", "possible", "impossible"]  # the old version says otherwise
    assert answers.filter(pl.col("record_id") == "liar-new-1")["value"].to_list() == [
        "hard",
        "hard",
        "hard",
        "impossible",
    ]
    votes = votes_of(Subject.of(found))
    assert votes is not None, "the audit's check of feasibility reads them"
    assert votes["annotator"].unique().sort().to_list() == ["labeler_1", "labeler_2", "labeler_3"]
    assert found.tables["evidence"]["rating"].to_list() == ["true"]
    french = load("liar-new", tmp_path, variant="french").records
    assert french["language"].unique().to_list() == ["fra"]
    assert french["group"].to_list() == found.records["group"].to_list()
    assert load("liar-new", tmp_path, map="cdl").records["veracity"].to_list() == [
        "true",
        "true",
        "mixed",
    ]


def test_covid_19_rumor_groups_repeats_and_reads_a_headed_copy(
    tmp_path: Path, sample: Callable[..., Path], write: Callable[..., Path]
) -> None:
    source = sample("covid-19-rumor", tmp_path)
    groups = load("covid-19-rumor", source).records["group"].to_list()
    assert groups == ["covid-19-rumor-00001", None, None, "covid-19-rumor-00001"]
    write(source, {"Data/news/news.csv": "id,label,content,sentiment\n3,F,Moon water cures,3\n"})
    curated = load("covid-19-rumor", source, variant="curated").records
    assert curated["text"].to_list() == [
        "Moon water cures",
        "Doctors say qwertyu copper doors stop the virus",
    ]
    assert curated["tweet_id"].null_count() == 2  # the numbers there are none
    assert json.loads(curated["meta"][1]) == {"likes": "95", "replies": "2", "retweets": "61"}


def test_mediaeval_groups_by_event_and_says_that_editions_overlap(
    tmp_path: Path, sample: Callable[..., Path], write: Callable[..., Path]
) -> None:
    source = sample("mediaeval", tmp_path)
    records = load("mediaeval", source).records
    assert records["group"].to_list() == ["stormA", "stormA", "mill_fire"]
    assert records["text"][0] == 'The "wave at Riverton pier\nwow http://t.co/x'
    assert records["date"][0] == datetime(2012, 10, 29, 22, 34, 1)
    both = load("mediaeval", source, variant="all")
    assert both.records.height == 6
    assert any(note.startswith("2 rows share their tweet") for note in both.notes)
    with pytest.raises(UnreadableFile, match="image-verification-corpus"):
        load("mediaeval", write(tmp_path / "other", {"notes.txt": "x"}))


@pytest.mark.parametrize("name", ["celebrity", "fakenewsamt"])
def test_the_two_sets_of_one_archive_stay_apart(
    name: str, tmp_path: Path, sample: Callable[..., Path]
) -> None:
    texts = load(name, sample(name, tmp_path)).records["text"].to_list()
    assert "It belongs to the other one." not in texts


def test_fakenewsamt_pairs_and_celebrity_from_its_own_folder(
    tmp_path: Path, sample: Callable[..., Path], write: Callable[..., Path]
) -> None:
    amt = load("fakenewsamt", sample("fakenewsamt", tmp_path / "amt")).records
    assert amt["group"].to_list() == ["biz01", "biz01", "entmt12"]
    assert amt["topic"].to_list() == ["business", "business", "entertainment"]
    own = write(
        tmp_path / "own",
        {"fake/1.txt": "T\r\n\r\nBody\r\n".encode("cp1252"), "legit/1.txt": b"T\n\nThe caf\xe9\n"},
    )
    records = load("celebrity", own).records
    assert records["text"].to_list() == ["Body", "The café"]
    assert json.loads(records["meta"][0]) == {"title": "T"}
    with pytest.raises(UnreadableFile, match="one folder per label"):
        load("celebrity", write(tmp_path / "half", {"fake/1.txt": "x"}))


def test_benjamin_counts_satire_as_the_map_says(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    source = sample("benjaminpoliticalnews", tmp_path)
    records = load("benjaminpoliticalnews", source).records
    satire = records.filter(pl.col("label_raw") == "satire")
    assert satire["veracity"].to_list() == ["unknown"]
    assert (
        load("benjaminpoliticalnews", source, map="cdl")
        .records["veracity"]
        .to_list()
        .count("false")
        == 3
    )
    assert "“Monday”" in records.filter(pl.col("label_raw") == "real")["text"][0]
    assert json.loads(records["meta"][0])["title"] == "Council meets"


def test_x_fact_keeps_quotes_dates_and_evidence(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    found = load("x-fact", sample("x-fact", tmp_path))
    records = found.records
    assert records["text"][0] == 'A "ponte abriu em 1931.'
    assert records["language"].to_list() == ["por", "kat", "ind", "fra"]
    assert records["date"].to_list() == [datetime(2019, 12, 16), datetime(2018, 5, 12), None, None]
    assert records["date_source"].to_list() == [
        "date column (claim)",
        "date column (review)",
        None,
        None,
    ]
    assert records["split"].to_list() == ["train", "train", "test", "zeroshot"]
    assert found.tables["evidence"]["evidence_id"].to_list() == [
        "x-fact-train-00001-e1",
        "x-fact-test-00001-e1",
    ]
    assert load("x-fact", tmp_path, map="cdl").records["veracity"].to_list() == [
        "true",
        "false",
        "false",
        "unknown",
    ]


def test_x_fact_as_the_hub_has_it(tmp_path: Path, write: Callable[..., Path]) -> None:
    header = "language,site,evidence_1,claimDate,reviewDate,claimant,claim,label\n"
    for split in ("train", "dev", "ood"):
        write(
            tmp_path,
            {
                f"all_languages/{split}-00000-of-00001.csv": "\ufeff"
                + header
                + f'pt,s,e,,,,"Uma, ""ponte"" {split}",mostly true\n'
            },
        )
    records = load("x-fact", tmp_path).records
    assert records["text"].to_list() == [
        'Uma, "ponte" train',
        'Uma, "ponte" dev',
        'Uma, "ponte" ood',
    ]
    assert records["language"].to_list() == ["por"] * 3


def test_fakecovid_claims_are_english_and_articles_are_not(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    source = sample("fakecovid", tmp_path)
    claims = load("fakecovid", source)
    assert claims.records["language"].unique().to_list() == ["eng"]
    assert (
        claims.tables["evidence"]["record_id"].n_unique() == 3
    )  # one claim came without its article
    articles = load("fakecovid", source, variant="articles").records
    assert articles["language"].to_list() == ["spa", "eng", "eng", "eng"]
    assert articles["text"][0] == "El agua de luna no cura nada."
    assert load("fakecovid", source, map="cdl").records["veracity"].to_list() == [
        "false",
        "false",
        "false",
        "unknown",
    ]


def test_an_unheard_of_rating_is_named_and_may_be_accepted(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    text = "class,title,lang\nWobbly,A claim,en\nFALSE,Another,en\n"
    source = write(tmp_path, {"FakeCovid_July2020.csv": text})
    with pytest.raises(UnmappedLabels, match="'Wobbly'"):
        load("fakecovid", source)
    assert load("fakecovid", source, unmapped="unknown").records["veracity"].to_list() == [
        "unknown",
        "false",
    ]


def test_ifnd_dates_that_lost_their_year_stay_out(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    found = load("ifnd", sample("ifnd", tmp_path))
    assert found.records["date"].to_list() == [
        datetime(2020, 10, 1),
        None,
        datetime(2019, 5, 14),
        None,
    ]
    assert found.records["date_source"].to_list() == [
        "date column (month)",
        None,
        "date column",
        None,
    ]
    assert any("cannot be read, such as '20-Sep'" in note for note in found.notes)
    assert "cafés" in found.records["text"][0]


def test_ifnd_copies_with_another_header(tmp_path: Path, write: Callable[..., Path]) -> None:
    source = write(
        tmp_path,
        {
            "IFND.csv": "Unnamed: 0\tSTATEMENT\tLABEL\n0\tThe bridge, opened\tTrue\n1\tPurple lake\tfalse\n"
        },
    )
    records = load("ifnd", source).records
    assert records["text"].to_list() == ["The bridge, opened", "Purple lake"]
    assert records["veracity"].to_list() == ["true", "false"]


def test_faviq_reads_what_is_there_and_keeps_silver_evidence(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    source = sample("faviq", tmp_path, without=("r_set",))
    found = load("faviq", source)
    assert found.records.height == 2
    assert found.tables["evidence"].height == 4
    assert json.loads(found.tables["evidence"]["meta"][1])["silver"] == "negative"
    with pytest.raises(UnreadableFile, match="faviq_r_set"):
        load("faviq", source, variant="r-set")


def test_multiclaim_groups_posts_that_share_a_fact_check(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    found = load("multiclaim", sample("multiclaim", tmp_path))
    records = found.records
    assert records["group"].to_list()[0] == records["group"].to_list()[1] is not None
    assert records["group"][2] is None
    assert records["text"].to_list() == [
        "Voda z mesiaca\nlieči",
        "LIES ON THE BRIDGE",
        "El puente abrió",
    ]
    assert records["label_raw"].to_list() == [
        "False information",
        "Missing context; Partly false information",
        None,
    ]
    assert records["language"].to_list() == ["slk", "eng", "spa"]
    assert records["date"].to_list()[1] == datetime(2020, 9, 13, 12, 26, 40)
    assert found.tables["evidence"]["evidence_id"].to_list() == [
        "fact-check-10",
        "fact-check-11",
        "fact-check-10",
    ]
    english = load("multiclaim", tmp_path, variant="english").records
    assert english["authorship"].to_list() == ["MTT", "HWT", "MTT"]
    assert english["text"][2] == "The bridge opened"


def test_multiclaim_runs_nothing_that_stands_in_a_cell(
    tmp_path: Path, sample: Callable[..., Path], write: Callable[..., Path]
) -> None:
    source = sample("multiclaim", tmp_path)
    write(
        source,
        {
            "posts.csv": "post_id,instances,ocr,verdicts,text\n0,[],[],[],__import__('os').getcwd()\n"
        },
    )
    with pytest.raises(UnreadableFile, match=r"A cell of 'posts\.csv'"):
        load("multiclaim", source)


def test_snopes_evidence_holds_what_the_claim_must_not(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    found = load("snopes-fact-news", sample("snopes-fact-news", tmp_path))
    assert found.tables["evidence"]["rating"].to_list() == ["False", "Mixture"]
    assert json.loads(found.tables["evidence"]["meta"][1])["false_part"] == "Not for one crown."
    assert "origin" not in json.loads(found.records["meta"][0])
    assert load("snopes-fact-news", tmp_path, map="cdl").records["veracity"].to_list() == [
        "false",
        "mixed",
        "false",
    ]


def test_banfakenews_files_overlap_and_the_groups_know(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    records = load("banfakenews", sample("banfakenews", tmp_path), variant="all-four").records
    assert records["group"].to_list() == [
        "banfakenews-all-1",
        None,
        "banfakenews-all-1-2",
        "banfakenews-all-1",
        "banfakenews-all-1-2",
    ]
    assert records["veracity"].to_list() == ["true", "true", "false", "true", "false"]


def test_ti_cnn_hides_the_shape_of_the_address(tmp_path: Path, sample: Callable[..., Path]) -> None:
    records = load("ti-cnn", sample("ti-cnn", tmp_path)).records
    assert records["source"].to_list() == [
        "rivertontimes.example",
        "purplelake.example",
        "purplelake.example",
    ]
    assert records["date"].to_list() == [
        datetime(2016, 11, 23, 0, 45, 32),
        datetime(2016, 10, 26, 18, 41),
        None,
    ]
    assert records["text"][2] == "Only a headline"
    assert records["id"].to_list() == ["ti-cnn-f1", "ti-cnn-e2", "ti-cnn-e2-2"]


def test_counter_covid_labels_by_number_or_name(
    tmp_path: Path, sample: Callable[..., Path], write: Callable[..., Path]
) -> None:
    source = sample("counter-covid-19-misinformation", tmp_path)
    records = load("counter-covid-19-misinformation", source).records
    assert records["label_raw"].to_list() == [
        "misinformation",
        "counter-misinformation",
        "irrelevant",
    ]
    assert records["topic"].to_list() == ["fake cures", "fake cures", "5G"]
    everything = load("counter-covid-19-misinformation", source, variant="all").records
    assert everything["label_raw"].null_count() == 1
    named = write(
        tmp_path / "named",
        {"tweets_labeled.tsv": "id\tannotation\n1240000000000000001\tMisinformation\n"},
    )
    assert load("counter-covid-19-misinformation", named).records["veracity"].to_list() == ["false"]


def test_mic_label_is_the_answer_on_misinformation_not_relevance(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    found = load("covid-vaccine-misinfo-mic", sample("covid-vaccine-misinfo-mic", tmp_path))
    assert found.records["label_raw"].to_list() == [
        "misinformation",
        "no misinformation",
        "not about vaccines",
    ]
    assert found.records["language"].to_list() == ["por", "ind", "eng"]
    assert found.tables["annotations"].height == 15 + 5 + 1
    first = dict(
        found.tables["annotations"]
        .filter(record_id=found.records["id"][0])
        .select("question", "value")
        .rows()
    )
    assert first["contains misinformation about vaccines"] == "yes"
    assert first["dominant sentiment of the tweet"] == "positive"
    assert found.records["tweet_id"][0] == "1340000000000000001"
    assert found.records["url"][0] == "http://twitter.com/1/statuses/1340000000000000001"
    cdl = load("covid-vaccine-misinfo-mic", tmp_path, map="cdl").records
    assert cdl["veracity"].unique().to_list() == ["unknown"]


def test_rumors_tweets_carry_the_verdict_on_their_rumour(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    records = load("rumors", sample("rumors", tmp_path), variant="tweets").records
    assert records["group"].to_list() == ["rumors-1", "rumors-1", "rumors-2"]
    assert records["veracity"].to_list() == ["false", "false", "true"]
    assert records["kind"].to_list() == ["post", "id-only", "post"]
    released = load("rumors", tmp_path).records
    assert released.filter(pl.col("group").is_not_null()).height == 2


def test_esoc_is_one_class_and_says_so(tmp_path: Path, sample: Callable[..., Path]) -> None:
    found = load("esoc-covid-19", sample("esoc-covid-19", tmp_path))
    assert any("Only one class ('false')" in note for note in found.notes)
    assert found.records["language"].to_list() == ["spa", "swa", None]
    assert found.records["text"][2] == "A story without a summary"

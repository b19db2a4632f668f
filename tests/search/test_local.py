"""The local index: languages, ranking, safety of queries, the manifest, and every shape of
source.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.core.dataset import Dataset
from claimlab.core.errors import OutputExists, SearchFailed, UnreadableFile, UsageError
from claimlab.core.stats.scores import Floats32
from claimlab.search.analysis import STEMMERS, analyzer, field_of, prepared
from claimlab.search.connect import index_at
from claimlab.search.evidence import Evidence
from claimlab.search.fusion import SentenceEncoder, cosines
from claimlab.search.local import LAYOUT_VERSION, LocalIndex, build_index
from claimlab.search.passage import best_passage, said, snippets
from claimlab.search.providers.local import LocalProvider
from claimlab.search.query import Query

DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "vacinas",
        "text": "As vacinas foram testadas em milhares de voluntários.",
        "language": "pt",
        "date": "2021-03-04",
    },
    {
        "id": "rio",
        "text": "O rio nasce na serra e corre para o mar.",
        "language": "pt-BR",
        "date": "2022-01-01",
    },
    {"id": "yimiao", "text": "疫苗在临床试验中被证明有效。", "language": "zh"},
    {"id": "tianqi", "text": "今天的天气非常好,适合出门散步。", "language": "zh"},
    {"id": "vaikseen", "text": "परीक्षण में वैक्सीन सुरक्षित पाई गई।", "language": "hi"},
    {"id": "mausam", "text": "आज मौसम बहुत अच्छा है।", "language": "hi"},
    {"id": "watsin", "text": "วัคซีนปลอดภัยและได้ผล", "language": "th"},
    {"id": "akat", "text": "อากาศวันนี้ดีมาก", "language": "th"},
    {"id": "impfung", "text": "Die Impfungen wurden gründlich geprüft.", "language": "de"},
    {
        "id": "tides",
        "text": "The tides at Northport are rising.",
        "language": "en",
        "title": "Tide tables",
    },
    {"id": "gulls", "text": "Gulls nest on the harbour wall.", "language": "en"},
    {
        "id": "nobody",
        "text": "Northport harbour, photographed in 1950.",
        "url": "https://x.example/1950/06/07/a",
    },
]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text(
        "\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LocalIndex:
    folder = tmp_path_factory.mktemp("local")
    build_index(write_lines(folder / "documents.jsonl", DOCUMENTS), folder / "index")
    return LocalIndex(folder / "index")


def test_a_result_is_what_the_constructor_makes(index: LocalIndex) -> None:
    found = index.search(Query("tides at Northport", language="eng"))
    assert found
    for evidence in found:
        assert list(vars(evidence)) == [field.name for field in fields(Evidence)]
        assert Evidence(**vars(evidence)) == evidence


def ids(found: list[Evidence]) -> list[str]:
    return [e.more["document"] for e in found]


@pytest.mark.parametrize(
    ("text", "language", "first"),
    [
        (
            "a vacina foi testada por um voluntário?",
            "por",
            "vacinas",
        ),  # stems meet: vacina, testada, voluntário
        ("vacinação: TESTE!", "por", "vacinas"),
        ("疫苗是否有效", "zho", "yimiao"),
        ("天气怎么样", "zho", "tianqi"),
        ("क्या वैक्सीन सुरक्षित है", "hin", "vaikseen"),
        ("วัคซีนปลอดภัยไหม", "tha", "watsin"),
        ("wurde die Impfung geprüft", "deu", "impfung"),
        ("geprufte Impfungen", "deu", "impfung"),  # without the umlaut, as on many keyboards
        ("tide rises", "eng", "tides"),
        ("tables", "eng", "tides"),  # the title is searched too
        (
            "vacinas testadas",
            None,
            "vacinas",
        ),  # nobody said which language: read as each the index holds
        ("疫苗", None, "yimiao"),
    ],
)
def test_languages_find_their_documents(
    index: LocalIndex, text: str, language: str | None, first: str
) -> None:
    found = ids(index.search(Query(text, language=language)))
    assert found[0] == first


def test_a_name_is_found_in_documents_of_unknown_language(index: LocalIndex) -> None:
    assert set(ids(index.search(Query("Northport", language="eng")))) == {"tides", "nobody"}


def test_marks_do_not_break_words() -> None:
    assert analyzer("exact").analyze(prepared("हिन्दी")) == ["हिनदी"], "a virama does not end a word"
    assert analyzer("exact").analyze(prepared("cafe\u0301 ﬁn")) == ["cafe", "fin"]
    assert prepared("plain words") == "plain words"
    assert prepared("水").split() == ["水"]
    assert prepared("東京都 2020").split() == ["東京", "京都", "2020"]


def test_a_long_text_is_prepared_in_parts_and_no_word_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "cafe\u0301 東京都 \u0301x हिन्दी\u3000水道\n" * 30
    whole = prepared(text)
    for piece in (1, 7, 50):
        monkeypatch.setattr("claimlab.search.analysis.CHARACTERS_AT_A_TIME", piece)
        assert prepared(text) == whole


def by_topic(texts: Sequence[str]) -> Floats32:
    """Unit vectors that know birds, and nothing else."""
    birds = ["gull" in text.lower() or "bird" in text.lower() for text in texts]
    return np.array([[bird, not bird] for bird in birds], np.float32)


def test_what_means_the_same_is_found_without_a_common_word(index: LocalIndex) -> None:
    with_meaning = LocalIndex(index.folder, SentenceEncoder(by_topic, {"eng"}))
    asked = Query("birds", language="eng", max_results=2)
    assert ids(index.search(asked)) == []
    (found,) = with_meaning.search(asked)
    assert found.more["document"] == "gulls"
    assert (found.more["words"], found.more["meaning"]) == (0.0, pytest.approx(1, abs=1e-3))
    assert (index.folder / "vectors.npy").is_file(), "encoded once"
    assert with_meaning.search(Query("birds", language="swe")) == [], "a language it does not know"
    both = LocalProvider(with_meaning).parameters()
    assert both == {**LocalProvider(index).parameters(), "vectors": True}


def test_what_a_post_is_compared_by_is_what_it_says() -> None:
    post = (
        "Look at this! https://example.org/x The gulls of Velmore are machines. #gulls"
        "\n— A Reader (@reader) March 3, 2021"
    )
    claim = "The gulls of Velmore are machines."
    assert said(post) == [f"Look at this! {claim} gulls", claim]
    assert said("@reader The mill burned") == ["The mill burned"], "one sentence is the whole"
    assert said("https://example.org/x") == ["https://example.org/x"], "nothing else is said"
    assert len(said("This is a sentence of a post. " * 99)) == 9, "a long text costs no more"


def test_a_claim_in_one_sentence_of_a_long_post_is_found() -> None:
    documents = np.array([[1, 0, 0], [0.5, 0.5, 0.6]], np.float32)
    whole, others = [0.45, 0.5, 0.74], [[0, 1, 0], [1, 0, 0]]
    assert cosines(documents, np.array([whole], np.float32)).argmax() == 1
    each = cosines(documents, np.array([whole, *others], np.float32))
    assert each == pytest.approx([(0.45 + 1) / 2, (0.919 + 0.5) / 2], abs=1e-3)
    assert each.argmax() == 0


def test_words_say_nothing_of_a_claim_in_a_language_that_no_document_has(tmp_path: Path) -> None:
    """A name is in both documents, and only the meaning tells which one is meant."""
    lines = [
        {"id": "mayor", "text": "Northport elected Northport's mayor of Northport."},
        {"id": "gulls", "text": "The gulls came to live in a town by the sea."},
    ]
    build_index(write_lines(tmp_path / "t.jsonl", lines), tmp_path / "i", language="eng")
    index = LocalIndex(tmp_path / "i", SentenceEncoder(by_topic, {"eng", "spa"}))
    post = "Northport Northport bird"
    assert {*ids(index.search(Query(post, language="eng")))} == {"mayor", "gulls"}
    found = index.search(Query(post, language="spa"))
    assert ids(found) == ["gulls"]
    nothing = np.zeros((1, 2), np.float32)
    by_name = index.search(Query(post, language="spa"), vectors=nothing)
    assert ids(by_name) == ["mayor"], "a name is better than nothing"
    assert found[0].score > 0.5, "and what words do not say counts neither for nor against"


def test_meaning_does_not_bring_back_what_the_day_excludes(tmp_path: Path) -> None:
    rows = [
        {"text": "gulls left", "date": "2021-03-04"},
        {"text": "gulls stay", "date": "2020-01-01"},
    ]
    source = write_lines(tmp_path / "d.jsonl", rows)
    build_index(source, tmp_path / "index", language="eng")
    index = LocalIndex(tmp_path / "index", SentenceEncoder(by_topic, {"eng"}))
    early = Query("birds", language="eng", before=date(2020, 6, 1))
    assert [piece.text for piece in index.search(early)] == ["gulls stay"]
    assert index.newer(early) == 1


def test_snippets_are_as_long_as_those_of_a_search_engine() -> None:
    text = ". ".join(" ".join(f"w{i}" for i in range(n)) for n in (10, 12, 30, 90)) + "."
    lengths = [len(part.split()) for part in snippets(text)]
    assert max(lengths) <= 40
    assert lengths[:3] == [22, 12, 30]
    assert sum(part.split()[0] == "w0" for part in snippets(text)) == 4


def test_every_stemmer_is_one_that_tantivy_has() -> None:
    for language in STEMMERS:
        assert analyzer(field_of(language)).analyze("x1") == ["x1"]
    assert field_of("zho") == field_of(None) == "lang_other"


def test_stop_words_alone_still_find_something(index: LocalIndex) -> None:
    assert set(ids(index.search(Query("the", language="eng")))) == {"tides", "gulls"}


@pytest.mark.parametrize(
    "claim",
    [
        'tides AND (NOT "gulls',
        "exact:tides^5 -rising +x",
        "*:*",
        "[a TO z]",
        "/.*/",
        "tides\\",
        "{!func}",
        "!!!",
    ],
)
def test_a_claims_punctuation_is_never_a_query(index: LocalIndex, claim: str) -> None:
    found = ids(index.search(Query(claim, language="eng")))
    assert ("tides" in found) is ("tides" in claim)
    assert len(found) < len(DOCUMENTS), "nothing matches everything"


@given(st.text(min_size=1, max_size=80).filter(lambda t: t.strip()))
@settings(max_examples=50, deadline=None)
def test_any_text_can_be_searched_for(index: LocalIndex, text: str) -> None:
    assert len(index.search(Query(text, max_results=3))) <= 3


def test_later_documents_are_left_out_and_undated_ones_stay(index: LocalIndex) -> None:
    assert ids(index.search(Query("vacinas rio", language="por"))) == ["vacinas", "rio"]
    assert ids(index.search(Query("vacinas rio", language="por", before=date(2021, 3, 4)))) == [
        "vacinas"
    ]
    assert ids(index.search(Query("vacinas rio", language="por", before=date(2021, 3, 3)))) == []
    assert "tides" in ids(index.search(Query("tides", language="eng", before=date(1990, 1, 1))))


def test_a_result_carries_what_the_document_said(index: LocalIndex) -> None:
    found = asyncio.run(
        LocalProvider(index).search(Query("Northport 1950", language="eng", max_results=1))
    )
    assert (found.provider, found.cost) == ("local", 0.0)
    piece = found.evidence[0]
    assert (piece.url, piece.published, piece.dated_from) == (
        "https://x.example/1950/06/07/a",
        datetime(1950, 6, 7),
        "url",
    )
    assert LocalProvider(index).parameters()["source"] == index.manifest.source


def test_equal_scores_stand_in_the_order_of_the_source(tmp_path: Path) -> None:
    rows = [
        {"id": f"{i:03}", "text": "the same words", "url": f"https://x.example/{i}"}
        for i in range(200)
    ]
    build_index(write_lines(tmp_path / "d.jsonl", rows), tmp_path / "index", language="eng")
    index = LocalIndex(tmp_path / "index")
    assert ids(index.search(Query("same words", max_results=7))) == [f"{i:03}" for i in range(7)]


def test_an_index_is_built_once_and_again_when_its_source_changes(tmp_path: Path) -> None:
    source = write_lines(
        tmp_path / "d.jsonl", [{"text": "one"}, {"text": "one"}, {"text": ""}, {"no": "text"}]
    )
    with source.open("a", encoding="utf-8") as file:
        file.write("\nnot json\n")
    target = tmp_path / "index"
    first = build_index(source, target, language="en")
    assert (first.documents, first.repeated, first.languages) == (1, 1, {"eng": 1})
    assert first.skipped == {"line that is not JSON in UTF-8": 1, "object without a text": 2}
    stamp = (target / "meta.json").stat().st_mtime_ns
    assert build_index(source, target, language="en") == first
    assert (target / "meta.json").stat().st_mtime_ns == stamp, "nothing was written"
    assert build_index(source, target, language="pt").languages == {"por": 1}
    write_lines(source, [{"text": "two"}, {"text": "three"}])
    assert build_index(source, target, language="pt").documents == 2
    assert ids(LocalIndex(target).search(Query("three"))) == ["d.jsonl:2"]


def test_a_build_that_fails_leaves_the_old_index_whole(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("the old text", encoding="utf-8")
    build_index(folder, tmp_path / "index")
    (folder / "b.json").write_text("{broken", encoding="utf-8")
    with pytest.raises(UnreadableFile, match=r"b\.json.*not JSON"):
        build_index(folder, tmp_path / "index")
    assert ids(LocalIndex(tmp_path / "index").search(Query("old text"))) == ["a.txt"]
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_what_is_no_index_is_left_alone_and_named(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "d.jsonl", [{"text": "one"}])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists):
        build_index(source, tmp_path / "mine")
    for folder in (tmp_path / "mine", tmp_path / "nowhere"):
        with pytest.raises(SearchFailed, match="is not an index") as caught:
            LocalIndex(folder).search(Query("x"))
        assert caught.value.kind == "no-index"
    build_index(source, tmp_path / "index")
    manifest = tmp_path / "index" / "index.json"
    manifest.write_text(manifest.read_text().replace(f'"layout": {LAYOUT_VERSION}', '"layout": 99'))
    with pytest.raises(SearchFailed, match="another layout"):
        LocalIndex(tmp_path / "index").search(Query("x"))
    assert build_index(source, tmp_path / "index").layout == LAYOUT_VERSION, "and is built anew"


def test_a_dataset_is_searched_by_its_records(tmp_path: Path) -> None:
    records = pl.DataFrame(
        {"id": ["a", "b"], "text": ["Gulls left Northport.", None], "kind": ["claim", "id-only"], "label_raw": ["pants", None],
         "veracity": ["false", None], "language": ["eng", "eng"], "source": ["Gazette", None], "date": [datetime(2021, 3, 4), None]}
    )  # fmt: skip
    Dataset.build("made-up", records).write(tmp_path / "ds")
    assert build_index(tmp_path / "ds", tmp_path / "records").documents == 1
    found = LocalIndex(tmp_path / "records").search(Query("gull", language="eng"))[0]
    assert (found.published, found.more["document"]) == (datetime(2021, 3, 4), "a")


@pytest.fixture
def checked(tmp_path: Path) -> Path:
    """Two claims with labels; of one the fact-check is known."""
    records = pl.DataFrame(
        {"id": ["a", "b"], "text": ["Gulls left Northport.", "Terns left Southport."], "label_raw": ["pants", "ok"],
         "veracity": ["false", "true"], "language": ["eng", "eng"], "source": ["hoax.example", "news.example"]}
    )  # fmt: skip
    evidence = pl.DataFrame(
        {"record_id": ["a", "a"], "evidence_id": ["e0", "e1"], "rank": [1, 2], "title": [None, "Did the gulls leave?"],
         "text": [None, "They did not."], "url": ["https://x.example/", "https://checks.example/gulls"],
         "publisher": [None, "Port Checks"], "rating": [None, "pants"], "published": [None, datetime(2021, 5, 6)]}
    )  # fmt: skip
    Dataset.build("made-up", records, {"evidence": evidence}).write(tmp_path / "ds")
    return tmp_path / "ds"


def test_the_label_of_another_corpus_is_not_a_fact_checkers_rating(
    checked: Path, tmp_path: Path
) -> None:
    manifest = build_index(checked, tmp_path / "plain")
    found = LocalIndex(tmp_path / "plain").search(Query("left the port", language="eng"))
    assert manifest.reviews == 0
    assert [piece.review for piece in found] == [None, None]
    assert [piece.more["publisher"] for piece in found] == ["hoax.example", "news.example"]
    assert "pants" not in str([piece.to_json() for piece in found])


def test_a_dataset_of_fact_checks_keeps_the_rating_and_the_review_it_comes_from(
    checked: Path, tmp_path: Path
) -> None:
    assert build_index(checked, tmp_path / "rated", factcheck=True).reviews == 2
    first, second = LocalIndex(tmp_path / "rated").search(
        Query("gulls left the port", language="eng")
    )
    assert first.review is not None
    assert (first.review.publisher, first.review.rating, first.review.verdict) == (
        "Port Checks",
        "pants",
        "false",
    )
    assert (first.text, first.title) == ("Gulls left Northport.", "Did the gulls leave?")
    assert (first.url, first.published) == ("https://checks.example/gulls", datetime(2021, 5, 6))
    assert second.review is not None
    assert (second.review.publisher, second.review.verdict) == (None, "true"), (
        "a claim's source is not its checker"
    )


def test_one_dataset_is_searched_as_documents_and_as_fact_checks_side_by_side(
    checked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "user-cache"))
    plain, rated = index_at(str(checked)), index_at(str(checked), factcheck=True)
    assert (LocalIndex(plain).manifest.reviews, LocalIndex(rated).manifest.reviews) == (0, 2)
    with pytest.raises(UsageError, match="holds no fact-checks"):
        index_at(str(plain), factcheck=True)
    assert index_at(str(rated), factcheck=True) == rated


def test_a_document_is_a_fact_check_by_its_rating_not_by_having_a_publisher(tmp_path: Path) -> None:
    rows = [
        {"text": "Gulls stay.", "publisher": "Gazette"},
        {"text": "Gulls go.", "publisher": "Checks", "rating": "False"},
    ]
    source = write_lines(tmp_path / "d.jsonl", rows)
    build_index(source, tmp_path / "index", language="eng")
    found = LocalIndex(tmp_path / "index").search(Query("gulls", language="eng"))
    assert {piece.text: piece.review and piece.review.rating for piece in found} == {
        "Gulls stay.": None,
        "Gulls go.": "False",
    }


def test_a_folder_of_documents_is_read_whole(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("plain tides", encoding="utf-8")
    (folder / "latin.txt").write_bytes("maré cheia à noite, não de manhã".encode("cp1252"))
    (folder / "deep" / "b.md").write_text("# Tides\nmarked", encoding="utf-8")
    (folder / "c.html").write_text(
        '<html lang="pt"><title>Marés</title><meta property="article:published_time" content="2021-03-04">'
        "<nav>menu</nav><p>tides em português</p><script>tides()</script></html>",
        encoding="utf-8",
    )
    (folder / "d.json").write_text(
        json.dumps([{"text": "listed tides", "id": 7}]), encoding="utf-8"
    )
    (folder / "ignored.pdf").write_bytes(b"%PDF tides")
    (folder / "empty.txt").write_text(" ", encoding="utf-8")
    manifest = build_index(folder, tmp_path / "index")
    assert (manifest.documents, manifest.skipped) == (5, {"empty file": 1})
    found = {e.more["document"]: e for e in LocalIndex(tmp_path / "index").search(Query("tides"))}
    assert set(found) == {"a.txt", "deep/b.md", "c.html", "7"}
    assert (found["c.html"].title, found["c.html"].published) == ("Marés", datetime(2021, 3, 4))
    assert found["c.html"].text == "tides em português"
    assert "menu" not in (found["c.html"].text or "")
    assert ids(LocalIndex(tmp_path / "index").search(Query("maré"))) == ["latin.txt"]


@pytest.mark.parametrize("wrong", ["nowhere", "empty"])
def test_a_source_without_documents_is_named(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        UnreadableFile, match="no file or folder" if wrong == "nowhere" else "holds no documents"
    ):
        build_index(tmp_path / wrong, tmp_path / "index")


def test_of_a_long_text_the_best_passage_is_shown() -> None:
    text = (
        "Filler sentence here. " * 50
        + "The gauge read 12 cm at Northport. It was calm. "
        + "More filler follows. " * 50
    )
    shown = best_passage(text, {"gauge", "northport", "calm"}, 100)
    assert shown == "The gauge read 12 cm at Northport. It was calm."
    assert best_passage("short", {"x"}, 100) == "short"
    assert len(best_passage("x" * 500, {"x"}, 100)) == 100
    assert best_passage(
        "一" * 60 + "。" + "疫苗有效。" + "二" * 60 + "。", {"疫苗"}, 62
    ).startswith("疫苗有效")


@pytest.mark.realdata
def test_climate_fever_evidence_is_found(real_data: Path, tmp_path: Path) -> None:
    """A floor under bench/retrieval.py, which measures this beside other BM25s."""
    from claimlab.catalog.load import load

    dataset = load("climate-fever", real_data / "climate-fever.zip")
    evidence = dataset.tables["evidence"]
    texts = evidence["text"].unique(maintain_order=True).to_list()
    number = {text: i for i, text in enumerate(texts)}
    build_index(
        write_lines(tmp_path / "p.jsonl", [{"id": str(i), "text": t} for t, i in number.items()]),
        tmp_path / "i",
        language="eng",
    )
    index = LocalIndex(tmp_path / "i")
    wanted = evidence.group_by("record_id", maintain_order=True).agg("text").gather_every(5)
    claims = dict(zip(dataset.records["id"], dataset.records["text"], strict=True))
    shares = []
    for record, sentences in wanted.iter_rows():
        found = {
            int(d) for d in ids(index.search(Query(claims[record], language="eng", max_results=20)))
        }
        relevant = {number[s] for s in sentences}
        shares.append(len(found & relevant) / len(relevant))
    assert sum(shares) / len(shares) > 0.42


def test_a_passage_is_filled_with_what_is_around_it_where_that_is_wanted() -> None:
    text = "One. Two. Three gulls. Four. Five."
    assert best_passage(text, {"gulls"}, 20) == "Three gulls."
    assert best_passage(text, {"gulls"}, 20, fill=True) == "Three gulls. Four."
    assert best_passage(text, {"gulls"}, 30, fill=True) == "Two. Three gulls. Four. Five."
    assert best_passage(text, {"gulls"}, 100, fill=True) == text


def test_half_a_character_is_replaced_not_a_crash(tmp_path: Path) -> None:
    ferry = {
        "title": "Half \ud800 of it",
        "text": "The ferry \udfff sank.",
        "url": "https://x.example/\ud83d",
    }
    lines = [ferry, {"text": "A \U0001f6a2 sailed."}]
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "docs.json").write_text(json.dumps(lines), encoding="utf-8")
    for file in ("docs.jsonl", "docs.json"):
        assert (
            build_index(tmp_path / file, tmp_path / f"{file}.index", language="en").documents == 2
        )
        index = LocalIndex(tmp_path / f"{file}.index")
        (sunk,), (sailed,) = (
            index.search(Query(word, language="eng")) for word in ("ferry", "sailed")
        )
        assert (sunk.title, sunk.text) == ("Half \ufffd of it", "The ferry \ufffd sank.")
        assert str(sunk.url).startswith("https://x.example/")
        assert sailed.text == "A \U0001f6a2 sailed."

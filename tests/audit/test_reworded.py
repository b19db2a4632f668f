"""Copies with a few words changed: how many are found, by near-duplicates and by reworded texts
together.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.text import near
from claimlab.text.near import in_order, near_texts, reworded

WORDS = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti") for b in ("dan", "fel", "gor", "hub", "jil", "pom", "wex")]  # fmt: skip
SIZE, COPIES = 18, 120


def texts_and_copies(changed: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(changed)
    texts = [rng.choice(WORDS, SIZE).tolist() for _ in range(1_000)]
    copies = []
    for text in texts[:COPIES]:
        copy = list(text)
        for place in rng.choice(SIZE, changed, replace=False):
            copy[place] = f"new{rng.integers(10_000)}"
        copies.append(" ".join(copy))
    return [" ".join(text) for text in texts], copies


@pytest.mark.parametrize(("changed", "least"), [(1, 120), (2, 120), (3, 118), (4, 90)])
def test_planted_copies_are_found_and_letters_alone_find_fewer(changed: int, least: int) -> None:
    texts, copies = texts_and_copies(changed)
    both = pl.Series([*texts, *copies])
    planted = {(i, len(texts) + i) for i in range(COPIES)}
    everywhere = np.ones(both.len(), bool)
    pairs = {tuple(sorted(pair)) for pair in reworded(both, everywhere, everywhere).items()}
    by_letters = {tuple(sorted(pair)) for pair in near_texts(both).linked.tolist()}
    assert len(planted & pairs) >= least
    assert len(pairs - planted) <= 2
    assert len(planted & by_letters) <= len(planted & pairs)
    if changed >= 3:
        assert len(planted & by_letters) < COPIES / 2


def test_each_of_many_texts_that_are_all_alike_is_compared_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = pl.Series([f"{' '.join(WORDS[:SIZE])} number{i}" for i in range(400)])
    compared = []

    def counted(one: list[str], other: list[str]) -> float:
        compared.append(one)
        return in_order(one, other)

    monkeypatch.setattr(near, "in_order", counted)
    first = np.arange(400) < 100
    copies = reworded(texts, first, ~first)
    assert len(copies) > 95
    assert len(compared) == len(copies)


def test_the_check_points_at_copies_in_train() -> None:
    texts, copies = texts_and_copies(3)
    rows = pl.DataFrame(
        {"id": [f"r{i}" for i in range(len(texts) + COPIES)], "text": [*texts, *copies]}
    ).with_columns(
        split=pl.Series(["train"] * len(texts) + ["test"] * COPIES),
        veracity=pl.Series(["true", "false"] * ((len(texts) + COPIES) // 2)),
    )
    changed = audit(Dataset.build("d", rows), checks=["paraphrases"], debug=True).findings[0]
    assert changed.verdict == "fail"
    assert changed.details["paraphrased"] >= 100
    assert "a copy with a few words changed in train that is not a near-duplicate" in changed.why
    apart = (
        rows.with_columns(split=pl.lit("train"))
        .with_columns(split=pl.Series(["train"] * 900 + ["test"] * (len(texts) + COPIES - 900)))
        .filter(~pl.col("id").is_in([f"r{i}" for i in range(COPIES)]))
    )
    clean = audit(Dataset.build("d", apart), checks=["paraphrases"], debug=True).findings[0]
    assert clean.details["paraphrased"] == 0
    assert clean.verdict in ("pass", "inconclusive")


# Words of scripts without spaces, as ICU's dictionaries have them.
UNSPACED = {
    "zho": "疫苗 病毒 政府 医院 学校 天气 经济 电影 音乐 城市 农村 工人 学生 老师 医生 火车 飞机 汽车 手机 电脑",
    "jpn": "病院 学校 天気 経済 映画 音楽 都市 農村 学生 先生 医者 電車 電話 世界 問題 時間 子供 仕事 会社 動物",
    "tha": "โรงเรียน อากาศ เศรษฐกิจ ดนตรี เมือง ครู หมอ รถไฟ โลก ปัญหา เวลา เด็ก งาน บริษัท สัตว์ ข่าว วัคซีน รัฐบาล ไวรัส อาหาร",
}  # fmt: skip


@pytest.mark.parametrize("language", UNSPACED)
def test_a_copy_with_an_eighth_of_its_words_changed_is_found_without_spaces(language: str) -> None:
    rng = np.random.default_rng(0)
    listed = UNSPACED[language].split()
    texts = [rng.choice(listed, 24).tolist() for _ in range(200)]
    copies = [list(text) for text in texts[:60]]
    for copy in copies:
        for place in rng.choice(24, 3, replace=False):
            copy[place] = "2" + str(rng.integers(10_000))
    both = pl.Series(["".join(text) for text in [*texts, *copies]])
    everywhere = np.ones(both.len(), bool)
    pairs = {tuple(sorted(pair)) for pair in reworded(both, everywhere, everywhere).items()}
    assert len({(i, 200 + i) for i in range(60)} & pairs) >= 55
    assert len(pairs) <= 65

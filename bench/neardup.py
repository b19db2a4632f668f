"""Near-duplicate finders side by side, on made-up posts with planted pairs: speed, recall,
precision, memory.

    python bench/neardup.py                    100,000 posts, every finder that is installed
    python bench/neardup.py --texts 1000000    a million (the slow peers need a while: choose with
                                               --only)
    python bench/neardup.py --curve            claimlab alone, streaming, up to ten million

All look for pairs of character 5-grams with Jaccard 0.7 or more, each in a process of its own, one
after the other, in the way its documentation shows (parts/neardup_peers.py). Truth is the exact
Jaccard similarity of the planted pairs; precision is that of the pairs a finder returns. The peers
come with: pip install 'claimlab[bench]'
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import Killed, Row, apart, begin, best, parser, peak_mb, record
from parts.neardup_peers import FINDERS, NotInstalled

THRESHOLD = 0.7


def make_posts(count: int, seed: int = 0) -> tuple[list[str], list[tuple[int, int]]]:
    """Posts of tweet length, and the (start, stop) of each planted family, whose members are edits
    of the first.

    Words follow a Zipf law over 30,000 made-up ones, a third of the posts end in a short link and
    some open with a mention, so that unrelated posts share n-grams as real ones do. 15 % of the
    posts belong to families of 2 to 6.
    """
    rng = np.random.default_rng(seed)
    onsets, vowels = (
        [*"bcdfghjklmnpqrstvwz", "ch", "st", "tr", "pr"],
        ["a", "e", "i", "o", "u", "ai", "ou"],
    )
    syllables = np.array([o + v for o in onsets for v in vowels])
    words = np.array(["".join(rng.choice(syllables, rng.integers(1, 5))) for _ in range(30_000)])
    weights = 1 / np.arange(1, len(words) + 1) ** 1.05
    pool = rng.choice(len(words), size=1 << 20, p=weights / weights.sum())

    def some_words(n: int) -> list[str]:
        return words[pool[rng.integers(0, len(pool), n)]].tolist()  # type: ignore[no-any-return]

    def post() -> list[str]:
        tokens = some_words(int(rng.integers(8, 30)))
        if rng.random() < 0.2:
            tokens.insert(0, "@" + tokens[0])
        if rng.random() < 0.33:
            tokens.append("https://t.co/" + "".join(some_words(4))[:10])
        return tokens

    texts: list[str] = []
    families: list[tuple[int, int]] = []
    while len(texts) < count:
        first = post()
        start = len(texts)
        texts.append(" ".join(first))
        if rng.random() < 0.05:
            edits = {
                " ".join(_edited(first, rng, some_words)) for _ in range(int(rng.integers(1, 6)))
            }
            texts += sorted(edits - {texts[start]})[
                : count - len(texts)
            ]  # copies are no test of likeness
            families.append((start, len(texts)))
    return texts, families


def _edited(tokens: list[str], rng: np.random.Generator, some_words) -> list[str]:  # type: ignore[no-untyped-def]
    """One edit or more (replace, drop, add a word), up to a quarter of the words: Jaccard from
    about 0.4 to 0.97.
    """
    out = list(tokens)
    for _ in range(int(rng.integers(1, max(2, len(tokens) // 4)))):
        at = int(rng.integers(0, len(out)))
        kind = rng.integers(0, 3)
        if kind == 0:
            out[at] = some_words(1)[0]
        elif kind == 1 and len(out) > 3:
            del out[at]
        else:
            out.insert(at, some_words(1)[0])
    return out


def grams(text: str, n: int = 5) -> frozenset[str]:
    return frozenset(text[i : i + n] for i in range(max(len(text) - n + 1, 1)))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)


def true_pairs(texts: list[str], families: list[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set()
    for start, stop in families:
        sets = [grams(t) for t in texts[start:stop]]
        for i in range(len(sets)):
            for j in range(i + 1, len(sets)):
                if jaccard(sets[i], sets[j]) >= THRESHOLD:
                    found.add((start + i, start + j))
    return found


def precision(texts: list[str], pairs: np.ndarray, sample: int = 100_000) -> float | None:
    if len(pairs) == 0:
        return None
    if len(pairs) > sample:
        pairs = pairs[np.random.default_rng(0).choice(len(pairs), sample, replace=False)]
    right = sum(jaccard(grams(texts[a]), grams(texts[b])) >= THRESHOLD for a, b in pairs.tolist())
    return right / len(pairs)


def work(name: str, data: str, out: str) -> dict[str, Any]:
    """In a process of its own: run one finder and write its pairs; what it took, or why it could
    not run.
    """
    texts = pl.read_parquet(data)["text"].to_list()
    try:
        finder = FINDERS[name]()
    except NotInstalled as missing:
        return {"note": str(missing)}
    before = peak_mb()
    cost = best(lambda: list(finder(texts, THRESHOLD)), 1)
    np.save(out, np.asarray(cost.result, dtype=np.int64).reshape(-1, 2))
    return {"seconds": cost.wall, "cpu": cost.cpu, "peak_mb": cost.memory, "texts_mb": before}


def measure(name: str, data: Path, texts: list[str], truth: set[tuple[int, int]]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pairs.npy"
        try:
            cost = apart(work, name, data, out).result
        except Killed as killed:
            return {"finder": name, "note": f"not measured: {killed}"}
        if "note" in cost:
            return {"finder": name, **cost}
        pairs = np.load(out)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    found = set(map(tuple, pairs.tolist()))
    if found and all(a == b for a, b in found):  # rows, not pairs
        rows = {row for pair in truth for row in pair}
        recall, exact = len(rows & {a for a, _ in found}) / len(rows), None
    else:
        recall, exact = len(truth & found) / len(truth), precision(texts, pairs)
    return {
        "finder": name,
        "texts_per_second": round(len(texts) / cost["seconds"]),
        "seconds": round(cost["seconds"], 2),
        "cpu": round(cost["cpu"], 2),
        "recall": round(recall, 4),
        "precision": exact,
        "pairs": len(pairs),
        "peak_mb": round(cost["peak_mb"]),
        "of_which_texts_mb": round(cost["texts_mb"]),
    }


def compare(count: int, only: list[str], repeat: int) -> None:
    texts, families = make_posts(count)
    truth = true_pairs(texts, families)
    mean = sum(map(len, texts)) / len(texts)
    print(
        f"{count:,} posts, {mean:.0f} characters on average, {len(truth):,} planted pairs at"
        f" {THRESHOLD} or above"
    )
    heads = {
        "texts/s": 9,
        "seconds": 9,
        "CPU s": 8,
        "recall": 8,
        "precision": 10,
        "pairs": 10,
        "peak MB": 9,
    }
    print(f"{'finder':<16}" + "".join(f"{head:>{width}}" for head, width in heads.items()))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "texts.parquet"
        pl.DataFrame({"text": texts}).write_parquet(data)
        for name in only or FINDERS:
            runs = [measure(name, data, texts, truth) for _ in range(repeat)]
            row = min(runs, key=lambda r: float(r.get("seconds", 0)))
            rows.append(row)
            print(_line(row), flush=True)
    _verdict(rows, count)


def _line(row: dict[str, Any]) -> str:
    if "note" in row:
        return f"{row['finder']:<16}{row['note']}"
    exact = "rows only" if row["precision"] is None else f"{row['precision']:.4f}"
    return (
        f"{row['finder']:<16}{row['texts_per_second']:>9,}{row['seconds']:>9}{row['cpu']:>8}{row['recall']:>8.4f}"
        f"{exact:>10}{row['pairs']:>10,}{row['peak_mb']:>9,}"
    )


def _verdict(rows: list[dict[str, Any]], count: int) -> None:
    ours = [r for r in rows if r["finder"] == "claimlab" and "note" not in r]
    peers = [
        r for r in rows if not r["finder"].startswith("claimlab") and r.get("precision") is not None
    ]
    what = f"{count:,} posts"
    for row in rows:
        if row["finder"].startswith("claimlab"):
            continue
        if "note" in row or not ours:
            record(
                Row(
                    "near-duplicates",
                    what,
                    row["finder"],
                    ours[0]["cpu"] if ours else None,
                    note=row.get("note", ""),
                )
            )
            continue
        note = f"recall {ours[0]['recall']:.3f} against {row['recall']:.3f}"
        record(Row("near-duplicates", what, row["finder"], ours[0]["cpu"], row["cpu"], note=note))
    if ours and peers:
        best = max(peers, key=lambda r: int(r["texts_per_second"]))
        by_clock = ours[0]["texts_per_second"] / best["texts_per_second"]
        least = min(peers, key=lambda r: float(r["cpu"]))
        by_cpu = least["cpu"] / ours[0]["cpu"]
        print(
            f"claimlab: {by_clock:.1f} times the texts/s of the fastest peer that names pairs"
            f" ({best['finder']}); the most frugal one ({least['finder']}) takes {by_cpu:.1f} times"
            " its CPU time."
        )


def curve(sizes: list[int], memory: str) -> None:
    """claimlab alone, from Parquet on disk, each size in a process of its own."""
    print(
        f"{'texts':>12}{'seconds':>9}{'CPU s':>8}{'texts/s':>10}{'peak MB':>9}{'clusters':>10}{'disk MB':>9}"  # noqa: E501
    )
    block, _ = make_posts(min(max(sizes), 1_000_000))
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            write_posts(block, size, Path(folder))
            row = apart(stream, folder, memory).result
        print(
            f"{size:>12,}{row['seconds']:>9.1f}{row['cpu']:>8.1f}{size / row['seconds']:>10,.0f}{row['peak_mb']:>9,.0f}"  # noqa: E501
            f"{row['clusters']:>10,}{row['disk_mb']:>9,.0f}",
            flush=True,
        )
        note = f"peak {row['peak_mb']:,.0f} MB, {row['seconds']:.0f} s by the clock"
        record(Row("near-duplicates", f"curve, {size:,} texts", "", row["cpu"], note=note))


def write_posts(block: list[str], size: int, folder: Path) -> None:
    """The block again and again under new alphabets, which keeps its families and makes texts that
    are not copies.
    """
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    for number, start in enumerate(range(0, size, len(block))):
        shuffled = letters if number == 0 else np.random.default_rng(number).permutation(letters)
        table = str.maketrans("".join(letters), "".join(shuffled))
        texts = [text.translate(table) for text in block[: size - start]]
        pl.DataFrame({"text": texts}).write_parquet(folder / f"{number:04}.parquet")


def stream(place: str, memory: str) -> dict[str, float]:
    """In a process of its own: the clusters of the posts in a folder, and what they took."""
    from claimlab.text.neardup import stream_clusters

    files, work = sorted(Path(place).glob("*.parquet")), Path(place) / "work"
    cost = best(
        lambda: len(stream_clusters(files, "text", memory=memory, workdir=work, keep=True)), 1
    )
    disk = sum(f.stat().st_size for f in work.rglob("*") if f.is_file()) / 1e6
    took = {"seconds": cost.wall, "cpu": cost.cpu, "peak_mb": cost.memory}
    return {**took, "clusters": cost.result, "disk_mb": disk}


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--texts", type=int, default=100_000)
    made.add_argument("--only", action="append", choices=list(FINDERS), default=[])
    made.add_argument(
        "--repeat", type=int, default=1, help="keep the fastest of so many runs of each"
    )
    made.add_argument("--curve", action="store_true")
    made.add_argument(
        "--sizes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000], help="for --curve"
    )
    made.add_argument("--memory", default="8GB", help="for --curve")
    chosen = begin(made)
    if chosen.curve:
        curve(chosen.sizes, chosen.memory)
    else:
        compare(chosen.texts, chosen.only, chosen.repeat)


if __name__ == "__main__":
    main()

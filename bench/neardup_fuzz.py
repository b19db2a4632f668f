"""Feed the compiled near-duplicate kernel random and hostile input. Run it under a sanitizer to
check memory safety:

    CFLAGS="-fsanitize=address,undefined -g -O1" python setup.py build_ext --inplace --force
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \\
        ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc python bench/neardup_fuzz.py --seconds 60

(leaks are off because CPython itself never frees some of what it holds at exit; `--grow` watches
for ours instead)
"""

from __future__ import annotations

import random
import resource
import time

import numpy as np
from harness import begin, parser

from claimlab.text.neardup import _kernel, find_across, find_pairs
from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.compiled import CompiledCorpus, CompiledKernel
from claimlab.text.neardup.fallback import NumpyCorpus
from claimlab.text.neardup.kernel import Grams
from claimlab.text.neardup.normal import folding_table

ODD = "\u0301\u0345\u1161\u11a8ﷺ…½ßİ \u00a0\u3000\ufe0f👍🏽\U00020000\U000e0100\U0010ffff\ud800\0"


def any_text(rng: random.Random) -> str:
    length = rng.choice([0, 0, 1, 2, 4, 5, 6, 20, 140, 140, 3000])
    kind = rng.randrange(5)
    if kind == 0:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(length))
    if kind == 1:
        return "".join(rng.choice(ODD) for _ in range(length))
    if kind == 2:
        return rng.choice("ab ﷺ!") * length
    return "".join(rng.choice("abcdefgh \n…é漢") for _ in range(length))


def whole_searches(rng: random.Random) -> None:
    texts: list[str | None] = [any_text(rng) for _ in range(rng.randrange(0, 80))]
    texts += [t for t in texts if rng.random() < 0.3] + [None]
    unit = rng.choice(["char", "word"])
    options = {
        "threshold": rng.choice([0.2, 0.7, 1.0]),
        "ngram": rng.choice([1, 3, 5, 50, 1000]),
        "unit": unit,
    }
    find_pairs(texts, threads=rng.choice([1, 3]), **options)
    find_across(texts[:20], texts[20:], **options)
    grams, plan = (
        Grams(options["ngram"], unit),
        BandPlan(0.7, 0.9, rng.randrange(1, 30), rng.randrange(1, 8)),
    )
    lanes = rng.choice([1, 2, 4, 64])
    compiled, other = CompiledCorpus(texts, grams, 2), NumpyCorpus(texts, grams)
    a, b = compiled.sketch(plan, 1, lanes), other.sketch(plan, 1, lanes)
    assert all(
        np.array_equal(getattr(a, f), getattr(b, f)) for f in ("keys", "bits", "hashes", "counts")
    )
    if texts:
        rows = np.array([rng.randrange(len(texts)) for _ in range(200)], dtype=np.uint64)
        codes = (rows[:100] << np.uint64(32)) | rows[100:]
        for x, y in zip(compiled.verify(codes), other.verify(codes), strict=True):
            assert np.array_equal(x, y)
        packed = np.sort((rows % np.uint64(7) << np.uint64(32)) | rows)
        CompiledKernel().match(packed, a, 0.5, rng.choice([1, 5, 300]), None, 2)


def wrong_calls(rng: random.Random) -> None:
    """Arguments that do not fit each other: an exception is right, a crash is not."""
    table = folding_table()

    def array(kind: type[np.generic]) -> np.ndarray:
        raw = np.frombuffer(rng.randbytes(rng.choice([0, 8, 64, 4096])), dtype=np.uint8).copy()
        raw = raw[: len(raw) - len(raw) % np.dtype(kind).itemsize]
        return raw.view(kind) if rng.random() < 0.9 else np.concatenate([raw, raw])[1:]

    texts = [any_text(rng) for _ in range(rng.randrange(0, 5))]
    start, stop = rng.randrange(-2, 6), rng.randrange(-2, 6)
    full = rng.choice([table.table, array(np.uint32)])
    small = rng.randrange(-1, 40)
    calls = [
        lambda: _kernel.scan(texts, start, stop, full, array(np.uint8)),
        lambda: _kernel.sketch(
            texts,
            start,
            stop,
            array(np.uint8),
            full,
            rng.choice([table.extra, array(np.uint32)]),
            small,
            False,
            array(np.uint64),
            small,
            small,
            rng.choice([1, 4, small]),
            array(np.uint32),
            array(np.uint64),
            array(np.uint64),
            array(np.uint32),
        ),
        lambda: _kernel.match(
            array(np.uint64), array(np.uint64), small, array(np.uint32), 0.5, small, None
        ),
        lambda: _kernel.match(
            array(np.uint64), array(np.uint64), 1, array(np.uint32), 0.5, 9, array(np.uint8)
        ),
        lambda: _kernel.sift(
            array(np.uint64), array(np.uint64), small, array(np.uint32), 0.5, array(np.uint8)
        ),
        lambda: _kernel.verify(
            texts,
            array(np.uint8),
            full,
            array(np.uint32),
            small,
            True,
            array(np.uint64) % np.uint64(3),
            array(np.uint32),
            array(np.uint32),
        ),
    ]
    for call in calls:
        try:
            call()
        except (ValueError, IndexError, TypeError, MemoryError, OverflowError, BufferError):
            continue


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--seconds", type=float, default=20)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument(
        "--grow", action="store_true", help="fail if memory goes on growing after the first half"
    )
    chosen = begin(made)
    began, rounds, middle = time.monotonic(), 0, 0
    while (passed := time.monotonic() - began) < chosen.seconds:
        rng = random.Random(f"{chosen.seed}-{rounds}")
        whole_searches(rng)
        for _ in range(50):
            wrong_calls(rng)
        rounds += 1
        if not middle and passed > chosen.seconds / 2:
            middle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - middle
    print(f"{rounds} rounds without a crash; {grown / 1024:.1f} MB grown in the second half")
    if chosen.grow and grown > 20 * 1024:
        raise SystemExit("memory goes on growing")


if __name__ == "__main__":
    main()

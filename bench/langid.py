"""Accuracy and speed of language identification, beside each of its voters and beside lingua.

    python bench/langid.py [FILE] [--no-lingua]

FILE has a language code and a text per line, separated by a tab (default: ../shared/data/lid-udhr.tsv beside the
checkout: 78 languages, 30 paragraphs each). Accuracy is the mean over languages of the share that is right, an
abstention counting as wrong; "folded" takes ms/id and bs/hr/sr as one. Everything is timed in one run, the better of
two passes, with the models loaded before. claimlab runs on one thread, so its target is against lingua on one thread;
lingua on all cores is shown as well. lingua is no dependency: pip install lingua-language-detector. Exits 1 when a
target is missed.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from claimlab.core.languages import CONFUSABLE, normalise, same
from claimlab.text.langid import _sure_voter, _voters, identify

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "lid-udhr.tsv"
MIN_ACCURACY, MIN_RATIO = 0.98, 10.0
Answers = list[str | None]


def macro(truth: list[str], answers: Answers, *, folded: bool = False) -> float:
    right: dict[str, list[bool]] = defaultdict(list)
    for language, answer in zip(truth, answers, strict=True):
        right[language].append(answer is not None and same(language, answer, equivalent=CONFUSABLE if folded else ()))
    return sum(sum(hits) / len(hits) for hits in right.values()) / len(right)


def timed(run: Callable[[], Answers], repeats: int = 2) -> tuple[Answers, float]:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        answers = run()
        best = min(best, time.perf_counter() - start)
    return answers, best


def show(name: str, truth: list[str], answers: Answers, seconds: float) -> float:
    speed = len(truth) / seconds
    silent = sum(answer is None for answer in answers)
    print(f"{name:28} {macro(truth, answers):8.4f} {macro(truth, answers, folded=True):8.4f} {silent:6} {speed:12,.0f}")
    return speed


def lingua_runs(texts: list[str]) -> dict[str, Callable[[], Answers]]:
    from lingua import Language, LanguageDetectorBuilder

    detector = LanguageDetectorBuilder.from_all_languages().with_preloaded_language_models().build()

    def code(found: Language | None) -> str | None:
        return None if found is None else normalise(found.iso_code_639_3.name.lower())

    return {
        "lingua, one thread": lambda: [code(detector.detect_language_of(text)) for text in texts],
        "lingua, all cores": lambda: [code(found) for found in detector.detect_languages_in_parallel_of(texts)],
    }


def main(arguments: list[str]) -> int:
    files = [a for a in arguments if not a.startswith("-")]
    rows = [line.split("\t", 1) for line in Path(files[0] if files else DATA).read_text("utf-8").splitlines()]
    truth = [normalise(code) or code for code, _ in rows]
    texts = [text for _, text in rows]
    print(f"{len(texts)} texts, {len(set(truth))} languages")
    print(f"{'':28} {'accuracy':>8} {'folded':>8} {'silent':>6} {'texts/s':>12}")
    identify(texts[:50])  # loads the models
    answers, seconds = timed(lambda: identify(texts))
    ours = show("claimlab", truth, answers, seconds)
    sure = _sure_voter()
    print(f"  (pycld2 was sure of {sum(sure(text) is not None for text in texts) / len(texts):.0%})")
    for name, vote in _voters().items():
        show(f"  {name} alone", truth, *timed(lambda vote=vote: [vote(text) for text in texts]))
    failed = macro(truth, answers) < MIN_ACCURACY
    if "--no-lingua" not in arguments:
        for name, run in lingua_runs(texts).items():
            ratio = ours / show(name, truth, *timed(run))
            print(f"  (claimlab is {ratio:.0f} times as fast)")
            failed |= "one" in name and ratio < MIN_RATIO
    print("targets missed" if failed else f"targets met: accuracy {MIN_ACCURACY}, {MIN_RATIO:.0f} times lingua")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

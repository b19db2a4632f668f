"""Accuracy and speed of language identification, beside each of its voters and beside lingua.

    python bench/langid.py [FILE] [--no-lingua]

FILE has a language code and a text per line, separated by a tab (default:
../shared/data/lid-udhr.tsv beside the checkout: 78 languages, 30 paragraphs each), read once whole
and once cut to the length of a short sentence (40 characters, at a space where there is one).
Accuracy is the mean over languages of the share that is right, an abstention counting as wrong;
"folded" takes ms/id and bs/hr/sr as one. Everything is timed in one run, the better of two passes,
models loaded before, in processor seconds: a busy machine blurs the clock, not those. claimlab uses
one thread, so its target is against lingua on one thread; lingua on all cores is compared by the
clock and only shown. lingua is not a dependency: pip install lingua-language-detector. Exits 1 when
a target is missed.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from harness import Row, begin, need, parser, profiled, record, shared

from claimlab.core.languages import CONFUSABLE, normalise, same
from claimlab.text.langid import _sure_voter, _voters, identify

MIN_ACCURACY, MIN_RATIO = 0.98, 10.0
Answers = list[str | None]


def macro(truth: list[str], answers: Answers, *, folded: bool = False) -> float:
    right: dict[str, list[bool]] = defaultdict(list)
    for language, answer in zip(truth, answers, strict=True):
        right[language].append(
            answer is not None and same(language, answer, equivalent=CONFUSABLE if folded else ())
        )
    return sum(sum(hits) / len(hits) for hits in right.values()) / len(right)


def timed(
    run: Callable[[], Answers], clock: Callable[[], float] = time.process_time
) -> tuple[Answers, float]:
    best = float("inf")
    for _ in range(2):
        start = clock()
        answers = run()
        best = min(best, clock() - start)
    return answers, best


def show(name: str, truth: list[str], answers: Answers, seconds: float) -> float:
    speed = len(truth) / seconds
    silent = sum(answer is None for answer in answers)
    strict, folded = macro(truth, answers), macro(truth, answers, folded=True)
    print(f"{name:28} {strict:8.4f} {folded:8.4f} {silent:6} {speed:10,.0f}")
    return speed


def lingua(texts: list[str]) -> tuple[Callable[[], Answers], Callable[[], Answers]]:
    """lingua on one thread, and on all cores."""
    from lingua import Language, LanguageDetectorBuilder

    detector = LanguageDetectorBuilder.from_all_languages().with_preloaded_language_models().build()

    def code(found: Language | None) -> str | None:
        return None if found is None else normalise(found.iso_code_639_3.name.lower())

    return (
        lambda: [code(detector.detect_language_of(text)) for text in texts],
        lambda: [code(found) for found in detector.detect_languages_in_parallel_of(texts)],
    )


def short(text: str, length: int = 40) -> str:
    """The beginning of a text, as long as a short sentence."""
    if len(text) <= length:
        return text
    space = text.rfind(" ", length // 2, length + 1)
    return text[: space if space > 0 else length]


def compare(name: str, truth: list[str], texts: list[str]) -> tuple[float, float, bool]:
    """Our accuracy and speed, and whether the best voter alone is ahead where we may not
    abstain.
    """
    print(
        f"{name + f' ({len(texts):,})':28} {'accuracy':>8} {'folded':>8} {'silent':>6}"
        f" {'texts/s':>10}"
    )
    answers, seconds = timed(lambda: identify(texts))
    ours = show("claimlab", truth, answers, seconds)
    guesses, seconds = timed(lambda: identify(texts, abstain=False))
    show("claimlab, abstain=False", truth, guesses, seconds)
    sure = _sure_voter()
    print(
        f"  (pycld2 was sure of {sum(sure(text) is not None for text in texts) / len(texts):.0%})"
    )
    best, our_score = 0.0, macro(truth, guesses)
    for voter, vote in _voters().items():
        votes, seconds = timed(lambda vote=vote: [vote(text) for text in texts])
        speed = show(f"  {voter} alone", truth, votes, seconds)
        score = macro(truth, votes)
        best = max(best, score)
        why = profiled(lambda: identify(texts)) if ours < speed else ""
        record(
            Row(
                "languages",
                f"accuracy without abstaining, {name.lower()}",
                voter,
                our_score,
                score,
                "",
                more=True,
            ),
            Row(
                "languages",
                f"{name.lower()} a second",
                f"{voter} alone",
                ours,
                speed,
                "texts/s",
                more=True,
                why=why,
            ),
        )
    return macro(truth, answers), ours, macro(truth, guesses) < best


def main() -> int:
    made = parser(__doc__)
    made.add_argument("file", type=Path, nargs="?", help="a language code and a text per line")
    made.add_argument("--no-lingua", action="store_true", help="leave out lingua, which is slow")
    options = begin(made)
    source = options.file or shared("lid-udhr.tsv")
    rows = [line.split("\t", 1) for line in source.read_text("utf-8").splitlines()]
    truth = [normalise(code) or code for code, _ in rows]
    texts = [text for _, text in rows]
    identify(texts[:50])  # loads the models
    accuracy, ours, behind = compare("Paragraphs", truth, texts)
    _, _, short_behind = compare("Short sentences", truth, [short(text) for text in texts])
    failed = accuracy < MIN_ACCURACY or behind or short_behind
    if options.no_lingua or need("lingua") is None:
        record(
            Row(
                "languages",
                "paragraphs a second",
                "lingua",
                ours,
                None,
                "texts/s",
                note="lingua was not run",
            )
        )
    else:
        one_thread, all_cores = lingua(texts)
        speed = show("lingua, one thread", truth, *timed(one_thread))
        record(
            Row(
                "languages",
                "paragraphs a second",
                "lingua, one thread",
                ours,
                speed,
                "texts/s",
                more=True,
            )
        )
        failed |= ours / speed < MIN_RATIO
        by_clock = (
            timed(all_cores, time.perf_counter)[1]
            / timed(lambda: identify(texts), time.perf_counter)[1]
        )
        print(
            f"  (claimlab is {ours / speed:.0f} times as fast; {by_clock:.0f} times lingua on all"
            " cores)"
        )
    print("targets missed" if failed else "targets met")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

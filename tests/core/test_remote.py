"""Object storage works like a folder, against a real S3 server (moto's) on loopback."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parts.planted import clean_twin

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.engine.work import engine_status
from claimlab.core.errors import ClaimlabError, DataError, FileChanged, OutputExists, UsageError
from claimlab.core.remote import SENDING, copy_of, is_remote, send, to_write, url_of
from claimlab.evaluate.eqa.study import QUESTIONS, new_study
from claimlab.study.check import study_check

pytestmark = pytest.mark.needs("s3fs", "moto", "flask_cors")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    yield f"http://{host}:{port}"
    moto.stop()


@pytest.fixture
def storage(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty bucket `claims` at the endpoint, credentials in the environment, a cache of its
    own.
    """
    import s3fs

    settings = {"AWS_ENDPOINT_URL": server, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
    settings |= {
        "AWS_DEFAULT_REGION": "us-east-1",
        "CLAIMLAB_CACHE": str(tmp_path / "cache"),
        "AWS_CONFIG_FILE": "none",
    }
    for name, value in {**settings, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    files = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    if files.exists("claims"):
        files.rm("claims", recursive=True)
    files.mkdir("claims")
    return files


def contents(files: Any, place: str) -> dict[str, bytes]:
    return {key[len(place) + 1 :]: files.cat_file(key) for key in files.find(place)}


def of_folder(folder: Path) -> dict[str, bytes]:
    return {
        f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*") if f.is_file()
    }


def test_what_is_a_place_in_storage() -> None:
    assert is_remote("s3://bucket/folder")
    assert is_remote(Path("s3://bucket/folder"))  # a Path has lost a slash
    assert url_of(Path("s3://bucket/folder/")) == "s3://bucket/folder"
    assert url_of(copy_of("s3://bucket/a/b")) == "s3://bucket/a/b"
    for local in (
        "folder",
        "C:/folder",
        "https://example.org/x",
        "postgresql://host/db",
        "local:/tmp/x.jsonl",
        None,
        3,
    ):
        assert not is_remote(local), local
    with pytest.raises(UsageError, match="not a valid place"):
        copy_of("s3://bucket/../other")


@pytest.mark.slow
def test_a_round_trip_gives_the_same_bytes_as_local_folders(storage: Any, tmp_path: Path) -> None:
    """import, clean, split, detect and evaluate, every input and output in a bucket, on the command
    line.
    """
    source = tmp_path / "claims.csv"
    clean_twin(size=400, seed=3).records.select("id", "text", "veracity", "date").write_csv(source)
    storage.put_file(str(source), "claims/raw/claims.csv")
    for raw, root in ((source, f"{tmp_path}/local"), ("s3://claims/raw/claims.csv", "s3://claims")):
        steps = (
            ["import", raw, "-o", f"{root}/data"],
            ["clean", f"{root}/data", "-o", f"{root}/clean"],
            ["split", f"{root}/clean", "-o", f"{root}/split"],
            ["detect", f"{root}/split", "--detector", "majority", "-o", f"{root}/run"],
            ["evaluate", f"{root}/run", "-o", f"{root}/report"],
        )
        for step in steps:
            assert run([str(word) for word in step]) == 0, step
    for name in ("data", "clean", "split", "run", "report"):
        local = of_folder(tmp_path / "local" / name)
        assert contents(storage, f"claims/{name}") == local, name
        assert local


def test_the_python_functions_take_places_too(storage: Any, tmp_path: Path) -> None:
    data = clean_twin(size=60, seed=1)
    data.write("s3://claims/data")
    assert len(cl.Dataset.open("s3://claims/data")) == len(data)
    cl.split("s3://claims/data", "random", output="s3://claims/split")
    assert cl.Dataset.open("s3://claims/split").records["split"].null_count() == 0
    with pytest.raises(UsageError, match="is the input"):
        cl.split("s3://claims/data", "random", output="s3://claims/data", force=True)


READING = """
show {root}/data
show {root}/data --verify
show {root}/audit
audit --from {root}/audit
diff {root}/audit {root}/audit
evaluate {root}/run --draws 200
overlap {root}/data {root}/split
import {root}/csv/records.csv --dry-run
rerun {root}/split
detect {root}/split -o {root}/later --detector llm-zero-shot --profile embedded --estimate
review status {root}/review
"""


@pytest.mark.slow
def test_every_verb_that_reads_takes_a_place(
    storage: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They print the same of a bucket as of a local folder, and write nothing beside it."""
    monkeypatch.chdir(tmp_path)
    said = {}
    for root in ("local", "s3://claims"):
        clean_twin(size=120, seed=1).write(f"{root}/data")
        cl.split(f"{root}/data", "random", output=f"{root}/split")
        cl.audit(f"{root}/data", checks=["length"], output=f"{root}/audit")
        cl.detect(f"{root}/split", "majority", output=f"{root}/run")
        cl.review_create(f"{root}/data", f"{root}/review", task="keep", sample=5)
        cl.export(f"{root}/data", "csv", f"{root}/csv")
        capsys.readouterr()
        for line in READING.format(root=root).strip().splitlines():
            assert run(line.split()) == 0, line
            printed = capsys.readouterr()
            said[root, line.replace(root, "")] = (printed.out + printed.err).replace(root, "")
    for (root, line), text in said.items():
        assert text, line
        assert text == said["local", line], (root, line)
    assert {path.name for path in tmp_path.iterdir()} == {"local", "cache"}


@pytest.mark.slow
def test_what_the_files_of_a_user_name_may_be_in_storage(storage: Any, tmp_path: Path) -> None:
    clean_twin(size=120, seed=1).write("s3://claims/data")
    cl.split("s3://claims/data", "random", output="s3://claims/split")
    cl.detect("s3://claims/split", "majority", output="s3://claims/run")
    new_study("s3://claims/study.toml")
    questions = storage.cat_file("claims/study.toml").decode()
    assert "[formulation]" in questions
    answers = "".join(f'{name} = "Only planted claims, as an example."\n' for name in QUESTIONS)
    about = 'title = "Planted claims"\n[data]\ndatasets = ["s3://claims/split"]\n[formulation]\n'
    storage.pipe_file(
        "claims/study.toml",
        f'{about}{answers}[[runs]]\nname = "m"\npath = "s3://claims/run"\n'.encode(),
    )
    assert cl.report("s3://claims/study.toml", trust=True)["quality"]["runs"][0]["records"] == 26
    enriched = cl.enrich("s3://claims/data", "local:s3://claims/data", limit=3)
    assert enriched.summary["outcomes"]["corresponding"] == 3
    grid = tmp_path / "grid.toml"
    grid.write_text(
        '[datasets.d]\nfolder = "s3://claims/data"\n[grid]\nsplit = ["random"]\ndetector = ["majority"]\n'
    )
    assert len(study_check(grid, trust=True)[0]) == 2
    assert study_check(grid, trust=True)[1] == []


def test_what_needs_a_local_folder_says_so(storage: Any) -> None:
    clean_twin(size=60, seed=1).write("s3://claims/data")
    cl.review_create("s3://claims/data", "s3://claims/review", task="keep", sample=5)
    for work in (
        lambda: cl.serve("s3://claims"),
        lambda: cl.Review.open("s3://claims/review"),
        lambda: cl.review_import("s3://claims/review", "decisions.csv"),
        lambda: engine_status("s3://claims/data"),
    ):
        with pytest.raises(UsageError, match=r"object storage, .* needs a local folder"):
            work()


def test_an_edit_in_storage_is_accepted_there(storage: Any, tmp_path: Path) -> None:
    clean_twin(size=60, seed=1).write("s3://claims/data")
    clean_twin(size=59, seed=1).write(tmp_path / "edited")
    storage.put_file(str(tmp_path / "edited" / "records.parquet"), "claims/data/records.parquet")
    with pytest.raises(FileChanged):
        cl.show("s3://claims/data", verify=True)
    cl.show("s3://claims/data", accept_edits="One record was withdrawn.")
    assert len(cl.Dataset.open("s3://claims/data")) == 59
    assert b"withdrawn" in storage.cat_file("claims/data/dataset.json")


def test_an_estimate_leaves_what_is_there_as_it_is(
    storage: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clean_twin(size=120, seed=1).write("s3://claims/data")
    cl.split("s3://claims/data", "random", output="s3://claims/split")
    before = contents(storage, "claims/split")
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "another-machine"))
    words = "detect s3://claims/data -o s3://claims/split --detector llm-zero-shot --profile embedded --estimate"
    assert run(words.split()) == 0
    assert contents(storage, "claims/split") == before


def test_what_was_not_fetched_is_never_replaced(storage: Any) -> None:
    """A folder of several outputs, of which one is written again."""
    for name in ("one/records.csv", "two/records.csv"):
        storage.pipe_file(f"claims/many/{name}", b"id,text\n")
    output = to_write("s3://claims/many")
    assert (output / "two" / "records.csv").is_file(), "what guards outputs sees it"
    (output / "one" / "records.csv").write_bytes(b"id,text\na,b\n")
    send(output)
    assert contents(storage, "claims/many") == {
        "one/records.csv": b"id,text\na,b\n",
        "two/records.csv": b"id,text\n",
    }


@pytest.mark.slow
def test_a_study_goes_on_on_another_machine(
    storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean_twin(size=120, seed=1).write("s3://claims/data")
    grid = tmp_path / "grid.toml"
    grid.write_text(
        'references = false\n[datasets.d]\nfolder = "s3://claims/data"\n[grid]\nsplit = ["random"]\n'
        'detector = ["majority", "stratified"]\n'
    )
    cl.study_run(grid, "s3://claims/grid", only={"detector": "majority"}, trust=True)
    before = contents(storage, "claims/grid")
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "another-machine"))
    assert len(cl.study_run(grid, "s3://claims/grid", trust=True).done) == 2
    after = contents(storage, "claims/grid")
    runs = {name: body for name, body in before.items() if name.endswith("predictions.parquet")}
    assert runs.items() <= after.items()
    assert sum(name.endswith("predictions.parquet") for name in after) == 2


def test_only_what_changed_is_fetched_again(storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    clean_twin(size=60, seed=1).write("s3://claims/data")
    fetched: list[str] = []
    real = s3fs.S3FileSystem.get_file
    monkeypatch.setattr(
        s3fs.S3FileSystem, "get_file", lambda self, a, b: (fetched.append(a), real(self, a, b))[1]
    )
    cl.Dataset.open("s3://claims/data")
    assert fetched == []  # what was sent is at hand
    clean_twin(size=61, seed=2).write("s3://claims/other")
    for name in storage.find("claims/other"):
        storage.copy(name, name.replace("/other/", "/data/"))
    assert len(cl.Dataset.open("s3://claims/data")) == 61
    assert "claims/data/records.parquet" in fetched


def test_what_is_there_is_guarded_like_a_folder(storage: Any) -> None:
    data = clean_twin(size=60, seed=1)
    data.write("s3://claims/data")
    cl.clean("s3://claims/data", output="s3://claims/clean")
    before = contents(storage, "claims/clean")
    with pytest.raises(OutputExists):
        cl.clean("s3://claims/data", output="s3://claims/clean")
    storage.pipe_file("claims/notes/todo.txt", b"mine")
    with pytest.raises(OutputExists, match="did not write"):
        cl.clean("s3://claims/data", output="s3://claims/notes", force=True)
    assert contents(storage, "claims/notes") == {"todo.txt": b"mine"}
    cl.clean("s3://claims/data", output="s3://claims/clean", limit=20, force=True)
    assert contents(storage, "claims/clean").keys() == before.keys()
    assert len(cl.Dataset.open("s3://claims/clean")) < 60


KILLED = """
import os, signal, s3fs
import claimlab as cl
real, left = s3fs.S3FileSystem.put_file, [{after}]
def put_file(self, *args, **more):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return real(self, *args, **more)
s3fs.S3FileSystem.put_file = put_file
cl.clean("s3://claims/data", output="s3://claims/clean", seed=4)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_sends_goes_on(
    storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    clean_twin(size=200, seed=1).write("s3://claims/data")
    cl.clean(cl.Dataset.open("s3://claims/data"), output=tmp_path / "data" / "clean", seed=4)
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(after=2)], env=dict(os.environ), capture_output=True
    )
    assert done.returncode == -9, done.stderr.decode()
    half = contents(storage, "claims/clean")
    assert SENDING in half
    assert "dataset.json" not in half
    with pytest.raises(DataError, match="not complete"):
        cl.Dataset.open("s3://claims/clean")
    sent: list[str] = []
    real = s3fs.S3FileSystem.put_file
    monkeypatch.setattr(
        s3fs.S3FileSystem,
        "put_file",
        lambda self, a, b, **more: (sent.append(b), real(self, a, b, **more))[1],
    )
    cl.clean("s3://claims/data", output="s3://claims/clean", seed=4)
    assert contents(storage, "claims/clean") == of_folder(tmp_path / "data" / "clean")
    assert (
        len(sent) == len(contents(storage, "claims/clean")) - 2
    )  # what had arrived was not sent again
    assert sent[-1].endswith("dataset.json")


def test_what_is_missing_is_a_sentence(storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"nothing at 's3://nobucket/data'"):
        cl.Dataset.open("s3://nobucket/data")
    with pytest.raises(DataError, match=r"nothing at 's3://claims/nothing'"):
        cl.clean("s3://claims/nothing", output="s3://claims/clean")
    data = clean_twin(size=60, seed=1)
    with pytest.raises(DataError, match="s3://nobucket/data"):
        data.write("s3://nobucket/data")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    with pytest.raises(ClaimlabError, match="credentials"):
        cl.Dataset.open("s3://claims/data")


def test_a_place_that_nobody_listens_at_is_a_sentence(
    storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(DataError, match="cannot be reached"):
        cl.Dataset.open("s3://claims/data")

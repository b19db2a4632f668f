"""A bundle is verified everywhere, and what was changed in it is found."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.core.errors import ClaimlabError, DataError, OutputExists, UnreadableFile, UsageError
from claimlab.publish.bundle import MOST_BYTES, canonical, digest, figures_of, statement_of

Content = dict[str, Any]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`data` with a split, the runs `words` and `luck` on it, and `both.json` of them."""
    folder = tmp_path_factory.mktemp("bundle")
    cl.split(planted(size=300)[0], output=folder / "data")
    cl.detect(folder / "data", output=folder / "words")
    cl.detect(folder / "data", "stratified", output=folder / "luck")
    cl.publish_bundle([folder / "words", folder / "luck"], folder / "both.json", draws=200)
    return folder


def content_of(place: Path) -> Content:
    content: Content = json.loads((place / "both.json").read_bytes())
    return content


def sealed(content: Content) -> Content:
    """The content with fresh hashes: what a forger who knows the format would do."""
    keys = {old: digest(rows) for old, rows in content["records"].items()}
    for run in content["runs"]:
        run["records"] = keys[run["records"]]
    content["records"] = {keys[old]: rows for old, rows in content["records"].items()}
    content["statement"] = statement_of(content)
    content["id"] = digest(content["statement"])
    return content


def verified(content: Content, tmp_path: Path, **more: Any) -> list[str]:
    file = tmp_path / "received.json"
    file.write_bytes(canonical(content))
    return cl.publish_verify(file, **more).differences


def test_a_bundle_re_derives_and_says_what_the_evaluation_says(place: Path) -> None:
    result = cl.publish_verify(place / "both.json", data=place / "data")
    assert result.differences == []
    assert result.figures > 100
    scores = {row["name"]: row["macro_f1"] for row in result}
    evaluation = cl.evaluate([place / "words", place / "luck"], draws=200)
    assert scores == {run.name: run.scores.macro_f1 for run in evaluation.runs}
    intervals = {run["name"]: run["intervals"] for run in content_of(place)["figures"]["runs"]}
    for run in evaluation.runs:
        assert tuple(intervals[run.name]["macro_f1"]) == run.intervals["macro_f1"]


def test_the_statement_is_in_toto_and_names_every_part(place: Path) -> None:
    content = content_of(place)
    statement = content["statement"]
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    (records,) = content["records"]
    names = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    assert set(names) == {"runs", "figures", f"records/{records}"}
    assert names[f"records/{records}"] == records
    texts = cl.Dataset.open(place / "data").records["text"].drop_nulls().to_list()
    whole = (place / "both.json").read_text(encoding="utf-8")
    assert not [text for text in texts if text in whole]


CHANGES: dict[str, Callable[[Content], None]] = {
    "a prediction": lambda c: flip(c["runs"][0]["said"]),
    "a label": lambda c: flip(next(iter(c["records"].values()))["label"]),
    "a score": lambda c: c["figures"]["runs"][0]["scores"].update(macro_f1=0.99),
    "an interval": lambda c: c["figures"]["runs"][1]["intervals"].update(accuracy=[0.5, 0.6]),
    "a rank": lambda c: c["figures"]["boards"][0]["standings"][1].update(ranks=[1, 2]),
    "a group": lambda c: next(iter(c["records"].values()))["group"].__setitem__(0, 999),
    "a run": lambda c: c["runs"].pop(),
    "the draws": lambda c: c.update(draws=300),
    "the seed": lambda c: c.update(seed=1),
}


def flip(values: list[str]) -> None:
    at = next(at for at, value in enumerate(values) if value is not None)
    values[at] = "true" if values[at] == "false" else "false"


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_although_the_hashes_were_made_again(
    what: str, place: Path, tmp_path: Path
) -> None:
    content = content_of(place)
    CHANGES[what](content)
    assert verified(content, tmp_path), "without new hashes"
    assert [d for d in verified(sealed(content), tmp_path) if not d.startswith("statement")]


@pytest.mark.slow
def test_what_only_the_data_can_tell_is_found_with_the_data(place: Path, tmp_path: Path) -> None:
    """Labels, texts and records that were changed with every figure made again."""

    def forged(change: Callable[[Content], None]) -> list[str]:
        content = content_of(place)
        rows = next(iter(content["records"].values()))
        change(rows)
        for run in content["runs"]:
            for name in ("said", "abstained", "scores"):
                run[name] = run[name][: len(rows["id"])]
        file = tmp_path / "forged.json"
        file.write_bytes(canonical(sealed(content)))
        opened = cl.publish_verify(file).runs
        content["figures"] = figures_of(opened, seed=0, draws=200)
        assert verified(sealed(content), tmp_path) == []
        return verified(content, tmp_path, data=place / "data")

    assert any("another label" in d for d in forged(lambda rows: flip(rows["label"])))
    hashes = forged(lambda rows: rows["text_sha256"].__setitem__(0, "0" * 64))
    assert any("another text" in d for d in hashes)
    assert any("not in the data" in d for d in forged(lambda rows: rows["id"].__setitem__(0, "x")))

    def drop_last(rows: Content) -> None:
        for column in (*rows.values(), *rows["roles"].values()):
            if isinstance(column, list):
                column.pop()

    assert any("leaves out 1 labelled record" in d for d in forged(drop_last))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in pairs:
        if isinstance(one, dict | list) and one:
            yield from leaves(one, (*path, key))
        else:
            yield (*path, key)


@pytest.mark.slow
def test_one_changed_byte_or_value_is_found_wherever_it_is(place: Path, tmp_path: Path) -> None:
    data = (place / "both.json").read_bytes()
    choose = random.Random(4)
    file = tmp_path / "received.json"
    for at in choose.sample(range(len(data)), 120):
        file.write_bytes(
            data[:at] + bytes([data[at] ^ (1 << choose.randrange(7))]) + data[at + 1 :]
        )
        try:
            assert cl.publish_verify(file).differences, (at, data[at - 30 : at + 30])
        except UnreadableFile:
            continue
    for path in choose.sample(list(leaves(json.loads(data))), 40):
        content = json.loads(data)
        inner = content
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = "changed" if inner[path[-1]] is None else None
        file.write_bytes(canonical(content))
        try:
            differences = cl.publish_verify(file).differences
        except UnreadableFile:
            continue
        assert differences, path
        assert not re.search("[0-9a-f]{64}", " ".join(differences)), "twelve characters tell apart"


HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "not JSON": b"\x80\x81",
    "deep": b"[" * 100_000,
    "a list": b"[]",
    "infinity": b'{"bundle":Infinity}',
    "another format": b'{"bundle":"other"}',
}


def nested(depth: int) -> Content:
    return {"a": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_not_a_bundle_is_a_sentence(what: str, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(HOSTILE[what])
    with pytest.raises(UnreadableFile, match=r"'b.json' is not a bundle"):
        cl.publish_verify(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(draws=10**9), "less than or equal to"),
        (lambda c: c.update(more=1), "Extra inputs"),
        (lambda c: c["runs"][0].update(name="x" * 10_000), "at most 300"),
        (lambda c: c["runs"][0].update(classes=["x"] * 1_000), "at most 50"),
        (lambda c: c["runs"][0]["said"].pop(), "one answer for each record"),
        (lambda c: c["runs"][0].update(records="0" * 64), "are missing"),
        (lambda c: c["runs"][0]["scores"].__setitem__(0, {"true": "much"}), "valid number"),
        (lambda c: next(iter(c["records"].values()))["id"].pop(), "differ in length"),
        (lambda c: next(iter(c["records"].values()))["id"].__setitem__(0, 4), "valid string"),
        (lambda c: c.update(seed=10**400), "cannot be scored"),
        (lambda c: c["runs"][0].update(settings=nested(600)), "cannot be scored"),
        (lambda c: c.update(figures={"runs": 5}), "cannot be scored"),
        (lambda c: c.update(figures={"runs": [{"name": [1]}]}), "cannot be scored"),
        (lambda c: c.update(runs=c["runs"] * 60, draws=20_000), "more than 1,000,000 resamples"),
    ],
)
def test_a_hostile_bundle_is_refused(
    change: Callable[[Content], None], words: str, place: Path, tmp_path: Path
) -> None:
    content = content_of(place)
    change(content)
    with pytest.raises(UnreadableFile, match=words):
        verified(content, tmp_path)


def test_a_bundle_that_names_paths_and_hosts_opens_none(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = content_of(place)
    run = content["runs"][0]
    run["settings"] = {"model": "/etc/hostname", "url": "https://host.invalid/"}
    run["detector"] = run["dataset"] = "../../outside"
    opened: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.getaddrinfo") or (
            event == "open" and ("hostname" in str(args[0]) or "outside" in str(args[0]))
        ):
            opened.append(f"{event} {args[0]}")

    sys.addaudithook(watch)
    assert verified(sealed(content), tmp_path)  # the figures name the dataset as it was
    assert opened == []


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "b.json")
    with pytest.raises(UnreadableFile, match="it is not a plain file"):
        cl.publish_verify(tmp_path / "b.json")
    with pytest.raises(DataError, match="is not a folder of bundles"):
        cl.publish_board(tmp_path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "b.json").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(UnreadableFile, match="more than 64 MB"):
        cl.publish_verify(tmp_path / "b.json")


def test_texts_go_in_only_where_the_licence_allows(place: Path, tmp_path: Path) -> None:
    cl.publish_bundle(place / "words", tmp_path / "open.json", texts=True, draws=200)
    content = json.loads((tmp_path / "open.json").read_bytes())
    (rows,) = content["records"].values()
    assert all(rows["text"])
    rows["text"][0] += "!"
    assert any("not the one of its sha256" in d for d in verified(sealed(content), tmp_path))
    closed = cl.Dataset.open(place / "words")
    for licence in (None, "research only", "CC BY-NC 4.0"):
        closed.licence = licence
        closed.write(tmp_path / f"closed-{licence}")
        with pytest.raises(UsageError, match="does not let its texts"):
            cl.publish_bundle(tmp_path / f"closed-{licence}", tmp_path / "c.json", texts=True)
    assert not (tmp_path / "c.json").exists()


@pytest.mark.slow
def test_a_study_becomes_one_bundle(place: Path, tmp_path: Path) -> None:
    grid = (
        f'[datasets.data]\nfolder = "{place / "data"}"\n'
        '[grid]\nsplit = ["random"]\ndetector = ["stratified", "majority"]\n'
    )
    (tmp_path / "grid.toml").write_text(grid, encoding="utf-8")
    cl.study_run(tmp_path / "grid.toml", tmp_path / "study", trust=True)
    cl.publish_bundle(tmp_path / "study", tmp_path / "study.json", draws=200)
    result = cl.publish_verify(tmp_path / "study.json")
    assert result.differences == []
    assert {"data, random, stratified, 0"} <= {row["name"] for row in result}


@pytest.mark.slow
def test_another_machine_setting_derives_the_same_bytes(place: Path, tmp_path: Path) -> None:
    script = (
        "import sys, claimlab as cl; place = sys.argv[1]; "
        "cl.publish_bundle([f'{place}/words', f'{place}/luck'], sys.argv[2], draws=200); "
        "print(cl.publish_verify(f'{place}/both.json').differences)"
    )
    settings = {
        "one": {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "TZ": "UTC", "LC_ALL": "C"},
        "other": {
            "OMP_NUM_THREADS": "4",
            "POLARS_MAX_THREADS": "3",
            "TZ": "Pacific/Kiritimati",
            "LC_ALL": "tr_TR.UTF-8",
            "PYTHONHASHSEED": "77",
        },
    }
    for name, more in settings.items():
        file = tmp_path / f"{name}.json"
        done = subprocess.run(
            [sys.executable, "-c", script, str(place), str(file)],
            env={**os.environ, **more},
            check=True,
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == "[]"
        assert file.read_bytes() == (place / "both.json").read_bytes()


def test_nothing_is_overwritten_but_a_bundle(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text("{}", encoding="utf-8")
    for force in (False, True):
        with pytest.raises(OutputExists):
            cl.publish_bundle(place / "luck", file, draws=200, force=force)
    assert file.read_text(encoding="utf-8") == "{}"
    for _ in range(2):
        cl.publish_bundle(place / "luck", tmp_path / "b.json", draws=200, force=True)
    with pytest.raises(ClaimlabError):
        cl.publish_bundle(place / "luck", place / "luck" / "b.json")
    with pytest.raises(DataError, match="no table of predictions"):
        cl.publish_bundle(place / "data", tmp_path / "c.json")

"""The verb itself: where it listens, what it prints, and how it ends."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from parts.planted import clean_twin

from claimlab.cli.app import run
from claimlab.web.app import create_app


def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", "from claimlab.cli.app import main; main()", "serve", *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    address = re.search(r"http://\S+", line)
    assert address, line
    return process, address[0]


@pytest.mark.slow
def test_it_serves_and_ends_soon_after_ctrl_c(tmp_path: Path) -> None:
    clean_twin(size=20).write(tmp_path / "data")
    process, address = started(str(tmp_path), "--port", "0")
    where, token = address.split("sign-in#token=")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(where, timeout=20)
    with urllib.request.urlopen(
        urllib.request.Request(where, headers={"Authorization": f"Bearer {token}"}), timeout=20
    ) as answer:
        assert b"data" in answer.read()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert time.monotonic() - began < 2


@pytest.mark.slow
def test_another_address_prints_a_link_with_a_token(tmp_path: Path) -> None:
    process, address = started(str(tmp_path), "--port", "0", "--host", "0.0.0.0")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    assert re.fullmatch(r"http://0\.0\.0\.0:\d+/sign-in#token=[\w-]{20,}", address)


def test_a_port_that_is_taken_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run(["serve", str(tmp_path), "--port", str(port)]) == 2
    assert "cannot be used" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", str(tmp_path / "no"), "--port", "0"]) == 2
    assert "There is no folder" in capsys.readouterr().err


@pytest.mark.slow
def test_half_a_request_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import claimlab.web.gate as g; g.PATIENCE = 1.0; from claimlab.cli.app import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "serve", str(tmp_path), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    address = re.search(r"127\.0\.0\.1:(\d+)", process.stderr.readline())
    assert address
    try:
        silent, half, body = (
            socket.create_connection(("127.0.0.1", int(address[1])), timeout=20) for _ in range(3)
        )
        half.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ")
        body.sendall(
            b"POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
        )
        for connection in (silent, half):
            assert connection.recv(100) == b""
        assert b"40" in body.recv(100)[:16]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)


@pytest.mark.slow
def test_the_page_on_twins_names_all_of_them_and_its_commands_work(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "serve-api.md").read_text(encoding="utf-8")
    described = create_app(tmp_path).openapi()["paths"].items()
    twins = {path for path, methods in described if "get" in methods}
    assert set(re.findall(r"^\| `(/api[^`]*)`", page, re.MULTILINE)) == twins
    clean_twin(size=20).write(tmp_path / "planted")
    process, address = started(str(tmp_path), "--port", "0")
    where, token = address.split("sign-in#token=")
    try:
        for command in re.findall(r"^    curl .*", page, re.MULTILINE):
            here = command.replace("http://127.0.0.1:8765/", where)
            asked = here.replace("$CLAIMLAB_SERVE_TOKEN", token)
            answer = subprocess.run(["bash", "-c", asked], capture_output=True, check=True)
            assert "problem" not in json.loads(answer.stdout), command
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)

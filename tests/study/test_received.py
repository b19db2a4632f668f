"""A study from a stranger names no host, key or outside path until the user has allowed it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.cli.app import run as command_line
from claimlab.core.errors import NotTrusted, UnreadableFile
from claimlab.core.grants import Wanted, allow, is_allowed, named_in, withdraw
from claimlab.llm.profiles import Profile, find_profile
from claimlab.study.check import study_check
from claimlab.study.file import read_study_file
from claimlab.study.new import study_new
from claimlab.study.received import wanted_by, wanted_in

GRID = '[grid]\ndetector = ["asked"]\n[detector.asked]\ndetector = "llm-zero-shot"\nprofile = "profile.toml"\n'


class Received(http.server.BaseHTTPRequestHandler):
    keys: list[str | None] = []

    def do_POST(self) -> None:
        self.keys.append(self.headers["authorization"])
        self.send_error(400)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[str]:
    Received.keys = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Received)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()


@pytest.fixture
def gift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stranger: str) -> Path:
    """A study with a profile of its own, which asks for a variable of the user's."""
    folder = tmp_path / "gift"
    planted(size=120)[0].write(folder / "data")
    profile = (
        f'[evil]\nbase_url = "{stranger}"\nmodel = "m"\nkey_variable = "AWS_SECRET_ACCESS_KEY"\n'
    )
    (folder / "profile.toml").write_text(profile, encoding="utf-8")
    (folder / "gift.toml").write_text(f'[datasets.d]\nfolder = "data"\n{GRID}', encoding="utf-8")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-strangers")
    monkeypatch.chdir(folder)
    return folder / "gift.toml"


def test_a_gift_sends_nothing_before_it_is_allowed(gift: Path) -> None:
    for call in (lambda: study_check(gift), lambda: cl.study_run(gift, "out")):
        with pytest.raises(NotTrusted, match="variable AWS_SECRET_ACCESS_KEY") as refused:
            call()
        assert f"claimlab trust {gift}" in str(refused.value)
    assert Received.keys == []
    assert not Path("out").exists()


def test_what_was_allowed_runs_and_a_change_asks_again(gift: Path) -> None:
    assert command_line(["trust", str(gift), "--yes"]) == 0
    cl.study_run(gift, "out", max_calls=2)
    assert set(Received.keys) == {"Bearer not-for-strangers"}
    profile = Path("profile.toml")
    profile.write_text(
        profile.read_text().replace("AWS_SECRET_ACCESS_KEY", "PGPASSWORD"), encoding="utf-8"
    )
    with pytest.raises(NotTrusted, match="PGPASSWORD"):
        cl.study_run(gift, "out")


def test_without_a_terminal_nothing_is_allowed_by_itself(gift: Path) -> None:
    assert command_line(["trust", str(gift)]) == 1
    assert not is_allowed(*wanted_in(gift))
    allow(*wanted_in(gift))
    withdraw(*wanted_in(gift))
    assert not is_allowed(*wanted_in(gift))


@pytest.mark.usefixtures("gift")
@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (
            '[datasets.d]\nimport = "/etc/hostname"\n[grid]\ndetector = ["tfidf"]\n',
            "path",
            "/etc/hostname",
        ),
        ('[datasets.d]\nfolder = "../../other"\n[grid]\ndetector = ["tfidf"]\n', "path", "other"),
        (
            '[datasets.d]\nfolder = "s3://bucket/x"\n[grid]\ndetector = ["tfidf"]\n',
            "host",
            "s3://bucket",
        ),
        (
            '[datasets.d]\nfolder = "data"\n[grid]\nenrich = ["brave"]\ndetector = ["tfidf"]\n',
            "variable",
            "BRAVE",
        ),
        (
            '[datasets.d]\nfolder = "data"\n[grid]\n"detector.profile" = ["openai"]\ndetector = ["x"]\n',
            "host",
            "openai",
        ),
    ],
)
def test_every_way_to_name_something_outside_is_listed(text: str, kind: str, value: str) -> None:
    Path("other.toml").write_text(text, encoding="utf-8")
    needs = wanted_by(read_study_file("other.toml"), Path("other.toml"))
    assert [need for need in needs if need.kind == kind and value in need.value]


@pytest.mark.usefixtures("gift")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("/" * 1_200 + "etc/passwd", "/etc/passwd"),
        ("./" * 600 + "../passwd", "/passwd"),
        (" /etc/passwd", "/etc/passwd"),
        ("verdict = /etc/passwd", "/etc/passwd"),
        ("llm:local:/etc", "/etc"),
        ("gguf:link?slots=2", "/etc"),
        ("/tmp/a://b/../../../etc", "/etc"),
        ("file:///etc/passwd", "/etc/passwd"),
    ],
    ids=lambda words: words.strip("/.")[:20],
)
def test_an_outside_path_is_seen_however_it_is_written(text: str, value: str) -> None:
    Path("link").symlink_to("/etc")
    needs = list(named_in({"option": [text]}, Path().absolute()))
    assert [need.kind for need in needs][-1] == "path"
    assert needs[-1].value.endswith(value)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("local:https://a.example/x", ["https://a.example"]),
        (
            "https://u:p@a.example:8443 and https://b.example",
            ["https://a.example:8443", "https://b.example"],
        ),
        ("https://\nb.example", ["https://b.example"]),
        ("http://[half", ["http://[half"]),
    ],
)
def test_every_host_in_a_text_is_seen(text: str, hosts: list[str]) -> None:
    assert [need.value for need in named_in(text, Path())] == hosts


@pytest.mark.usefixtures("gift")
def test_words_are_no_paths() -> None:
    for text in ("", "\0", "~nobody-here/x", "x" * 5_000, "Say: true, false or mixed.", "a\nb"):
        assert list(named_in(text, Path().absolute())) == []
    assert list(named_in("data", Path().absolute())) == []


@pytest.mark.usefixtures("gift")
def test_a_link_out_of_the_folder_is_outside() -> None:
    Path("inside").symlink_to("/etc")
    Path("other.toml").write_text(
        '[datasets.d]\nfolder = "inside"\n[grid]\ndetector = ["x"]\n', encoding="utf-8"
    )
    assert wanted_by(read_study_file("other.toml"), Path("other.toml")) == [
        Wanted("path", "/etc", "datasets.d.folder")
    ]


@pytest.mark.usefixtures("gift")
def test_the_users_own_study_needs_no_leave() -> None:
    Path("mine.toml").write_text(
        '[datasets.d]\nfolder = "data"\n[grid]\ndetector = ["tfidf"]\n', encoding="utf-8"
    )
    assert wanted_by(read_study_file("mine.toml"), Path("mine.toml")) == []
    study_new("preset.toml", "pt-afc")
    assert is_allowed(*wanted_in(Path("preset.toml")))


def test_http_goes_to_this_machine_only() -> None:
    Profile(name="local", base_url="http://127.0.0.1:8000/v1")
    Profile(name="local", base_url="http://[::1]:8000/v1")
    for address in (
        "http://example.org/v1",
        "http://10.0.0.1/v1",
        "http://localhost.example.org/v1",
    ):
        with pytest.raises(ValueError, match="in clear"):
            Profile(name="far", base_url=address)


def test_a_key_goes_where_the_user_allowed_it_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "p.toml"
    file.write_text(
        '[a]\nbase_url = "https://proxy.example/v1"\nkey_variable = "OPENAI_API_KEY"\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-strangers")
    with pytest.raises(NotTrusted, match="OPENAI_API_KEY"):
        find_profile(str(file)).key()
    allow(*wanted_in(file))
    assert find_profile(str(file)).key() == "not-for-strangers"
    file.write_text(
        '[a]\nbase_url = "https://api.openai.com/v1"\nkey_variable = "OPENAI_API_KEY"\n',
        encoding="utf-8",
    )
    with pytest.raises(NotTrusted, match="host https://api.openai.com"):
        find_profile(str(file)).granted("host")
    file.write_text("[a\n", encoding="utf-8")
    with pytest.raises(UnreadableFile):
        find_profile(str(file))

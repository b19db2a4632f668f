from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from claimlab.core.errors import UsageError
from claimlab.core.grants import is_loopback
from claimlab.web.app import create_app
from claimlab.web.gate import SESSION, Guesses, csrf_of
from claimlab.web.settings import ServerSettings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


TOKEN = "a-token-of-the-tests-0123456789"


def client_of(folder: Path, *, signed_in: bool = True, **more: object) -> TestClient:
    settings = ServerSettings(token=TOKEN, **more)  # type: ignore[arg-type]
    cookies = {settings.cookie: TOKEN} if signed_in else {}
    return TestClient(
        create_app(folder, settings=settings), base_url="http://127.0.0.1:8765", cookies=cookies
    )


def csrf(client: TestClient) -> dict[str, str]:
    client.get("/sign-in")
    return {"X-CSRF-Token": csrf_of(client.cookies[SESSION])}


def test_every_answer_forbids_foreign_scripts_and_frames(folder: Path) -> None:
    client = client_of(folder)
    for path in ("/", "/api", "/nothing", "/static/look.css"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


def test_a_page_has_no_inline_script_style_or_handler(folder: Path) -> None:
    html = client_of(folder).get("/").text
    assert "<style" not in html
    assert "style=" not in html
    assert "<script>" not in html
    assert " onclick" not in html


def test_a_name_that_is_not_the_servers_is_refused_on_loopback(folder: Path) -> None:
    client = client_of(folder)
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/", headers={"Host": "localhost:8765"}).status_code == 200
    assert (
        client_of(folder, host="0.0.0.0")
        .get("/sign-in", headers={"Host": "lab.example"})
        .status_code
        == 200
    )


def test_an_unknown_page_is_a_sentence(folder: Path) -> None:
    client = client_of(folder)
    answer = client.get("/nothing")
    assert (answer.status_code, "There is no such page." in answer.text) == (404, True)
    assert client.get("/api/nothing").json()["problem"] == "There is no such page."


def test_a_change_needs_the_csrf_token_of_its_session(folder: Path) -> None:
    client = client_of(folder)
    body = {"token": TOKEN}
    assert client.post("/api/sign-in", json=body).status_code == 403
    headers = csrf(client)
    assert (
        client.post("/api/sign-in", json=body, headers={"X-CSRF-Token": "0" * 64}).status_code
        == 403
    )
    assert client.post("/api/sign-in", json=body, headers=headers).status_code == 200
    client.cookies.clear()  # the token without its cookie is worth nothing
    assert client.post("/api/sign-in", json=body, headers=headers).status_code == 403


def test_a_body_is_bounded_whether_or_not_it_says_its_length(folder: Path) -> None:
    client = client_of(folder, max_body=1_000)
    headers = csrf(client)
    assert (
        client.post("/api/sign-in", json={"token": "x" * 2_000}, headers=headers).status_code == 413
    )
    pieces = (b"x" * 100 for _ in range(50))
    assert 400 <= client.post("/api/sign-in", content=pieces, headers=headers).status_code < 500


def test_a_token_is_demanded_and_kept_in_a_cookie(folder: Path) -> None:
    client = client_of(folder, signed_in=False)
    assert client.get("/").status_code == 401
    assert client.get("/api").status_code == 401
    assert client.get("/api/openapi.json").status_code == 401
    assert (
        client.post("/api/sign-in", json={"token": "wrong"}, headers=csrf(client)).status_code
        == 401
    )
    assert client.get("/").status_code == 401
    answer = client.post("/api/sign-in", json={"token": TOKEN}, headers=csrf(client))
    assert answer.json() == {"location": "/"}
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    assert client.get("/").status_code == 200


def test_a_program_shows_its_token_as_a_bearer(folder: Path) -> None:
    client = client_of(folder, signed_in=False)
    assert client.get("/api", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert client.get("/api", headers={"Authorization": "Bearer other"}).status_code == 401


def test_every_address_has_a_token_that_is_hard_to_guess() -> None:
    first, second = ServerSettings.of("127.0.0.1", 1).token, ServerSettings.of("127.0.0.1", 1).token
    assert len(first) >= 32
    assert first != second
    assert ServerSettings.of("127.0.0.1", 1, TOKEN).token == TOKEN
    for weak in ("", "ab", "x" * 40, "short-but-mixed-0123"):
        with pytest.raises(UsageError, match="easy to guess"):
            ServerSettings.of("127.0.0.1", 1, weak)


def test_two_servers_of_one_machine_keep_their_cookies_apart() -> None:
    assert ServerSettings.of("127.0.0.1", 1).cookie != ServerSettings.of("127.0.0.1", 2).cookie


def test_guesses_are_slowed_and_nobody_who_is_signed_in_has_to_wait(folder: Path) -> None:
    app = create_app(folder, settings=ServerSettings(token=TOKEN))
    user, stranger = (TestClient(app, base_url="http://127.0.0.1:8765") for _ in range(2))
    assert user.post("/api/sign-in", json={"token": TOKEN}, headers=csrf(user)).status_code == 200
    assert user.get("/").status_code == 200
    codes = [
        stranger.get("/api", headers={"Authorization": f"Bearer {n}"}).status_code
        for n in range(40)
    ]
    assert codes == [401] * Guesses.MOST + [429] * (40 - Guesses.MOST)
    assert stranger.get("/api", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 429
    assert user.get("/").status_code == 200
    signs_in = stranger.post("/api/sign-in", json={"token": TOKEN}, headers=csrf(stranger))
    assert signs_in.status_code == 429


def test_a_csrf_token_with_other_letters_is_refused(folder: Path) -> None:
    client = client_of(folder)
    client.get("/sign-in")
    answer = client.post(
        "/api/sign-in", json={"token": TOKEN}, headers={"X-CSRF-Token": "é".encode("latin-1")}
    )
    assert answer.status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])
def test_loopback_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "localhost.example", ""])
def test_other_addresses_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_an_unexpected_failure_is_a_sentence_with_all_headers(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(folder, settings=ServerSettings(token=TOKEN))

    @app.get("/broken")
    def broken() -> None:
        raise ZeroDivisionError("secret detail")

    answer = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False).get(
        "/broken", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    assert answer.status_code == 500
    assert "Something claimlab did not expect (ZeroDivisionError)." in answer.text
    assert "secret detail" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "secret detail" in caplog.text  # the terminal has it

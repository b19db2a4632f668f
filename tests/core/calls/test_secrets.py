"""A key that an endpoint repeats does not get past the scrubber, whatever form it is given."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claimlab.core.calls.scrub import KEY_MARK, excerpt, scrub, scrubbed

KEY = "sk-Ab9/+x_Zz.Qq=7"


def encoded(key: str, before: str = "", after: str = "") -> list[str]:
    """What an endpoint may make of `key`; `before` and `after` are encoded along with it."""
    whole = f"{before}{key}{after}"
    return [
        key,
        key[::-1],
        key.upper(),
        quote(key, safe=""),
        quote(key, safe="").lower(),
        key.encode().hex(),
        base64.b64encode(whole.encode()).decode(),
        base64.urlsafe_b64encode(whole.encode()).decode(),
        base64.b64encode(whole[::-1].encode()).decode(),
    ]


@pytest.mark.parametrize("before", ["", "u", "u:", "Bearer "])
@pytest.mark.parametrize("after", ["", "!", "??"])
def test_every_form_is_taken_out(before: str, after: str) -> None:
    for form in encoded(KEY, before, after):
        assert KEY_MARK in scrub(f"your key is {form}, thank you", KEY), form


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60),
    st.integers(0, 8),
)
def test_no_form_of_any_key_is_left(key: str, which: int) -> None:
    form = encoded(key, "Bearer ", ".")[which]
    clean = scrub(f"<{form}>", key)
    assert form not in clean
    assert key not in clean


def test_ordinary_text_is_left_alone() -> None:
    text = "A reply that speaks of keys, of sk- and of Ab9, but holds none. İstanbul."
    assert scrub(text, KEY) is text
    assert scrub(text, None) is text
    assert scrub("none of your business", "none") == "none of your business", (
        "a placeholder is not a key"
    )


def test_strings_are_found_wherever_they_are_in_an_answer() -> None:
    answer = {"a": [KEY, {"b": f"x{KEY[::-1]}y"}], KEY: 3, "n": None, "t": 1.5}
    assert scrubbed(answer, KEY) == {
        "a": [KEY_MARK, {"b": f"x{KEY_MARK}y"}],
        KEY_MARK: 3,
        "n": None,
        "t": 1.5,
    }


def test_an_excerpt_is_short_and_on_one_line() -> None:
    assert excerpt(f"bad\n key {KEY} " + "x" * 500, KEY, 20) == f"bad key {KEY_MARK} xxxxxxx"[:20]

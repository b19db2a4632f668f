"""What page addresses are refused: everything that does not lead to the public web, however it is
written.
"""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.core import packaged
from claimlab.core.errors import PageRefused
from claimlab.core.fetch.addresses import CheckedAddress, Guard

KINDS = packaged.toml("claimlab.search", "failures.toml")["pages"]

PUBLIC = "93.184.215.14"


def check(url: str, *numbers: str, **more: object) -> CheckedAddress:
    async def resolve(host: str, port: int) -> list[str]:
        if not numbers:
            raise OSError("no such host")
        return list(numbers)

    return asyncio.run(Guard(resolve=resolve, **more).check(url))  # type: ignore[arg-type]


def kind_of(url: str, *numbers: str) -> str:
    with pytest.raises(PageRefused) as caught:
        check(url, *numbers)
    assert caught.value.kind in KINDS
    assert str(caught.value).startswith("The address '")
    assert caught.value.todo
    return caught.value.kind


@pytest.mark.parametrize(
    "number",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
        "169.254.1.1", "100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
        "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.88.99.1",
        "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "100::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:127.0.0.1",
        "2002:7f00:1::", "2002:a00:1::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1",
        "2001:0:7f00:1::",
    ],
)  # fmt: skip
def test_numbers_that_are_not_public(number: str) -> None:
    literal = f"[{number}]" if ":" in number else number
    assert kind_of(f"http://{literal}/") == "private-address"
    assert kind_of("http://harmless.example/", number) == "private-address"
    assert kind_of("http://harmless.example/", PUBLIC, number) == "private-address", (
        "one bad number is enough"
    )


@pytest.mark.parametrize("number", [PUBLIC, "8.8.8.8", "2606:4700::1111"])
def test_numbers_that_are_public(number: str) -> None:
    assert check("https://harmless.example/a?b=c#d", number).number == number


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://2130706433/", "host"),  # 127.0.0.1 as one decimal number
        ("http://0x7f000001/", "host"),
        ("http://0x7f.0.0.1/", "host"),
        ("http://0177.0.0.1/", "host"),
        ("http://017700000001/", "host"),
        ("http://127.1/", "host"),
        ("http://127.0.0.1./", "host"),
        ("http://１２７.０.０.１/", "private-address"),  # full-width digits
        ("http://localhost/", "private-address"),
        ("http://LOCALHOST./", "private-address"),
        ("http://db.internal/", "private-address"),
        ("http://metadata.google.internal/computeMetadata/v1/", "private-address"),
        ("http://printer.local/", "private-address"),
        ("file:///etc/passwd", "scheme"),
        ("ftp://x.example/", "scheme"),
        ("gopher://x.example/", "scheme"),
        ("data:text/html,hello", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("//x.example/", "scheme"),
        ("x.example", "scheme"),
        ("http://user:secret@x.example/", "credentials"),
        ("http://user@127.0.0.1/", "credentials"),
        ("http://x.example:22/", "port"),
        ("https://x.example:8443/", "port"),
        ("http://x.example:0/", "port"),
        ("http://x.example:99999/", "host"),
        ("http:///path", "host"),
        ("http://", "host"),
        ("http://x.example\\@127.0.0.1/", "host"),
        ("http://x.exa\nmple/", "host"),
        ("http://[::1", "host"),
        ("http://[fe80::1%25eth0]/", "host"),
        ("http://a..b/", "host"),
        ("http://" + "a" * 70 + ".example/", "host"),
    ],
)
def test_disguises_and_other_doors(url: str, kind: str) -> None:
    assert kind_of(url, PUBLIC) == kind


def test_a_host_that_does_not_exist() -> None:
    assert kind_of("http://nowhere.example/") == "unresolved"


def test_what_is_allowed_is_allowed_by_name() -> None:
    target = check(
        "http://pages.test:8123/a%20b?q=1",
        "127.0.0.1",
        ports=(8123,),
        allowed_numbers=("127.0.0.1",),
    )
    assert target.direct_url() == "http://127.0.0.1:8123/a%20b?q=1"
    assert target.host_header() == "pages.test:8123"
    assert check("https://bücher.example/", PUBLIC).host == "xn--bcher-kva.example"
    with pytest.raises(PageRefused, match=r"127\.0\.0\.2"):
        check("http://pages.test:8123/", "127.0.0.2", ports=(8123,), allowed_numbers=("127.0.0.1",))


def test_the_connection_goes_to_the_number_and_says_the_name() -> None:
    target = check("https://six.example/x", "2606:4700::1111")
    assert (target.direct_url(), target.host_header()) == (
        "https://[2606:4700::1111]:443/x",
        "six.example",
    )


@settings(deadline=None)
@given(st.text(max_size=60), st.ip_addresses())
def test_whatever_is_written_is_either_public_or_refused(rest: str, number: object) -> None:
    for url in (rest, f"http://{rest}", f"http://{number}/{rest}"):
        try:
            target = check(url, "10.0.0.1")
        except PageRefused:
            continue
        assert target.number != "10.0.0.1"

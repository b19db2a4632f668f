"""Files by their address, wherever files go in: what they are is read from the files, and where
they came from stays with the dataset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from parts.hosts import Hosts, serving

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.errors import NotTrusted
from claimlab.core.fetch import front
from claimlab.core.grants import named_in, on_behalf_of

ADDRESSES = {"repository": "github:owner/set@main", "file": "https://data.example.org/claims.csv"}
COMMIT = "d" * 40
ROWS = "id,claim,verdict\n" + "".join(
    f"{n},The council of village {n} voted for the bridge.,{'supported' if n % 2 else 'refuted'}\n"
    for n in range(60)
)


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CLAIMLAB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serving() as served:
        monkeypatch.setattr(front, "reach", served.reach)
        content = ROWS.encode()
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        row = {"path": "claims.csv", "type": "blob", "sha": blob, "size": len(content)}
        api = "/repos/owner/set"
        served.put("api.github.com", f"{api}/commits/main", COMMIT.encode())
        served.put("api.github.com", f"{api}/git/trees/{COMMIT}?recursive=1", {"tree": [row]})
        served.put("raw.githubusercontent.com", f"/owner/set/{COMMIT}/claims.csv", content)
        served.put("data.example.org", "/claims.csv", content)
        yield served


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_is_imported_as_its_file_is(hosts: Hosts, tmp_path: Path, address: str) -> None:
    file = tmp_path / "claims.csv"
    file.write_text(ROWS, encoding="utf-8")
    by_hand = cl.import_files(file)[0]
    by_address = cl.import_files(address)[0]
    assert by_address.records.drop("dataset").equals(by_hand.records.drop("dataset"))
    (source,) = by_address.lineage[-1].parameters["sources"]
    assert source["address"] == address
    assert list(source["files"].values()) == [hashlib.sha256(ROWS.encode()).hexdigest()]
    assert "sources" not in by_hand.lineage[-1].parameters


def test_the_command_takes_an_address(
    hosts: Hosts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, address in ADDRESSES.items():
        assert run(["import", address, "-o", str(tmp_path / name)]) == 0
        assert cl.Dataset.open(tmp_path / name).records.height == 60
    assert run(["import", "github:owner/other", "-o", str(tmp_path / "none")]) == 1
    assert "api.github.com/repos/owner/other" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_received_file_brings_nothing_until_it_is_allowed(hosts: Hosts, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    address = "github:owner/set@main"
    study.write_text(f'[datasets.a]\nfolder = "{address}"\n', encoding="utf-8")
    wanted = list(named_in({"folder": address}, tmp_path))
    assert [(each.kind, each.value) for each in wanted] == [("host", "https://github.com")]
    with on_behalf_of(study), pytest.raises(NotTrusted, match="https://github.com"):
        cl.import_files(address)
    assert hosts.asked == []
    with on_behalf_of(study, wanted):
        assert cl.import_files(address)[0].records.height == 60

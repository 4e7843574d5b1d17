"""Certificates as Python objects."""

from __future__ import annotations

import copy
import json
import pickle
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import People

import efface


@pytest.fixture
def vault(people: People, tmp_path: Path) -> efface.Vault:
    vault = efface.Vault.train(tmp_path / "m.efface", people.X, people.y, **people.named())
    vault.delete(subjects=["who-2"], request_id="leavers")
    return vault


def test_attributes_are_those_of_the_text(vault: efface.Vault) -> None:
    certificate = vault.certificate()
    document = json.loads(certificate.to_json())
    assert certificate.id == document["id"]
    assert certificate.vault == vault.status()["vault"]
    assert certificate.issued_at == document["issued_at"]
    assert (certificate.kind, certificate.request_id) == ("delete", "leavers")
    assert (certificate.records, certificate.version, certificate.index) == (3, 2, 1)
    assert certificate.digest == vault.weights()[2]["digest"]
    assert certificate.hash == document["chain"]["hash"]
    assert not certificate.not_for_release
    assert certificate.event == document["event"]
    assert certificate.does_not_cover
    assert {c["origin"] for c in certificate.constants} <= {"user", "default", "data"}
    assert all(a["evidence"] for a in certificate.assumptions)


def test_claims_are_numbers_and_words(vault: efface.Vault) -> None:
    certificate = vault.certificate()
    claim = certificate.claim("indistinguishable-from-retraining")
    assert claim is not None
    assert 0 < claim.epsilon <= 1
    assert claim.delta is not None
    assert 0 < claim.delta < 1
    assert 0 < claim.advantage < 1
    assert claim.requests == "any"
    assert claim.words
    assert certificate.claim("exact-removal") is None


def test_requests_that_looked_at_releases_are_counted(people: People, tmp_path: Path) -> None:
    settings = {
        "notion": "deletion-privacy",
        "interactions": 3,
        "public_n": 120,
        "noise": 50.0,
        "delta": 1e-5,
    }
    vault = efface.Vault.train(
        tmp_path / "p.efface", people.X, people.y, settings=settings, classes=[0, 1]
    )
    claim = vault.delete(ids=["row:1"]).certificate.claim("deletion-privacy")
    assert claim is not None
    assert claim.requests == "p-adaptive 3"


def test_a_verdict_is_true_only_if_all_holds(vault: efface.Vault) -> None:
    certificate = vault.certificate()
    assert certificate.verify(key=vault.public_key, vault=vault.path)
    alone = certificate.verify()
    assert not alone
    assert alone.outcome == "undecided"
    other = "00" * 32
    assert certificate.verify(key=other, vault=vault.path).outcome == "fails"
    assert {check.outcome for check in alone} <= {"holds", "undecided"}
    assert "undecided" in str(alone)


def test_a_changed_certificate_fails(vault: efface.Vault) -> None:
    document = json.loads(vault.certificate().to_json())
    document["claims"][0]["epsilon"] = "0.001"
    changed = efface.Certificate(json.dumps(document))
    verdict = changed.verify(key=vault.public_key)
    assert verdict.outcome == "fails"


@pytest.mark.parametrize("bad", ["", "{}", "not json", b"\xff\xfe", "[]", '{"schema": 1}'])
def test_what_is_no_certificate_is_refused(bad: str | bytes) -> None:
    with pytest.raises(efface.InputError):
        efface.Certificate(bad)


@pytest.mark.parametrize("key", ["", "00", "zz" * 32, "é" * 32])
def test_a_key_that_is_none_is_refused(vault: efface.Vault, key: str) -> None:
    with pytest.raises(efface.InputError, match="64 hexadecimal digits"):
        vault.certificate().verify(key=key)


def test_a_key_is_found_in_what_the_command_line_shows(vault: efface.Vault) -> None:
    shown = f"file        /keys/my key.toml\npublic key  {vault.public_key}\nkey id      00\n"
    assert vault.certificate().verify(key=shown, vault=vault.path)


def test_copies_are_equal(vault: efface.Vault) -> None:
    certificate = vault.certificate()
    for other in (
        pickle.loads(pickle.dumps(certificate)),
        copy.deepcopy(certificate),
        efface.Certificate(certificate.to_json().encode()),
        efface.Certificate(certificate.to_json()),
    ):
        assert other == certificate
        assert hash(other) == hash(certificate)
        assert other.to_json() == certificate.to_json()
    assert certificate != vault.certificate(0)
    assert certificate != "text"


def test_bounds_of_every_accountant(vault: efface.Vault) -> None:
    bounds = vault.certificate().bounds(delta=1e-6)
    assert {"gdp", "descent"} <= {bound["accountant"] for bound in bounds}
    assert {type(bound["epsilon"]) for bound in bounds} == {float, type(None)}
    assert all(bound["reason"] for bound in bounds if bound["epsilon"] is None)


def test_texts(vault: efface.Vault) -> None:
    certificate = vault.certificate()
    assert repr(certificate) == "<efface.Certificate 1: delete of 3 records, model version 2>"
    assert "What is NOT covered" in certificate.page()
    lines = str(certificate).splitlines()
    assert lines[0] == "efface.Certificate 1: delete of 3 records, model version 2"
    assert 3 <= len(lines) <= 8
    assert certificate.claims[0].words in str(certificate)


def test_private_counts_are_not_stated(people: People, tmp_path: Path) -> None:
    public = {"public_n": 120, "capacity": 150, "delta": 1e-6, "releases": 3}
    vault = efface.Vault.train(
        tmp_path / "p.efface",
        people.X,
        people.y,
        classes=[0, 1],
        settings={"notion": "differential-privacy", "noise": 50.0, "epsilon": 5.0, **public},
    )
    receipt = vault.delete(ids=["row:1"])
    certificate = receipt.certificate
    assert certificate.records is None
    assert vault.certificate(0).records is None
    assert repr(certificate) == (
        "<efface.Certificate 1: delete of records (number not stated), model version 2>"
    )
    outline = Outline()
    outline.feed(certificate._repr_html_())
    assert "deletion of records (number not stated)" in outline.text
    assert "delete of records (number not stated)" in str(certificate)
    assert '"119"' not in certificate.to_json()
    again = vault.delete(ids=["row:1"])
    assert again.replayed


class Outline(HTMLParser):
    """Checks that every element is closed, and gathers what a reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_card_says_what_counts(vault: efface.Vault) -> None:
    html = vault.certificate()._repr_html_()
    outline = Outline()
    outline.feed(html)
    assert not outline.open
    assert {"section", "h4", "h5", "ul", "details", "summary", "table"} <= outline.seen
    assert not {"script", "style", "img"} & outline.seen
    assert "aria-label" in html
    assert "deletion of 3 records" in outline.text
    assert "leavers" in outline.text
    certificate = vault.certificate()
    for text in (*certificate.does_not_cover, *(claim.words for claim in certificate.claims)):
        assert text in outline.text


def test_the_card_escapes_what_it_shows(vault: efface.Vault) -> None:
    text = vault.certificate().to_json().replace('"leavers"', '"<b>&"')
    html = efface.Certificate(text)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;" in html


def test_the_card_of_a_test_says_so(people: People, tmp_path: Path) -> None:
    vault = efface.Vault.train(tmp_path / "m.efface", people.X, people.y, settings={"seed": 1})
    certificate = vault.certificate()
    assert certificate.not_for_release
    assert "Not for release" in certificate._repr_html_()
    assert "not for release" in repr(certificate)
    assert certificate.verify(key=vault.public_key, vault=vault.path).outcome == "fails"

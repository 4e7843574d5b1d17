"""The life of a vault from Python."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from conftest import People

import efface

SEED = {"seed": 3}


def trained(people: People, path: Path, **settings: Any) -> efface.Vault:
    return efface.Vault.train(path, people.X, people.y, settings=settings or None, **people.named())


def test_train_delete_and_verify(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    assert vault.status()["records"] == 120
    foretold = vault.preview(subjects=["who-3"])
    receipt = vault.delete(subjects=["who-3"])
    assert (receipt.version, receipt.remaining, receipt.replayed) == (2, 117, False)
    assert foretold["records"] == receipt.certificate.records == 3
    verdict = receipt.certificate.verify(key=vault.public_key, vault=vault.path, head=receipt.head)
    assert verdict, str(verdict)
    assert vault.verify(key=vault.public_key, head=receipt.head)
    again = vault.delete(subjects=["who-3"])
    assert again.replayed
    assert again.certificate == receipt.certificate


def test_rows_are_checked_with_the_key_where_it_is_at_hand(
    people: People, tmp_path: Path, own_key: Path
) -> None:
    vault = trained(people, tmp_path / "m.efface")
    key = vault.public_key
    examined = vault.doctor()
    assert examined, str(examined)
    assert vault.verify(key=key)
    with sqlite3.connect(vault.path) as connection:
        (head,) = connection.execute("SELECT head FROM block").fetchone()
        head, slots = bytearray(head), int.from_bytes(head[:4], "little")
        # The target of the 61st row.
        head[(12 if head[4] & 1 else 8) + (slots + 7) // 8 + 8 * 60] ^= 1
        connection.execute("UPDATE block SET head = ?", (bytes(head),))
    for verdict in (vault.doctor(), vault.verify(key=key), vault.verify(key=key, whole=True)):
        assert verdict.outcome == "fails"
        failed = {check.name: check.reason for check in verdict.checks if check.outcome == "fails"}
        assert "rows 57 to 64 of the vault" in failed["rows"]
    # Without the key the rows are counted, and an examination says that it is not complete.
    own_key.rename(tmp_path / "elsewhere.toml")
    without = efface.Vault(vault.path)
    assert without.verify(key=key)
    assert without.doctor().outcome == "undecided"
    assert not efface.Vault(vault.path, key=tmp_path / "elsewhere.toml").doctor()
    with pytest.raises(efface.InputError, match="nowhere"):
        efface.Vault(vault.path, key=tmp_path / "nowhere.toml").doctor()


def test_a_damaged_vault_still_erases(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    with sqlite3.connect(vault.path) as connection:
        (head,) = connection.execute("SELECT head FROM block").fetchone()
        connection.execute("UPDATE block SET head = ?", (head.replace(b"id-9", b"id-x", 1),))
    with pytest.raises(efface.StorageError, match="`release=False` still erases") as raised:
        vault.delete(subjects=["who-3"])
    assert raised.value.code == "damaged"
    assert "`doctor()` says what" in str(raised.value)
    with pytest.warns(efface.DamagedVaultWarning, match="also erased 8 rows"):
        erasure = vault.erase(subjects=["who-3"])
    assert (erasure.records, erasure.damaged, erasure.missing) == (0, 8, 0)
    assert "was damaged" in str(erasure)
    key = vault.public_key
    assert erasure.verify(key=key, vault=vault.path)
    assert vault.doctor()
    assert vault.verify(key=key)
    # A model in memory goes the same way.
    model = efface.UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    with sqlite3.connect(model.status()["path"]) as connection:
        (head,) = connection.execute("SELECT head FROM block").fetchone()
        head = bytearray(head)
        # The tenth row is no longer present; with it, the eight rows that share its checksum go.
        head[(12 if head[4] & 1 else 8) + 1] ^= 1 << 1
        connection.execute("UPDATE block SET head = ?, rows = rows - 1", (bytes(head),))
    with pytest.warns(efface.DamagedVaultWarning, match="1 row was missing"):
        erased = efface.forget(model, ids="id-3", release=False)
    (entry,) = erased.certificates.values()
    assert isinstance(entry, efface.Erasure)
    assert (entry.records, entry.damaged, entry.missing) == (1, 7, 1)


def test_a_head_is_taken_as_it_is_shown(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    receipt = vault.delete(ids=["id-1"])
    index, digest = vault.status()["head"]
    assert digest == receipt.head
    for head in (f"{index} {digest}", digest.upper(), f"{index} {digest.upper()}"):
        assert vault.verify(key=vault.public_key, head=head, whole=True), head
        assert receipt.certificate.verify(key=vault.public_key, vault=vault.path, head=head)
    assert not vault.verify(key=vault.public_key, head=f"0 {digest}")
    assert not vault.verify(key=vault.public_key, head="0" * 64)
    for head in (digest[:40], "af6b", "", f"x {digest}"):
        with pytest.raises(efface.InputError, match="64 hexadecimal digits"):
            vault.verify(head=head)
        with pytest.raises(efface.InputError, match="`head` must be"):
            receipt.certificate.verify(head=head)


def test_a_request_id_is_served_once(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    first = vault.delete(ids=["id-1"], request_id="leavers")
    second = vault.delete(ids=["id-1"], request_id="leavers")
    assert second.replayed
    assert second.certificate == first.certificate
    with pytest.raises(efface.InputError) as raised:
        vault.delete(ids=["id-2"], request_id="leavers")
    assert raised.value.code == "request-conflict"


def test_add_update_and_refresh(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    more: dict[str, Any] = {"ids": ["new-1", "new-2"], "subjects": ["zoe", "zoe"]}
    receipt = vault.add(people.X[:2], people.y[:2], **more)
    assert (receipt.certificate.kind, receipt.remaining) == ("add", 122)
    receipt = vault.update(people.X[2:4], people.y[2:4], **more)
    assert (receipt.certificate.kind, receipt.remaining) == ("update", 122)
    assert [c.kind for c in vault.certificates] == ["train", "add", "update"]
    with pytest.raises(efface.Refused) as raised:
        vault.add(people.X[:1], people.y[:1], ids=["id-0"], subjects=["x"])
    assert raised.value.code == "duplicate-id"


def test_a_prepared_request_uses_what_was_kept(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface", preprocess="declared", solver="lbfgs")
    assert not vault.status()["prepared"]
    ready = vault.prepare()
    assert (ready["version"], ready["records"], ready["already"]) == (1, 120, False)
    assert vault.prepare()["already"]
    assert vault.status()["prepared"]
    receipt = vault.delete(subjects=["who-3"])
    assert receipt.work is not None
    assert receipt.work["by_kept_hessian"]
    assert receipt.work["passes"] <= 4
    assert not vault.status()["prepared"]
    again = vault.delete(subjects=["who-4"])
    assert again.work is not None
    assert not again.work["by_kept_hessian"]
    steps = trained(people, tmp_path / "n.efface", mechanism="noisy-gd")
    with pytest.raises(efface.Refused, match="without a Hessian"):
        steps.prepare()


def test_refresh_ends_a_count_of_releases(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface", state="secret", releases=2)
    vault.delete(ids=["id-1"])
    with pytest.raises(efface.ReleasesExhausted) as raised:
        vault.delete(ids=["id-3"])
    assert isinstance(raised.value, efface.BudgetExhausted)
    assert vault.refresh().certificate.kind == "refresh"
    assert vault.delete(ids=["id-3"]).remaining == 118


def test_weights_predict(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface", seed=1, **{"lambda": 0.01})
    coef, intercept, about = vault.weights()
    assert coef.shape == (1, 4)
    assert intercept.shape == (1,)
    assert about["classes"] == ["0", "1"]
    assert about["names"] == people.names
    assert about["not_for_release"] is True
    right = ((people.X @ coef[0] + intercept[0] > 0) == people.y).mean()
    assert right > 0.8


def test_arrays_of_any_layout_give_the_same_model(people: People, tmp_path: Path) -> None:
    narrow = people.X.astype(np.float32)
    layouts: dict[str, Any] = {
        "double": narrow.astype(np.float64),
        "single": narrow,
        "fortran": np.asfortranarray(narrow),
        "strided": np.repeat(narrow, 2, axis=1)[:, ::2],
        "list": narrow.tolist(),
        "big-endian": narrow.astype(">f4"),
    }
    learnt = set()
    for name, X in layouts.items():
        efface.Vault.train(tmp_path / name, X, people.y, settings=SEED)
        coef, intercept, _ = efface.Vault(tmp_path / name).weights()
        learnt.add(coef.tobytes() + intercept.tobytes())
    assert len(learnt) == 1


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_rows(people: People, tmp_path: Path, kind: str) -> None:
    dense = np.where(np.abs(people.X) > 0.2, people.X, 0.0)
    rows = scipy.sparse.csr_array(dense).asformat(kind)
    settings = {**SEED, "preprocess": "declared"}
    vault = efface.Vault.train(tmp_path / "m.efface", rows, people.y, settings=settings)
    coef, _, about = vault.weights()
    assert about["sparse"] is True
    other = efface.Vault.train(tmp_path / "d.efface", dense, people.y, settings=settings)
    np.testing.assert_allclose(coef, other.weights()[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["no", "yes"], ["no", "yes"]),
        ([False, True], ["0", "1"]),
        ([10, 9], ["9", "10"]),
        ([0.5, 2.0], ["0.5", "2"]),
    ],
)
def test_classes_keep_their_names(
    people: People, tmp_path: Path, y: list[Any], classes: list[str]
) -> None:
    labels = np.asarray(y)[people.y]
    vault = efface.Vault.train(tmp_path / "m.efface", people.X, labels)
    assert vault.weights()[2]["classes"] == classes


def test_the_command_line_and_python_share_a_vault(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    again = efface.Vault(tmp_path / "m.efface")
    again.delete(ids=["id-7"])
    assert vault.status()["version"] == 2


def test_export_is_noted(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    exported = json.loads(vault.export("json"))
    assert exported["coef"] == vault.weights()[0].tolist()
    assert [entry["kind"] for entry in vault.entries()] == ["train", "export"]
    assert "<html" in vault.report()


def test_unknown_names_refuse_all(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface")
    with pytest.raises(efface.UnknownRecord, match="`id-999`") as record:
        vault.delete(ids=["id-1", "id-999"])
    assert record.value.code == "unknown-record"
    assert isinstance(record.value, KeyError)
    assert not str(record.value).startswith("'")
    with pytest.raises(efface.UnknownSubject, match="`nobody`"):
        vault.delete(subjects=["nobody"])
    assert vault.status()["records"] == 120


def test_a_missing_and_a_taken_vault(people: People, tmp_path: Path) -> None:
    with pytest.raises(efface.VaultMissing):
        efface.Vault(tmp_path / "none.efface")
    trained(people, tmp_path / "m.efface")
    with pytest.raises(efface.VaultExists):
        trained(people, tmp_path / "m.efface")


def test_hints_speak_of_parameters(people: People, tmp_path: Path) -> None:
    with pytest.raises(efface.Refused) as raised:
        efface.Vault.train(
            tmp_path / "m.efface", people.X, people.y, ids=["same"] * 120, settings=SEED
        )
    assert raised.value.code == "duplicate-id"
    assert raised.value.hint is not None
    assert "`ids`" in raised.value.hint
    assert "--" not in raised.value.hint


def test_settings_are_checked(people: People, tmp_path: Path) -> None:
    with pytest.raises(efface.InputError, match="unknown field `epsilom`"):
        trained(people, tmp_path / "m.efface", epsilom=1)
    with pytest.raises(efface.InputError, match="`epsilon`"):
        trained(people, tmp_path / "m.efface", epsilon=-1)
    assert not (tmp_path / "m.efface").exists()


def test_bad_rows_are_refused(people: People, tmp_path: Path) -> None:
    def refused(X: Any, y: Any = people.y) -> str:
        with pytest.raises(efface.InputError) as raised:
            efface.Vault.train(tmp_path / "m.efface", X, y, settings={"preprocess": "declared"})
        return raised.value.message

    holed = people.X.copy()
    holed[4, 2] = np.nan
    assert refused(holed) == "X[4], column `x2`: numbers must be finite, got NaN"
    assert refused(people.X[:, 0]).startswith("`X` must have 2 axes")
    assert refused(people.X.astype(str)).startswith("`X` must contain numbers")
    assert refused(people.X, people.y[:-1]) == "y: 119 rows, but the features have 120"
    assert refused(people.X, np.array([1, "a", None] * 40, dtype=object)).startswith("`y` must")


def test_importing_is_light() -> None:
    program = "import sys, efface; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not {"numpy", "sklearn", "scipy", "pandas"} & set(loaded)

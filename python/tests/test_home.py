"""Private vaults: made for one model, removed when nobody refers to them."""

from __future__ import annotations

import copy
import gc
import importlib.util
import os
import pickle
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from conftest import People

import efface
from efface import _engine
from efface._settings import to_json
from efface._table import table
from efface._vault import Home, default_key, key_of


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("EFFACE_SCRATCH", str(tmp_path))


def trained(people: People) -> Home:
    home = Home.make_private()
    rows = table(people.X, people.y, ids=people.ids)
    _engine.train(rows, to_json(None), home.path, home.key)
    return home


def test_a_private_folder_is_for_its_owner_alone() -> None:
    home = Home.make_private()
    assert home.private
    assert stat.S_IMODE(home.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(home.key.stat().st_mode) == 0o600


def test_the_last_reference_takes_the_folder_away(people: People) -> None:
    home = trained(people)
    other, folder = copy.deepcopy(home), home.path.parent
    assert other is home
    del home
    gc.collect()
    assert folder.exists()
    del other
    gc.collect()
    assert not folder.exists()


def test_the_end_of_the_process_takes_the_folder_away(tmp_path: Path) -> None:
    program = (
        f"import os; os.environ['EFFACE_SCRATCH'] = {str(tmp_path)!r}\n"
        "from efface._vault import Home\n"
        "home = Home.make_private()\n"
        "print(home.path.parent.exists())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert not list(tmp_path.glob("efface-*"))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_leaves_the_folder(people: People) -> None:
    home = trained(people)
    child = os.fork()
    if child == 0:
        home.discard()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    home.check()


def test_pickling_leaves_the_vault_private_and_warns_once(people: People) -> None:
    home = trained(people)
    path = home.path
    with pytest.warns(efface.UnsavedWarning, match=r"`save\(\)` the model before"):
        text = pickle.dumps(home)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.dumps(home)
    assert (home.path, home.private) == (path, True)
    assert str(people.X[0, 0]).encode() not in text
    assert pickle.loads(text) is home
    del home
    gc.collect()
    assert pickle.loads(text).path.exists()  # until the end of the process
    code = "import pickle, sys; print(len(pickle.loads(sys.stdin.buffer.read()).weights()))"
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True)
    assert done.stdout.split() == [b"3"]
    assert path.exists()


def test_what_failed_to_be_pickled_or_was_hashed_leaves_nothing(tmp_path: Path) -> None:
    code = """
import io, pickle, sys, warnings
import joblib, numpy as np
from efface import UnlearningClassifier
warnings.simplefilter("ignore")

class Full(io.RawIOBase):
    def writable(self): return True
    def write(self, data): raise OSError("no room")

X = np.random.default_rng(0).normal(size=(90, 3))
ways = [
    lambda m: pickle.dumps((m, lambda: 0)),
    lambda m: pickle.dump(m, Full()),
    lambda m: joblib.dump([m, lambda: 0], Full()),
    joblib.hash,
    pickle.dumps,
]
if "dask" in sys.argv:
    import dask.base
    ways.append(dask.base.tokenize)
for way in ways:
    try:
        way(UnlearningClassifier().fit(X, X[:, 0] > 0))
    except Exception as error:
        print(type(error).__name__)
"""
    known = ["dask"] if importlib.util.find_spec("dask") else []
    done = subprocess.run(
        [sys.executable, "-c", code, *known],
        capture_output=True,
        text=True,
        env={**os.environ, "EFFACE_SCRATCH": str(tmp_path), "TMPDIR": str(tmp_path)},
    )
    assert (done.returncode, len(done.stdout.split())) == (0, 3), done.stderr
    assert [name for name in tmp_path.rglob("*efface*") if name.name != "config"] == []


@pytest.mark.parametrize("way", ["joblib.hash", "dask.base.tokenize"])
def test_a_hash_is_no_pickle(people: People, way: str) -> None:
    module, _, name = way.rpartition(".")
    compute = getattr(pytest.importorskip(module), name)
    model = efface.UnlearningClassifier().fit(people.X, people.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", efface.UnsavedWarning)
        assert compute(model)


def test_moving_brings_vault_and_key(people: People, tmp_path: Path) -> None:
    home = trained(people)
    folder = home.path.parent
    home.move(tmp_path / "kept.efface")
    assert not folder.exists()
    assert not home.private
    assert stat.S_IMODE((tmp_path / "kept.key.toml").stat().st_mode) == 0o600
    vault = efface.Vault(tmp_path / "kept.efface")
    assert vault.delete(ids=["id-3"]).remaining == 119
    home.move(tmp_path / "again.efface")
    assert not (tmp_path / "kept.efface").exists()
    assert home.key == tmp_path / "kept.key.toml"
    _engine.delete(home.path, home.key, ids=["id-4"])


def test_another_process_may_save_the_vault_with_its_key(people: People, tmp_path: Path) -> None:
    home = trained(people)
    with pytest.warns(efface.UnsavedWarning):
        text = pickle.dumps(home)
    code = "import pickle, sys; pickle.loads(sys.stdin.buffer.read()).move(sys.argv[1])"
    saved = tmp_path / "saved.efface"
    subprocess.run([sys.executable, "-c", code, str(saved)], input=text, check=True)
    assert efface.Vault(saved).delete(ids=["id-3"]).certificate.records == 1
    with pytest.raises(efface.VaultMissing):
        home.check()


def test_nothing_is_overwritten(people: People, tmp_path: Path) -> None:
    home = trained(people)
    for taken in ("a.efface", "b.key.toml"):
        (tmp_path / taken).write_text("mine")
    for name in ("a.efface", "b.efface"):
        with pytest.raises(efface.VaultExists):
            home.move(tmp_path / name)
    with pytest.raises(efface.InputError, match="not a folder"):
        home.move(tmp_path / "none" / "c.efface")
    home.check()
    assert home.private
    assert not (tmp_path / "b.efface").exists()
    assert (tmp_path / "a.efface").read_text() == "mine"


def test_a_vault_that_is_gone_is_named(people: People) -> None:
    home = trained(people)
    home.path.unlink()
    with pytest.raises(efface.VaultMissing, match="no longer exists") as raised:
        home.check()
    assert isinstance(raised.value, OSError)
    assert "fit again" in str(raised.value)


def test_the_key_follows_the_rules_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_key() == tmp_path / "config" / "key.toml"
    monkeypatch.setenv("EFFACE_KEY", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/cfg")
    assert default_key() == Path("/cfg/efface/key.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/a")
    assert default_key() == Path("/home/a/.config/efface/key.toml")
    monkeypatch.delenv("HOME")
    with pytest.raises(efface.InputError):
        default_key()
    vault = tmp_path / "m.efface"
    assert key_of(vault, "own.toml") == Path("own.toml")
    (tmp_path / "m.key.toml").write_text("")
    assert key_of(vault) == tmp_path / "m.key.toml"


def test_the_state_of_a_home_is_two_paths(people: People, tmp_path: Path) -> None:
    home = trained(people)
    home.move(tmp_path / "m.efface")
    state = home.__getstate__()
    assert state == {"path": str(home.path), "key": str(home.key)}
    again = Home.__new__(Home)
    again.__setstate__(state)
    assert (again.path, again.key, again.private) == (home.path, home.key, False)
    with again.lock:
        again.check()


@pytest.mark.filterwarnings("ignore::efface.UnsavedWarning", "ignore::efface.RowsCopiedWarning")
@pytest.mark.parametrize("rows", [False, True])
def test_skops_writes_what_a_pickle_has(people: People, rows: bool) -> None:
    skops = pytest.importorskip("skops.io")
    model = efface.UnlearningClassifier(pickle_rows=rows).fit(people.X, people.y)
    data = skops.dumps(model)
    again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert (again.predict(people.X) == model.predict(people.X)).all()
    assert again.certificate_ == model.certificate_
    assert again.forget(ids="row:3").records == 1

"""Models that nobody saved: in the memory of the process until something needs their vault."""

from __future__ import annotations

import copy
import gc
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import joblib
import numpy as np
import pytest
from conftest import People, copies
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import efface
from efface import Declared, UnlearningClassifier, UnlearningRegressor, _engine, _scratch

LIMIT = "the memory of the process that trained"

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for private vaults."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setenv("EFFACE_SCRATCH", str(place))
    return place


def files(place: Path) -> list[Path]:
    return list(place.rglob("*"))


def limits(model: UnlearningClassifier) -> list[str]:
    listed: list[str] = json.loads(model.certificate_.to_json())["scope"]["does_not_cover"]
    return [limit for limit in listed if limit.startswith(LIMIT)]


def test_what_is_fitted_and_used_makes_no_file(people: People, place: Path) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    model.predict(people.X)
    model.score(people.X, people.y)
    model.sync()
    copy.deepcopy(model).predict_proba(people.X)
    clone(model).fit(people.X, people.y)
    assert model.certificate_.version == 1
    assert len(limits(model)) == 1
    assert model.coef_.shape == (1, people.X.shape[1])
    UnlearningRegressor(preprocess=Declared(target_range=(0, 1))).fit(people.X, people.y)
    cross_val_score(UnlearningClassifier(), people.X, people.y, cv=3)
    assert files(place) == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.forget(ids="id-3"),
        lambda model: model.vault_,
        lambda model: model.status(),
        lambda model: model.verify(),
        lambda model: model.prepare(),
        joblib.hash,
    ],
)
def test_who_asks_for_the_vault_makes_it(
    people: People, place: Path, ask: Callable[[UnlearningClassifier], object]
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    before, coef = model.certificate_, model.coef_
    ask(model)
    assert len(list(place.rglob("*.efface"))) == 1
    vault = model.vault_
    assert vault.certificate(0).to_json() == before.to_json()
    assert vault.verify(key=vault.public_key, whole=True)
    assert model.verify()
    if len(model.certificates_) == 1:
        assert np.array_equal(model.coef_, coef)
        model.forget(ids="id-3")
    assert limits(model) == []
    assert model.status()["records"] == len(people.ids) - 1
    del model, vault
    assert files(place) == []


def test_saving_makes_the_vault_where_it_is_to_stay(
    people: People, place: Path, tmp_path: Path
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    coef = model.coef_
    model.save(tmp_path / "kept.efface")
    assert files(place) == []
    assert not model.status()["private"]
    again = UnlearningClassifier.load(tmp_path / "kept.efface")
    assert np.array_equal(again.coef_, coef)
    assert again.certificate_ == model.certificate_
    assert again.forget(ids="id-3").records == 1
    with pytest.warns(efface.StaleModelWarning):
        model.predict(people.X)


def test_a_model_that_cannot_be_saved_is_as_it_was(
    people: People, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    for taken in ("a.efface", "b.key.toml"):
        (tmp_path / taken).write_text("mine")
    for name in ("a.efface", "b.efface"):
        with pytest.raises(efface.VaultExists):
            model.save(tmp_path / name)
    with pytest.raises(efface.InputError, match="not a folder"):
        model.save(tmp_path / "none" / "c.efface")
    assert (tmp_path / "b.key.toml").read_text() == "mine"

    # Whoever takes the name after it was looked at keeps it, and so does the owner of a key.
    home = model._home
    assert home._model is not None
    with pytest.raises(efface.StorageError):
        home._save(home._model, tmp_path / "a.efface", tmp_path / "a.key.toml")
    assert not (tmp_path / "a.key.toml").exists()
    with pytest.raises(efface.StorageError):
        home._save(home._model, tmp_path / "b.efface", tmp_path / "b.key.toml")
    assert (tmp_path / "b.key.toml").read_text() == "mine"
    assert not (tmp_path / "b.efface").exists()

    monkeypatch.setenv("EFFACE_SCRATCH", str(tmp_path / "gone"))
    with pytest.raises(efface.InputError, match="must be a folder"):
        model.forget(ids="id-3")
    assert home.unsaved
    monkeypatch.setenv("EFFACE_SCRATCH", str(place))
    assert model.forget(ids="id-3").records == 1
    model.save(tmp_path / "c.efface")


def test_a_vault_that_finds_no_room_leaves_the_model(people: People, place: Path) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(efface.StorageError):
            model.forget(ids="id-3")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert model._home.unsaved
    assert list(place.rglob("*.efface*")) == []
    assert model.forget(ids="id-3").records == 1


def test_rows_that_memory_has_no_room_for_are_in_a_file_at_once(
    people: People, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_scratch, "_available", lambda: 16 << 20)
    model = UnlearningClassifier().fit(people.X, people.y)
    assert len(list(place.rglob("*.efface"))) == 1
    assert limits(model) == []
    limited = UnlearningClassifier(memory="1GiB").fit(people.X, people.y)
    assert len(list(place.rglob("*.efface"))) == 2
    assert limits(limited) == []
    del model, limited
    assert files(place) == []


def test_where_free_memory_is_unknown_little_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> int:
        raise FileNotFoundError

    monkeypatch.setattr(_scratch, "_available", unknown)
    assert _scratch.holds(1 << 20)
    assert not _scratch.holds(1 << 30)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_refers_to_the_vault_of_its_parent(people: People, place: Path) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    child = os.fork()
    if child == 0:
        model.forget(ids="id-3")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.warns(efface.StaleModelWarning):
        model.predict(people.X)
    assert model.sync().status()["records"] == len(people.ids) - 1
    del model
    assert files(place) == []


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_without_the_vault_refuses(
    people: People, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    monkeypatch.setenv("EFFACE_SCRATCH", str(tmp_path / "gone"))
    child = os.fork()
    if child == 0:
        model.predict(people.X)
        os.environ["EFFACE_SCRATCH"] = str(place)
        refused = 0
        for ask in (lambda: model.forget(ids="id-3"), lambda: model.save(tmp_path / "m.efface")):
            try:
                ask()
            except efface.StorageError as error:
                refused += "forked from" in str(error)
        os._exit(5 + refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert not list(tmp_path.glob("m.*"))
    monkeypatch.setenv("EFFACE_SCRATCH", str(place))
    assert model.forget(ids="id-3").records == 1


def test_an_interrupted_fit_leaves_the_model_before(
    people: People, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    before = model._home

    def stop(*_: object, **__: object) -> _engine.Unsaved:
        raise KeyboardInterrupt

    monkeypatch.setattr(_engine, "train_unsaved", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(people.X, people.y)
    assert model._home is before
    assert model.forget(ids="id-3").records == 1
    assert len(list(place.rglob("*.efface"))) == 1


PROGRAM = """
import sys, warnings
import numpy as np, efface
warnings.simplefilter("ignore")
X = (np.random.default_rng(5).normal(size=(3000, 24)) / 40).astype(np.float32)
y = np.where(X[:, 0] > 0, "a", "b")
model = efface.UnlearningClassifier(preprocess=sys.argv[1]).fit(X, y)
X[:] = 0
del X, y
print("fitted", flush=True)
for line in sys.stdin:
    print(model.forget(line.strip()).records, flush=True)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="has memory overwritten by glibc")
@pytest.mark.parametrize("preprocess", ["declared", "fitted"])
def test_rows_are_in_memory_until_the_vault_is_made(preprocess: str, place: Path) -> None:
    """Where blocks of memory are overwritten as they are freed, what is found is what is held."""
    X = (np.random.default_rng(5).normal(size=(3000, 24)) / 40).astype(np.float32)
    gone, stays = X[7].tobytes(), X[2000].tobytes()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, preprocess],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "fitted\n"
            assert (copies(process.pid, gone), copies(process.pid, stays)) == (1, 1)
            assert files(place) == []
            process.stdin.write("row:7\n")
            process.stdin.flush()
            assert process.stdout.readline() == "1\n"
            assert (copies(process.pid, gone), copies(process.pid, stays)) == (0, 0)
            (vault,) = place.rglob("*.efface")
            assert gone not in vault.read_bytes()
            assert stays in vault.read_bytes()
            process.stdin.close()
        finally:
            process.kill()


@pytest.mark.parametrize("way", ["save", "forget"])
def test_an_interrupt_behind_the_saving_loses_nothing(
    people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    home, real = model._home, cast("_engine.Unsaved", model._home._model)

    class Interrupted:
        """As the engine does it, with the interrupt that the engine puts off until it is done."""

        saved = property(lambda _: real.saved)

        def write_key(self, key: Path) -> None:
            real.write_key(key)

        def save(self, vault: Path) -> None:
            real.save(vault)
            raise KeyboardInterrupt

    monkeypatch.setattr(home, "_model", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path / "m.efface") if way == "save" else model.forget(ids="id-3")
    assert not home.unsaved
    assert model.status()["private"] is (way == "forget")
    assert model.status()["records"] == len(people.ids)
    assert model.forget(ids="id-3").records == 1


def test_a_vault_keeps_the_private_folder_it_is_in(people: People) -> None:
    vault = UnlearningClassifier().fit(people.X, people.y).vault_
    gc.collect()
    assert vault.delete(ids=["row:3"]).remaining == 119
    other, folder = copy.deepcopy(vault), vault.path.parent
    del vault
    gc.collect()
    assert other.status()["records"] == 119
    del other
    gc.collect()
    assert not folder.exists()

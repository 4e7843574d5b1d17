"""Vaults that nobody saved: in memory, gone with their models, whoever made them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
import pytest
from conftest import People
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier

import efface
from efface import UnlearningClassifier, _scratch
from efface._vault import Home


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for private vaults, which workers have, too."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setenv("EFFACE_SCRATCH", str(place))
    # Workers that an earlier test left would know another folder.
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)
    yield place
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)


def vaults(place: Path) -> list[Path]:
    return list(place.rglob("*.efface"))


def folders(place: Path) -> list[Path]:
    return list(place.glob("efface-*/*"))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_models_of_workers_come_with_their_vaults_and_leave_nothing(
    people: People, own_folder: Path, backend: str
) -> None:
    y = people.X[:, :3].argmax(axis=1)
    with joblib.parallel_config(backend=backend):
        model = OneVsRestClassifier(UnlearningClassifier(), n_jobs=2).fit(people.X, y)
    assert len(vaults(own_folder)) == 3
    for one in model.estimators_:
        assert one.status()["private"]
        assert one.forget(ids="row:5").records == 1
        assert one.verify()
    del model, one
    assert vaults(own_folder) == folders(own_folder) == []


def test_searches_with_workers_leave_nothing(people: People, own_folder: Path) -> None:
    cross_val_score(UnlearningClassifier(), people.X, people.y, n_jobs=2, cv=4)
    for _ in range(100):  # workers let go of their last model after they told its score
        time.sleep(0.1 if vaults(own_folder) else 0)
    assert vaults(own_folder) == []
    kept = cross_validate(
        UnlearningClassifier(), people.X, people.y, n_jobs=2, cv=3, return_estimator=True
    )
    assert len(vaults(own_folder)) == 3
    assert all(one.status()["private"] for one in kept["estimator"])
    del kept
    assert folders(own_folder) == []


@pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")
def test_a_fitted_model_goes_to_workers_and_stays_its_owners(
    people: People, own_folder: Path
) -> None:
    bag = BaggingClassifier(UnlearningClassifier(), n_estimators=4, n_jobs=2, random_state=0)
    bag.fit(people.X, people.y).predict(people.X)
    assert len(vaults(own_folder)) == 4
    for one in bag.estimators_:
        assert one.status()["private"]
        one.forget(ids="row:3")
    model = UnlearningClassifier().fit(people.X, people.y)
    (back,) = joblib.Parallel(n_jobs=2)([joblib.delayed(_passed)(model)])
    assert back._home is model._home
    assert joblib.hash(model)
    assert model.status()["private"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_a_fork_sends_back_stays_its_parents(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    monkeypatch.setattr(sys.modules[__name__], "_inherited", model, raising=False)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        back = pool.apply(_of_the_parent)
    assert back._home is model._home
    assert model.forget(ids="row:1").records == 1
    assert model.status()["private"]


def _of_the_parent() -> UnlearningClassifier:
    model: UnlearningClassifier = sys.modules[__name__]._inherited
    return model


def test_rows_that_pickles_may_hold_are_moved_and_not_copied_between_workers(
    people: People, own_folder: Path
) -> None:
    y = people.X[:, :3].argmax(axis=1)
    model = OneVsRestClassifier(UnlearningClassifier(pickle_rows=True), n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(people.X, y)
    assert len(vaults(own_folder)) == 3
    assert {one.status()["records"] for one in model.estimators_} == {120}


def test_a_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EFFACE_SCRATCH", "/nowhere/at/all")
    with pytest.raises(efface.InputError, match="`\\$EFFACE_SCRATCH` must be a folder"):
        Home.make_private()


def _passed(model: UnlearningClassifier) -> UnlearningClassifier:
    return model


KILLED = """
import os, sys
import numpy as np
from efface import UnlearningClassifier
X = np.random.default_rng(0).normal(size=(50, 3)) / 4
model = UnlearningClassifier().fit(X, (X[:, 0] > 0).astype(int))
if len(sys.argv) > 1 and os.fork() == 0:
    os.close(1)
    sys.stdin.read()
    os._exit(0)
print(model.status()["path"], flush=True)
sys.stdin.read()
"""


def killed(*arguments: str) -> tuple[Path, subprocess.Popen[str]]:
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", KILLED, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    path = Path(child.stdout.readline().strip())
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    return path, child


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks on this system")
def test_what_a_killed_process_left_is_removed_by_the_next(own_folder: Path) -> None:
    path, child = killed()
    assert child.stdin is not None
    child.stdin.close()
    assert path.exists()
    foreign = own_folder / "efface-mine"
    foreign.mkdir()
    (foreign / "notes").write_text("mine")
    program = "from efface._vault import Home; Home.make_private()"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert not path.exists()
    assert (foreign / "notes").read_text() == "mine"
    assert [folder.name for folder in own_folder.iterdir()] == ["efface-mine"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.skipif(os.name != "posix", reason="there are no such locks on this system")
def test_a_fork_that_lives_keeps_the_folder_of_its_dead_parent(own_folder: Path) -> None:
    path, child = killed("fork")
    program = "from efface._vault import Home; Home.make_private()"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert path.exists()
    assert child.stdin is not None
    child.stdin.close()
    for _ in range(200):
        subprocess.run([sys.executable, "-c", program], check=True)
        if not path.exists():
            break
    assert not path.exists()
    assert list(own_folder.iterdir()) == []


def test_rows_on_a_disk_are_overwritten_before_they_go(people: People, tmp_path: Path) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    path, kept = model.status()["path"], tmp_path / "kept"
    descriptor = os.open(path, os.O_RDONLY)
    row = people.X[50].astype(np.float32).tobytes()
    assert row in path.read_bytes()
    del model
    assert not path.exists()
    assert row not in os.pread(descriptor, 1 << 22, 0)
    os.close(descriptor)
    other = UnlearningClassifier().fit(people.X, people.y)
    kept.hardlink_to(other.status()["path"])  # a name that the user gave it is the user's
    del other
    assert row in kept.read_bytes()


def test_vaults_are_in_memory_where_there_is_room(
    people: People, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory, disk = tmp_path / "shm", tmp_path / "tmp"
    memory.mkdir()
    disk.mkdir()
    monkeypatch.delenv("EFFACE_SCRATCH")
    monkeypatch.setattr(_scratch, "_MEMORY", memory)
    monkeypatch.setattr("tempfile.tempdir", str(disk))
    monkeypatch.setattr(_scratch, "_free", lambda: 64 << 20)
    model = UnlearningClassifier().fit(people.X, people.y)
    assert memory in model.status()["path"].parents
    large = Home.make_private(8 << 20)
    assert disk in large.path.parents


@pytest.mark.skipif(not os.access(_scratch._MEMORY, os.W_OK), reason="no folder is in memory")
def test_what_moves_from_memory_to_a_disk_is_moved_and_not_copied(
    people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir=_scratch._MEMORY) as memory:
        if Path(memory).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("the tests' folder is in memory, too")
        monkeypatch.setenv("EFFACE_SCRATCH", memory)
        model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
        old = model.status()["path"]
        descriptor = os.open(old, os.O_RDONLY)
        row = people.X[50].astype(np.float32).tobytes()
        assert row in os.pread(descriptor, 1 << 22, 0)
        model.save(tmp_path / "kept.efface")
        assert not old.exists()
        assert row not in os.pread(descriptor, 1 << 22, 0)
        os.close(descriptor)
        assert list(Path(memory).glob("efface-*/*")) == []
        path = model.status()["path"]
        left = {file.name for file in path.parent.iterdir() if file.is_file()}
        assert left == {path.name, model._home.key.name}
        receipt = efface.Vault(path, key=model._home.key).delete(ids="id-3")
        assert "moved" not in [notice.code for notice in receipt.notices]
        assert "place" not in [known["name"] for known in receipt.certificate.assumptions]

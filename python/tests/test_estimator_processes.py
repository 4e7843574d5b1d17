"""Interrupts, forks, threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import People

import efface
from efface import UnlearningClassifier

# A child that says when the work has begun, is interrupted, and says what it then has.
CHILD = """
import signal, sys
import numpy as np
import efface
from efface import UnlearningClassifier, _engine, _estimator

what, folder = sys.argv[1:]
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 40)) / 10
y = (X[:, 0] > 0).astype(int)
long = efface.NoisyGD(steps=1000000, removal_steps=1000000)
slow = dict(mechanism=long, lambda_=1e-4)
quick = dict(slow, mechanism=efface.NoisyGD(steps=1000, removal_steps=1000000))
model = UnlearningClassifier(**quick).fit(X, y)
coef, vault = model.coef_, model.status()["path"]

def begun(phase, *rest):
    if phase == "learning":
        print("begun", flush=True)

_estimator.shown = lambda verbose, title: __import__("contextlib").nullcontext(begun)
try:
    if what == "fit":
        model.set_params(**slow).fit(X[:, :20], y)
    else:
        model.forget(ids=["row:7"])
except KeyboardInterrupt:
    status = model.status()
    same = model.coef_ is coef and status["path"] == vault and status["version"] == 1
    print("as before" if same and status["records"] == 3000 else "changed", flush=True)
    folders = __import__("pathlib").Path(folder).glob("efface-*/*")
    print(len(list(folders)), flush=True)
"""


@pytest.mark.parametrize("what", ["fit", "forget"])
def test_an_interrupt_leaves_everything_as_it_was(what: str, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, what, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "EFFACE_SCRATCH": str(tmp_path)},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGINT)
    said = [line for line in child.communicate(timeout=300)[0].splitlines() if line != "begun"]
    assert said == ["as before", "1"]
    assert child.returncode == 0
    assert list(tmp_path.glob("efface-*")) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_predicts_and_forgets(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    expected = model.predict(people.X)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            same = np.array_equal(model.predict(people.X), expected)
            code = 0 if same and model.forget(ids=["row:0"]).records == 1 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.warns(efface.StaleModelWarning):
        assert model.status()["records"] == 119
    assert len(model.certificates_) == 1
    model.forget(ids=["row:1"])
    assert [c.kind for c in model.certificates_] == ["train", "delete", "delete"]


def test_threads_take_turns(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    failures: list[BaseException] = []

    def forget(part: int) -> None:
        try:
            for row in range(part, 40, 4):
                assert model.forget(ids=f"row:{row}").records == 1
                model.predict(people.X)
        except BaseException as error:  # shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=forget, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert model.status()["records"] == 80
    assert len(model.certificates_) == 41
    assert model.vault_.verify(key=model.vault_.public_key)


def test_progress_is_shown_when_asked_for(
    people: People, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: dict[str, Any] = {"mechanism": efface.NoisyGD(steps=300_000), "lambda_": 1e-4}
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    UnlearningClassifier(verbose=1, **steps).fit(people.X, people.y)
    assert "fit: learning" in capsys.readouterr().err
    UnlearningClassifier().fit(people.X, people.y)
    assert capsys.readouterr().err == ""
    monkeypatch.undo()
    pytest.importorskip("tqdm")
    UnlearningClassifier(verbose=2, **steps).fit(people.X, people.y)
    assert "fit: learning" in capsys.readouterr().err

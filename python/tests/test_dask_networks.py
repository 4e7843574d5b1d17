"""Networks on Dask collections: the bits of one vault, whoever holds the rows."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import holds_for_the_second_verifier
from dask.distributed import Client, LocalCluster
from numpy.typing import NDArray

import efface
from efface.dask import DaskUnlearningClassifier, InProcess, _reach, _worker
from efface.dask._parts import Parts

# What Dask says when it is over, and when a worker is killed, is not what is tested.
pytestmark = pytest.mark.filterwarnings("default")

CHUNKS = (150, 90, 0, 210)
ROWS = sum(CHUNKS)
# Seconds that a worker may take to be there.
WAIT = 120
STEPS = 30


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = str(tmp_path_factory.mktemp("workers"))
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=folder
        ) as two,
        Client(two) as client,
    ):
        yield client


def numbers() -> NDArray[np.float64]:
    return np.random.default_rng(4).normal(size=(ROWS, 4)) / 4


def labels() -> NDArray[np.int64]:
    x = numbers()
    return (x[:, 0] * x[:, 1] > 0).astype(np.int64)


def table() -> tuple[Any, Any]:
    """Features and classes, in partitions of which one is empty."""
    return da.from_array(numbers(), chunks=(CHUNKS, 4)), da.from_array(labels(), chunks=(CHUNKS,))


def people(partitions: int) -> Any:
    """A frame with persons of three records each."""
    frame = pd.DataFrame(numbers(), columns=list("abcd"))
    frame["y"] = labels()
    frame["who"] = [f"who-{row // 3:03}" for row in range(ROWS)]
    return dd.from_pandas(frame, npartitions=partitions)


def settings(**own: Any) -> dict[str, Any]:
    kind = efface.DPSGD(network="dense:6", steps=STEPS, rate=0.2, deletions=3, **own)
    return {"mechanism": kind, "random_state": 7, "epsilon": 2.0}


def fitted(client: Any, **own: Any) -> DaskUnlearningClassifier:
    model: DaskUnlearningClassifier = DaskUnlearningClassifier(client=client, **settings(**own))
    return model.fit(*table())


def stated(certificate: Any) -> tuple[Any, ...]:
    """What a certificate says of the model and the promise."""
    # The digest of the plan covers where the rows are.
    constants = [constant for constant in certificate.constants if constant["name"] != "plan"]
    return certificate.event, certificate.claims, constants, certificate.records


def steps(monkeypatch: pytest.MonkeyPatch, kill_at: int = 0) -> list[int]:
    """Count steps that are asked for, and kill the worker of the first part in one of them."""
    asked: list[int] = []
    for kind in (_reach.Cluster, _reach._Here):
        start = kind.start

        def counted(self: Any, work: Any, given: Any, *rest: Any, start: Any = start) -> None:
            start(self, work, given, *rest)
            if work is _worker.clipped:
                asked.append(len(given))
                if len(asked) == kill_at:
                    worker = self._jobs[0].worker
                    os.kill(self._client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)

        monkeypatch.setattr(kind, "start", counted)
    return asked


def test_workers_give_the_network_of_one_table(
    workers: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = efface.UnlearningClassifier(**settings()).fit(numbers(), labels())
    adam = {"optimizer": "adam", "average": 0.5}
    other = efface.UnlearningClassifier(**settings(**adam)).fit(numbers(), labels())
    assert np.array_equal(fitted(workers, **adam).coef_, other.coef_)
    asked = steps(monkeypatch)
    for client in (workers, InProcess()):
        model = fitted(client)
        # All parts are asked in every step, also where nothing is drawn from them.
        assert asked == [len(CHUNKS)] * STEPS
        assert np.array_equal(model.coef_, one.coef_)
        assert stated(model.certificate_) == stated(one.certificate_)
        assert model.receipt_.work == one.receipt_.work
        asked.clear()
        certificate = model.forget(ids=["row:0", "row:449"])
        assert certificate.records == 2
        assert np.array_equal(model.coef_, one.coef_)
        assert not asked, "a deletion computes nothing"
        assert model.status()["deletions_left"] == 1
        with pytest.raises(efface.BudgetExhausted, match="was chosen for 3"):
            model.forget(ids=["row:1", "row:2"])
        assert model.refresh().kind == "refresh"
        assert len(asked) == STEPS
        assert (model.status()["deletions_left"], model.status()["records"]) == (3, ROWS - 2)
        assert not np.array_equal(model.coef_, one.coef_)
        asked.clear()


def test_certificates_verify_and_say_what_is_trusted(workers: Client, tmp_path: Path) -> None:
    model = DaskUnlearningClassifier(client=workers, **{**settings(), "random_state": None})
    certificate = model.fit(*table()).forget(ids=["row:7"])
    vault = model.vault_
    assert certificate.verify(key=vault.public_key, vault=vault.path)
    assert vault.verify(key=vault.public_key)
    stated = {a["name"]: a["value"] for a in certificate.assumptions}
    assert "keeps secret which of them a step draws" in stated["parts"]
    limits = certificate.does_not_cover
    assert any("worker processes that hold them took part" in limit for limit in limits)
    holds_for_the_second_verifier(certificate, vault.public_key, tmp_path)


def test_a_worker_killed_in_a_step_is_asked_for_the_same_again(
    workers: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = fitted(InProcess())
    workers.wait_for_workers(2, timeout=WAIT)
    asked = steps(monkeypatch, kill_at=5)
    model = fitted(workers)
    assert len(asked) == STEPS, "no step was drawn anew"
    assert np.array_equal(model.coef_, calm.coef_)


def test_predictions_are_promised_and_those_of_the_table() -> None:
    X, _ = table()
    model = fitted(InProcess())
    one = efface.UnlearningClassifier(**settings()).fit(numbers(), labels())
    assert model.predict(X).compute().tolist() == one.predict(numbers()).tolist()
    assert np.array_equal(model.predict_proba(X).compute(), one.predict_proba(numbers()))
    assert model.to_local().predict(numbers()).tolist() == one.predict(numbers()).tolist()


def test_subjects_are_units_where_each_is_in_one_partition() -> None:
    whole, halves = people(3), people(4)
    here = whole.compute()
    features = list("abcd")
    one = efface.UnlearningClassifier(**settings())
    one.fit(here[features], here["y"], subjects=here["who"])
    model = DaskUnlearningClassifier(client=InProcess(), **settings())
    model.fit(whole[features], whole["y"], subjects=whole["who"])
    assert np.array_equal(model.coef_, one.coef_)
    assert stated(model.certificate_) == stated(one.certificate_)
    assert model.certificate_.event["unit"] == "subject"
    assert model.forget(subjects="who-004").records == 3
    assert model.status()["deletions_left"] == 2
    with pytest.raises(efface.Refused, match="some records of a subject"):
        model.forget(ids=["row:0"])
    model.refresh()
    assert model.status()["deletions_left"] == 3

    with pytest.raises(efface.Refused, match="both have records of one subject") as refused:
        model.fit(halves[features], halves["y"], subjects=halves["who"])
    assert "shuffle" in str(refused.value)
    apart = halves.shuffle(on="who", shuffle_method="tasks")
    model.fit(apart[features], apart["y"], subjects=apart["who"])
    here = apart.compute()
    one.fit(here[features], here["y"], subjects=here["who"])
    assert np.array_equal(model.coef_, one.coef_)
    assert model.forget(subjects="who-004").records == 3
    records = DaskUnlearningClassifier(client=InProcess(), **settings(unit="record"))
    records.fit(halves[features], halves["y"], subjects=halves["who"])
    assert records.certificate_.event["unit"] == "record"


def test_what_no_honest_part_tells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = _worker.clipped
    told: list[Any] = []

    def first(*given: Any) -> Any:
        told.append(honest(*given))
        return told[0] if len(told) > len(CHUNKS) else told[-1]

    def huge(*given: Any) -> Any:
        step, part, units, sums = honest(*given)
        return step, part, units, sums + 2**40

    for broken, words in [(first, "answers for step 0"), (huge, "longer than its clipped")]:
        monkeypatch.setattr(_worker, "clipped", broken)
        with pytest.raises(efface.StorageError, match=words):
            fitted(InProcess())


def test_nothing_says_who_was_drawn(workers: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    end = Parts.end

    def ended(self: Any) -> None:
        before = len(self._reach._started[1])
        end(self)
        kept.append(before - len(CHUNKS) + len(self._reach._started[1]) + len(self._reach._jobs))

    monkeypatch.setattr(Parts, "end", ended)
    fitted(workers)
    assert kept == [0] * STEPS
    rows = np.array([41, 97], dtype=np.uint32)
    step = _worker.Step(3, 1, np.zeros(2, dtype=np.float32), rows, rows)
    assert repr(step) == "Step(number=3, part=1)"


def test_a_failed_step_leaves_no_vault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EFFACE_SCRATCH", str(tmp_path))
    take = _reach._Here.take

    def fail(self: Any, index: int) -> Any:
        if self._started[0] is _worker.clipped and index == 3:
            raise RuntimeError("the network is down")
        return take(self, index)

    monkeypatch.setattr(_reach._Here, "take", fail)
    model = DaskUnlearningClassifier(client=InProcess(), **settings())
    with pytest.raises(RuntimeError, match="the network is down"):
        model.fit(*table())
    assert not hasattr(model, "coef_")
    assert not list(tmp_path.rglob("*.efface"))


def test_shards_are_refused_in_words() -> None:
    kind = efface.Shards(shards=2, network="dense:4")
    model = DaskUnlearningClassifier(client=InProcess(), mechanism=kind)
    with pytest.raises(efface.Refused, match=r"`shards`.*partitions that return only sums"):
        model.fit(*table())

"""Estimators on Dask collections: the same bits wherever the rows are, and nothing left of some."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import holds_for_the_second_verifier
from dask.distributed import Client
from dask_tables import CHUNKS, ROWS, SETTINGS, cluster, fitted, labels, numbers, outcome, table
from sklearn.base import clone

import efface
from efface import Declared, Promise
from efface.dask import (
    DaskUnlearningClassifier,
    DaskUnlearningRegressor,
    InProcess,
    _reach,
    _worker,
)

# What Dask says when it is over, and when a worker is killed, is not what is tested.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with cluster(tmp_path_factory.mktemp("workers")) as two, Client(two) as client:
        yield client


def people(partitions: int = 3) -> Any:
    """A frame with ids and persons of three records each."""
    frame = pd.DataFrame(numbers(), columns=list("abcd"))
    frame["y"] = np.where(labels(), "yes", "no")
    frame["id"] = [f"id-{row}" for row in range(ROWS)]
    frame["who"] = [f"who-{row // 3}" for row in range(ROWS)]
    return dd.from_pandas(frame, npartitions=partitions)


@pytest.mark.parametrize("settings", SETTINGS)
def test_workers_give_the_bits_of_one_process(workers: Client, settings: dict[str, Any]) -> None:
    far, here = (fitted(client, random_state=7, **settings) for client in (workers, InProcess()))
    assert np.array_equal(far.coef_, here.coef_)
    assert np.array_equal(far.intercept_, here.intercept_)
    assert outcome(far) == outcome(here)
    for model in (far, here):
        assert model.forget(ids=["row:0", "row:149", "row:449"]).records == 3
    assert outcome(far) == outcome(here)


def test_tasks_of_two_requests_do_not_move_a_part_under_each_other() -> None:
    """Dask cannot stop a task that runs, so one may outlive its request."""
    model = fitted(InProcess())
    (part, *_) = cast("Any", model._parts._reach)._parts
    weights = np.linspace(-1, 1, model.n_features_in_ + 1)
    states = [_worker.State(withdrawn=np.array([row])) for row in (5, 9)]

    def sums(number: int) -> bytes:
        return _worker.compute(part, states[number % 2], "totals", weights, None).tobytes()

    alone = [sums(0), sums(1)]
    assert alone[0] != alone[1]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(sums, range(400)))
    assert together == alone * 200


def test_all_that_a_failed_request_withdrew_comes_back() -> None:
    parts = fitted(InProcess())._parts
    before = parts.sizes()
    part = np.zeros(1, dtype=np.int64)
    with parts.request(lambda: 1):
        for row in (3, 5):
            parts.withdraw(part, np.array([row]))
        assert parts.sizes()[0] == before[0] - 2
    assert parts.sizes() == before
    parts.sweep()


def test_a_copy_keeps_its_parts_when_the_other_fits_anew() -> None:
    model = fitted(InProcess())
    other = copy.deepcopy(model)
    model.fit(*table())
    assert other.forget(ids=["row:3"]).records == 1
    assert model.forget(ids=["row:3"]).records == 1


def test_parts_that_come_back_with_other_rows_are_refused() -> None:
    model = fitted(InProcess())
    held = cast("Any", model._parts._reach)._parts
    held[0], held[3] = held[3], held[0]
    with pytest.raises(efface.StorageError, match="different rows than before"):
        model.forget(ids=["row:200"])
    assert model.status()["records"] == ROWS
    held[0], held[3] = held[3], held[0]
    assert model.forget(ids=["row:200"]).records == 1


def test_certificates_verify_and_say_who_took_part(workers: Client, tmp_path: Path) -> None:
    model = fitted(workers)
    certificate = model.forget(ids=["row:7"])
    vault = model.vault_
    assert certificate.verify(key=vault.public_key, vault=vault.path)
    assert vault.verify(key=vault.public_key)
    stated = {a["name"]: a["value"] for a in certificate.assumptions}
    assert "in 4 partitions outside the vault" in stated["parts"]
    limits = certificate.does_not_cover
    assert any("worker processes that hold them took part" in limit for limit in limits)
    holds_for_the_second_verifier(certificate, vault.public_key, tmp_path)


def test_frames_with_ids_and_people(workers: Client) -> None:
    frame = people()
    features = list("abcd")
    model = DaskUnlearningClassifier(client=workers, mechanism=efface.Solve(solver="newton"))
    model.fit(frame[features], frame["y"], ids=frame["id"], subjects=frame["who"])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == features
    certificate = model.forget(subjects=["who-3", "who-70"])
    assert certificate.records == 6
    assert model.forget(subjects="who-3") == certificate
    with pytest.raises(efface.UnknownSubject):
        model.forget(subjects="nobody")
    with pytest.raises(efface.UnknownRecord, match="`id-9999`"):
        model.forget(ids=["id-0", "id-9999"])
    assert model.status()["records"] == ROWS - 6
    lazy = model.predict(frame[features])
    assert isinstance(lazy, da.Array)
    local = model.to_local()
    here = frame.compute()
    assert np.array_equal(lazy.compute(), local.predict(here[features]))
    shares = model.predict_proba(frame[features]).compute()
    assert np.allclose(shares, local.predict_proba(here[features]))
    assert np.array_equal(model.predict(here[features]), local.predict(here[features]))
    assert local.score(here[features], here["y"]) > 0.8


def test_the_model_is_that_of_the_whole_table_but_for_rounding() -> None:
    X, y = table()
    x = numbers()
    parameters: dict[str, Any] = {"random_state": 7, "promise": Promise(excess_risk=1e-9)}
    parameters["lambda_"] = 0.01
    parted = DaskUnlearningClassifier(client=InProcess(), **parameters).fit(X, y)
    whole = efface.UnlearningClassifier(preprocess="declared", **parameters).fit(x, labels())
    # The same noise on optima that are each within tau, rounded to the grid.
    constants = {c["name"]: c["value"] for c in whole.certificate_.constants}
    allowed = 2 * float(constants["distance"]) + 1e-9
    apart = np.append(parted.coef_ - whole.coef_, parted.intercept_ - whole.intercept_)
    assert np.linalg.norm(apart) <= allowed
    assert parted.predict(X).compute().tolist() == whole.predict(x).tolist()


def test_regression(workers: Client) -> None:
    X, _ = table()
    y = 20 + 40 * X[:, 0]
    with pytest.warns(efface.NotCoveredWarning, match="computed from the data"):
        DaskUnlearningRegressor(client=InProcess()).fit(X, y)
    quiet: dict[str, Any] = {
        "preprocess": Declared(target_range=(-60, 100)),
        "promise": Promise(excess_risk=1e-6),
        "random_state": 3,
    }
    far, here = (
        DaskUnlearningRegressor(client=client, **quiet).fit(X, y)
        for client in (workers, InProcess())
    )
    assert np.array_equal(far.coef_, here.coef_)
    assert far.forget(ids=["row:9"]).records == here.forget(ids=["row:9"]).records == 1
    predicted = far.predict(X)
    assert np.allclose(predicted.compute(), far.to_local().predict(numbers()))
    assert far.to_local().score(numbers(), y.compute()) > 0.95


def mapped(pid: int) -> Iterator[bytes]:
    """The memory that a process may write to, region by region."""
    process = Path("/proc", str(pid))
    with (process / "maps").open() as maps, (process / "mem").open("rb", 0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            if "w" not in rights or "[v" in line:
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            memory.seek(start)
            try:
                yield memory.read(end - start)
            except OSError:
                continue


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of another process")
def test_neither_memory_nor_spill_hold_a_trace_of_an_erased_row(tmp_path: Path) -> None:
    # Rows come as float64 and are stored as float32: what is looked for is ours alone.
    rows = np.random.default_rng(8).normal(size=(300, 24)) / 24
    X = da.from_array(rows, chunks=(100, 24))
    y = da.from_array(np.arange(300) % 2, chunks=100)
    marks = {row: rows[row].astype(np.float32).tobytes() for row in (0, 99, 150, 299)}

    def found(pid: int) -> list[int]:
        regions = list(mapped(pid))
        return [row for row, mark in marks.items() if any(mark in region for region in regions)]

    def spilled(dask_worker: Any) -> list[str]:
        """Have a worker spill all that it can."""
        for _ in list(dask_worker.data.fast):
            dask_worker.data.evict()
        return [str(key) for key in dask_worker.data.slow if "make-" in str(key)]

    with cluster(tmp_path, 1) as one, Client(one) as client:
        model = DaskUnlearningClassifier(client=client).fit(X, y)
        (pid,) = client.run(os.getpid).values()
        assert list(client.run(spilled).values()) == [[]]
        assert found(pid) == list(marks)
        model.forget(ids=[f"row:{row}" for row in marks])
        assert found(pid) == []
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(mark in file for mark in marks.values() for file in files)
        vault = model.vault_.path.read_bytes()
        assert not any(mark in vault for mark in marks.values())


def test_parts_are_never_pickled() -> None:
    model = fitted(InProcess())
    part = cast("Any", model._parts._reach)._parts[0]
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="stay in the memory"):
            copied(part)


def test_a_failed_request_brings_back_what_it_withdrew(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(InProcess(), mechanism="noisy-gd", lambda_=0.05)
    sizes, version = model._parts.sizes(), model.certificate_.version
    take = _reach._Here.take

    def fail(self: Any, index: int) -> Any:
        if self._started[0] is _worker.compute and index == 3:
            raise RuntimeError("the network is down")
        return take(self, index)

    with monkeypatch.context() as broken:
        broken.setattr(_reach._Here, "take", fail)
        with pytest.raises(RuntimeError, match="the network is down"):
            model.forget(ids=["row:0", "row:449"])
    assert (model._parts.sizes(), model.certificate_.version) == (sizes, version)
    assert model.forget(ids=["row:0", "row:449"]).records == 2
    assert model._parts.sizes() == [149, 90, 0, 209]
    assert [c.version for c in model.certificates_] == [1, 2]


def test_an_interrupt_is_heard_while_workers_are_waited_for(tmp_path: Path) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        # Nobody is there to make the parts, so this would wait for ever.
        with cluster(tmp_path, 0) as nobody, Client(nobody) as client:
            model = DaskUnlearningClassifier(client=client, classes=[0, 1])
            signal.alarm(2)
            with pytest.raises(KeyboardInterrupt):
                model.fit(*table())
            assert not hasattr(model, "coef_")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_inputs_that_do_not_fit_are_refused(workers: Client) -> None:
    X, y = table()
    model = DaskUnlearningClassifier(client=workers)
    frame = people()
    twice = frame["id"].map(lambda name: "id-5" if name == "id-300" else name, meta=("id", object))
    with pytest.raises(efface.DuplicateRecord, match="duplicate id `id-5`"):
        model.fit(frame[list("abcd")], frame["y"], ids=twice)
    with pytest.raises(efface.InputError, match=r"must be a Dask array.*UnlearningClassifier"):
        model.fit(X.compute(), y)
    with pytest.raises(efface.InputError, match="`y` has 449"):
        model.fit(X, y[1:])
    with pytest.raises(efface.InputError, match="as many partitions as `X`, 3, got 2"):
        model.fit(frame[list("abcd")], people(2)["y"])
    holed = da.where(da.arange(ROWS, chunks=(CHUNKS,))[:, None] == 151, np.nan, X)
    with pytest.raises(efface.InputError, match=r"partition 1: .*finite"):
        model.fit(holed, y)
    narrow = [
        dask.delayed(part)[columns]
        for part, columns in zip(
            frame.to_delayed(), (list("abcd"), list("abdc"), list("abcd")), strict=True
        )
    ]
    mixed = dd.from_delayed(narrow, meta=frame[list("abcd")]._meta, verify_meta=False)
    with pytest.raises(efface.InputError, match=r"partition 1: .*column 3 is `d`"):
        model.fit(mixed, frame["y"])
    with pytest.raises(efface.InputError, match="at least 2 classes"):
        model.fit(X, da.zeros_like(y))
    with pytest.raises(efface.InputError, match="not among the model's classes: 1"):
        DaskUnlearningClassifier(client=workers, classes=[0, 2]).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("distributed.default_client", _no_client)
        with pytest.raises(efface.InputError, match="there is no Dask client"):
            DaskUnlearningClassifier().fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.warns(
        efface.RowsClippedWarning, match=r"exceeded `Declared\(row_norm=...\)` 1 and"
    ):
        DaskUnlearningClassifier(client=InProcess()).fit(100 * X, y)


def _no_client() -> Any:
    raise ValueError("No clients found")


def test_a_closed_client_is_named(tmp_path: Path) -> None:
    with cluster(tmp_path, 1) as one, Client(one) as client:
        model = fitted(client)
    with pytest.raises(efface.InputError, match="Dask client of this estimator is closed"):
        model.fit(*table())


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("argument", ["y", "ids", "subjects", "sample_weight"])
def test_what_belongs_to_rows_has_their_index_in_each_partition(argument: str, known: bool) -> None:
    frame = people().compute().set_index("id").sort_index()
    frame["weight"] = 1.0 + np.arange(ROWS) % 2
    frame["name"] = frame.index
    named = {"y": "y", "ids": "name", "subjects": "who", "sample_weight": "weight"}

    def fit(**others: Any) -> Any:
        whole = dd.from_pandas(frame, npartitions=3)
        if not known:
            whole = whole.clear_divisions()
        given = {part: whole[name] for part, name in named.items()} | others
        model = DaskUnlearningClassifier(
            client=InProcess(), random_state=0, promise=Promise(max_weight=2.0)
        )
        return model.fit(whole[list("abcd")], **given)

    column = frame[named[argument]]
    for wrong in (column.iloc[::-1], column.set_axis([f"x{row:03}" for row in range(ROWS)])):
        given = dd.from_pandas(wrong, npartitions=3, sort=False)
        with pytest.raises(
            efface.InputError, match=f"partition 0: `X` and `{argument}` have different indexes"
        ) as told:
            fit(**{argument: given})
        assert "to_dask_array" in str(told.value.hint)
    model = fit()
    array = dd.from_pandas(column, npartitions=3).to_dask_array(lengths=True)
    assert np.array_equal(fit(**{argument: array}).coef_, model.coef_)
    assert model.forget(subjects="who-7").records == 3
    X = dd.from_pandas(frame[list("abcd")], npartitions=3)
    with pytest.raises(efface.InputError, match="different indexes"):
        model.score(X, dd.from_pandas(frame.y.iloc[::-1], npartitions=3, sort=False))


def test_an_index_names_the_records_unless_it_counts_in_each_partition() -> None:
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    numbers_of = np.random.default_rng(3).permutation(ROWS)
    frame = pd.DataFrame(numbers(), columns=list("abcd"), index=pd.Index(numbers_of, name="id"))
    y = pd.Series(labels(), index=frame.index)
    far = dd.from_pandas(frame, npartitions=3, sort=False)
    model = DaskUnlearningClassifier(client=InProcess(), random_state=0)
    model.fit(far, dd.from_pandas(y, npartitions=3, sort=False))
    one = efface.UnlearningClassifier(random_state=0).fit(frame, y)
    for model_of in (model, one):
        assert model_of.forget(ids=int(numbers_of[7])).records == 1
        with pytest.raises(efface.UnknownRecord):
            model_of.forget(ids="row:7")
    model.fit(
        da.from_array(numbers(), chunks=(150, 4)), dd.from_pandas(y, npartitions=3, sort=False)
    )
    assert model.forget(ids=int(numbers_of[7])).records == 1
    counting = [frame[at : at + 150].reset_index(drop=True) for at in range(0, ROWS, 150)]
    pieces = dd.from_map(lambda at: counting[at], range(3), meta=counting[0])
    model.fit(pieces, da.from_array(labels(), chunks=150))
    with pytest.raises(efface.Refused, match="row:7"):
        model.forget(ids=7)
    assert model.forget(ids="row:7").records == 1
    twice = dd.from_pandas(frame.set_index(numbers_of // 2), npartitions=3, sort=False)
    with pytest.raises(efface.DuplicateRecord, match="the index of `X` cannot name") as refused:
        model.fit(twice, da.from_array(labels(), chunks=150))
    assert "reset_index(drop=True)" in str(refused.value)


def test_what_needs_rows_is_refused_by_name() -> None:
    refused: list[dict[str, Any]] = [
        {"mechanism": "distributed-descent", "promise": Promise(releases=9)},
        {
            "promise": Promise(state="secret", releases=9),
            "mechanism": efface.Solve(solver="newton"),
        },
    ]
    for parameters in refused:
        with pytest.raises(efface.Refused, match="partitions that return only sums"):
            fitted(InProcess(), **parameters)
    ridge = DaskUnlearningRegressor(
        client=InProcess(), mechanism="ridge", preprocess=Declared(target_range=(0, 1))
    )
    with pytest.raises(efface.Refused, match=r"`ridge`.*partitions that return only sums"):
        ridge.fit(*table())
    model = fitted(InProcess())
    for request in (model.add, model.update):
        with pytest.raises(efface.Refused, match="a model on Dask"):
            request(*table())
    with pytest.raises(efface.Refused, match="not in its vault"):
        model.to_local().forget(ids=["row:1"])
    with pytest.raises(efface.Refused, match="not in its vault"):
        model.vault_.delete(ids=["row:1"])


def test_estimators_are_cloned_copied_and_pickled_without_their_client() -> None:
    process = InProcess()
    model = fitted(process, lambda_=0.01)
    again = clone(model)
    assert (again.client, again.lambda_, hasattr(again, "coef_")) == (process, 0.01, False)
    assert copy.deepcopy(model).client is process
    assert "client" in model.get_params()
    with pytest.warns(efface.UnsavedWarning):
        data = pickle.dumps(model)
    loaded = pickle.loads(data)
    assert np.array_equal(loaded.coef_, model.coef_)
    with pytest.raises(efface.Refused, match="cannot reach"):
        loaded.forget(ids=["row:1"])


def test_secret_states_are_refreshed_from_the_parts() -> None:
    model = fitted(
        InProcess(),
        mechanism=efface.DescentToDelete(variant="secret"),
        promise=Promise(releases=2),
        lambda_=0.1,
    )
    model.forget(ids=["row:1"])
    with pytest.raises(efface.ReleasesExhausted):
        model.forget(ids=["row:2"])
    assert model.refresh().kind == "refresh"
    assert model.forget(ids=["row:2"]).records == 1


def test_nothing_is_prepared_for_rows_in_parts() -> None:
    model = fitted(InProcess())
    with pytest.raises(efface.Refused, match="in parts elsewhere"):
        model.prepare()
    assert model.forget(ids=["row:1"]).records == 1


def test_rows_are_erased_without_a_release() -> None:
    model = fitted(InProcess())
    before = model.status()["records"]
    assert model.forget(ids=["row:3", "row:4"], release=False).records == 2
    with pytest.raises(efface.ModelWithdrawn):
        model.predict(numbers())
    assert model.forget(ids="row:5", release=False).records == 1
    assert model.status()["records"] == before - 3
    assert model.refresh().kind == "refresh"
    assert model._parts is not None and sum(model._parts.sizes()) == before - 3
    assert model.forget(ids="row:6").records == 1


def test_persisted_collections_are_taken_as_they_are(workers: Client) -> None:
    X, y = workers.persist(list(table()))
    model = DaskUnlearningClassifier(client=workers, random_state=7).fit(X, y)
    assert np.array_equal(model.coef_, fitted(InProcess(), random_state=7).coef_)


def test_weights_are_those_of_the_rows() -> None:
    x, y = table()
    turns = np.tile([0.0, 1.0, 3.0], ROWS // 3)
    fine: dict[str, Any] = {"promise": Promise(max_weight=3, noise=1e-8), "lambda_": 0.1}
    weights = da.from_array(turns, chunks=(CHUNKS,))
    model = DaskUnlearningClassifier(client=InProcess(), **fine)
    model.fit(x, y, sample_weight=weights)
    one = efface.UnlearningClassifier(preprocess="declared", **fine)
    one.fit(numbers(), labels(), sample_weight=turns)
    for heavy in ([], ["row:2", "row:151", "row:449"]):
        if heavy:
            assert model.forget(ids=heavy).records == one.forget(ids=heavy).records == 3
        assert np.allclose(model.coef_, one.coef_, atol=1e-6)
    vault = model.vault_
    assert model.certificate_.verify(key=vault.public_key, vault=vault.path)
    listed = {c["name"]: c["value"] for c in model.certificate_.constants}
    assert (listed["max-weight"], listed["n"]) == ("3", str(int(turns.sum())))
    bad = turns.copy()
    bad[200] = -1
    with pytest.raises(efface.InputError, match="partition 1: `sample_weight`"):
        model.fit(x, y, sample_weight=da.from_array(bad, chunks=(CHUNKS,)))
    with pytest.raises(efface.InputError, match="`X` has 450 rows and `sample_weight` has 449"):
        model.fit(x, y, sample_weight=da.from_array(turns[:-1], chunks=100))
    with pytest.raises(efface.Refused, match="a record has weight 3"):
        model.set_params(promise__max_weight=2).fit(x, y, sample_weight=weights)
    with pytest.warns(efface.NotCoveredWarning, match="largest sample weight, 3"):
        model.set_params(promise__max_weight=None).fit(x, y, sample_weight=weights)


def test_what_needs_one_table_is_refused() -> None:
    X, whole = da.from_array(numbers(), chunks=(CHUNKS, 4)), np.arange(ROWS)
    several = da.from_array(np.column_stack([whole, whole]), chunks=(CHUNKS, 2))
    frame = dd.from_pandas(pd.DataFrame({"a": whole, "b": ["x"] * ROWS}), npartitions=2)
    model = DaskUnlearningRegressor(client=InProcess())
    with pytest.raises(efface.InputError, match="one target each, got 2 columns"):
        model.fit(X, several)
    with pytest.raises(efface.InputError, match="the column `b` of `X`; preprocessing"):
        model.fit(frame, frame["a"])

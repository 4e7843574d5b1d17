"""The estimators."""

from __future__ import annotations

import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _engine, _serialization
from .._columns import taken, without
from .._erasure import Erasure
from .._errors import InputError, Refused, fitting
from .._estimator import Unlearner
from .._notices import warn_of
from .._parameters import DaskClassifierParameters, DaskRegressorParameters, name_of
from .._progress import shown
from .._settings import settings_of, start_of, to_json
from .._table import name_of_label
from .._vault import Home, limit_of
from ..certificate import Certificate
from ..classifier import UnlearningClassifier, gives_probabilities
from ..regressor import UnlearningRegressor
from ._blocks import Collections, index_of, naming_by
from ._parts import Parts
from ._reach import Cluster, InProcess, Reach
from ._worker import people, survey, weigh

if TYPE_CHECKING:
    from typing_extensions import Self


class _OnWorkers(Unlearner, ABC):
    """The base of both estimators: they have parts in the place of rows."""

    client: Any

    def fit(
        self, X: Any, y: Any, ids: Any = None, subjects: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train on Dask collections and make a new vault, which holds no features.

        Parameters
        ----------
        X : Dask array (rows, features) or dataframe
            Finite numbers. Each partition becomes a part in the memory of one worker.
        y : Dask array or series (rows,)
            Targets, in the partitions of `X`. Unless classes or range are declared, they are
            computed once more for them.
        ids : str, Dask array, series or index (rows,), optional
            What names each record for :meth:`forget`, distinct over all partitions: the name of a
            column of `X`, which is then not learnt from, or one value for each row. By default the
            index of a dataframe `X`, or series `y`, unless it merely counts rows; then, and
            where there is none, row K in the order of the partitions, from 0, is ``row:K``.
        subjects : str, Dask array, series or index (rows,), optional
            Whom each record belongs to; then all records of a person can be forgotten at once.
        sample_weight : str, Dask array or series (rows,), optional
            How often each record counts, 0 or more, in the partitions of `X`. The largest and the
            sum are computed once more, for ``max_weight`` and ``public_n`` of `Promise`.

        Returns
        -------
        self
            The fitted estimator. If anything fails or is interrupted, it is as it was before.
        """
        return super().fit(X, y, ids, subjects, sample_weight)

    def add(self, *_: Any, **__: Any) -> Certificate:
        """Refuse: records cannot be added to parts yet; fit anew."""
        raise Refused(
            "records cannot be added to a model on Dask",
            code="in-parts",
            hint="fit again on all of them",
        )

    def update(self, *_: Any, **__: Any) -> Certificate:
        """Refuse: records cannot be changed in parts; forget them, or fit again."""
        raise Refused(
            "records cannot be updated in a model on Dask",
            code="in-parts",
            hint="forget them, or fit again",
        )

    @property
    def client_(self) -> Any:
        """The client in use: the parameter, else Dask's current one."""
        if self.client is not None:
            if getattr(self.client, "status", None) == "closed":
                raise InputError(
                    "the Dask client of this estimator is closed",
                    code="client",
                    hint="give an open one (`set_params(client=...)`) and fit again: the rows "
                    "were lost with the workers of the old one",
                )
            return self.client
        from distributed import default_client

        try:
            return default_client()
        except ValueError:
            raise InputError(
                "there is no Dask client",
                code="client",
                hint="create one (`dask.distributed.Client`), or give `client`",
            ) from None

    def _fit(
        self,
        X: Any,
        y: Any,
        ids: Any,
        subjects: Any,
        sample_weight: Any,
        *,
        grows: bool = False,  # noqa: ARG002 - records cannot be added to parts
    ) -> None:
        self._validate_params()
        client = self.client_
        index = None
        given = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight}
        part = taken(X, given)
        ids, subjects, sample_weight = part.values.values()
        if ids is None and (index := index_of(X, y)) is not None:
            name, ids = index
        collections = Collections(part.X, y, ids, subjects, sample_weight)
        self._columns = part.names
        counts, targets = self._surveyed(client, collections)
        weights = None if sample_weight is None else self._weighed(client, collections)
        whose = None if subjects is None else self._people(client, collections)
        _, declared, settings = self._learn_targets(targets, refits=False)
        settings = {**settings_of(self), **settings}
        settings["face"] = _serialization.written(self, np.float64)
        classes = getattr(self, "classes_", None)
        shape = {
            "records": sum(counts),
            "parts": len(collections.blocks),
            "features": collections.features,
            "names": collections.names,
            "classes": [] if classes is None else [name_of_label(label) for label in classes],
            "classes_given": declared is not None,
            "ids": ids is not None,
            "subjects": subjects is not None,
            "people": whose,
            "weights": weights,
        }
        self.n_features_in_ = collections.features
        self.__dict__.pop("feature_names_in_", None)
        if collections.names is not None:
            self.feature_names_in_ = np.array(collections.names, dtype=object)
        reach: Reach = client.reach() if isinstance(client, InProcess) else Cluster(client)
        parts = Parts(reach, collections.blocks, collections.names, classes)
        del collections
        home = Home.make_private()
        try:
            named = nullcontext() if index is None else naming_by(name)
            with fitting(), named, shown(self.verbose, "fit") as told:
                answer = _engine.train(
                    json.dumps(shape),
                    to_json(settings),
                    home.path,
                    home.key,
                    start=start_of(self),
                    progress=told,
                    parts=parts,
                    memory=limit_of(self.memory),
                )
            parts.settle()
            # Former parts go with their last owner, which a copy of this estimator may be.
            self._parts = parts
            self._settle(home, answer)
        except BaseException:
            parts.release()
            home.discard()
            raise
        warn_of(self.receipt_.notices)

    def _surveyed(self, client: Any, collections: Collections) -> tuple[list[int], NDArray[Any]]:
        """Rows of each block, and targets that hold all classes, or the least and greatest."""
        declared = self._declared_targets()
        if declared is not None and collections.sizes is not None:
            return collections.sizes, declared
        regression = isinstance(self, UnlearningRegressor)
        found = _computed(client, survey, [(b.y, regression) for b in collections.blocks])
        counts = [count for count, _ in found]
        if declared is not None:
            return counts, declared
        targets = [values for count, values in found if count]
        if not targets:
            raise InputError("the collections have no rows", code="empty")
        return counts, np.unique(np.concatenate(targets))

    def _people(self, client: Any, collections: Collections) -> int | None:
        """Return the number of subjects if the plan of the mechanism depends on it."""
        if name_of(self.mechanism) != "dp-sgd":
            return None
        found = _computed(client, people, [(block.subjects,) for block in collections.blocks])
        return len(set().union(*found))

    def _weighed(self, client: Any, collections: Collections) -> dict[str, float]:
        """The largest weight of all, and their sum."""
        columns = [block.weights for block in collections.blocks]
        found = _computed(client, weigh, [(column,) for column in columns])
        largest = max((most for most, _ in found), default=0.0)
        if getattr(self.promise, "max_weight", None) is None and largest > 0:
            self._warn_of_weights(largest)
        return {"largest": largest, "sum": sum(total for _, total in found)}

    @abstractmethod
    def _declared_targets(self) -> NDArray[Any] | None:
        """Targets that the caller named, so that those of the data are not looked at."""

    def _serve(
        self, what: str, request: Any, request_id: str | None, *rows: Any, **names: Any
    ) -> Certificate:
        with self._held() as held:
            return super()._serve(what, request, request_id, *rows, **names, parts=held)

    def _erase(self, request: Any, request_id: str | None, **names: Any) -> Erasure:
        with self._held() as held:
            return super()._erase(request, request_id, **names, parts=held)

    @contextmanager
    def _held(self) -> Iterator[Parts]:
        """The parts, for one request."""
        held, home = self._parts_here(), self._present()

        def served() -> int:  # an erasure makes no version, and an export is no request
            entries = json.loads(_engine.entries(home.path))
            return sum(entry["kind"] != "export" for entry in entries)

        with home.lock, held.request(served):
            yield held

    def sweep(self) -> None:
        """Overwrite what parts that were made again hold of forgotten records.

        Worth calling after a worker was lost: Dask makes its parts again at once, from what their
        sources still hold, and only the next request would see to it otherwise.
        """
        held = self._parts_here()
        with self._present().lock:
            held.sweep()

    def _parts_here(self) -> Parts:
        check_is_fitted(self)
        held: Parts | None = getattr(self, "_parts", None)
        if held is None:
            raise Refused(
                "the rows of this model are on the workers of the process that fitted it, which "
                "this estimator cannot reach",
                code="held-elsewhere",
                hint="call it where the model was fitted",
            )
        return held

    def to_local(self) -> Any:
        """Return an ordinary estimator with this model, for tables in memory.

        Returns
        -------
        UnlearningClassifier or UnlearningRegressor
            Fitted; it predicts, and reads the vault. It cannot forget: the rows are not its.
        """
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        del parameters["client"]
        regression = isinstance(self, UnlearningRegressor)
        local = (UnlearningRegressor if regression else UnlearningClassifier)(**parameters)
        state = {name: value for name, value in self.__dict__.items() if name not in parameters}
        for own in ("client", "_parts", "receipt_"):
            state.pop(own, None)
        local.__dict__.update(state)
        return local

    def _lazily(self, method: str, X: Any, dtype: Any, columns: int | None) -> Any:
        """Promise what a method of the ordinary estimator gives for each block."""
        import dask.array as da

        local = self.to_local()
        X = without(X, list(self._columns.values()))
        # Workers get the weights, not the place of the vault.
        for own in ("_home", "certificates_"):
            local.__dict__.pop(own, None)
        if hasattr(X, "to_dask_array"):
            apply = partial(_applied, model=local, method=method, names=list(X.columns))
            X = X.to_dask_array()
        else:
            apply = partial(_applied, model=local, method=method)
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        # One name for each call: the weights are no part of what Dask would name it by.
        name = f"{method}-{uuid.uuid4().hex}"
        if columns is None:
            return da.map_blocks(apply, X, dtype=dtype, drop_axis=1, name=name)
        chunks = (X.chunks[0], (columns,))
        return da.map_blocks(apply, X, dtype=dtype, chunks=chunks, name=name)

    def __sklearn_clone__(self) -> Self:
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        copies = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(client=client, **copies)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state["client"] = None
        state.pop("_parts", None)
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self.client)] = self.client
        return super().__deepcopy__(memo)


def _computed(client: Any, work: Callable[..., Any], given: list[tuple[Any, ...]]) -> list[Any]:
    import dask

    promised = dask.delayed(work, pure=False)
    promises = [promised(index, *arguments) for index, arguments in enumerate(given)]
    if isinstance(client, InProcess):
        return client.compute(promises)
    return cast("list[Any]", client.gather(client.compute(promises)))


def _applied(block: Any, *, model: Any, method: str, names: list[Any] | None = None) -> Any:
    """Return what a method gives for a block; scikit-learn refuses one without rows."""
    rows = block if len(block) else np.zeros((1, model.n_features_in_))
    if names is not None:
        import pandas as pd

        rows = pd.DataFrame(rows, columns=names)
    return getattr(model, method)(rows)[: len(block)]


def _lazy(method: Callable[..., Any], shape: Callable[[Any], tuple[Any, int | None]]) -> Any:
    """Return a method that promises, for a Dask collection, what the ordinary one gives.

    Parameters
    ----------
    method : function
        Of the ordinary estimator.
    shape : callable
        Type and number of columns of what it returns, for the estimator; None if it has one axis.
    """

    @wraps(method)
    def lazy(self: Any, X: Any) -> Any:
        import dask

        if not dask.is_dask_collection(X):
            return method(self, X)
        check_is_fitted(self)
        return self._lazily(method.__name__, X, *shape(self))

    head, rest = str(method.__doc__).split("\n\n", 1)
    promise = "A Dask collection gives a promise: a Dask array of the same."
    lazy.__doc__ = f"{head}\n\n        {promise}\n\n{rest}"
    return lazy


class DaskUnlearningClassifier(_OnWorkers, DaskClassifierParameters, UnlearningClassifier):
    """A linear classifier, or a network, on Dask collections that forgets records on request.

    Rows stay on the workers: each partition becomes a part in the memory of one worker, where sums
    over its rows are computed. This process adds them up in the order of the partitions, takes the
    steps and draws the noise, once; it never holds a row.

    Parameters
    ----------
    {parameters}

    Notes
    -----
    *Mechanisms.* `mechanism` must be one whose passes are sums over all rows: ``"solve"`` (with
    ``Solve(solver="newton")`` in ``"perfect"`` state only), ``"retrain"``, ``"noisy-gd"`` or
    ``"descent-to-delete"``; or ``"dp-sgd"``, a network.

    *Same partitions, same bits.* The model depends on the partitions and their order, not on how
    many workers there are, which worker holds what, or who was lost on the way.
    ``client=InProcess()`` gives the same model without a cluster. Against one table of the same
    rows a linear model differs by rounding.

    *Networks.* With ``mechanism=DPSGD(...)`` each step tells the workers which of their rows it
    draws; they clip the gradients and return sums of whole numbers, so that the network has the
    bits of one table of the same rows, whatever the partitions. Who is drawn must stay secret:
    workers, scheduler and the network between them are trusted with that as with the rows. A step
    whose worker was lost is asked again for the same rows, never drawn again. Where units are
    subjects, all records of one must be in one partition, as
    ``frame.shuffle(on=..., shuffle_method="tasks")`` puts them, or ``DPSGD(unit="record")`` counts
    records. Further requests delete, and :meth:`refresh` trains anew.

    *What is erased.* :meth:`forget` returns when the records' rows are overwritten in the memory
    of the worker that held them. A part is never pickled: it is not spilled to disk, and not sent
    to another worker, so there is no other copy of it. Parts must fit into memory. The vault,
    beside this process, holds ids, subjects and places of the records, and no features; a deletion
    erases these as in any vault. What is left is the position of the row in its partition, among
    those to be dropped if the part is made again.

    *What is not.* What the parts are made from is yours: files, persisted collections, other
    results of their graph, what Dask spills of these, and memory of a worker that such
    intermediate results left behind; arrays given to ``da.from_array`` are part of the graph, which
    the scheduler keeps. Ids and subjects pass through this process and the workers when the model
    is fitted. A worker that the scheduler gave up on keeps its rows until its process ends.
    Overwrite the record at its source with another valid row: taking it out would shift the rows
    behind it, and parts that are made again would be refused.

    *What is lost with a worker.* Dask makes its parts again from the graph of the collections. Such
    a part holds what its source still gives, forgotten records among it, until the next request or
    :meth:`sweep`, which overwrite these before anything is computed. A fingerprint refuses
    collections that give other rows each time. A request that fails leaves vault and parts as they
    were. Noise is drawn by this process alone, after the pass that it follows, and once for what is
    released.

    A part lives as long as this estimator, its client and their cluster. A pickle, and the
    estimator that :meth:`to_local` returns, predict and cannot forget.

    Examples
    --------
    >>> import dask.array as da
    >>> from efface.dask import DaskUnlearningClassifier, InProcess
    >>> X = da.random.default_rng(1).normal(size=(900, 3), chunks=(300, 3)) / 4
    >>> y = (X[:, 0] > X[:, 1]).astype(int)
    >>> model = DaskUnlearningClassifier(client=InProcess()).fit(X, y)
    >>> model.forget(ids=["row:0", "row:450"]).records
    2
    >>> model.predict(X).compute().shape
    (900,)
    """

    predict = _lazy(UnlearningClassifier.predict, lambda self: (self.classes_.dtype, None))
    decision_function = _lazy(
        UnlearningClassifier.decision_function,
        lambda self: (np.float64, len(self.classes_) if len(self.classes_) > 2 else None),
    )
    predict_proba = available_if(gives_probabilities)(
        _lazy(UnlearningClassifier.predict_proba, lambda self: (np.float64, len(self.classes_)))
    )

    def _declared_targets(self) -> NDArray[Any] | None:
        return None if self.classes is None else np.unique(np.asarray(self.classes))


class DaskUnlearningRegressor(_OnWorkers, DaskRegressorParameters, UnlearningRegressor):
    """A linear regressor on Dask collections that forgets records on request.

    All that is said of :class:`DaskUnlearningClassifier` holds for it.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import dask.array as da
    >>> from efface import Declared
    >>> from efface.dask import DaskUnlearningRegressor, InProcess
    >>> X = da.random.default_rng(1).uniform(-0.5, 0.5, size=(900, 3), chunks=(300, 3))
    >>> declared = Declared(target_range=(0, 40))
    >>> model = DaskUnlearningRegressor(client=InProcess(), preprocess=declared)
    >>> model.fit(X, 20 + 40 * X[:, 0]).forget(ids=["row:7"]).records
    1
    """

    predict = _lazy(UnlearningRegressor.predict, lambda _: (np.float64, None))

    def _declared_targets(self) -> NDArray[Any] | None:
        declared = self._declared_range()
        return None if declared is None else np.asarray(declared)

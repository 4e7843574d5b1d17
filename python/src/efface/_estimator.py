"""The base of all estimators; long because each method has its documentation beside it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _engine, _rows, _serialization
from ._entry import Answer, Request
from ._erasure import Erasure, Withdrawn, answered
from ._errors import Error, InputError, NotCoveredWarning, fitting, warn
from ._extract import agreed, check_same, limits_of, training_of
from ._notices import warn_of
from ._parameters import name_of
from ._progress import shown
from ._published import Published
from ._reading import Reading
from ._settings import start_of, to_json
from ._sync import Following
from ._vault import Home, Rows, carrier, key_of, limit_of, trained
from ._watch import Watch
from .certificate import Certificate
from .vault import Receipt, Vault

if TYPE_CHECKING:
    from typing_extensions import Self


class Unlearner(Following, Reading, BaseEstimator):  # type: ignore[misc]
    """A linear model whose records can be forgotten, in a vault of its own.

    A model that was not saved has its records and a key of its own in the memory of the process.
    Its first request, or access to its vault, makes a private file of them, removed when no
    estimator of this process refers to it any more, at the latest at the end of the process.
    """

    # Whether its records have sample weights.
    _weighted: bool = False

    promise: Any
    memory: str | int | None

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the names of the features that `coef_` has weights for.

        Parameters
        ----------
        input_features : ignored
            There for scikit-learn's sake.

        Returns
        -------
        array of str
            With fitted preprocessing such as ``"age"``, ``"age=missing"`` and ``"work=private"``;
            with random features such as ``"rff:0"``; else the columns of `X`.
        """
        check_is_fitted(self)
        names = self._published.facts["names"]
        if names is None:
            names = [f"x{at}" for at in range(self._published.facts["features"])]
        return np.array(names, dtype=object)

    coef_names_ = property(get_feature_names_out, doc="Names of the features of `coef_`.")

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, of each output: a row for each class, of two classes one.

        Those of numbers are per unit of their column: of a table of numbers that misses none,
        ``X @ coef_.T + intercept_`` is the decision, or the prediction, for each row within
        `row_norm`. Others are per unit of what `get_feature_names_out` names: 0 or 1 of a category
        or a missing value, and of times days in units of their deviation. A regression has them in
        units of `y`: (features,), or (targets, features). Of a network all of its weights, in one
        row.
        """
        return self._shaped(self._fitted("_published", "coef_").per_unit.coef)  # type: ignore[no-any-return]

    @property
    def standardized_coef_(self) -> NDArray[np.float64]:
        """Weights as they are learnt and exported: those of numbers per standard deviation.

        They differ from `coef_` with fitted preprocessing alone. Rows longer than `row_norm` once
        they are standardised are shortened to it, or as `row_map` says.
        """
        return self._shaped(self._fitted("_published", "coef_").coef)  # type: ignore[no-any-return]

    @property
    def intercept_(self) -> Any:
        """The constant that is added to each output, for `coef_`; zeros without an intercept.

        Of a regression it is in units of `y`, the middle of the range of `y` included: a float, or
        an array (targets,).
        """
        return self._shaped(self._fitted("_published", "intercept_").per_unit.intercept)

    def _shaped(self, rows: NDArray[np.float64]) -> Any:
        """Return values of outputs, a row each, in the axes that `y` had."""
        return rows

    def fit(
        self, X: Any, y: Any, ids: Any = None, subjects: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train on a table and make a new vault.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            Finite numbers. Networks also take images: (rows, height, width), or with channels last.
        y : array or series (rows,), or array or data frame (rows, targets)
            Targets; several for a regression with ``mechanism="ridge"``.
        ids : str, or iterable of str or int (rows,), optional
            What names each record for :meth:`forget`: the name of a column of `X`, which is then
            not learnt from, or one value for each row. By default the index of a pandas `X` or
            `y`, or of the frame that a pipeline made `X` from. Where there is none, or one that
            merely counts from 0, row K of `X`, counted from 0, is ``"row:K"``.
        subjects : str, or iterable of str or int (rows,), optional
            Whom each record belongs to, as `ids`; then all records of a person can be forgotten at
            once.
        sample_weight : str, array (rows,) or float, optional
            How often each record counts, 0 or more. A model has weights from here to its end, or
            none; ``Promise(max_weight=...)`` is the most that one may ever have.

        Returns
        -------
        self
            The fitted estimator. If anything fails or is interrupted, it is as it was before.
        """
        with self._or_as_before():
            self.__dict__.pop("_listed", None)
            self._fit(X, y, ids, subjects, sample_weight)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        subjects: Any = None,
    ) -> Self:
        """Train on the first rows, or add rows to the model: :meth:`fit`, then :meth:`add`.

        Each call is a request of its own: the model is solved for again on all of the rows so far,
        starting from the published weights, and published with fresh noise under a certificate
        of its own, as an addition's. So it costs passes over all rows and not over the new ones
        alone, and few calls with many rows are better than many with few. The rows are kept, and
        each of them can be forgotten.

        Constants that :meth:`fit` takes from the data and that are not fitted again come from the
        first rows: with declared preprocessing ``max_weight`` of `Promise`, and of a regression the
        range of `y`. Declare them if the first rows are few. Sums are then divided by the current
        number of rows if ``"solve"`` or ``"retrain"`` leave that open, so that there is no limit to
        the rows; else the limit is ``capacity`` of `Promise`, by default 1.25 times the first rows.

        Parameters
        ----------
        X, y : as for :meth:`fit`
            Rows and targets. Rows without names are numbered on: after 100 rows the next is
            ``"row:100"``.
        classes : array-like (classes,), optional
            Of a classifier all classes that may ever come, in the first call. Needed there unless
            the parameter `classes` lists them, or preprocessing is fitted, where classes come with
            their records: a third one by ``add(..., new_classes=True)``.
        sample_weight : str, array (rows,) or float, optional
            As for :meth:`fit`.
        ids, subjects : str, or iterable of str or int, optional
            As for :meth:`fit` and :meth:`add`.

        Returns
        -------
        self
            The estimator; `certificate_` is the one of this call.
        """
        if self.__sklearn_is_fitted__():
            self._list_classes(classes, first=False)
            self.add(X, y, ids, subjects, sample_weight=sample_weight)
            return self
        with self._or_as_before():
            self._list_classes(classes, first=True)
            self._fit(X, y, ids, subjects, sample_weight, grows=True)
        return self

    def _list_classes(self, classes: Any, *, first: bool) -> None:  # noqa: ARG002
        """Take the classes that a call of `partial_fit` lists, the first or a later one."""
        if classes is not None:
            raise InputError("a regression has no `classes`", code="classes")

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """Take back what was set on the estimator if anything fails."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(
        self, X: Any, y: Any, ids: Any, subjects: Any, sample_weight: Any, *, grows: bool = False
    ) -> None:
        self._validate_params()
        self._training = training_of(getattr(self.promise, "extractor_training", None), X)
        named = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight}
        read = self._read(X, y, named, fresh=True)
        if read.weights is not None and getattr(self.promise, "max_weight", None) is None:
            self._warn_of_weights(float(read.weights.max()))
        refits = self._refits()
        targets, declared, settings = self._learn_targets(read.y, refits=refits)
        settings = {**self._settings(), **settings}
        self._extractor = agreed(settings.get("extractor"), X)
        if self._extractor is not None:
            settings["extractor"] = self._extractor
        if grows and not refits and self._may_divide_by_mean(settings):
            settings["normalizer"] = "mean"
        settings["not_covered"] = [*settings["not_covered"], *limits_of(X)]
        if refits:
            _rows.warn_of_rounding(read.x)
        precision = _rows.precision_of(read.x)
        settings["face"] = _serialization.written(self, precision, refits=refits)
        rows = self._table(read, targets, classes=declared)
        size, memory, start = _rows.size_of(read.x), limit_of(self.memory), start_of(self)
        with fitting(), shown(self.verbose, "fit") as told:
            try:
                home, answer = trained(
                    rows, to_json(settings), size=size, memory=memory, start=start, progress=told
                )
            except Error:
                self._check_finite(read.x, allow_nan=refits)
                raise
        try:
            self._precision, self._weighted = precision, read.weights is not None
            self._settle(home, answer)
        except BaseException:
            home.discard()
            raise
        warn_of(self.receipt_.notices)

    def _settle(self, home: Home, answer: Answer) -> None:
        """Take over a new model and its vault."""
        self._home, self._watch, self._last = home, Watch(), -1
        self.certificates_: list[Certificate] = []
        self.receipt_ = Receipt._of(answer)
        self._catch_up(self.receipt_.certificate, answer[2])

    def _may_divide_by_mean(self, settings: dict[str, Any]) -> bool:
        """Whether sums may be divided by the current number of rows, which then has no limit."""
        usual = ("notion", "normalizer", "capacity", "public_n", "interactions", "state")
        optimum = name_of(self.mechanism) in ("solve", "retrain")
        return optimum and not any(name in settings for name in usual)

    def _weights(self, sample_weight: Any, x: Any) -> NDArray[np.float64] | None:
        """Weights as scikit-learn checks them; the most that one may be, the engine does."""
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, x, dtype=np.float64)
        if (weights < 0).any():
            raise InputError(
                "`sample_weight` must be at least 0, but has negative values", code="data"
            )
        if len(weights) and not weights.any():
            raise InputError(
                "all values of `sample_weight` are zero, so there is nothing to learn from",
                code="weights",
                hint="give at least one record a weight above zero",
            )
        return weights  # type: ignore[no-any-return]

    def _warn_of_weights(self, largest: float) -> None:
        warn(
            f"the largest sample weight, {largest:g}, was computed from the data: it stays when "
            "its record is forgotten, and certificates assume it to be public; declare it with "
            "`promise=Promise(max_weight=...)`",
            NotCoveredWarning,
        )

    @overload
    def forget(
        self,
        names: Any = None,
        /,
        *,
        ids: Any = None,
        subjects: Any = None,
        request_id: str | None = None,
        skip_unknown: bool = False,
        release: Literal[True] = True,
    ) -> Certificate: ...

    @overload
    def forget(
        self,
        names: Any = None,
        /,
        *,
        ids: Any = None,
        subjects: Any = None,
        request_id: str | None = None,
        skip_unknown: bool = False,
        release: Literal[False],
    ) -> Erasure: ...

    def forget(
        self,
        names: Any = None,
        /,
        *,
        ids: Any = None,
        subjects: Any = None,
        request_id: str | None = None,
        skip_unknown: bool = False,
        release: bool = True,
    ) -> Certificate | Erasure:
        """Delete records, or all records of subjects, from the model and its vault.

        The request is served as a whole or not at all. Names that were forgotten before give the
        certificate from then again.

        Parameters
        ----------
        names : str, int or iterable of them, positional
            Ids, of a model without subjects: ``forget(["a", "b"])``. With subjects, say which.
        ids, subjects : str, int or iterable of them
            One of them.
        request_id : str, optional
            A name for the request, under which it is served once; it must not contain an id or a
            subject.
        skip_unknown : bool, default=False
            Whether to pass over names that the model does not know, unless it knows none. They are
            in ``receipt_.skipped`` then.
        release : bool
            False erases the rows now and publishes nothing, where no release can follow or none is
            wanted: the estimator has no model, and predicts nothing, until :meth:`refresh`.

        Returns
        -------
        Certificate or Erasure
            What is promised about the model as it is now; an erasure promises nothing. Of records
            that went before it is what their own request was answered by.

        Raises
        ------
        UnknownRecord, UnknownSubject
            If one of the names is not in the model; nothing is deleted then. All of them are in
            ``names`` of the exception.
        """
        asked = _rows.asked(names, ids, subjects, self._has_subjects)
        serve = partial(self._serve, "forget") if release else self._erase
        serve = partial(serve, _engine.delete, request_id)
        served, skipped = _rows.skipping(serve, asked, skip_unknown=skip_unknown)
        if skipped and release:
            self.receipt_ = replace(self.receipt_, skipped=skipped)
        return served  # type: ignore[no-any-return]

    def add(
        self,
        X: Any,
        y: Any,
        ids: Any = None,
        subjects: Any = None,
        request_id: str | None = None,
        sample_weight: Any = None,
        *,
        new_classes: bool = False,
    ) -> Certificate:
        """Add records.

        Parameters
        ----------
        X, y, subjects
            As for :meth:`fit`; `subjects` exactly if `fit` had some. Columns that `fit` took ids,
            subjects or weights from are taken again.
        ids : str, or iterable of str or int, optional
            Names that no record has or had. By default those of the column that `fit` took them
            from, or the index of a pandas `X` or `y`. Where
            records are named by their positions, new rows are numbered on: after 100 records, the
            first of them is ``"row:100"``.
        request_id : str, optional
            As for :meth:`forget`.
        sample_weight : str, array or float, optional
            As for :meth:`fit`; exactly if `fit` had some, and at most the largest of then.
        new_classes : bool, optional
            Take labels that are no class of the model for new classes, even if they are near a
            known one or turn a model of two classes into one of several.

        Returns
        -------
        Certificate
            What is promised about the model as it is now.
        """
        named = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight}
        return self._bring("add", X, y, named, request_id, new_classes=new_classes)

    def update(
        self,
        X: Any,
        y: Any,
        ids: Any = None,
        subjects: Any = None,
        request_id: str | None = None,
        sample_weight: Any = None,
        *,
        new_classes: bool = False,
    ) -> Certificate:
        """Give records new contents under the same names, in one request.

        Parameters
        ----------
        X, y, subjects
            As for :meth:`add`.
        ids : str, or iterable of str or int, optional
            The records. By default those of the column that `fit` took ids from, or the index of a
            pandas `X` or `y`.
        request_id : str, optional
            As for :meth:`forget`.
        sample_weight : str, array or float, optional
            As for :meth:`fit`; exactly if `fit` had some, and at most the largest of then.
        new_classes : bool, optional
            Take labels that are no class of the model for new classes, even if they are near a
            known one or turn a model of two classes into one of several.

        Returns
        -------
        Certificate
            What is promised about the model as it is now.
        """
        named = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight}
        return self._bring("update", X, y, named, request_id, new_classes=new_classes)

    def _bring(
        self,
        what: Literal["add", "update"],
        X: Any,
        y: Any,
        named: dict[str, Any],
        request_id: str | None,
        *,
        new_classes: bool,
    ) -> Certificate:
        check_is_fitted(self)
        check_same(self._extractor, self._training, X)
        read = self._read(X, y, named, fresh=False)
        rows = self._table(read, self._targets(read.y), new_classes=new_classes)
        request = _engine.add if what == "add" else _engine.update
        return self._serve(what, request, request_id, rows)

    def refresh(self, *, request_id: str | None = None) -> Certificate:
        """Publish a fresh model from the current records, without kept state.

        Returns
        -------
        Certificate
            What is promised about the model as it is now.
        """
        return self._serve("refresh", _engine.refresh, request_id)

    def prepare(self) -> dict[str, Any]:
        """Make the next request of a ``solve`` model faster, by work done now.

        As :meth:`Vault.prepare`: the next :meth:`forget`, :meth:`add` or :meth:`update` needs a few
        passes over the data or none, and erases what was prepared. Call it again after each, where
        the time between requests is free. It never runs by itself.

        Returns
        -------
        dict
            What is kept for the next request, as :meth:`Vault.prepare` returns it.
        """
        vault = self.vault_
        with self._home.lock, shown(self.verbose, "prepare") as told:
            return vault.prepare(progress=told, memory=self.memory)

    def status(self) -> dict[str, Any]:
        """Say what the vault holds, what is spent, and what can still be served.

        Returns
        -------
        dict
            What :meth:`Vault.status` returns, and beside it ``path`` and ``private`` (whether the
            vault is removed with the estimator), and ``stale`` (whether the vault holds a newer
            model than this estimator).
        """
        status = self.vault_.status()
        stale = self._warn_if_stale()
        return {**status, "path": self._home.path, "private": self._home.private, "stale": stale}

    def save(self, path: Any) -> Self:
        """Put the vault at a place of your choice, where the command line finds it.

        A vault that there is already is moved. If this fails, the model is as it was before.

        Parameters
        ----------
        path : path
            By custom ``NAME.efface``; nothing may be there yet. The key of a vault that was not
            saved before goes beside it as ``NAME.key.toml``: keep both.

        Returns
        -------
        self
            The estimator, which works on the vault there from now on.
        """
        check_is_fitted(self)
        with self._home.lock:
            self._home.move(path)
        return self

    @classmethod
    def load(cls, path: Any, *, key: Any = None) -> Self:
        """Make an estimator of a vault: one that was saved, or the command line's.

        Parameters
        ----------
        path : path
            The vault.
        key : path, optional
            The key file that the vault was made with. By default ``NAME.key.toml`` beside it if
            that exists, else the user's. Only requests need it.

        Returns
        -------
        estimator
            Fitted, with the parameters and the labels that it was fitted with; of a model of the
            command line, those that were chosen for it, and labels as the names of classes tell.
        """
        home = Home(path, key_of(path, key))
        plan = json.loads(_engine.plan_of(home.path))
        face = _serialization.read(plan)
        parameters = cls._parameters_of(plan)
        if face is not None:
            known = cls._parameter_constraints
            given = _serialization.parameters_in(face).items()
            parameters = {name: value for name, value in given if name in known}
            precision = np.dtype(face["precision"])
        estimator = cls(**parameters)
        estimator._precision = precision if face is not None else np.dtype(np.float64)
        estimator._columns = {} if face is None else face.get("columns", {})
        image = None if face is None else face.get("image")
        estimator._image = None if image is None else tuple(image)
        listed = {constant["name"]: constant["value"] for constant in plan["constants"]}
        estimator._extractor = listed.get("extractor")
        estimator._training = getattr(estimator.promise, "extractor_training", None)
        estimator._home, estimator._watch, estimator._last = home, Watch(), -1
        estimator.certificates_ = []
        published = Published.of(home.weights())
        facts = published.facts
        estimator.n_features_in_ = facts["features"]
        names = facts["columns" if facts["preprocessing"] is not None else "names"]
        if facts["feature_map"] is not None:
            estimator.n_features_in_, names = facts["inputs"], facts["input_names"]
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
            estimator.n_features_in_ = len(names)
        estimator._adopt_targets(published, face)
        estimator._catch_up()
        return estimator

    @property
    def vault_(self) -> Vault:
        """The vault, for what estimators have no method for: report, export, verification."""
        check_is_fitted(self)
        vault = Vault(self._present().path, key=self._home.key)
        vault._home = self._home  # a private folder goes with the last that refers to it
        return vault

    @property
    def certificate_(self) -> Certificate:
        """The latest certificate of the model that this estimator has."""
        latest = self._fitted("certificates_", "certificate_")[-1]
        self._warn_if_stale()
        return latest  # type: ignore[no-any-return]

    @property
    def n_iter_(self) -> int:
        """Steps, or else passes over the data, that the latest request of this estimator took.

        It depends on the data: it is for the operator, and pickles lack it.
        """
        work = self._fitted("receipt_", "n_iter_").work or {}
        return int(work.get("steps") or work.get("passes") or 0)

    def _fitted(self, name: str, public: str) -> Any:
        """An attribute that there is after a fit; before, the public name is said to be absent."""
        if name not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {public!r} before `fit`",
                name=public,
                obj=self,
            )
        return self.__dict__[name]

    def _serve(
        self, what: str, request: Request, request_id: str | None, *rows: Any, **names: Any
    ) -> Certificate:
        check_is_fitted(self)
        home = self._present()
        with home.lock, shown(self.verbose, what) as told:
            beside = {"progress": told, "memory": limit_of(self.memory)}
            try:
                answer = request(
                    *rows, home.path, home.key, **names, request_id=request_id, **beside
                )
                self.receipt_ = Receipt._of(answer)
                self._catch_up(self.receipt_.certificate, answer[2])
            except BaseException:
                # An interrupt may come when the vault has moved on already.
                with suppress(Error):
                    self._catch_up()
                raise
        warn_of(self.receipt_.notices)
        return self.receipt_.certificate

    def _erase(self, request: Request, request_id: str | None, **names: Any) -> Erasure:
        check_is_fitted(self)
        home = self._present()
        with home.lock, shown(self.verbose, "forget") as told:
            beside = {"progress": told, "memory": limit_of(self.memory), "release": False}
            answer = request(home.path, home.key, **names, request_id=request_id, **beside)
            # The receipt is of an earlier request, whose records may be among the erased.
            self.__dict__.pop("receipt_", None)
            self._follow()
        return answered(answer)  # type: ignore[no-any-return]

    def _has_subjects(self) -> bool:
        check_is_fitted(self)
        home, published = self._present(), self._published
        if isinstance(published, Withdrawn):
            return bool(json.loads(_engine.plan_of(home.path))["subjects"])
        return bool(published.facts["subjects"])

    def _next_row(self) -> int | None:
        found: int | None = json.loads(_engine.status(self._present().path))["next_row"]
        return found

    def _present(self) -> Home:
        self._home.check()
        return self._home

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None and name_of(self.mechanism) != "ridge"
        tags.input_tags.sparse = getattr(self.preprocess, "features", None) is None
        fitted = self._refits()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = fitted
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # The cost of a request depends on the data: it is no part of the model.
        state.pop("receipt_", None)
        if getattr(self, "pickle_rows", False) and "_home" in state and carrier() is None:
            state["_home"] = Rows(state["_home"])
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self).__new__(type(self))
        memo[id(self)] = other
        for name, value in self.__dict__.items():
            other.__dict__[name] = copy.deepcopy(value, memo)
        return other

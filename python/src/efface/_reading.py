"""Checks and reads the tables that estimators are given."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import (
    _check_y,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from . import _engine, _rows
from ._columns import taken, without
from ._errors import InputError, warn
from ._extract import check_same
from ._frames import Framed, check_frame, check_names, columns_of, is_frame, rows_of
from ._parameters import OPTIONS, name_of
from ._published import Published
from ._setting import settings
from ._settings import settings_of, to_json
from ._table import check_aligned, table


@dataclass(frozen=True)
class Read:
    """A table as it was checked.

    Attributes
    ----------
    x : array, sparse matrix or Framed
        The rows.
    y : array (rows,), or (rows, targets) where it had two axes
        Targets as they were given.
    labels, subjects : array of int64, list of str or None
        One for each row; labels are None where positions name the records.
    weights : array (rows,) or None
        How often each record counts.
    """

    x: Any
    y: Any
    labels: Any
    subjects: Any
    weights: NDArray[np.float64] | None


class Scoring:
    """The score of scikit-learn's mixins, for rows whose order is that of their targets."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or the R2 of a regressor.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            Rows to predict.
        y : array or series (rows,), or array or data frame (rows, targets)
            Their true targets.
        sample_weight : array or series (rows,), optional
            How often each row counts.

        Returns
        -------
        float
            1 where all predictions are right.
        """
        check_aligned({"X": X, "y": y, "sample_weight": sample_weight})
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]


class Reading:
    """Rows to learn from and to predict, checked as scikit-learn checks them."""

    _published: Published
    _records: int

    mechanism: Any
    preprocess: Any

    # The public model whose outputs the rows are, where they say so.
    _extractor: str | None = None

    # The training of the model that made the rows, if they or the promise say so.
    _training: str | None = None

    # The shape of images: height and width, after channels.
    _image: tuple[int, ...] | None = None

    # Names of the targets, where `y` had two axes.
    _target_names: list[str] | None = None

    # Columns of frames that ids, subjects or weights are in, by what they are.
    _columns: Mapping[str, str] = MappingProxyType({})

    def __sklearn_is_fitted__(self) -> bool:
        return "_published" in self.__dict__

    def _read(self, X: Any, y: Any, named: dict[str, Any], *, fresh: bool) -> Read:
        """Rows and what comes with them, checked as scikit-learn does.

        `named` are ids, subjects and sample weights: values, or names of columns.
        """
        X = self._flattened(X, fresh=fresh)
        part = taken(X, named, None if fresh else self._columns)
        labels, subjects = part.values["ids"], part.values["subjects"]
        if fresh:
            self._columns = part.names
        indexes = check_aligned({"X": X, "y": y, **part.values})
        if labels is None:
            labels = _rows.labels_of(indexes, None if fresh else self._next_row)
        given = _rows.as_table(part.X)
        self._take_targets(y, fresh=fresh)
        if fresh:
            framed = is_frame(given)
            refits = self._refits()
        else:
            facts = self._published.facts
            framed, refits = facts["columns"] is not None, facts["preprocessing"] is not None
        if refits and framed:
            if fresh:
                check_frame(given, type(self).__name__)
            else:
                check_names(given)
            validate_data(self, given, reset=fresh, skip_check_array=True)
            y = self._check_targets(y)
            names = None if fresh else self._published.facts["columns"]
            x: Any = Framed(columns_of(given, names), rows_of(given))
            check_consistent_length(x, y)
        else:
            with _rows.words_named(given, self._asks_for_declared):
                x, y = validate_data(
                    self,
                    given,
                    y,
                    reset=fresh,
                    accept_sparse="csr",
                    dtype=[np.float64, np.float32],
                    order="C",
                    # If a fit fails, `_check_finite` gives the reason.
                    ensure_all_finite=False if fresh else ("allow-nan" if refits else True),
                    **self._checks_of_targets(),
                )
        if labels is not None:
            labels = _rows.column("ids", labels)
        if subjects is not None:
            subjects = _rows.column("subjects", subjects)
        check_consistent_length(x, labels, subjects)
        return Read(x, y, labels, subjects, self._weights(part.values["sample_weight"], x))

    def _settings(self) -> dict[str, Any]:
        """The engine's settings, with what the rows say of themselves."""
        told = {} if self._training is None else {"extractor_training": self._training}
        if self._image is not None:
            layers = getattr(self.mechanism, "network", None) or settings()["network"].default_text
            told["network"] = f"{layers},image={'x'.join(map(str, self._image))}"
        return {**settings_of(self), **told}

    def _flattened(self, X: Any, *, fresh: bool = False) -> Any:
        """Rows of what may be images, of the shape that the network was fitted on.

        Channel stands after channel, and in each line after line.
        """
        kind = OPTIONS["mechanism"].get(name_of(self.mechanism))
        image = None
        if kind and "network" in kind.parameters and getattr(X, "ndim", 2) in (3, 4):
            images = np.asarray(X) if X.ndim == 3 else np.moveaxis(np.asarray(X), -1, 1)
            X, image = images.reshape(len(images), -1), images.shape[1:]
        if fresh:
            self._image = image
        elif image is not None and image != self._image:
            raise InputError(
                f"the images are {image}, the network was fitted on {self._image}", code="network"
            )
        return X

    def _refits(self) -> bool:
        """Whether `fit` would fit preprocessing to the records."""
        if self.preprocess is not None:
            return bool(name_of(self.preprocess) == "fitted")
        started = getattr(self.mechanism, "start", None) is not None
        return bool(_engine.fits_preprocessing(to_json(self._settings()), not started))

    def _asks_for_declared(self) -> str | None:
        """The setting beside `preprocess` that keeps preprocessing from being fitted, or None."""
        if self.preprocess is not None:
            return None
        if getattr(self.mechanism, "start", None) is not None:
            return "`start`"
        return _engine.asks_for_declared(to_json(self._settings()))

    def _check_targets(self, y: Any) -> Any:
        """Targets beside a frame, as scikit-learn checks those beside an array."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        return _check_y(y, estimator=self, **self._checks_of_targets())

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Margins (rows, outputs) of rows to predict, in the precision of the rows."""
        check_is_fitted(self)
        check_same(self._extractor, self._training, X)
        self._warn_if_stale()
        if self._records == 0:
            warn(
                f"This {type(self).__name__} has no records left: its predictions are only noise "
                '(with `mechanism="ridge"`: the middle of the range)',
                UserWarning,
            )
        X = self._flattened(X)
        x = _rows.as_table(without(X, list(self._columns.values())))
        refits = self._published.facts["preprocessing"] is not None
        if refits and self._published.facts["columns"] is not None:
            check_names(x)
            validate_data(self, x, reset=False, skip_check_array=True)
            return self._published.margins(x)
        with _rows.words_named(x, self._asks_for_declared):
            x = validate_data(
                self,
                x,
                reset=False,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
            )
        try:
            margins = self._published.margins(x)
        except InputError:
            self._check_finite(x, allow_nan=refits)
            raise
        single = x.dtype == self.__dict__.get("_precision") == np.float32
        return margins.astype(np.float32) if single else margins

    def _check_finite(self, x: Any, *, allow_nan: bool) -> None:
        """Refuse what is not finite in scikit-learn's words, which users know."""
        if not isinstance(x, Framed):
            name = type(self).__name__
            assert_all_finite(x, allow_nan=allow_nan, estimator_name=name, input_name="X")

    def _table(
        self, read: Read, targets: Any, *, classes: Any = None, new_classes: bool = False
    ) -> _engine.Table:
        return table(
            read.x,
            targets,
            columns=read.x.columns if isinstance(read.x, Framed) else None,
            ids=read.labels,
            subjects=read.subjects,
            sample_weight=read.weights,
            names=getattr(self, "feature_names_in_", None),
            classes=classes,
            target_names=self._target_names,
            new_classes=new_classes,
        )

    @abstractmethod
    def _next_row(self) -> int | None:
        """The position that names the next record; None where records have names of their own."""

    @abstractmethod
    def _weights(self, sample_weight: Any, x: Any) -> NDArray[np.float64] | None:
        """Weights of records, checked."""

    @abstractmethod
    def _checks_of_targets(self) -> dict[str, Any]:
        """Return what scikit-learn must check about targets of the task."""

    def _take_targets(self, y: Any, *, fresh: bool) -> None:
        """Note of targets, as they were given, how many there are and what they are called."""

    @abstractmethod
    def _warn_if_stale(self) -> bool:
        """Warn if the vault holds another model than this estimator, and say whether it does."""

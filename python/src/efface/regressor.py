"""Regressors that can forget."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ._errors import InputError, NotCoveredWarning, warn
from ._estimator import Unlearner
from ._parameters import RegressorParameters, name_of
from ._published import Published
from ._reading import Scoring
from ._settings import chosen_in
from ._targets import check_like, check_plain, columns, is_table, names_of


class UnlearningRegressor(Scoring, RegressorMixin, RegressorParameters, Unlearner):  # type: ignore[misc]
    """A linear regressor that forgets records on request, and certifies it.

    The loss is the squared one with the residual clipped (Huber's), so that one record's pull is
    bounded. It learns and predicts like scikit-learn's ``Ridge``, with one more verb:
    :meth:`forget`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_ : array (features,), or (targets, features) where `y` had two axes
        Weights of the features in units of `y`, those of numbers per unit of their column, for
        rows that obey `row_norm`; not to be written to, since certificates are about them: change
        a copy. `standardized_coef_` has them as they are learnt.
    intercept_ : float, or array (targets,)
        What is added, in units of `y`.
    n_features_in_ : int
        Features seen by :meth:`fit`.
    feature_names_in_ : array of str
        Their names, where `X` had some.
    n_iter_ : int
        Steps or passes over the data of the latest request. It depends on the data.
    certificates_ : list of Certificate
        All of them, oldest first.
    certificate_ : Certificate
        The latest.
    receipt_ : Receipt
        Result of the latest request of this estimator; private, and not included in pickles.
    vault_ : Vault
        The vault, for reports, exports and verification.

    Notes
    -----
    With ``mechanism="ridge"`` `y` may be a table (rows, targets) of several numbers to predict, as
    for scikit-learn's ``LinearRegression``: `predict` then gives a table, and `score` is the mean
    of the targets' R2. Each target is centred and scaled by itself, unless `Declared` has a
    ``target_range``; a request forgets all of a record's targets. Names of the columns of a data
    frame are kept for reports, exports and the command line.

    A sample weight must be a fact about its record, or public knowledge. Weights computed from all
    of the data are not covered by any certificate: after a deletion they differ from those without
    the record.

    `fit` leaves records and model in the memory of the process. The first request makes a vault of
    them, a private file that is removed with the estimator; :meth:`save` makes it, or moves it, at
    a place of your choice. A pickle contains weights, certificates and the path of the vault, so
    :meth:`save` before: a private vault goes at the end of the process. Copies of an estimator, and
    its pickles, share the vault; each has the weights it last saw, and catches up with its next
    request.

    Examples
    --------
    >>> import numpy as np
    >>> from efface import Declared, UnlearningRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.5, 0.5, size=(500, 4))
    >>> y = 20 + 40 * X[:, 0]
    >>> model = UnlearningRegressor(preprocess=Declared(target_range=(0, 40))).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.forget(ids=["row:0", "row:7"]).records
    2

    Several targets at once:

    >>> Y = np.column_stack([y, -y])
    >>> model = UnlearningRegressor(mechanism="ridge").fit(X, Y)
    >>> model.predict(X[:3]).shape
    (3, 2)
    """

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted number for each row.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            Rows; they are made to obey `row_norm` as at training.

        Returns
        -------
        array (rows,), or (rows, targets) where `y` had two axes
            In units of `y`.
        """
        outputs: NDArray[np.float64] = self._shaped(self._outputs(X).T).T
        return outputs

    def _shaped(self, rows: NDArray[np.float64]) -> Any:
        return rows if self._target_names is not None else rows[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = name_of(self.mechanism) == "ridge"
        return tags

    def _checks_of_targets(self) -> dict[str, Any]:
        return {"y_numeric": True, "multi_output": self._target_names is not None}

    def _take_targets(self, y: Any, *, fresh: bool) -> None:
        check_plain(y)
        if not fresh:
            if self._target_names is not None:
                check_like(y, self._target_names)
            elif columns(y) > 1:
                raise InputError(
                    f"the model has one target, got {columns(y)} in `y`",
                    code="data",
                    hint="give one number for each row",
                )
            return
        mechanism = name_of(self.mechanism)
        if mechanism == "ridge":
            self._target_names = names_of(y) if is_table(y) else None
            return
        self._target_names = None
        if columns(y) > 1:
            raise InputError(
                f"`mechanism={mechanism!r}` learns one target, got {columns(y)} in `y`",
                code="settings",
                hint='use `mechanism="ridge"`, which solves several targets at once, or fit an '
                "estimator to each of them",
            )

    def _learn_targets(self, y: Any, *, refits: bool) -> tuple[Any, Any, dict[str, Any]]:
        settings: dict[str, Any] = {"loss": "squared"}
        if (declared := self._declared_range()) is not None:
            return y, None, {**settings, "target_range": declared}
        if refits:
            return y, None, settings
        low, high = float(np.min(y)), float(np.max(y))
        if low == high:
            raise InputError(
                f"`y` has only one value, {low:g}, in {len(y)} sample(s): there is no range "
                "to learn in",
                code="target-range",
                hint="declare the range of `y`: `preprocess=Declared(target_range=(low, high))`",
            )
        warn(
            f"the range of `y`, {low:g} to {high:g}, was computed from the data: it stays when the "
            "records at its ends are forgotten, and certificates assume it to be public; "
            "declare it with `preprocess=Declared(target_range=(low, high))`",
            NotCoveredWarning,
        )
        return y, None, {**settings, "target_range": (low, high), "target_range_from_data": True}

    def _declared_range(self) -> tuple[float, float] | None:
        given = getattr(self.preprocess, "target_range", None)
        if given is None:
            return None
        values = np.asarray(given, dtype=float)
        if values.shape != (2,):
            raise InputError(
                f"`Declared(target_range=...)` must be two numbers, low then high, got {given!r}",
                code="target-range",
            )
        return float(values[0]), float(values[1])

    def _targets(self, y: Any) -> Any:
        return y

    def _adopt_targets(self, published: Published, face: dict[str, Any] | None) -> None:
        """Take over how many axes `y` had; the ranges are among the facts."""
        named = published.facts["target_names"]
        self._target_names = named if face is None else face.get("targets")

    def _orient(self, published: Published) -> Published:
        """Outputs are in [-1, 1]; predictions in the range of `y`."""
        facts = published.facts
        low, high = np.array(facts["target_ranges"] or [facts["target_range"]]).T
        half = (high - low) / 2
        return published.scaled(half, low + half)

    @classmethod
    def _parameters_of(cls, plan: dict[str, Any]) -> dict[str, Any]:
        task = plan["task"]
        if "range" not in task and "targets" not in task:
            raise InputError(
                "the vault has a classification model",
                code="data",
                hint="use `UnlearningClassifier`",
            )
        listed = {c["name"]: c["origin"] for c in plan["constants"]}
        if listed.get("target-range") != "user":
            return chosen_in(plan)
        # All targets have the one that was declared.
        each = [(one["low"], one["high"]) for one in task.get("targets", ())]
        low, high = each[0] if each else task["range"]
        return chosen_in(plan, target_range=(float(low), float(high)))

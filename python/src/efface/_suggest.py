"""What to train on a table: an estimator, its settings, and why."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _engine, _rows
from ._columns import taken
from ._errors import Refused
from ._frames import check_frame, columns_of, is_frame
from ._notices import Notice
from ._settings import to_json
from ._table import table
from .planner import Choice, Plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .classifier import UnlearningClassifier
    from .regressor import UnlearningRegressor

    Estimator = UnlearningClassifier | UnlearningRegressor


@dataclass(frozen=True, repr=False)
class Suggestion:
    """What to train on a table.

    It is shown as a page of text, in a notebook as a card.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``, as the labels ask.
    parameters : dict
        Parameters of the estimator: ``UnlearningClassifier(**suggestion.parameters)``.
    fit_seconds, seconds_per_request : float
        Usual time of the training and of one request; reading and storing come on top.
    why : tuple of str
        Why this mechanism, a sentence each.
    notices : tuple of Notice
        What to know before training: columns that name records, texts among numbers, columns of one
        value, few records, noise that outweighs the data.
    preprocessing : tuple of str
        What each column becomes, a line each; private, as they are statistics of the records.
    plan : Plan
        The plan with all choices and refusals.
    """

    task: str
    parameters: dict[str, Any]
    fit_seconds: float
    seconds_per_request: float
    why: tuple[str, ...]
    notices: tuple[Notice, ...]
    preprocessing: tuple[str, ...]
    plan: Plan
    _text: str = field(compare=False)
    _html: str = field(compare=False)
    _given: tuple[Any, Any, dict[str, Any]] = field(compare=False)

    @property
    def choice(self) -> Choice:
        """The choice of the plan that is suggested: its costs, bounds and claims."""
        return self.plan.best

    @property
    def estimator(self) -> Estimator:
        """A new estimator with these parameters, not fitted."""
        from .classifier import UnlearningClassifier
        from .regressor import UnlearningRegressor

        kind = UnlearningRegressor if self.task == "regression" else UnlearningClassifier
        return kind(**self.parameters)

    def fit(self) -> Estimator:
        """Train a new estimator on the table that was looked at.

        Returns
        -------
        UnlearningClassifier or UnlearningRegressor
            The fitted estimator.
        """
        X, y, named = self._given
        return self.estimator.fit(X, y, **named)

    @property
    def _call(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        kind = "UnlearningRegressor" if self.task == "regression" else "UnlearningClassifier"
        return f"efface.{kind}({listed})"

    def __repr__(self) -> str:
        return f"{self._call}\n\n{self._text}".rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._call)}</pre>\n{self._html}"


def suggest(
    X: Any,
    y: Any,
    *,
    ids: Any = None,
    subjects: Any = None,
    sample_weight: Any = None,
    deletions_per_month: float = 10.0,
    group: int | Sequence[int] = 1,
    pass_ms: float | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[str, int, int | None, float | None, float | None], Any] | None = None,
) -> Suggestion:
    """Look at a table and suggest what to train on it.

    The planner is asked (:func:`plan`) for the choice that meets the target at the least cost;
    labels that are numbers, more than 20 of them or not whole, make a regression. Nothing is
    trained or kept. What the suggestion shows of the table is as private as the table; the settings
    follow from its sizes and the task. Whether it is a regression is read off the labels: training
    the estimator that is suggested declares it, as choosing its class does.

    Parameters
    ----------
    X : array, data frame, Arrow table or sparse matrix (rows, features)
        The table, as `fit` takes it.
    y : array or series (rows,)
        Labels or numbers.
    ids, subjects, sample_weight : optional
        As for ``fit``: names of columns of `X`, or one value for each row.
    deletions_per_month : float
        Deletion requests in a month.
    group : int or sequence of int
        Records per request; several sizes take turns.
    pass_ms : float, optional
        Milliseconds of one gradient pass; by default measured on synthetic rows.
    settings : mapping, optional
        Settings that are decided already, such as ``{"epsilon": 0.5}``.
    progress : callable, optional
        As for :meth:`efface.Vault.train`.

    Returns
    -------
    Suggestion
        Which estimator with which parameters, its costs, why, and what to know first.

    Raises
    ------
    Refused
        If there is nothing to learn, as where all labels are one class, or if no mechanism meets
        the target.
    InputError
        If table or settings break a rule.

    Examples
    --------
    >>> import efface
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> suggestion = efface.suggest(X, X[:, 0] > X[:, 1], pass_ms=1.0)
    >>> suggestion.task, suggestion.parameters
    ('classification', {'mechanism': 'retrain', 'preprocess': 'fitted'})
    >>> model = suggestion.fit()
    >>> model.score(X, X[:, 0] > X[:, 1]) > 0.9
    True
    """
    named = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight}
    workload = {
        "deletions_per_month": deletions_per_month,
        "groups": [group] if isinstance(group, int) else list(group),
        "pass_ms": pass_ms,
    }
    rows = _lent(X, y, named)
    asked = to_json(dict(settings or {})), to_json(workload)
    found = json.loads(_engine.suggest(*asked, rows, progress=progress))
    plan = Plan(found["plan"])
    if not plan.choices:
        reasons = "; ".join(f"{refusal.name}: {refusal.reason}" for refusal in plan.refused)
        raise Refused(f"no mechanism meets the target: {reasons}", code="mechanism")
    return Suggestion(
        task="classification" if plan.sizes["classes"] else "regression",
        parameters=plan.best.parameters,
        fit_seconds=found["fit_seconds"],
        seconds_per_request=found["request_seconds"],
        why=plan.advice,
        notices=tuple(Notice._of(notice) for notice in found["notices"]),
        preprocessing=tuple(found["preprocessing"]),
        plan=plan,
        _text=found["text"],
        _html=found["html"],
        _given=(X, y, named),
    )


def _lent(X: Any, y: Any, named: dict[str, Iterable[Any] | str | None]) -> _engine.Table:
    """The table as the engine takes it."""
    part = taken(X, named)
    _rows.indexes_of(X, None, {"y": y, **part.values})
    given = _rows.as_table(part.X)
    framed = is_frame(given)
    if framed:
        check_frame(given, "efface.suggest")
    keys = {name: part.values[name] for name in ("ids", "subjects")}
    columns = {name: None if key is None else _rows.column(name, key) for name, key in keys.items()}
    return table(
        given,
        np.asarray(y),
        columns=columns_of(given) if framed else None,
        sample_weight=part.values["sample_weight"],
        **columns,
    )

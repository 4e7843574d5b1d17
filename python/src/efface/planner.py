"""The planner: which mechanism, with which settings, before anything is trained."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from . import _engine
from ._errors import InputError
from ._losses import is_task
from ._notices import Notice, warn_of
from ._settings import parameters, to_json, written
from .certificate import Claim

_SCHEMA = "efface.plan/0"


@dataclass(frozen=True)
class Work:
    """Work, in passes over all records: gradient passes, or those of a choice's network.

    Attributes
    ----------
    passes_at_most : int
        Gradient passes that are never exceeded.
    passes_usually : float
        Gradient passes usually made; the very number where ``exact``.
    work_usually : float
        The same with Hessians and other arithmetic, as gradient passes.
    exact : bool
        True where the schedule fixes the number.
    """

    passes_at_most: int
    passes_usually: float
    work_usually: float
    exact: bool


@dataclass(frozen=True)
class Choice:
    """One way to serve the workload, with what it costs and claims.

    Attributes
    ----------
    rank : int
        Its place, from 1.
    name, says : str
        What it is called, and what it does in a few words.
    settings : dict
        Settings for :meth:`efface.Vault.train`, those that differ from the defaults.
    fixed : dict
        What a training with them would fix: noise, distance or steps, public constants.
    state : str
        ``"perfect"`` or ``"secret"``.
    training, request : Work
        Work of the first training and of one request.
    pass_seconds : float
        Seconds of one such pass.
    seconds_per_month, seconds_per_request : float
        Usual time of a month's requests and refreshes, and that over the requests.
    excess_risk : float or None
        Upper bound on the expected excess risk, in units of the loss, after training and after
        any request; None where nobody can predict it, as of a network.
    accurate : bool
        Whether that is within what is allowed.
    lasts : str
        How many requests it serves, in words.
    requests : int or None
        The requests after which a refresh or a new model is due; None where none is foreseen.
    claims : tuple of Claim
        What the certificate of the first deletion would claim, the notion asked for first.
    beyond : bool
        Whether it learns by a network, or from random features that nobody asked for: its accuracy
        cannot be compared with that of the others.
    loud : bool
        Whether its noise is so loud that nothing is likely to be learnt.
    notes : tuple of str
        What to know of it.
    head : dict or None
        Settings of a second training, on the features of the network that ``settings`` train;
        requests and claims are then of that one.
    """

    rank: int
    name: str
    says: str
    settings: dict[str, Any]
    fixed: dict[str, Any]
    state: str
    training: Work
    request: Work
    pass_seconds: float
    seconds_per_month: float
    seconds_per_request: float
    excess_risk: float | None
    accurate: bool
    lasts: str
    requests: int | None
    claims: tuple[Claim, ...]
    beyond: bool
    loud: bool
    notes: tuple[str, ...]
    head: dict[str, Any] | None

    @property
    def parameters(self) -> dict[str, Any]:
        """The settings as parameters: ``UnlearningClassifier(**choice.parameters)``.

        A loss of ``"squared"`` is left out, as it is the only one of `UnlearningRegressor`.
        """
        return parameters(self.settings)

    @classmethod
    def _of(cls, document: Mapping[str, Any], lasts: str, per_month: float) -> Choice:
        bound = document["lasts"]
        until = bound.get("until") if isinstance(bound, dict) else None
        told = {field.name: document.get(field.name) for field in fields(cls)}
        return cls(
            **{
                **told,
                "settings": _given(document["settings"]),
                "state": document["fixed"]["state"],
                "training": Work(**document["training"]),
                "request": Work(**document["request"]),
                "pass_seconds": document["pass"]["ms"] / 1000.0,
                "seconds_per_month": document["month_seconds"],
                "seconds_per_request": document["month_seconds"] / per_month,
                "lasts": lasts,
                "requests": until and until["requests"],
                "claims": tuple(Claim._of(claim) for claim in document["claims"]),
                "notes": tuple(document["notes"]),
                "head": document["head"] and _given(document["head"]),
            }
        )


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from their defaults."""
    return {k: v for k, v in settings.items() if v is not None and v is not False}


@dataclass(frozen=True)
class Baseline:
    """Retraining without noise or certificate, to compare with.

    Attributes
    ----------
    name, claims : str
        What it is, and what it would claim: nothing.
    request : Work
        Work of one request.
    seconds_per_month, seconds_per_request : float
        As those of :class:`Choice`.
    excess_risk : float
        Upper bound on its excess risk.
    """

    name: str
    claims: str
    request: Work
    seconds_per_month: float
    seconds_per_request: float
    excess_risk: float


@dataclass(frozen=True)
class Target:
    """The guarantee that every choice must give.

    Attributes
    ----------
    notion : str
        The notion asked for.
    epsilon : float
        The largest epsilon, in nats.
    delta, order : float or None
        The delta it is for, or the order of the Rényi notions.
    """

    notion: str
    epsilon: float
    delta: float | None
    order: float | None

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Target:
        notion = document["notion"]
        at_delta = notion in ("indistinguishable-from-retraining", "differential-privacy")
        of_order = notion in ("renyi-unlearning", "deletion-privacy")
        return cls(
            notion=notion,
            epsilon=float(document["epsilon"]),
            delta=float(document["delta"]) if at_delta else None,
            order=float(document["order"]) if of_order else None,
        )


@dataclass(frozen=True)
class Refusal:
    """A mechanism that is not offered.

    Attributes
    ----------
    name, reason : str
        Which, and the engine's reason.
    hint : str or None
        What to do, where something can be done.
    """

    name: str
    reason: str
    hint: str | None


class Plan:
    """The result of the planner: choices, best first, and what is refused.

    It has a length, iterates over its choices, and gives one by its position from 0 or by its
    name: ``plan[0]`` or ``plan["solve"]``. In a notebook it is shown as a table.

    Parameters
    ----------
    text : str or bytes
        A plan as :meth:`to_json` or ``efface plan -o`` writes it.

    Raises
    ------
    InputError
        If the text is no plan of this version.
    """

    def __init__(self, text: str | bytes) -> None:
        self._text = text.decode() if isinstance(text, bytes) else str(text)
        try:
            self._document: dict[str, Any] = json.loads(self._text)
            schema = self._document.get("schema")
        except (ValueError, AttributeError):
            raise InputError("a plan must be a JSON object", code="plan") from None
        if schema != _SCHEMA:
            raise InputError(
                f"the plan's `schema` must be `{_SCHEMA}`, got `{schema}`",
                code="plan",
                hint="make the plan with `efface.plan`",
            )

    @cached_property
    def _words(self) -> dict[str, Any]:
        """The engine's page about the plan, with the names that settings have here."""
        refused = [asdict(one) for one in self.refused]
        words = _engine.plan_page(json.dumps({**self._document, "refused": refused}))
        return dict(json.loads(words))

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The choices, best first."""
        per_month = self.deletions_per_month
        choices = zip(self._document["choices"], self._words["lasts"], strict=True)
        return tuple(Choice._of(choice, lasts, per_month) for choice, lasts in choices)

    @property
    def best(self) -> Choice:
        """The first choice.

        Raises
        ------
        LookupError
            If there is none; ``refused`` says why.
        """
        if not self.choices:
            raise LookupError("no mechanism meets the target; `refused` gives the reasons")
        return self.choices[0]

    @cached_property
    def target(self) -> Target | None:
        """The guarantee that every choice must give; None if there is no choice."""
        return Target._of(self.choices[0].fixed["target"]) if self.choices else None

    @cached_property
    def refused(self) -> tuple[Refusal, ...]:
        """The mechanisms that are not offered, and why."""
        return tuple(
            Refusal(one["name"], one["reason"], one["hint"]) for one in self._document["refused"]
        )

    @cached_property
    def baseline(self) -> Baseline:
        """Plain retraining from the model before, which certifies nothing."""
        document = self._document["baseline"]
        return Baseline(
            name=document["name"],
            claims=document["claims"],
            request=Work(**document["request"]),
            seconds_per_month=document["month_seconds"],
            seconds_per_request=document["month_seconds"] / self.deletions_per_month,
            excess_risk=document["excess_risk"],
        )

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes: ``records``, ``features``, ``classes``, ``entries``, ``from_data``."""
        return dict(self._document["sizes"])

    @property
    def deletions_per_month(self) -> float:
        """Deletion requests in a month."""
        return float(self._document["workload"]["deletions_per_month"])

    @property
    def groups(self) -> tuple[int, ...]:
        """Records per request; several sizes take turns."""
        return tuple(self._document["workload"]["groups"])

    @property
    def pass_seconds(self) -> float:
        """Seconds of one gradient pass over all records."""
        return float(self._document["pass"]["ms"]) / 1000.0

    @property
    def excess_risk_allowed(self) -> float:
        """The excess risk that choices are held to, in units of the loss."""
        return float(self._document["excess_risk_allowed"])

    @property
    def ranking(self) -> str:
        """The order of the choices, in one line."""
        return str(self._document["ranking"])

    @property
    def advice(self) -> tuple[str, ...]:
        """Advice, a sentence each."""
        return tuple(self._document["advice"])

    def to_json(self) -> str:
        """Return the plan as it is written to files.

        ``Vault.train(..., plan=plan)`` and ``efface train --plan FILE`` follow it.
        """
        return self._text

    def __len__(self) -> int:
        return len(self.choices)

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.choices)

    def __getitem__(self, which: int | str) -> Choice:
        if isinstance(which, str):
            for choice in self.choices:
                if choice.name == which:
                    return choice
            names = ", ".join(choice.name for choice in self.choices) or "none"
            raise KeyError(f"the plan has no choice `{which}`; it has {names}")
        return self.choices[which]

    def __str__(self) -> str:
        return str(self._words["text"])

    def __repr__(self) -> str:
        names = ", ".join(choice.name for choice in self.choices) or "no choices"
        return f"<efface.Plan for {self.sizes['records']} records: {names}>"

    def _repr_html_(self) -> str:
        return str(self._words["html"])

    def __eq__(self, other: object) -> bool:
        return self._document == other._document if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self._document, sort_keys=True))

    def __reduce__(self) -> tuple[type[Plan], tuple[str]]:
        return Plan, (self._text,)


def plan(
    X: Any = None,
    y: Any = None,
    *,
    n: int | None = None,
    d: int | None = None,
    classes: int | Iterable[Any] | None = None,
    entries: float | None = None,
    names: Sequence[str] | None = None,
    ids: Any = None,
    subjects: Any = None,
    sample_weight: Any = None,
    deletions_per_month: float = 10.0,
    group: int | Sequence[int] = 1,
    pass_ms: float | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[str, int, int | None, float | None, float | None], Any] | None = None,
) -> Plan:
    """Rank the mechanisms for a table, or for sizes, and a workload.

    Each choice is what a training with its settings would fix, by the same search for noise,
    distance and steps; its claims are computed from what it would release. Nothing but sizes is
    used: ``n`` and ``d``, or those of ``X``. For a table it is what training would do with it:
    fitted preprocessing unless a setting asks for declared; sizes alone are of declared rows unless
    ``settings={"preprocess": "fitted"}``. Labels that are numbers, more than 20 of them or not
    whole, make a regression. The number of columns of a table with fitted preprocessing is that of
    the columns made, which tells how many categories its records have. What training would warn of
    is a warning here, too.

    Parameters
    ----------
    X : array, data frame, Arrow table or sparse matrix (rows, columns), optional
        The table, as `fit` takes it; then ``y``, too.
    y : array or series (rows,), optional
        Labels or numbers.
    n, d : int, optional
        Records, and features without the intercept; instead of a table.
    classes : int or iterable, optional
        Their number, by default 2, and none for ``loss="squared"``; with a table the classes
        themselves where they are public knowledge, the positive one of two last.
    entries : float, optional
        Numbers stored for each row on average, where rows are sparse; without a table.
    names : sequence of str, optional
        Names of the columns of ``X``.
    ids, subjects : optional
        As for ``fit``: names of columns of `X`, or one value for each row.
    sample_weight : str or array (rows,), optional
        How often each record of ``X`` counts: the largest and their sum are used. Without a table,
        records have weights where the settings name ``max_weight``, and ``public_n`` is their sum.
    deletions_per_month : float
        Deletion requests in a month.
    group : int or sequence of int
        Records per request; several sizes take turns.
    pass_ms : float, optional
        Milliseconds of one gradient pass over all records; by default measured on synthetic rows
        of the same shape.
    settings : mapping, optional
        Settings by name, such as ``{"epsilon": 0.5, "state": "perfect"}``;
        ``mechanism`` and ``state`` restrict the choices.
    progress : callable, optional
        As for :meth:`efface.Vault.train`.

    Returns
    -------
    Plan
        Choices, best first. Excess risks are upper bounds on expectations; times are usual ones,
        not bounds.

    Raises
    ------
    InputError
        If sizes, workload or settings break a rule.

    Examples
    --------
    >>> import efface
    >>> plan = efface.plan(n=100_000, d=50, deletions_per_month=20, pass_ms=8.0)
    >>> plan.best.accurate
    True
    >>> claim = plan["solve"].claims[0]
    >>> claim.notion, round(claim.epsilon, 6)
    ('indistinguishable-from-retraining', 1.0)
    """
    workload = {
        "deletions_per_month": deletions_per_month,
        "groups": [group] if not isinstance(group, Iterable) else list(group),
        "pass_ms": pass_ms,
    }
    wanted = dict(settings or {})
    asked = to_json(wanted), written(workload)
    if X is None:
        if sample_weight is not None:
            raise InputError(
                "`sample_weight` needs the records of `X`",
                code="usage",
                hint="without a table give the settings `max_weight` and `public_n`",
            )
        sizes = _sizes(wanted, n, d, classes, entries)
        return Plan(_engine.plan(*asked, sizes=written(sizes), progress=progress)[0])
    if n is not None or d is not None or entries is not None or isinstance(classes, int):
        raise InputError(
            "the sizes are taken from `X`",
            code="usage",
            hint="leave out `n`, `d`, `entries` and a number of `classes`",
        )
    rows = _lent(X, y, names, classes, ids=ids, subjects=subjects, sample_weight=sample_weight)
    found = _engine.plan(*asked, table=rows, progress=progress)
    warn_of(Notice._of(notice) for notice in json.loads(found[1]))
    return Plan(found[0])


def _lent(X: Any, y: Any, names: Any, classes: Any, **named: Any) -> _engine.Table:
    """The table as the engine takes it."""
    from . import _rows
    from ._columns import taken
    from ._frames import check_frame, columns_of, is_frame
    from ._table import check_aligned, table

    part = taken(X, named)
    check_aligned({"X": X, "y": y, **part.values})
    given = _rows.as_table(part.X)
    framed = is_frame(given)
    if framed:
        check_frame(given, "efface.plan")
    keys: dict[str, Any] = {
        name: None if part.values[name] is None else _rows.column(name, part.values[name])
        for name in ("ids", "subjects")
    }
    return table(
        given,
        None if y is None else np.asarray(y),
        columns=columns_of(given) if framed else None,
        names=names,
        classes=classes,
        sample_weight=part.values["sample_weight"],
        **keys,
    )


def _sizes(
    settings: Mapping[str, Any],
    n: int | None,
    d: int | None,
    classes: int | Iterable[Any] | None,
    entries: float | None,
) -> dict[str, Any]:
    if n is None or d is None:
        raise InputError(
            "a table, or `n` and `d`, is needed",
            code="usage",
            hint="as in `efface.plan(n=10_000, d=50)`",
        )
    if classes is None:
        classes = 0 if is_task(settings.get("loss"), "regression") else 2
    return {
        "records": n,
        "features": d,
        "classes": classes if isinstance(classes, int) else len(list(classes)),
        "entries": entries,
        "from_data": False,
    }

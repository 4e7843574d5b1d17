"""Forgetting from whatever a model is inside of."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import _engine, _rows
from ._erasure import Erasure
from ._errors import (
    Error,
    NotCoveredWarning,
    PartlyForgotten,
    Refused,
    UnknownRecord,
    UnknownSubject,
    warn,
)
from ._estimator import Unlearner
from ._introspect import Inside, models_inside
from .certificate import Certificate


@dataclass(frozen=True)
class Forgotten:
    """The result of :func:`forget`.

    Attributes
    ----------
    certificates : dict
        The certificate (or erasure) of each model that held the records, by where the model is in
        the object.
    not_covered : tuple of str
        What else in the object was fitted on the records and still is what it was.
    """

    certificates: dict[str, Certificate | Erasure]
    not_covered: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{path}: {certificate!r}" for path, certificate in self.certificates.items()]
        lines += [f"not covered: {line}" for line in self.not_covered]
        return "\n".join(lines)


def forget(
    fitted: Any,
    names: Any = None,
    /,
    *,
    ids: Any = None,
    subjects: Any = None,
    request_id: str | None = None,
    skip_unknown: bool = False,
    release: bool = True,
) -> Forgotten:
    """Delete records, or all records of subjects, from every model inside a fitted object.

    The object may be a pipeline, a search, an ensemble, a list, or these within each other. All
    models that hold one of the records are asked first whether they can serve the request. If one
    cannot, nothing is deleted from any.

    Parameters
    ----------
    fitted : object
        What was fitted.
    names : str, int or iterable of them, positional
        Ids, where none of the models has subjects.
    ids, subjects : str, int or iterable of them
        One of them, as for the estimators' `forget`. Each must be known to one of the models.
    request_id : str, optional
        A name for the request, the same for each model.
    skip_unknown : bool, default=False
        Whether to pass over names that no model knows, unless they are all of the names.
    release : bool, default=True
        False erases the rows now and withdraws the models, as the estimators' `forget` does.

    Returns
    -------
    Forgotten
        The certificates, and what else learnt from the records. It is warned about as well.

    Raises
    ------
    UnknownRecord, UnknownSubject
        If none of the models knows one of the names; nothing is deleted then.
    Refused
        If one of the models cannot serve the request, names its records by positions that are
        not those of the rows the object was fitted on, or names them in another way than the model
        that knows them (by ids and not by positions, or without subjects); nothing is deleted then.
    PartlyForgotten
        If a model failed after others had served the request. The same call completes it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> import efface
    >>> X = np.random.default_rng(0).normal(size=(300, 3)) / 4
    >>> model = OneVsRestClassifier(efface.UnlearningClassifier()).fit(X, X.argmax(axis=1))
    >>> done = efface.forget(model, ids=["row:7", "row:8"])
    >>> [(path, certificate.records) for path, certificate in done.certificates.items()]
    [('estimators_[0]', 2), ('estimators_[1]', 2), ('estimators_[2]', 2)]
    """
    inside = models_inside(fitted)
    asked = [_Asked(path, models) for path, models in _by_vault(inside)]
    request = _rows.asked(
        names, ids, subjects, lambda: any(one.models[0]._has_subjects() for one in asked)
    )
    ((what, named),) = request.items()
    for one in asked:
        one.ask(what, named, path_known=one.path not in inside.elsewhere, release=release)
    _refuse_unlike_names(asked, what)
    unknown = [name for name in named if all(name in one.unknown for one in asked)]
    if unknown and not (skip_unknown and len(unknown) < len(named)):
        kind = UnknownRecord if what == "ids" else UnknownSubject
        shown = ", ".join(f"`{name}`" for name in unknown[:20])
        more = f" and {len(unknown) - 20} more" if len(unknown) > 20 else ""
        raise kind(
            f"{len(unknown)} of {len(named)} names are unknown to all {len(asked)} models: "
            f"{shown}{more}; nothing was deleted",
            code="unknown-record" if what == "ids" else "unknown-subject",
            hint="correct or leave out the unknown ones, or set `skip_unknown=True`",
            names=tuple(unknown),
        )
    done = _served(asked, what, request_id, release=release)
    if inside.others:
        warn(
            "forgotten by the models, but not by other objects fitted on the records: "
            + "; ".join(inside.others),
            NotCoveredWarning,
        )
    return Forgotten(done, tuple(inside.others))


@dataclass
class _Asked:
    """One vault, its models inside the object, and what it knows of a request."""

    path: str
    models: list[Unlearner]
    known: list[str] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    by_position: bool = False
    subjects: bool = False

    def ask(self, what: str, names: list[str], *, path_known: bool, release: bool) -> None:
        """Find out which names the vault knows, and whether it can serve them."""
        home = self.models[0]._present()
        plan = json.loads(_engine.plan_of(home.path))
        self.by_position, self.subjects = plan["ids"] == "position", plan["subjects"]
        if what == "ids" and self.by_position:
            self._check_positions(names, path_known=path_known)
        self.known = list(names)
        try:
            try:
                _engine.delete_dry_run(home.path, home.key, **{what: names})
            except UnknownRecord as error:
                self.unknown = set(error.names)
                self.known = [name for name in names if name not in self.unknown]
                if self.known:
                    _engine.delete_dry_run(home.path, home.key, **{what: self.known})
        except Error as error:
            if not release and (isinstance(error, Refused) or error.code == "damaged"):
                return  # an erasure is refused neither for a promise nor for damaged rows
            raise type(error)(
                f"`{self.path}`: {error.message}; nothing was deleted from any model",
                code=error.code,
                hint=error.hint,
            ) from None

    def _check_positions(self, names: list[str], *, path_known: bool) -> None:
        """Refuse names by which a model that knows positions would delete another record."""
        if path_known and all(name.startswith("row:") for name in names):
            return
        reason = (
            "names its records by position, `row:K`, and not by ids"
            if path_known
            else "names its records by their positions among its own rows, which need not be "
            "those of your table"
        )
        raise Refused(
            f"`{self.path}` {reason}; nothing was deleted from any model",
            code="row-id",
            hint="fit with a data frame whose index names the records, or with `ids`, or delete "
            "from that model itself",
        )


def _refuse_unlike_names(asked: list[_Asked], what: str) -> None:
    """Refuse names that one model understands and another, which may hold the records, cannot."""
    if what == "subjects":
        unable = [one for one in asked if not one.subjects]
        reason = "names no subjects"
        hint = "delete by `ids`, which every model must know, or fit all of them with `subjects`"
    else:
        unable = [one for one in asked if one.unknown and not one.by_position]
        reason = "names its records by ids, and others by position, `row:K`"
        hint = "fit all of them with the same names, or delete from each model itself"
        if not any(one.by_position and one.known for one in asked):
            return
    if unable and len(unable) < len(asked):
        raise Refused(
            f"`{unable[0].path}` {reason}, so that its rows of the same records would stay; "
            "nothing was deleted from any model",
            code="unlike-names",
            hint=hint,
        )


def _by_vault(inside: Inside) -> list[tuple[str, list[Unlearner]]]:
    """The models of each vault, which copies of one share, with the path of the first."""
    found: dict[Any, tuple[str, list[Unlearner]]] = {}
    for path, model in inside.models.items():
        place = model._present().path
        found.setdefault(place, (path, []))[1].append(model)
    return list(found.values())


def _served(
    asked: list[_Asked], what: str, request_id: str | None, *, release: bool
) -> dict[str, Certificate | Erasure]:
    """Serve the request; a failure does not keep the other models from serving it."""
    asks_for_ids = what == "ids"
    done: dict[str, Certificate | Erasure] = {}
    failed: dict[str, Error] = {}
    for one in asked:
        if not one.known:
            continue
        first, *copies = one.models
        try:
            ids, subjects = (one.known, None) if asks_for_ids else (None, one.known)
            done[one.path] = first.forget(  # type: ignore[call-overload]
                ids=ids, subjects=subjects, request_id=request_id, release=release
            )
            for copy in copies:
                copy.sync()
        except Error as error:
            failed[one.path] = error
        except BaseException as error:  # such as Ctrl-C
            if done and hasattr(error, "add_note"):
                paths = ", ".join(f"`{path}`" for path in done)
                error.add_note(f"already forgotten by {paths}; the same call completes it")
            raise
    if not failed:
        return done
    served = ", ".join(f"`{path}`" for path in done) or "none"
    reasons = "; ".join(f"`{path}`: {error}" for path, error in failed.items())
    raise PartlyForgotten(
        f"forgotten by {served}, but not by {len(failed)} of {len(done) + len(failed)} models: "
        f"{reasons}",
        code="partly-forgotten",
        hint="fix the cause and repeat the same call, which completes it",
        certificates=done,
        failures=failed,
    )

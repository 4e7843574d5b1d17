"""Classifiers that can forget."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from . import _engine, _serialization
from ._errors import InputError, warn
from ._estimator import Unlearner
from ._frames import is_missing
from ._losses import has_probabilities, is_task, losses
from ._parameters import ClassifierParameters, name_of
from ._published import Published
from ._reading import Scoring
from ._setting import settings
from ._settings import chosen_in
from ._table import class_name, label_named, name_of_label, number_of

_OWN_LOSSES = {"ridge": "squared-classes", "dp-sgd": "softmax", "shards": "softmax"}


def _loss(estimator: Any) -> Any:
    """The loss that is learnt: some mechanisms have their own by default."""
    own = _OWN_LOSSES.get(name_of(estimator.mechanism))
    default = estimator.loss == settings()["loss"].default
    return own if own is not None and default else name_of(estimator.loss)


def gives_probabilities(estimator: Any) -> bool:
    """Whether the estimator has probabilities of classes."""
    return has_probabilities(_loss(estimator))


class UnlearningClassifier(Scoring, ClassifierMixin, ClassifierParameters, Unlearner):  # type: ignore[misc]
    """A linear classifier that forgets records on request, and certifies it.

    It learns and predicts like scikit-learn's ``LogisticRegression`` or ``LinearSVC``, with one
    more verb: :meth:`forget`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array (classes,)
        The classes, sorted.
    coef_ : array (1, features) or (classes, features)
        Weights of the features, those of numbers per unit of their column, for rows within
        `row_norm`. They and `intercept_` are read-only, since certificates cover them: change a
        copy. `standardized_coef_` has them as they are learnt.
    intercept_ : array (1,) or (classes,)
        What is added.
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
    A sample weight must be a fact about its record, or public knowledge. Weights computed from all
    of the data are not covered by any certificate: after a deletion they differ from those without
    the record. ``class_weight="balanced"`` is covered, as it is counted again with every request.

    `fit` leaves records and model in the memory of the process. The first request makes a vault of
    them, a private file that is removed with the estimator; :meth:`save` makes it, or moves it, at
    a place of your choice. A pickle contains weights, certificates and the path of the vault, so
    :meth:`save` before: a private vault goes at the end of the process. Copies of an estimator, and
    its pickles, share the vault; each has the weights it last saw, and catches up with its next
    request.

    Examples
    --------
    >>> import numpy as np
    >>> from efface import UnlearningClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4)) / 4
    >>> y = np.where(X[:, 0] > X[:, 1], "yes", "no")
    >>> people = [f"person-{row // 5}" for row in range(500)]
    >>> model = UnlearningClassifier(epsilon=0.5).fit(X, y, subjects=people)
    >>> model.score(X, y) > 0.9
    True
    >>> certificate = model.forget(subjects="person-7")
    >>> certificate.kind, certificate.records
    ('delete', 5)
    >>> certificate.claims[0].notion, certificate.claims[0].epsilon <= 0.5
    ('indistinguishable-from-retraining', True)
    >>> model.forget(subjects="person-7") == certificate
    True
    """

    def _list_classes(self, classes: Any, *, first: bool) -> None:
        if first:
            if classes is None and self.classes is None and not self._refits():
                raise InputError(
                    "classes must be passed on the first call to partial_fit",
                    code="classes",
                    hint="list all that may ever come: `classes=[...]`",
                )
            self.__dict__.pop("_listed", None)
        known = self._listed_classes()
        listed = None if classes is None else np.unique(np.asarray(classes))
        if known is not None and listed is not None and not np.array_equal(listed, known):
            raise InputError(
                f"`classes={listed.tolist()!r}` is not the same as on the first call to "
                f"partial_fit, {known.tolist()!r}",
                code="classes",
            )
        if first and listed is not None:
            self._listed = listed

    def _listed_classes(self) -> NDArray[Any] | None:
        """Return the classes that the parameter or the first `partial_fit` lists."""
        if self.classes is not None:
            return np.unique(np.asarray(self.classes))
        return self.__dict__.get("_listed")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each row.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            Rows; they are made to obey `row_norm` as at training.

        Returns
        -------
        array (rows,)
            Members of `classes_`.
        """
        decision = self._decision(X)
        chosen = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return how far each row is on the side of a class.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            As for :meth:`predict`.

        Returns
        -------
        array (rows,) or (rows, classes)
            Of two classes, positive where the second is chosen: for ``"softmax"`` and
            ``"squared-classes"`` the difference of their margins. Of more, the margin of each.
        """
        return self._decision(X)

    @available_if(gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class; only for ``"logistic"`` and ``"softmax"``.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            As for :meth:`predict`.

        Returns
        -------
        array (rows, classes)
            In the order of `classes_`; each row sums to 1.
        """
        outputs = self._outputs(X)
        if outputs.shape[1] > 1:
            return softmax(outputs, axis=1)  # type: ignore[no-any-return]
        positive = expit(outputs[:, 0])
        return np.column_stack([1 - positive, positive])

    @available_if(gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithm of the probability of each class, also of those near 0.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            As for :meth:`predict_proba`.

        Returns
        -------
        array (rows, classes)
            In the order of `classes_`.
        """
        outputs = self._outputs(X)
        if outputs.shape[1] > 1:
            return log_softmax(outputs, axis=1)  # type: ignore[no-any-return]
        return np.column_stack([log_expit(-outputs[:, 0]), log_expit(outputs[:, 0])])

    def _decision(self, X: Any) -> NDArray[np.float64]:
        outputs = self._outputs(X)
        match outputs.shape[1]:
            case 1:
                return outputs[:, 0]
            case 2:
                return outputs[:, 1] - outputs[:, 0]
        return outputs

    def _checks_of_targets(self) -> dict[str, Any]:
        return {}

    def _learn_targets(self, y: Any, *, refits: bool) -> tuple[Any, Any, dict[str, Any]]:
        if is_task(self.loss, "regression"):
            suited = [f'"{loss.name}"' for loss in losses() if loss.task != "regression"]
            raise InputError(
                f'`loss="{self.loss}"` is for regression, but this is a classifier',
                code="settings",
                hint="use `UnlearningRegressor`, or one of the losses of a classifier: "
                f"{', '.join(suited[:-1])} or {suited[-1]}",
            )
        check_labels(y)
        found = np.unique(y)
        # Two different labels tell it as much as the whole array.
        check_classification_targets(found if y.ndim == 1 and len(found) <= 2 else y)
        declared = self._listed_classes()
        self.classes_ = _plain(found) if declared is None else declared
        if len(self.classes_) < 2:
            raise InputError(
                "a classifier needs at least 2 classes, but the data have only one class: "
                f"{found[:1].tolist()[0]!r}",
                code="classes",
                hint="list all classes with `classes`",
            )
        if len(self.classes_) > 2 and not self._takes_more_classes(refits=refits):
            raise InputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y, input_name='y')}, `loss` is {self.loss!r}",
                code="classes",
                hint='use `loss="softmax"`',
            )
        labels = targets_of(y, self.classes_, found)
        settings = self._weights_at_hand()
        names = [name_of_label(label) for label in self.classes_]
        if declared is not None:
            return labels, names, settings
        self._class_type = _type_beside(self.classes_, names)
        if name_of(self.mechanism) == "ridge" and self.classes_.dtype.kind != "U":
            self._class_type = None  # what exact removal keeps follows what remains: 1.0 becomes 1
        if refits and self._class_type is not None:
            settings = {**settings, "label_type_from_data": True}
        return labels, None, settings

    def _weights_at_hand(self) -> dict[str, Any]:
        """The weights of the classes that the data have, if more are listed.

        A fold may lack a class. If a class of the data has no weight, a name is misspelt more often
        than not, and the engine refuses the list.
        """
        weights = self.class_weight
        if not isinstance(weights, Mapping):
            return {}
        known = {name_of_label(label) for label in self.classes_.tolist()}
        here = {label: one for label, one in weights.items() if name_of_label(label) in known}
        if len(here) == len(weights) or len(here) < len(known):
            return {}
        absent = ", ".join(repr(label) for label in weights if label not in here)
        warn(
            f"`class_weight` lists classes that the data lack, and which are left out: {absent}; "
            "`classes` lists all that may ever come",
            UserWarning,
        )
        return {"class_weight": here}

    def _takes_more_classes(self, *, refits: bool) -> bool:
        """Whether there may be more than two classes: fitted preprocessing then chooses softmax."""
        chosen = refits and self.loss == settings()["loss"].default
        return chosen or not is_task(_loss(self), "binary")

    def _targets(self, y: Any) -> Any:
        """Targets as the engine takes them; all must be known, unless classes come and go."""
        known = self.classes_
        if "_published" in self.__dict__ and self._follows_classes(self._published):
            if known.dtype.kind in "iuf" and y.dtype.kind in "OU":
                numbers = _numbers([class_name(label) for label in y])
                y = y if numbers is None else numbers
            check_labels(y, known)
            self._check_weighted(np.setdiff1d(y, known))
            known = np.union1d(known, np.unique(y))
        return targets_of(y, known)

    def _check_weighted(self, new: NDArray[Any]) -> None:
        """Refuse new classes whose listed weights were left out, since `fit` lacked them."""
        if not len(new) or not isinstance(self.class_weight, Mapping):
            return
        weights = json.loads(_engine.plan_of(self._present().path)).get("class_weight")
        learnt = {name for name, _ in weights["listed"]} if isinstance(weights, dict) else set()
        wanted = {name_of_label(label) for label in self.class_weight}
        for label in new.tolist():
            if name_of_label(label) in wanted - learnt:
                raise InputError(
                    f"`fit` had no record of the class {label!r}, so its weight was left out",
                    code="classes",
                    hint="fit again with `classes`, which lists all classes that may ever come",
                )

    def _follows_classes(self, published: Published) -> bool:
        """Whether classes come and go with their records."""
        return published.facts["preprocessing"] is not None and self._listed_classes() is None

    def _adopt_targets(self, published: Published, face: dict[str, Any] | None) -> None:
        names = published.facts["classes"]
        if face is None:
            self.classes_ = np.sort(_natural(names))
        elif face["classes"]["values"] is None:
            kind = face["classes"]["type"]
            self._class_type = None if kind is None else np.dtype(kind)
            self.classes_ = _typed(names, self._class_type)
        else:
            self.classes_ = self._listed = _serialization.classes_in(face)

    def _orient(self, published: Published) -> Published:
        """Outputs in the order of `classes_`; the engine sorts texts of numbers as numbers."""
        named = {name: at for at, name in enumerate(published.facts["classes"])}
        if self._follows_classes(published):
            own = self.__dict__.get("classes_")
            if own is None or {_place(label, named) for label in own} != set(named.values()):
                self.classes_ = _typed(published.facts["classes"], self._class_type)
        order = [_place(label, named) for label in self.classes_.tolist()]
        if len(published.intercept) == 1:
            return published if order == [0, 1] else published.scaled(-1.0)
        return published.taken(order)

    def _forget_records(self, published: Published) -> None:
        if self._follows_classes(published):
            del self.classes_

    @classmethod
    def _parameters_of(cls, plan: dict[str, Any]) -> dict[str, Any]:
        if "classes" not in plan["task"]:
            raise InputError(
                "the vault has a regression model", code="data", hint="use `UnlearningRegressor`"
            )
        parameters = chosen_in(plan)
        listed = {c["name"]: c["origin"] for c in plan["constants"]}
        if listed.get("classes") == "user":
            parameters["classes"] = np.sort(_natural(plan["task"]["classes"]))
        return {**parameters, "loss": plan["loss"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_more_classes(refits=self._refits())
        return tags


def check_labels(y: Any, classes: NDArray[Any] | None = None) -> None:
    """Refuse labels that are missing, of several types, or of another type than the classes.

    Parameters
    ----------
    y : array (rows,)
        The labels.
    classes : array (classes,), optional
        Those that the model has already, to which new ones may be added.
    """
    if y.dtype.kind == "O":
        labels = y.tolist()
        if missing := [row for row, label in enumerate(labels) if is_missing(label)]:
            raise InputError(
                f"`y` has {len(missing)} missing value(s), the first in row {missing[0]}: each "
                "record needs a label",
                code="data",
                hint="leave out the rows that have none",
            )
        kinds = sorted({type(label).__name__ for label in labels})
        if "str" in kinds and len(kinds) > 1:
            raise InputError(
                f"Unknown label type: `y` has labels of types {', '.join(kinds)}; all must be of "
                "one type",
                code="data",
                hint="give texts: `[str(label) for label in y]`",
            )
    if classes is None:
        return
    alien = [label for label in np.unique(y).tolist() if not _fits(label, classes.dtype)]
    if alien:
        raise InputError(
            f"`y` has the label {alien[0]!r} of type {type(alien[0]).__name__}, but the model's "
            f"classes are like {classes[:1].tolist()[0]!r}: new classes must be of the same type",
            code="classes",
        )


def _fits(label: Any, dtype: np.dtype[Any]) -> bool:
    """Whether an array of classes can hold a label as it is."""
    if dtype.kind not in "iubf":
        return isinstance(label, str)
    return not isinstance(label, str) and bool(np.array(label).astype(dtype) == label)


def targets_of(y: Any, classes: NDArray[Any], found: NDArray[Any] | None = None) -> Any:
    """Return targets as the engine takes them; all must be among the classes, which are sorted.

    `found` are the different ones among them, where that is known.
    """
    unknown = np.setdiff1d(y if found is None else found, classes)
    if len(unknown):
        shown = ", ".join(repr(label) for label in unknown[:5].tolist())
        raise InputError(
            f"`y` has labels that are not among the model's classes: {shown}", code="classes"
        )
    if y.dtype.kind in "iuf":
        return y
    names = [name_of_label(label) for label in classes]
    return [names[at] for at in np.searchsorted(classes, y)]


def _place(label: Any, named: dict[Any, int]) -> int:
    """Return the place of a label in the engine, by either of its names; -1 if there is none."""
    names = (name_of_label(label), class_name(label))
    return next((named[name] for name in names if name in named), -1)


def _plain(classes: NDArray[Any]) -> NDArray[Any]:
    """Classes in the type that they have, if an array of objects holds them."""
    plain = np.array(classes.tolist())
    return plain if classes.dtype.kind == "O" and plain.dtype.kind in "iufbU" else classes


def _type_beside(classes: NDArray[Any], names: list[str]) -> np.dtype[Any] | None:
    """The type that must be kept to tell classes again from their names; None as a rule.

    One label that is no number would make texts of all others, and a missing half one floats: so
    nothing is kept where names tell the type, and what remains decides.
    """
    kind = classes.dtype
    told = _natural(names).dtype
    if kind == told or kind.kind == told.kind == "U":
        return None
    # The length of the longest name would reveal that class.
    return np.dtype("U") if kind.kind == "U" else kind


def _typed(names: list[str], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    """Names of classes as sorted labels: of a type where it holds them all, else as they tell."""
    if dtype is None:
        return np.sort(_natural(names))
    if dtype.kind == "U":
        return np.sort(np.array([label_named(name) for name in names]))
    try:
        numbers = np.array([float(name) for name in names])
        typed = numbers.astype(dtype)
        if (typed == numbers).all() and len(np.unique(typed)) == len(names):
            return np.sort(typed)
    except (ValueError, OverflowError):
        pass
    return np.sort(_natural(names))


def _natural(names: list[str]) -> NDArray[Any]:
    """Names of classes as labels: truth values, whole numbers or numbers if all are, else texts."""
    if {*names} <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    numbers = _numbers(names)
    return np.array([label_named(name) for name in names]) if numbers is None else numbers


def _numbers(names: list[str]) -> NDArray[Any] | None:
    """The numbers of these names, whole if all are; None if one name is that of no number."""
    numbers = [number_of(name) for name in names]
    if None in numbers:
        return None
    with contextlib.suppress(OverflowError):
        if all(isinstance(number, int) for number in numbers):
            return np.array(numbers, dtype=np.int64)
    return np.array(numbers, dtype=np.float64)

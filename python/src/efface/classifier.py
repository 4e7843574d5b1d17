"""Classifiers that can forget."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from . import _face
from ._errors import InputError
from ._estimator import Unlearner
from ._losses import has_probabilities, is_task, losses
from ._parameters import CONSTRAINTS, chosen_in
from ._published import Published
from ._table import class_name

# What the engine reads as a number.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def _has_probabilities(estimator: Any) -> bool:
    return has_probabilities(estimator.loss)


class UnlearningClassifier(ClassifierMixin, Unlearner):  # type: ignore[misc]
    """A linear classifier that forgets records on request, and certifies it.

    It learns and predicts like scikit-learn's ``LogisticRegression`` or ``LinearSVC``, with one
    more verb: :meth:`forget`.

    Parameters
    ----------
    mechanism : str, default="solve"
        How the model is trained and how it forgets: ``"solve"``, ``"retrain"``, ``"noisy-gd"``,
        ``"descent-to-delete"``, ``"distributed-descent"``, or ``"objective-perturbation"`` (as
        published; its certificates never verify).
    loss : str, default="logistic"
        ``"logistic"`` or ``"huber-hinge"`` for two classes, ``"softmax"`` for two or more.
    lambda_ : float, default=1e-3
        Strength of the L2 regularisation of the mean loss; scikit-learn's `C` is
        ``1 / (n * lambda_)``. 0 is for ``"noisy-gd"`` with a `radius` only.
    epsilon : float, default=1.0
        The bound, in nats, that every request must meet for `notion`.
    delta : float, optional
        In (0, 1); by default 1e-6, or ``1 / (10 n)`` if that is less.
    notion : str, optional
        The privacy notion of (`epsilon`, `delta`): ``"indistinguishable-from-retraining"`` (the
        default), ``"renyi-unlearning"``, ``"deletion-privacy"`` or ``"differential-privacy"``.
    state : str, optional
        What is kept after a request: ``"perfect"``, only the published model and the records (the
        default where the mechanism has a choice), or ``"secret"``, also weights without noise.
    row_norm : float, default=1.0
        Bound on the Euclidean norm of a row, as public knowledge.
    row_map : str, default="clip"
        What is done to rows, in training and prediction: ``"clip"`` scales longer ones down to
        `row_norm`, ``"unit"`` scales all rows to it, ``"refuse"`` refuses longer ones.
    fit_intercept : bool, default=True
        Whether to append `intercept` to each row. Its weight is regularised like the others.
    intercept : float, default=1.0
        The constant that is appended.
    classes : array-like, optional
        The classes as public knowledge. By default those in `y`, which certificates then list as
        an assumption: ``"deletion-privacy"`` and ``"differential-privacy"`` are not claimed then.
    hinge_width : float, default=1.0
        ``"huber-hinge"``: width of the smooth part.
    public_n : int, optional
        The number of records as public knowledge, or with sample weights their sum; by default that
        of `X`, the sum rounded to a whole number, which is then assumed to be public.
    capacity : int, optional
        Maximum number of records; by default 1.25 times the initial number.
    max_weight : float, optional
        Maximum weight of a record, as public knowledge. By default the largest in
        `sample_weight`: this causes a warning, certificates list it as an assumption, and
        ``"deletion-privacy"`` and ``"differential-privacy"`` are not claimed then.
    normalizer : str, optional
        What sums are divided by: ``"fixed"``, a public constant (the default), or ``"mean"``, the
        current number of records (the default of ``"distributed-descent"``).
    minimum : int, optional
        ``"mean"``: minimum number of records, as public knowledge.
    max_group : int, default=1
        Maximum number of records of one subject that privacy claims protect together.
    releases : int, default=1
        Releases covered jointly, in ``"secret"`` state or under differential privacy.
    accountant : str, optional
        The accountant whose bound must meet `epsilon`: ``"gdp"`` (the default, the tightest) or a
        published one.
    order : float, default=2.0
        Order of the Rényi notions, above 1.
    interactions : int, optional
        ``"deletion-privacy"``: number of releases that a requester may have seen.
    noise : float, optional
        Standard deviation of the noise; by default chosen by `excess_risk`, or to meet `epsilon`.
    excess_risk : float, optional
        ``"solve"``, ``"retrain"``: allowed excess risk of the noise; by default 1e-3.
    solver : str, optional
        ``"newton"``, ``"newton-cg"``, ``"lbfgs"`` or ``"gradient-descent"``; by default by the
        number of parameters.
    eta, radius, steps, removal_steps : float, float, int, int, optional
        Gradient methods: step size, radius of the ball that contains the weights, steps of the
        first training, steps for each request.
    variant, xi, iterations, diameter, copies : str, float, int, float, int, optional
        ``"descent-to-delete"`` and ``"distributed-descent"``: variant of the theorem, its exponent,
        steps per update, diameter of the ball of weights, independent copies.
    start : path or bytes, optional
        Weights to start from, an NPZ file as written by ``vault_.export()`` or an NPY file: for
        ``"solve"`` it changes no claim, ``"noisy-gd"`` needs one of the next two parameters.
    start_public : bool, default=False
        The start was made without the private data.
    start_privacy, extractor_privacy : dict, optional
        Differential privacy of the start, or of the feature extractor: ``{"epsilon": 1, "delta":
        1e-6, "group": 10}`` or ``{"mu": 0.5, "group": 10}``. Claims then state the totals.
    not_covered : str or list of str, default=()
        Additional lines that certificates list as not covered. Transformers that a pipeline fitted
        before the model, and searches that chose its settings, are added automatically.
    pickle_rows : bool, default=False
        Whether pickles contain the vault with its rows, and not only its path. Deletions do not
        reach such a copy.
    random_state : int or RandomState, optional
        For tests only: the noise of the first training comes from this seed, and every certificate
        says that the model is not for release.
    verbose : int, default=0
        Show progress: with tqdm where it is installed. 2 leaves the bars on the screen.

    Attributes
    ----------
    classes_ : array (classes,)
        The classes, sorted.
    coef_ : array (1, features) or (classes, features)
        Weights of the features, for rows within `row_norm`. They and `intercept_` are read-only,
        since certificates cover them: change a copy.
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
    of the data, such as those that balance classes, are not covered by any certificate: after a
    deletion they differ from those without the record.

    `fit` creates a new vault, a private file that is removed with the estimator; :meth:`save` moves
    it to a place of your choice. A pickle contains weights, certificates and the path of the vault:
    the private vault of a pickled estimator is kept, with a warning. Copies of an estimator, and
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "loss": [str],
        "classes": ["array-like", None],
        "hinge_width": CONSTRAINTS["row_norm"],
    }

    def __init__(
        self,
        *,
        mechanism: str = "solve",
        loss: str = "logistic",
        lambda_: float = 1e-3,
        epsilon: float = 1.0,
        delta: float | None = None,
        notion: str | None = None,
        state: str | None = None,
        row_norm: float = 1.0,
        row_map: str = "clip",
        fit_intercept: bool = True,
        intercept: float = 1.0,
        classes: Any = None,
        hinge_width: float = 1.0,
        public_n: int | None = None,
        capacity: int | None = None,
        max_weight: float | None = None,
        normalizer: str | None = None,
        minimum: int | None = None,
        max_group: int = 1,
        releases: int = 1,
        accountant: str | None = None,
        order: float = 2.0,
        interactions: int | None = None,
        noise: float | None = None,
        excess_risk: float | None = None,
        solver: str | None = None,
        eta: float | None = None,
        radius: float | None = None,
        steps: int | None = None,
        removal_steps: int | None = None,
        variant: str | None = None,
        xi: float | None = None,
        iterations: int | None = None,
        diameter: float | None = None,
        copies: int | None = None,
        start: Any = None,
        start_public: bool = False,
        start_privacy: dict[str, float] | None = None,
        extractor_privacy: dict[str, float] | None = None,
        not_covered: Any = (),
        pickle_rows: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.loss = loss
        self.lambda_ = lambda_
        self.epsilon = epsilon
        self.delta = delta
        self.notion = notion
        self.state = state
        self.row_norm = row_norm
        self.row_map = row_map
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.classes = classes
        self.hinge_width = hinge_width
        self.public_n = public_n
        self.capacity = capacity
        self.max_weight = max_weight
        self.normalizer = normalizer
        self.minimum = minimum
        self.max_group = max_group
        self.releases = releases
        self.accountant = accountant
        self.order = order
        self.interactions = interactions
        self.noise = noise
        self.excess_risk = excess_risk
        self.solver = solver
        self.eta = eta
        self.radius = radius
        self.steps = steps
        self.removal_steps = removal_steps
        self.variant = variant
        self.xi = xi
        self.iterations = iterations
        self.diameter = diameter
        self.copies = copies
        self.start = start
        self.start_public = start_public
        self.start_privacy = start_privacy
        self.extractor_privacy = extractor_privacy
        self.not_covered = not_covered
        self.pickle_rows = pickle_rows
        self.random_state = random_state
        self.verbose = verbose

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
            Of two classes, positive where the second is chosen: for ``"softmax"`` the difference
            of their margins. Of more, the margin of each.
        """
        return self._decision(X)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
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

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
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

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features: (1, features) of two classes, else (classes, features).

        Rows are made to obey `row_norm` before they are multiplied with them.
        """
        return self._fitted("_published", "coef_").coef  # type: ignore[no-any-return]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """What is added to each output; zeros without an intercept."""
        return self._fitted("_published", "intercept_").intercept  # type: ignore[no-any-return]

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

    def _learn_targets(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        if self.mechanism == "ridge":
            raise InputError(
                "`ridge` is for regression, but this is a classifier",
                code="settings",
                hint="use `UnlearningRegressor`, with classes encoded as numbers",
            )
        if is_task(self.loss, "regression"):
            suited = [f'"{loss.name}"' for loss in losses() if loss.task != "regression"]
            raise InputError(
                f'`loss="{self.loss}"` is for regression, but this is a classifier',
                code="settings",
                hint="use `UnlearningRegressor`, or one of the losses of a classifier: "
                f"{', '.join(suited[:-1])} or {suited[-1]}",
            )
        check_classification_targets(y)
        found = np.unique(y)
        declared = None if self.classes is None else np.unique(np.asarray(self.classes))
        self.classes_ = found if declared is None else declared
        if len(self.classes_) < 2:
            raise InputError(
                "a classifier needs at least 2 classes, but the data have only one class: "
                f"{found[:1].tolist()[0]!r}",
                code="classes",
                hint="list all classes with `classes`",
            )
        if len(self.classes_) > 2 and is_task(self.loss, "binary"):
            raise InputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y, input_name='y')}, `loss` is {self.loss!r}",
                code="classes",
                hint='use `loss="softmax"`',
            )
        if len({_canonical(class_name(label)) for label in self.classes_}) < len(self.classes_):
            raise InputError(
                "two classes have the same name after stripping spaces and normalising numbers: "
                f"{', '.join(repr(label) for label in self.classes_.tolist())}",
                code="classes",
            )
        return self._targets(y), declared, {}

    def _targets(self, y: Any) -> Any:
        """Targets as the engine takes them; all must be known."""
        return targets_of(y, self.classes_)

    def _adopt_targets(self, published: Published, face: dict[str, Any] | None) -> None:
        found = _natural(published.facts["classes"]) if face is None else _face.classes_in(face)
        self.classes_ = found

    def _orient(self, published: Published) -> Published:
        """Outputs in the order of `classes_`; the engine sorts texts of numbers as numbers."""
        named = {_canonical(name): at for at, name in enumerate(published.facts["classes"])}
        order = [named[_canonical(class_name(label))] for label in self.classes_]
        if len(published.coef) == 1:
            return published if order == [0, 1] else published.scaled(-1.0)
        return published.taken(order)

    @classmethod
    def _parameters_of(cls, plan: dict[str, Any]) -> dict[str, Any]:
        if "classes" not in plan["task"]:
            raise InputError(
                "the vault has a regression model", code="data", hint="use `UnlearningRegressor`"
            )
        parameters = chosen_in(plan, set(cls._parameter_constraints))
        listed = {c["name"]: c["origin"] for c in plan["constants"]}
        if listed["classes"] == "user":
            parameters["classes"] = _natural(plan["task"]["classes"])
        return {**parameters, "loss": plan["loss"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not is_task(self.loss, "binary")
        return tags


def targets_of(y: Any, classes: NDArray[Any]) -> Any:
    """Return targets as the engine takes them; all must be among the classes, which are sorted."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        shown = ", ".join(repr(label) for label in unknown[:5].tolist())
        raise InputError(
            f"`y` has labels that are not among the model's classes: {shown}", code="classes"
        )
    if y.dtype.kind in "iubf":
        return y
    names = [class_name(label) for label in classes]
    return [names[at] for at in np.searchsorted(classes, y)]


def _canonical(name: str) -> str | int | float:
    """What makes two names the same to the engine: texts without spaces around, or numbers."""
    text = name.strip()
    if _NUMBER.fullmatch(text) is None:
        return text
    try:
        return int(text)
    except ValueError:
        return float(text)


def _natural(names: list[str]) -> NDArray[Any]:
    """Classes of a vault, as whole numbers where all of them are, else as texts."""
    try:
        return np.sort(np.array([int(name) for name in names], dtype=np.int64))
    except ValueError:
        return np.sort(np.array(names))

"""Regressors that can forget."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval

from ._errors import InputError, NotCoveredWarning, warn
from ._estimator import Unlearner
from ._parameters import CONSTRAINTS, chosen_in
from ._published import Published


class UnlearningRegressor(RegressorMixin, Unlearner):  # type: ignore[misc]
    """A linear regressor that forgets records on request, and certifies it.

    The loss is the squared one with the residual clipped (Huber's), so that one record's pull is
    bounded. It learns and predicts like scikit-learn's ``Ridge``, with one more verb:
    :meth:`forget`.

    Parameters
    ----------
    mechanism : str, default="solve"
        How the model is trained and how it forgets: ``"solve"``, ``"retrain"``, ``"noisy-gd"``,
        ``"descent-to-delete"``, ``"distributed-descent"``, ``"ridge"`` (squared loss: exact,
        without noise), or ``"objective-perturbation"`` (as published; its certificates never
        verify).
    lambda_ : float, default=1e-3
        Strength of the L2 regularisation of the mean loss; scikit-learn's `C` is
        ``1 / (n * lambda_)``. 0 is for ``"noisy-gd"`` with a `radius` only.
    epsilon : float, default=1.0
        The bound, in nats, that every request must meet for `notion`.
    delta : float, optional
        In (0, 1); by default 1e-6, or ``1 / (10 n)`` if that is less.
    notion : str, optional
        The privacy notion of (`epsilon`, `delta`): ``"indistinguishable-from-retraining"`` (the
        default), ``"exact-removal"`` (the default of ``"ridge"``), ``"renyi-unlearning"``,
        ``"deletion-privacy"`` or ``"differential-privacy"``.
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
    target_range : (float, float), optional
        The range of `y` as public knowledge; numbers outside are refused. By default the least and
        greatest number in `y`: this causes a warning, certificates list it as an assumption, and
        ``"deletion-privacy"`` and ``"differential-privacy"`` are not claimed then.
    clip : float, default=1.0
        Where residuals are clipped, in half ranges of `y`: the loss is Huber's. Infinity for
        nowhere, the squared loss itself (``"solve"`` and ``"retrain"``).
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
    coef_ : array (features,)
        Weights of the features in units of `y`, for rows that obey `row_norm`; not to be written
        to, since certificates are about them: change a copy.
    intercept_ : float
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
    >>> from efface import UnlearningRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.5, 0.5, size=(500, 4))
    >>> y = 20 + 40 * X[:, 0]
    >>> model = UnlearningRegressor(target_range=(0, 40)).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.forget(ids=["row:0", "row:7"]).records
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "target_range": ["array-like", None],
        "clip": [Interval(Real, 0, None, closed="right")],
    }

    def __init__(
        self,
        *,
        mechanism: str = "solve",
        lambda_: float = 1e-3,
        epsilon: float = 1.0,
        delta: float | None = None,
        notion: str | None = None,
        state: str | None = None,
        row_norm: float = 1.0,
        row_map: str = "clip",
        fit_intercept: bool = True,
        intercept: float = 1.0,
        target_range: tuple[float, float] | None = None,
        clip: float = 1.0,
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
        self.lambda_ = lambda_
        self.epsilon = epsilon
        self.delta = delta
        self.notion = notion
        self.state = state
        self.row_norm = row_norm
        self.row_map = row_map
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.target_range = target_range
        self.clip = clip
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

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted number for each row.

        Parameters
        ----------
        X : array, data frame, Arrow table or sparse matrix (rows, features)
            Rows; they are made to obey `row_norm` as at training.

        Returns
        -------
        array (rows,)
            In units of `y`.
        """
        outputs = self._outputs(X)
        return outputs[:, 0]

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features (features,), in units of `y`.

        Rows are made to obey `row_norm` before they are multiplied with them.
        """
        return self._fitted("_published", "coef_").coef[0]  # type: ignore[no-any-return]

    @property
    def intercept_(self) -> float:
        """What is added, in units of `y`: also the middle of the range without an intercept."""
        return float(self._fitted("_published", "intercept_").intercept[0])

    def _checks_of_targets(self) -> dict[str, Any]:
        return {"y_numeric": True}

    def _learn_targets(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        settings: dict[str, Any] = {"loss": "squared"}
        if self.target_range is not None:
            return y, None, {**settings, "target_range": self._declared_range()}
        low, high = float(np.min(y)), float(np.max(y))
        if low == high:
            raise InputError(
                f"`y` has only one value, {low:g}, in {len(y)} sample(s): there is no range "
                "to learn in",
                code="target-range",
                hint="declare the range of `y`: `target_range=(low, high)`",
            )
        warn(
            f"the range of `y`, {low:g} to {high:g}, was computed from the data: it stays when the "
            "records at its ends are forgotten, and certificates assume it to be public; "
            "declare it with `target_range`",
            NotCoveredWarning,
        )
        return y, None, {**settings, "target_range": (low, high), "target_range_from_data": True}

    def _declared_range(self) -> tuple[float, float]:
        values = np.asarray(self.target_range, dtype=float)
        if values.shape != (2,):
            raise InputError(
                f"`target_range` must be two numbers, low then high, got {self.target_range!r}",
                code="target-range",
            )
        return float(values[0]), float(values[1])

    def _targets(self, y: Any) -> Any:
        return y

    def _adopt_targets(self, published: Published, face: dict[str, Any] | None) -> None:
        """Nothing beside the weights: the range is among the facts."""

    def _orient(self, published: Published) -> Published:
        """Outputs are in [-1, 1]; predictions in the range of `y`."""
        low, high = published.facts["target_range"]
        half = (high - low) / 2
        return published.scaled(half, low + half)

    @classmethod
    def _parameters_of(cls, plan: dict[str, Any]) -> dict[str, Any]:
        if "range" not in plan["task"]:
            raise InputError(
                "the vault has a classification model",
                code="data",
                hint="use `UnlearningClassifier`",
            )
        parameters = chosen_in(plan, set(cls._parameter_constraints))
        listed = {c["name"]: c["origin"] for c in plan["constants"]}
        if listed["target-range"] == "user":
            low, high = plan["task"]["range"]
            parameters["target_range"] = (float(low), float(high))
        return parameters

"""Ordinary estimators with the settings of a well-known job, by name.

Each function returns an estimator whose parameters can be read and changed like any other's;
keywords go to it and win over the preset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._parameters import Solve
from .classifier import UnlearningClassifier
from .regressor import UnlearningRegressor

__all__ = ["exact_ridge", "linear_svc", "private_classifier", "quick_classifier"]


def linear_svc(**parameters: Any) -> UnlearningClassifier:
    """Return a linear support vector classifier: the hinge loss, made smooth, for two classes.

    Parameters
    ----------
    **parameters
        Parameters of :class:`efface.UnlearningClassifier`, such as `hinge_width`.

    Returns
    -------
    UnlearningClassifier
        With ``loss="huber-hinge"``.

    Examples
    --------
    >>> from efface import presets
    >>> presets.linear_svc(lambda_=0.01)
    UnlearningClassifier(lambda_=0.01, loss='huber-hinge')
    """
    return UnlearningClassifier(**{"loss": "huber-hinge", **parameters})


def quick_classifier(*, releases: int = 20, **parameters: Any) -> UnlearningClassifier:
    """Return a classifier that forgets without reading its rows again, most of the time.

    It keeps a Hessian that saw deleted records, so that its state must stay secret; `releases`
    counts the models that may leave it before it is refreshed.

    Parameters
    ----------
    releases : int, default=20
        Releases between two refreshes.
    **parameters
        Parameters of :class:`efface.UnlearningClassifier`.

    Returns
    -------
    UnlearningClassifier
        With ``mechanism=Solve(solver="newton")`` and ``state="secret"``.

    Examples
    --------
    >>> from efface import presets
    >>> presets.quick_classifier(releases=50).get_params()["state"]
    'secret'
    """
    preset = {"mechanism": Solve(solver="newton"), "state": "secret", "releases": releases}
    return UnlearningClassifier(**{**preset, **parameters})


def private_classifier(
    *, classes: Sequence[Any], public_n: int, capacity: int, releases: int, **parameters: Any
) -> UnlearningClassifier:
    """Return a classifier that protects those who stay as well, by noisy gradient descent.

    Under differential privacy even the number of records is private, so all that follows from it
    must be public knowledge and has no default. Requests must be chosen without looking at
    earlier models.

    Parameters
    ----------
    classes : sequence
        The classes.
    public_n : int
        What sums are divided by: about the number of records.
    capacity : int
        Maximum number of records.
    releases : int
        Models that `epsilon` and `delta` cover together, the first one included.
    **parameters
        Parameters of :class:`efface.UnlearningClassifier`.

    Returns
    -------
    UnlearningClassifier
        With ``mechanism="noisy-gd"`` and ``notion="differential-privacy"``.

    Examples
    --------
    >>> from efface import presets
    >>> model = presets.private_classifier(
    ...     classes=[0, 1], public_n=1000, capacity=1200, releases=20, epsilon=2.0
    ... )
    >>> model.notion
    'differential-privacy'
    """
    preset = {
        "mechanism": "noisy-gd",
        "notion": "differential-privacy",
        "classes": classes,
        "public_n": public_n,
        "capacity": capacity,
        "releases": releases,
    }
    return UnlearningClassifier(**{**preset, **parameters})


def exact_ridge(*, target_range: tuple[float, float], **parameters: Any) -> UnlearningRegressor:
    """Return ridge regression that forgets exactly, to the last bit and without noise.

    Its sums are kept as integers, so that taking a row out leaves what would be there had it
    never come. It protects nobody who stays: whoever has the models before and after a request
    can tell what went.

    Parameters
    ----------
    target_range : (float, float)
        The range of `y`, as public knowledge.
    **parameters
        Parameters of :class:`efface.UnlearningRegressor`.

    Returns
    -------
    UnlearningRegressor
        With ``mechanism="ridge"``.

    Examples
    --------
    >>> import numpy as np
    >>> from efface import presets
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4]])
    >>> model = presets.exact_ridge(target_range=(0, 10)).fit(X, [1, 2, 3, 4])
    >>> model.forget(ids=["row:3"]).claims[0].notion
    'exact-removal'
    """
    return UnlearningRegressor(**{"mechanism": "ridge", "target_range": target_range, **parameters})

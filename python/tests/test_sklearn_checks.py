"""scikit-learn's own checks of estimators, and the few that noise cannot pass."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sklearn
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from efface import Declared, NoisyGD, Promise, UnlearningClassifier, UnlearningRegressor

ESTIMATORS = [
    UnlearningClassifier(),
    UnlearningClassifier(random_state=0),
    UnlearningClassifier(preprocess="declared"),
    UnlearningClassifier(loss="softmax"),
    UnlearningClassifier(loss="huber-hinge"),
    UnlearningClassifier(mechanism="noisy-gd", lambda_=0.01, promise=Promise(noise=0.05)),
    UnlearningClassifier(mechanism="retrain", fit_intercept=False, random_state=1),
    UnlearningClassifier(mechanism="descent-to-delete", lambda_=0.1),
    UnlearningClassifier(mechanism="ridge"),
    UnlearningClassifier(mechanism="ridge", preprocess="declared"),
    UnlearningClassifier(
        mechanism="ridge", lambda_=1e-4, preprocess=Declared(features="rff:60,norm=4")
    ),
    UnlearningRegressor(),
    UnlearningRegressor(random_state=0),
    UnlearningRegressor(preprocess="declared"),
    UnlearningRegressor(clip=float("inf")),
    UnlearningRegressor(clip=0.1),
    UnlearningRegressor(mechanism="noisy-gd", lambda_=0.01, promise=Promise(noise=0.01)),
    UnlearningRegressor(mechanism="ridge"),
    UnlearningRegressor(mechanism="ridge", preprocess="declared"),
]

# Noise of the same seed and scale, far below the tolerance of the checks.
_QUIET: dict[str, Any] = {"lambda_": 1.0, "promise": Promise(noise=4e-9)}
_FINE: dict[str, Any] = {**_QUIET, "preprocess": "declared"}

# What is compared with repeated rows: noise, steps and range are the same for both.
COMPARED = [
    UnlearningClassifier(**_FINE),
    UnlearningClassifier(loss="softmax", **_FINE),
    UnlearningClassifier(loss="huber-hinge", mechanism="retrain", **_FINE),
    UnlearningClassifier(mechanism="descent-to-delete", lambda_=1.0, promise=Promise(noise=1e-8)),
    UnlearningClassifier(
        mechanism=NoisyGD(eta=0.02, steps=1500), lambda_=1.0, promise=Promise(noise=2e-8)
    ),
    UnlearningRegressor(**_QUIET, preprocess=Declared(target_range=(0, 2))),
    UnlearningRegressor(
        clip=float("inf"), **_QUIET, preprocess=Declared(target_range=(0, 2), row_norm=6.0)
    ),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks that an estimator cannot pass, and why."""
    compared = ("dense", "sparse")
    why = "the noise of a model with weights has another scale: see `COMPARED`"
    if estimator.mechanism == "ridge":
        why = "fitted means and scales count each record once, whatever it weighs"
    failures = {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in compared}
    if estimator.mechanism == "ridge" and not estimator._refits():
        failures = {}  # no noise, and weights that are numbers of repetitions
    if (
        isinstance(estimator, UnlearningRegressor)
        and estimator.mechanism in {"solve", "retrain"}
        and estimator.preprocess is None
        and getattr(estimator, "clip", 1.0) == 1.0
    ):
        # Of a data frame and of an array with the same numbers it expects the same noise, which
        # classes do not show.
        frames = "columns of a frame may become words: the bound on weights and the noise differ"
        failures["check_regressor_data_not_an_array"] = frames
    if not estimator._refits():
        # It calls `partial_fit` with all rows once more, after `fit` and not from the start.
        full = (
            "`fit` on declared rows limits them to 1.25 times the first unless `capacity` is given"
        )
        failures["check_fit_score_takes_y"] = full
    if estimator.mechanism == "ridge":
        fractions = "listed weights count records in whole-number sums, and it lists a fraction"
        failures["check_class_weight_classifiers"] = fractions
    elif not estimator.fit_intercept:
        # It wants nearly all rows, which lie around the origin, to be taken for one class.
        failures["check_class_weight_classifiers"] = "a plane through the origin parts the rows"
    return failures


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the vaults of estimators that are pickled where the tests clean up."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.filterwarnings("ignore::efface.UnsavedWarning", "ignore::efface.NotCoveredWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    ESTIMATORS, expected_failed_checks=expected_failures
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# Earlier versions name two classes after the first row, and shuffle the rows of one table alone.
_OLD = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 7)


@pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")
@pytest.mark.parametrize("estimator", COMPARED)
def test_a_weight_is_a_number_of_repetitions(estimator: Any) -> None:
    if _OLD and getattr(estimator, "loss", "squared") in ("logistic", "huber-hinge"):
        pytest.skip("this scikit-learn compares other classes; `test_weights.py` compares the same")
    check_sample_weight_equivalence_on_dense_data(type(estimator).__name__, estimator)
    check_sample_weight_equivalence_on_sparse_data(type(estimator).__name__, estimator)

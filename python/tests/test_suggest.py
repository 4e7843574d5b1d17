"""What is suggested for a table, and that it trains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import efface

ROWS = 300


def people() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "member_no": np.arange(ROWS) * 3 + 1000,
            "age": rng.integers(18, 80, ROWS),
            "city": rng.choice(["Rome", "Oslo"], ROWS),
            "country": "FR",
            "size": [f"{value:.1f}" for value in rng.normal(size=ROWS)],
        }
    )
    frame.loc[::50, "size"] = "about 3"
    y = np.where(frame["age"] + rng.normal(scale=5, size=ROWS) > 50, "yes", "no")
    return frame, y


@pytest.mark.filterwarnings("ignore::efface.SettingsWarning")
def test_a_table_gets_an_estimator_with_costs_reasons_and_notices() -> None:
    X, y = people()
    found = efface.suggest(X, y, pass_ms=1.0)
    assert found.task == "classification"
    assert isinstance(found.estimator, efface.UnlearningClassifier)
    assert found.parameters == found.plan.best.parameters == found.choice.parameters
    assert [notice.code for notice in found.notices] == [
        "id-learnt",
        "texts-missing",
        "column-constant",
    ]
    assert 'ids="member_no"' in str(found.notices[0])
    assert found.fit_seconds > 0
    assert found.seconds_per_request == found.choice.seconds_per_request
    assert found.why == found.plan.advice
    assert found.preprocessing[1].startswith("age: number")
    shown = repr(found)
    assert shown.startswith("efface.UnlearningClassifier(mechanism=")
    for part in ("a deletion", "why", "member_no", "country", "indistinguishable-from-retraining"):
        assert part in shown
        assert part in found._repr_html_()
    # What is suggested is what it says: the same mechanism, noise and distance.
    model = found.fit()
    assert model.score(X, y) > 0.8
    plan = found.plan.best.fixed
    status = model.status()
    assert status["mechanism"] == plan["mechanism"]
    listed = {c["name"]: c["value"] for c in model.certificate_.constants}
    assert float(listed["noise"]) == float(plan["schedule"]["output"]["noise"])
    assert model.forget(ids=["row:3"]).records == 1


@pytest.mark.filterwarnings("ignore::efface.SettingsWarning")
def test_ids_are_passed_on_and_numbers_make_a_regression() -> None:
    X, _ = people()
    y = X["age"] * 2.5 + 1
    found = efface.suggest(X, y, ids="member_no", pass_ms=1.0)
    assert found.task == "regression"
    assert isinstance(found.estimator, efface.UnlearningRegressor)
    assert "id-learnt" not in {notice.code for notice in found.notices}
    model = found.fit()
    assert model.forget(ids=["1003"]).records == 1
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_arrays_and_settings(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(kind)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    found = efface.suggest(X, y, settings={"epsilon": 2.0, "lambda_": 0.01}, pass_ms=1.0)
    assert found.parameters["epsilon"] == 2.0
    assert found.plan.sizes["classes"] == 3
    assert found.fit().score(X, y) > 0.6


def test_what_cannot_be_learnt_is_refused() -> None:
    X, _ = people()
    with pytest.raises(efface.Refused, match="needs at least 2 classes"):
        efface.suggest(X, ["a"] * ROWS)
    with pytest.raises(efface.InputError, match="columns named"):
        efface.suggest(pd.concat([X, X], axis=1), ["a", "b"] * (ROWS // 2))
    loud = efface.suggest(X, ["a", "b"] * (ROWS // 2), settings={"noise": 9.0}, pass_ms=1.0)
    assert "noise-dominates" in {notice.code for notice in loud.notices}

"""Networks of shards as estimators: what they forget leaves no trace in any bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import efface
from efface import Promise, UnlearningClassifier

RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.uniform(-1, 1, size=(1500, 2)), columns=["a", "b"])
X.index = pd.Index([f"p{number}" for number in range(1500)])
SAME = (X["a"] * X["b"] > 0).to_numpy()


def shards(**settings: Any) -> UnlearningClassifier:
    usual: dict[str, Any] = {"shards": 4, "network": "dense:16", "epochs": 20, "batch_size": 16}
    return UnlearningClassifier(
        mechanism=efface.Shards(**(usual | settings)), promise=Promise(public_n=1500)
    )


def test_it_learns_what_no_line_tells_and_forgets_it_exactly() -> None:
    model = shards().fit(X, SAME)
    assert model.score(X, SAME) > 0.9
    chances = model.predict_proba(X)
    assert np.allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(X)).all()
    each = 16 * 2 + 16 + 2 * 16 + 2
    assert model.coef_.shape == (1, 4 * each)
    before = model.coef_.reshape(4, each).copy()
    certificate = model.forget(ids=["p3"])
    claim = certificate.claims[0]
    assert (claim.notion, claim.epsilon) == ("exact-removal", 0)
    after = model.coef_.reshape(4, each)
    assert (before != after).any(axis=1).sum() == 1
    assert model.verify()
    rest = np.arange(1500) != 3
    never = shards().fit(X[rest], SAME[rest])
    assert never.coef_.tobytes() == model.coef_.tobytes()
    assert (never.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize("labels", [["b", "a"], [10, 9]])
def test_classes_keep_their_outputs(labels: list[Any], tmp_path: Path) -> None:
    """The engine's order of classes is another than NumPy's."""
    y = np.array(labels)[SAME.astype(int)]
    model = shards().fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9
    model.save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert (again.decision_function(X) == model.decision_function(X)).all()


def test_subjects_decide_about_shards() -> None:
    people = np.array([f"who{number % 300}" for number in range(1500)])
    model = shards().fit(X, SAME, subjects=people)
    before = model.coef_.reshape(4, -1).copy()
    assert model.forget(subjects="who7").claims[0].epsilon == 0
    assert model.vault_.status()["records"] == 1495
    assert (before != model.coef_.reshape(4, -1)).any(axis=1).sum() == 1


def test_what_has_no_meaning_is_refused() -> None:
    for settings, said in (
        ({"epsilon": 2.0}, "epsilon"),
        ({"lambda_": 0.1}, "lambda"),
        ({"promise__notion": "differential-privacy"}, "exact-removal"),
        ({"random_state": 3}, "random"),
    ):
        with pytest.raises((efface.Refused, ValueError), match=said):
            shards().set_params(**settings).fit(X, SAME)
    with pytest.raises(efface.Refused, match="too few"):
        shards(shards=200).fit(X, SAME)

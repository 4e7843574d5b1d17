"""Networks as estimators of their own, and images as they come."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import efface
from efface import NetworkClassifier

RNG = np.random.default_rng(4)
Y = RNG.integers(0, 2, size=240)
IMAGES = RNG.uniform(0, 0.2, size=(240, 6, 8)).astype(np.float32)
IMAGES[Y == 1, 1:3] += 0.8
COLOURED = np.stack([IMAGES, 1 - IMAGES, IMAGES / 2], axis=-1)


def exact(**settings: Any) -> NetworkClassifier:
    given = {"shards": 2, "epochs": 10, **settings}
    return NetworkClassifier("conv:4x3,dense:8", mechanism="shards", **given)


@pytest.mark.parametrize("images", [IMAGES, COLOURED])
def test_images_come_as_they_are(images: Any, tmp_path: Path) -> None:
    model = exact().fit(images, Y)
    assert model.score(images, Y) > 0.9
    assert model.n_features_in_ == images[0].size
    claim = model.forget(ids="row:5").claims[0]
    assert (claim.notion, claim.epsilon) == ("exact-removal", 0.0)
    # Channel after channel, each line by line, as the engine's networks take them.
    flat = images.reshape(240, 6, 8, -1).transpose(0, 3, 1, 2).reshape(240, -1)
    channels = flat.shape[1] // 48
    network = f"conv:4x3,dense:8,image={channels}x6x8"
    plain = efface.UnlearningClassifier(
        mechanism=efface.Shards(network=network, shards=2, epochs=10)
    ).fit(flat, Y)
    plain.forget(ids="row:5")
    assert (plain.coef_ == model.model_.coef_).all()
    assert (plain.predict_proba(flat) == model.predict_proba(images)).all()
    model.save(tmp_path / "m.efface")
    again = NetworkClassifier.open(tmp_path / "m.efface")
    assert (again.decision_function(images) == model.decision_function(images)).all()
    assert (again.network, again.shards, again.epochs) == ("conv:4x3,dense:8", 2, 10)
    again.add(images[:2], Y[:2])
    assert again.certificate_.kind == "add"
    with pytest.raises(efface.InputError, match="the network was fitted on"):
        model.predict(images[:, 1:])


def test_noise_is_for_so_many_deletions() -> None:
    model = NetworkClassifier("dense:4", deletions=2, epsilon=8.0, random_state=1)
    again = clone(model).fit(IMAGES, Y)
    assert again.get_params() == model.get_params()
    assert 0 < again.forget(ids="row:1").claims[0].epsilon < 8
    assert again.vault_.status()["deletions_left"] == 1
    assert list(again.classes_) == [0, 1]
    with pytest.raises(NotFittedError):
        model.predict(IMAGES)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the vaults of estimators that are pickled where the tests clean up."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.usefixtures("own_folder")
@pytest.mark.filterwarnings("ignore::efface.UnsavedWarning", "ignore::efface.NotCoveredWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [NetworkClassifier("dense:8", mechanism="shards", shards=1, epochs=20)]
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NetworkClassifier(mechanism="solve"), '`mechanism` must be "dp-sgd" or "shards"'),
        (NetworkClassifier(shards=3), "`shards` has no meaning with"),
        (exact(epsilon=1.0), "`epsilon` has no meaning with"),
        (exact(deletions=1), "`deletions` has no meaning with"),
        (NetworkClassifier("dense:4,image=6x8"), "must not say the shape"),
    ],
)
def test_what_has_no_meaning_is_refused(model: NetworkClassifier, message: str) -> None:
    with pytest.raises(efface.InputError, match=message):
        model.fit(IMAGES, Y)
    assert not hasattr(model, "model_")

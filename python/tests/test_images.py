"""Images as networks take them: as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import efface
from efface import Shards, UnlearningClassifier

RNG = np.random.default_rng(4)
Y = RNG.integers(0, 2, size=240)
IMAGES = RNG.uniform(0, 0.2, size=(240, 6, 8)).astype(np.float32)
IMAGES[Y == 1, 1:3] += 0.8
COLOURED = np.stack([IMAGES, 1 - IMAGES, IMAGES / 2], axis=-1)


def exact(network: str = "conv:4x3,dense:8") -> UnlearningClassifier:
    return UnlearningClassifier(mechanism=Shards(network=network, shards=2, epochs=10))


@pytest.mark.parametrize("images", [IMAGES, COLOURED])
def test_images_come_as_they_are(images: Any, tmp_path: Path) -> None:
    model = exact().fit(images, Y)
    assert model.score(images, Y) > 0.9
    assert model.n_features_in_ == images[0].size
    claim = model.forget(ids="row:5").claims[0]
    assert (claim.notion, claim.epsilon) == ("exact-removal", 0.0)
    # Channel after channel, each line by line, as the engine's networks take them.
    flat = images.reshape(240, 6, 8, -1).transpose(0, 3, 1, 2).reshape(240, -1)
    plain = exact(f"conv:4x3,dense:8,image={flat.shape[1] // 48}x6x8").fit(flat, Y)
    plain.forget(ids="row:5")
    assert (plain.coef_ == model.coef_).all()
    assert (plain.predict_proba(flat) == model.predict_proba(images)).all()
    model.save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert again.get_params() == model.get_params()
    assert (again.decision_function(images) == model.decision_function(images)).all()
    again.add(images[:2], Y[:2])
    assert again.certificate_.kind == "add"
    with pytest.raises(efface.InputError, match="the network was fitted on"):
        again.predict(images[:, 1:])


def test_other_models_take_rows() -> None:
    with pytest.raises(ValueError, match="Found array with dim 3"):
        UnlearningClassifier().fit(IMAGES, Y)

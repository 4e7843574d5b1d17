"""Rows that may take no more memory than is said."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import efface
from efface import InputError, NoisyGD, Promise, Refused, UnlearningClassifier, Vault

# More than 64 MiB leave for rows beside the process.
ROWS, COLUMNS = 60_000, 100


@pytest.fixture(scope="module")
def large() -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(ROWS, COLUMNS)).astype(np.float32) / 10
    return x, (x[:, 0] > 0).astype(int)


def test_a_limit_changes_no_weight(large: tuple[Any, Any], tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", large[0])
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    models = [
        UnlearningClassifier(preprocess="declared", random_state=1, memory=memory).fit(x, large[1])
        for memory, x in ((None, large[0]), ("64MiB", mapped), (1 << 40, large[0]))
    ]
    without, within, enough = models
    assert np.array_equal(without.coef_, within.coef_)
    assert np.array_equal(without.coef_, enough.coef_)
    assert Path("/dev/shm") not in within.vault_.path.parents  # noqa: S108
    assert within.forget("row:7").records == 1
    within.add(large[0][:3], large[1][:3])
    assert within.prepare()["records"] == ROWS + 2
    assert within.get_params()["memory"] == "64MiB"
    # It is a property of this machine, not of the model.
    path = tmp_path / "m.efface"
    assert UnlearningClassifier.load(within.save(path).vault_.path).memory is None


def test_preprocessing_is_fitted_within_a_limit() -> None:
    generator = np.random.default_rng(1)
    rows = 250_000
    frame = pd.DataFrame(
        {f"x{at}": generator.normal(size=rows) for at in range(6)}
        | {"town": generator.choice(["Ulm", "Graz", "Bern"], size=rows)}
    )
    y = np.where(frame["x0"] + generator.normal(size=rows) > 0, "yes", "no")
    without, within = (
        UnlearningClassifier(random_state=1, memory=memory).fit(frame, y)
        for memory in (None, "64MiB")
    )
    assert np.array_equal(without.coef_, within.coef_)
    assert list(within.get_feature_names_out()) == list(without.get_feature_names_out())
    assert Path("/dev/shm") not in within.vault_.path.parents  # noqa: S108
    assert within.forget("row:7").records == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weight": {1: 2.0}, "preprocess": "declared"},
        {"preprocess": efface.Declared(features="rff:64")},
    ],
    ids=str,
)
def test_weights_and_features_are_made_within_a_limit(
    large: tuple[Any, Any], settings: dict[str, Any]
) -> None:
    without, within = (
        UnlearningClassifier(random_state=1, memory=memory, **settings).fit(*large)
        for memory in (None, "64MiB")
    )
    assert np.array_equal(without.coef_, within.coef_)
    assert within.forget("row:7").records == 1


def test_a_vault_is_served_within_a_limit(large: tuple[Any, Any], tmp_path: Path) -> None:
    settings = {"preprocess": "declared", "seed": 1}
    vaults = [
        Vault.train(tmp_path / f"{memory}.efface", *large, settings=settings, memory=memory)
        for memory in (None, "64MiB")
    ]
    coefs = [vault.weights()[0] for vault in vaults]
    assert np.array_equal(coefs[0], coefs[1])
    assert vaults[1].delete(["row:5"], memory="64MiB").remaining == ROWS - 1


def test_what_needs_all_rows_is_refused(large: tuple[Any, Any]) -> None:
    with pytest.raises(Refused, match="`memory` is 64 MiB") as refused:
        UnlearningClassifier(
            mechanism=NoisyGD(batches=4), memory="64MiB", promise=Promise(noise=0.05)
        ).fit(*large)
    assert refused.value.code == "memory"


def test_a_limit_arrives_at_every_request(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(200, 3)) / 4
    y = (x[:, 0] > 0).astype(int)
    vault = Vault.train(tmp_path / "m.efface", x, y)
    requests: list[Any] = [
        partial(vault.delete, ["row:1"]),
        partial(vault.add, x[:1], y[:1]),
        partial(vault.update, x[:1], y[:1], ids=["row:0"]),
        vault.refresh,
        vault.prepare,
        partial(Vault.train, tmp_path / "n.efface", x, y),
        partial(lambda memory: UnlearningClassifier(memory=memory).fit(x, y)),
    ]
    for request in requests:
        for memory, text in ((1 << 20, "at least 64 MiB"), ("2 parsecs", "must be a size")):
            with pytest.raises(InputError, match=text) as refused:
                request(memory=memory)
            assert refused.value.code == "memory"
            assert "`memory`" in str(refused.value)
    assert vault.status()["records"] == 200


def test_rows_that_stay_have_no_limit(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(200, 3)) / 4
    vault = Vault.train(tmp_path / "m.efface", x, (x[:, 0] > 0).astype(int))
    with efface.resident(vault), pytest.raises(Refused, match="use one of them"):
        vault.delete(["row:1"], memory="64MiB")
    assert vault.delete(["row:1"], memory="64MiB").remaining == 199

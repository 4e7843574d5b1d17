"""The examples in docstrings run, and every parameter is described."""

from __future__ import annotations

import doctest
import inspect

import pytest

import efface
from efface import classifier, network, regressor


@pytest.mark.parametrize("module", [classifier, network, regressor])
def test_examples_run(module: object) -> None:
    outcome = doctest.testmod(module)  # type: ignore[arg-type]
    assert outcome.attempted > 5
    assert outcome.failed == 0


@pytest.mark.parametrize("kind", [efface.UnlearningClassifier, efface.UnlearningRegressor])
def test_every_parameter_is_described(kind: type) -> None:
    parameters = inspect.signature(kind).parameters
    described = (kind.__doc__ or "").split("Attributes\n")[0]
    names = [name for line in described.splitlines() for name in line.split(" : ")[0].split(", ")]
    named = {name.strip() for name in names}
    assert set(parameters) - named == set()
    assert set(parameters) == set(kind._parameter_constraints)  # type: ignore[attr-defined]

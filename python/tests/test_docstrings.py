"""Docstrings describe every parameter."""

from __future__ import annotations

import inspect

import pytest

import efface


@pytest.mark.parametrize("kind", [efface.UnlearningClassifier, efface.UnlearningRegressor])
def test_every_parameter_is_described(kind: type) -> None:
    parameters = inspect.signature(kind).parameters
    described = (kind.__doc__ or "").split("Attributes\n")[0]
    names = [name for line in described.splitlines() for name in line.split(" : ")[0].split(", ")]
    named = {name.strip() for name in names}
    assert set(parameters) - named == set()
    assert set(parameters) == set(kind._parameter_constraints)  # type: ignore[attr-defined]

"""The examples in the documentation of every module run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import efface

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(efface.__path__, "efface.")
    if module.name != "efface._engine"
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", ["efface", *MODULES])
def test_the_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    if name in ("efface.torch", "efface._per_record"):
        pytest.importorskip("torch")
    outcome = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert outcome.failed == 0


@pytest.mark.parametrize("kind", efface.accounting.kinds(), ids=lambda kind: kind.function)
def test_every_kind_of_case_has_an_example_that_runs(kind: efface.accounting.Kind) -> None:
    """They are not found with their module, which makes its functions."""
    text = getattr(efface.accounting, kind.function).__doc__
    test = doctest.DocTestParser().get_doctest(text, {}, kind.function, None, None)
    assert len(test.examples) == 2
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test) == (0, 2)

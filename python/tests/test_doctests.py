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
    outcome = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert outcome.failed == 0


def test_there_are_examples_of_every_kind_of_case() -> None:
    """A change of how examples are found must not leave them all out."""
    found = 0
    for name in MODULES:
        module = importlib.import_module(name)
        found += sum(bool(test.examples) for test in doctest.DocTestFinder().find(module))
    assert found > len(efface.accounting.kinds())

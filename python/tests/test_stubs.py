"""The stubs say what the extension, and what is made of its kinds of cases, are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import accounting_stub
import parameters_stub
import pytest

PROJECT = str(Path(__file__).parents[1] / "pyproject.toml")


@pytest.mark.parametrize(
    "module", ["efface._engine", "efface._parameters", "efface.accounting._functions"]
)
def test_the_stub_fits_the_module(module: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy.stubtest", f"efface.{module}"),
            *("--mypy-config-file", PROJECT),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_of_the_accounting_is_what_the_engine_documents() -> None:
    """After a change of a kind: `python tests/accounting_stub.py`."""
    checked_in = accounting_stub.STUB.read_text(encoding="utf-8")
    assert ast.dump(ast.parse(checked_in)) == ast.dump(ast.parse(accounting_stub.stub()))


def test_the_stub_of_parameters_is_what_the_engine_documents() -> None:
    """After a change of the table: `python tests/parameters_stub.py`."""
    checked_in = parameters_stub.STUB.read_text(encoding="utf-8")
    assert ast.dump(ast.parse(checked_in)) == ast.dump(ast.parse(parameters_stub.stub()))

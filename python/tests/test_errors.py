"""Exceptions."""

from __future__ import annotations

import pickle

import pytest

import efface
from efface import _errors


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ("input", "range", efface.InputError),
        ("refused", "max-group", efface.Refused),
        ("refused", "unknown-record", efface.UnknownRecord),
        ("refused", "unknown-subject", efface.UnknownSubject),
        ("refused", "budget-exhausted", efface.BudgetExhausted),
        ("refused", "releases-exhausted", efface.ReleasesExhausted),
        ("storage", "damaged", efface.StorageError),
        ("storage", "exists", efface.VaultExists),
        ("storage", "in-use", efface.VaultBusy),
        ("storage", "not-found", efface.VaultMissing),
        ("interrupted", "interrupted", efface.Interrupted),
    ],
)
def test_kinds_and_codes(kind: str, code: str, expected: type[efface.Error]) -> None:
    error = _errors.of_engine(kind, code, "`x` must be 1, got 2", "do this")
    assert type(error) is expected
    assert (error.code, error.hint, error.message) == (code, "do this", "`x` must be 1, got 2")
    assert str(error) == "`x` must be 1, got 2; do this"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is expected
    assert (again.code, again.hint, str(again)) == (error.code, error.hint, str(error))


def test_errors_survive_pickles_with_all_they_say() -> None:
    unknown = efface.UnknownSubject("who", hint="ask", names=("a", "b"))
    again = pickle.loads(pickle.dumps(unknown))
    assert type(again) is efface.UnknownSubject
    assert again.names == ("a", "b")
    partly = efface.PartlyForgotten("half", failures={"[0]": unknown})
    assert pickle.loads(pickle.dumps(partly)).failures["[0]"].names == ("a", "b")


def test_tracebacks_name_errors_as_they_are_imported() -> None:
    for name in efface.__all__:
        value = getattr(efface, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert value.__module__ == "efface", name


def test_the_tree_fits_what_python_programmers_catch() -> None:
    assert issubclass(efface.InputError, ValueError)
    assert issubclass(efface.UnknownRecord, KeyError)
    assert issubclass(efface.StorageError, OSError)
    assert issubclass(efface.ReleasesExhausted, efface.BudgetExhausted)
    for name in efface.__all__:
        value = getattr(efface, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, efface.Error | Warning), name


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("give a larger `--max-group`", "give a larger `max_group`"),
        ("raise `--lambda` or `--excess-risk`", "raise `lambda_` or `excess_risk`"),
        ("`--key FILE` or `$EFFACE_KEY`", "`key` or `$EFFACE_KEY`"),
        ("use `--loss squared --target-range LOW,HIGH`", 'use `loss="squared", target_range`'),
        ("`--releases 2`", "`releases=2`"),
        ("run `efface refresh`", "run `refresh()`"),
        ("the `efface schema` command", "the `efface schema` command"),
        ("give `--record`, `--subject` or `--ids`", "give `ids` or `subjects`"),
        ("X, row:2, column `y`: no", "y[2]: no"),
        ("X, row:2, column `a`: no", "X[2], column `a`: no"),
        ("`row-map` and `max-weight 3`, `solve`", "`row_map` and `max_weight 3`, `solve`"),
    ],
)
def test_the_command_line_is_spoken_as_python(hint: str, expected: str) -> None:
    assert _errors.of_engine("refused", "x", "no", hint).hint == expected


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        efface.nothing  # noqa: B018
    assert set(efface.__all__) <= set(dir(efface))
    assert efface.__version__.count(".") == 2

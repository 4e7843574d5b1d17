"""Exceptions."""

from __future__ import annotations

import ast
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import efface
from efface import _engine, _errors


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


def test_codes_are_those_that_the_engine_knows_or_that_are_listed_beside() -> None:
    engine = json.loads(_engine.codes())
    assert set(_errors._BY_CODE) <= set(engine)
    assert not set(_errors._OWN) & set(engine)
    assert list(_errors.codes()) == sorted({*engine, *_errors._OWN})
    used = set()
    for path in Path(efface.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code":
                value = node.value
                ends = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                used |= {end.value for end in ends if isinstance(end, ast.Constant)}
            if isinstance(node, ast.FunctionDef):
                named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                given = [value for arg, value in named if arg.arg == "code"]
                used |= {value.value for value in given if isinstance(value, ast.Constant)}
    assert {"usage", "error", "unknown-subject"} <= used
    assert used <= set(_errors.codes())
    assert set(_errors._OWN) <= used


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


X = np.linspace(-0.5, 0.5, 60).reshape(20, 3)
Y = np.arange(20) % 2


STEPS = (
    "`steps` is a setting of `noisy-gd`, `descent-to-delete` and `dp-sgd` only; leave it out, or "
    "choose that mechanism with `mechanism`"
)
RELEASES = (
    '`Promise(state="secret")` with 1 release leaves no release for requests: the training is one; '
    "give `Promise(releases=...)` of at least 2: the number of requests between refreshes plus 1"
)
START = (
    "`start_public` and `start_privacy` describe a start, but none is given; give the start: "
    "`start`"
)
BALL = (
    "`lambda` 0 needs `noisy-gd` with a public radius: without regularisation or a ball the "
    'weights are unbounded; give `mechanism="noisy-gd"` and `radius`, or a `lambda_` above 0'
)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"lambda_": -1.0}, "`lambda_` must be finite and at least 0, got -1"),
        (
            {"row_map": "cut"},
            "`Declared(row_map=...)` must be one of clip, unit, refuse, got `cut`",
        ),
        ({"steps": 3}, STEPS),
        ({"state": "secret"}, RELEASES),
        ({"mechanism": "noisy-gd", "start_public": True}, START),
        ({"lambda": 0.0}, BALL),
    ],
)
def test_the_engine_speaks_python(
    settings: dict[str, object], expected: str, tmp_path: Path
) -> None:
    with pytest.raises(efface.Error) as raised:
        efface.Vault.train(tmp_path / "m.efface", X, Y, settings=settings)
    assert str(raised.value) == expected


def test_a_cell_is_named_as_numpy_does(tmp_path: Path) -> None:
    for x, y, place in (
        (np.where(X[4, 2] == X, np.nan, X), Y, r"^X\[4\], column `x2`: "),
        (X, np.where(np.arange(20) == 3, np.nan, Y), r"1 of 20 rows .* y\[3\]; .* `X\[y"),
    ):
        with pytest.raises(efface.InputError, match=place):
            efface.Vault.train(tmp_path / "m.efface", x, y, settings={"preprocess": "declared"})


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        efface.nothing  # type: ignore[attr-defined]  # noqa: B018
    assert set(efface.__all__) <= set(dir(efface))
    assert efface.__version__.count(".") == 2

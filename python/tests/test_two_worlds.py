"""Two worlds that differ in one record, and forget it: what is kept and certified is the same."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import os
import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import efface
from efface import UnlearningClassifier, UnlearningRegressor

pytestmark = pytest.mark.filterwarnings("ignore")

TRIALS = int(os.environ.get("EFFACE_TWO_WORLDS", "40"))
ROWS = 40
NOTHING: dict[str, Any] = {}

DAY = datetime.datetime(2021, 3, 5)
Cells = Callable[[np.random.Generator], Any]

# By kind of column a usual cell, and cells that no other row has.
KINDS: dict[str, tuple[Cells, list[Any]]] = {
    "small": (lambda rng: int(rng.integers(-9, 99)), [None, 2.5, "A+", True, 2**63 + 5]),
    "unsigned": (lambda rng: int(rng.integers(0, 2**62)), [2**63 + 5, "A+"]),
    "floats": (lambda rng: float(rng.integers(-9, 99)) / 8, [None, "A+", "1.50", DAY]),
    "thousandths": (lambda rng: float(rng.integers(1000, 9999)) / 1000, [None, "A+", 7]),
    "whole": (lambda rng: float(rng.integers(0, 9)), [None, "A+", 0.5]),
    "truths": (lambda rng: bool(rng.integers(2)), [None, "maybe", 2, "True"]),
    "days": (lambda rng: (DAY + days(rng)).date(), [None, "unknown", 3, DAY]),
    "times": (lambda rng: DAY + 0.37 * days(rng), [None, "unknown", DAY.date(), 2.5]),
    "zoned": (lambda rng: pd.Timestamp(DAY + days(rng), tz="UTC"), [None, "unknown", DAY]),
    "durations": (lambda rng: 0.01 * days(rng), [None, "unknown", 3]),
    "clock": (lambda rng: (DAY + 0.0101 * days(rng)).time(), [None, "unknown", 3.5]),
    "words": (lambda rng: str(rng.choice(["p", "q", "r s"])), [None, 3, 2.5, DAY]),
    "decimals": (lambda rng: decimal.Decimal(int(rng.integers(999))) / 100, [None, "A+", 3]),
}

# Cells of files, by kind, and others that change the type that a reader gives the column.
TEXTS: dict[str, tuple[Cells, list[str]]] = {
    "small": (lambda rng: str(rng.integers(99)), ["", "A+", "2.5", "99999999999999999999"]),
    "floats": (lambda rng: str(rng.integers(99) + 0.5), ["", "A+", "3"]),
    "fixed": (lambda rng: f"{rng.integers(999) / 10:.2f}", ["A+", "x y"]),
    "truths": (lambda rng: str(bool(rng.integers(2))), ["", "maybe", "unknown"]),
    "days": (lambda rng: str((DAY + days(rng)).date()), ["", "unknown", "5 March"]),
    "times": (lambda rng: str(DAY + days(rng) * 0.25), ["", "unknown"]),
    "abroad": (lambda rng: f"{DAY + days(rng):%d.%m.%Y}", ["unknown", "2021-03-05"]),
    "words": (lambda rng: str(rng.choice(["p", "q"])), ["", "3", "2.5", "2021-03-05"]),
}


def days(rng: np.random.Generator) -> datetime.timedelta:
    return datetime.timedelta(days=int(rng.integers(900)))


def world(frame: Any, y: Any, mechanism: str, *, regression: bool = False) -> dict[str, Any]:
    """What is left of a table once `X` was forgotten; nothing where nothing is promised."""
    kind: Any = UnlearningRegressor if regression else UnlearningClassifier
    model = kind(mechanism=mechanism, random_state=0)
    try:
        model.fit(frame, y, ids=[f"r{row}" for row in range(ROWS - 1)] + ["X"])
    except efface.Refused as refused:
        assert "`column-types`" in str(refused) or "`label-type`" in str(refused)
        return NOTHING
    model.forget("X")
    certificate = json.loads(model.certificate_.to_json())
    promised = {claim["notion"] for claim in certificate["claims"]}
    if not promised & {"deletion-privacy", "exact-removal"}:
        return NOTHING
    with sqlite3.connect(model.vault_.path) as vault:
        (config,) = vault.execute("SELECT config FROM genesis").fetchone()
        rows = vault.execute("SELECT features FROM content ORDER BY first").fetchall()
    facts = model._published.facts
    kept = {
        "config": json.loads(config),
        "preprocessing": facts["preprocessing"],
        "classes": [repr(label) for label in getattr(model, "classes_", np.zeros(0)).tolist()],
        "constants": certificate["constants"],
        "assumptions": certificate["assumptions"],
        "claims": certificate["claims"],
    }
    if mechanism == "ridge":  # what has noise is equal in what it was drawn for
        kept |= {"rows": rows, "weights": model.coef_.tobytes()}
    return kept


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    if one is NOTHING or other is NOTHING:
        return
    for name, value in one.items():
        assert value == other[name], name


def cells_of(rng: np.random.Generator, usual: Cells) -> list[Any]:
    return [usual(rng) for _ in range(ROWS)]


def with_last(cells: list[Any], last: Any) -> list[Any]:
    return [*cells[:-1], last]


def labels(rng: np.random.Generator) -> Any:
    return np.where(rng.permutation(ROWS) % 2, "yes", "no")


def in_pandas(cells: list[Any]) -> Any:
    return pd.DataFrame({"c": pd.Series(cells), "number": np.arange(float(ROWS))})


def nullable(cells: list[Any]) -> Any:
    return in_pandas(cells).convert_dtypes()


def categories(cells: list[Any]) -> Any:
    return pd.DataFrame({"c": pd.Categorical(pd.Series(cells)), "n": np.arange(float(ROWS))})


def polars(cells: list[Any]) -> Any:
    return pl.DataFrame({"c": cells, "number": np.arange(float(ROWS))})


def arrow(cells: list[Any]) -> Any:
    return pa.table({"c": pa.array(cells), "number": np.arange(float(ROWS))})


def array(cells: list[Any]) -> Any:
    both = np.empty((ROWS, 2), dtype=object)
    both[:, 0], both[:, 1] = cells, np.arange(float(ROWS))
    return both


MAKERS = {one.__name__: one for one in (in_pandas, nullable, categories, polars, arrow, array)}


@pytest.mark.parametrize("trial", range(TRIALS))
def test_one_cell_of_a_frame_leaves_nothing(trial: int) -> None:
    rng = np.random.default_rng(trial)
    kind, maker = str(rng.choice(list(KINDS))), str(rng.choice(list(MAKERS)))
    usual, odd = KINDS[kind]
    if maker in {"polars", "arrow"}:
        odd = [None]  # these refuse another type than the column's
    elif kind == "unsigned" and maker != "array":
        odd = odd[:1]  # with a text pandas makes floats of them
    cells, y = cells_of(rng, usual), labels(rng)
    last = odd[rng.integers(len(odd))]
    mechanism = "solve" if trial % 8 == 0 else "ridge"
    one = world(MAKERS[maker](cells), y, mechanism)
    same(one, world(MAKERS[maker](with_last(cells, last)), y, mechanism))
    assert one is not NOTHING, (kind, maker)


@pytest.mark.parametrize("trial", range(TRIALS))
def test_one_cell_of_a_file_leaves_nothing_or_nothing_is_promised(trial: int) -> None:
    rng = np.random.default_rng(trial)
    kind = str(rng.choice(list(TEXTS)))
    usual, odd = TEXTS[kind]
    cells, y = cells_of(rng, usual), labels(rng)

    def read(last: str) -> Any:
        text = "\n".join(["c,n", *(f"{one},{at}" for at, one in enumerate(with_last(cells, last)))])
        times = kind in {"days", "times", "abroad"}
        file = io.BytesIO(text.encode())
        match trial % 3:
            case 0:
                form = {"date_format": "%d.%m.%Y"} if kind == "abroad" else {}
                return pd.read_csv(file, parse_dates=["c"] if times else None, **form)
            case 1:
                return pl.read_csv(file, try_parse_dates=True, infer_schema_length=None)
            case _:
                return pa.csv.read_csv(file)

    mechanism = "solve" if trial % 8 == 0 else "ridge"
    one = world(read(cells[-1]), y, mechanism)
    same(one, world(read(odd[rng.integers(len(odd))]), y, mechanism))


@pytest.mark.parametrize("mechanism", ["ridge", "solve"])
def test_whole_numbers_beside_a_missing_one_keep_their_digits(mechanism: str) -> None:
    rng = np.random.default_rng(3)
    cells = [2**53 + 2 * int(rng.integers(9)) + 1 for _ in range(ROWS)]
    y = labels(rng)
    makers: list[Any] = [
        lambda all_: pd.DataFrame({"c": pd.array(all_, dtype="Int64")}),
        lambda all_: pd.DataFrame({"c": pd.array(all_, dtype="int64[pyarrow]")}),
        lambda all_: pl.DataFrame({"c": all_}),
        lambda all_: pa.table({"c": all_}),
    ]
    for make in makers:
        first = world(make(cells), y, mechanism)
        same(first, world(make(with_last(cells, None)), y, mechanism))
        assert first is not NOTHING


LABELS: dict[str, tuple[list[Any], list[Any]]] = {
    "whole": ([0, 1], ["HIV", "2.0", 7]),
    "truths": ([False, True], ["HIV"]),
    "words": (["no", "yes"], ["3", "2.5", "True", "maybe"]),
}


@pytest.mark.parametrize("mechanism", ["ridge", "solve"])
@pytest.mark.parametrize("kind", LABELS)
def test_one_label_leaves_nothing(kind: str, mechanism: str) -> None:
    rng = np.random.default_rng(1)
    usual, odd = LABELS[kind]
    frame = in_pandas(cells_of(rng, KINDS["floats"][0]))
    y = [str(usual[row % 2]) for row in range(ROWS)]

    def read(last: Any) -> Any:
        text = "\n".join(["y", *with_last(y, str(last))])
        return pd.read_csv(io.StringIO(text))["y"]

    usual_world = world(frame, read(usual[0]), mechanism)
    assert usual_world is not NOTHING
    assert usual_world["classes"] == [repr(label) for label in usual]
    for last in odd:
        other = world(frame, read(last), mechanism)
        # The type of floats is kept where removal is not exact.
        assert (other is NOTHING) == (last == "2.0" and mechanism == "solve")
        same(usual_world, other)


def test_a_type_that_names_do_not_tell_is_kept_and_listed() -> None:
    frame = in_pandas(list(np.arange(ROWS) / 8))
    for y in (np.arange(ROWS) % 2 * 1.0, (np.arange(ROWS) % 2).astype(str)):
        model = UnlearningClassifier().fit(frame, y)
        model.forget("row:3")
        assert model.classes_.dtype == y.dtype
        assert {c["name"]: c["origin"] for c in model.certificate_.constants}[
            "label-type"
        ] == "data"
        assert "deletion-privacy" not in [claim.notion for claim in model.certificate_.claims]
        listed = UnlearningClassifier(classes=np.unique(y)).fit(frame, y)
        listed.forget("row:3")
        assert "deletion-privacy" in [claim.notion for claim in listed.certificate_.claims]
        assert listed.predict(frame).dtype == y.dtype


def test_exact_removal_keeps_no_type_of_labels() -> None:
    frame = in_pandas(list(np.arange(ROWS) / 8))
    model = UnlearningClassifier(mechanism="ridge").fit(frame, np.arange(ROWS) % 2 * 1.0)
    assert UnlearningClassifier.load(model.vault_.path).classes_.dtype == np.int64
    texts = (np.arange(ROWS) % 2).astype(str)
    with pytest.raises(efface.Refused, match="`label-type` was computed from the data"):
        UnlearningClassifier(mechanism="ridge").fit(frame, texts)
    UnlearningClassifier(mechanism="ridge", classes=["0", "1"]).fit(frame, texts)


def test_texts_in_the_place_of_numbers_go_with_no_exact_removal() -> None:
    cells = [f"{row / 10:.2f}" for row in range(ROWS - 1)]
    y = np.arange(ROWS) % 2
    with pytest.raises(efface.Refused, match="`column-types` was computed from the data"):
        UnlearningClassifier(mechanism="ridge").fit(in_pandas([*cells, "A+"]), y)
    UnlearningClassifier(mechanism="ridge").fit(in_pandas([*map(float, cells), "A+"]), y)
    typed = in_pandas([*cells, "A+"]).astype({"c": "category"})
    UnlearningClassifier(mechanism="ridge").fit(typed, y)

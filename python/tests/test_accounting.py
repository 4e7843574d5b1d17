"""The functions of `efface.accounting`: right, broadcasting, and refusing by name."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import pydoc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_type_hints

import numpy as np
import pytest

import efface
from efface import accounting

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = ("accounting", "published", "langevin", "cases", "dp_sgd", "noisy_cgd")
KINDS = {kind.name: kind for kind in accounting.kinds()}


def cases() -> Iterator[Any]:
    for document in DOCUMENTS:
        text = (ROOT / "vectors" / f"{document}.json").read_text(encoding="utf-8")
        for index, case in enumerate(json.loads(text)["cases"]):
            yield pytest.param(case, id=f"{document}-{index}-{case['kind']}")


def arguments(case: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a case as the function takes them, numbers as floats."""
    kind = KINDS[case["kind"]]
    values = {}
    for known in kind.inputs:
        if known.name not in case["inputs"]:
            continue
        value = case["inputs"][known.name]
        if known.is_number:
            value = int(value) if known.form == "count" else float(value)
        elif known.form == "numbers":
            value = [float(one) for one in value]
        values[known.python_name] = value
    return values


def function(kind: str) -> Any:
    return getattr(accounting, KINDS[kind].function)


def by_name(kind: str, answer: Any) -> dict[str, Any]:
    """Return the results of a call by the names of the engine."""
    results = KINDS[kind].results
    if len(results) == 1:
        return {results[0].name: answer}
    return {result.name: getattr(answer, result.python_name) for result in results}


@pytest.mark.parametrize("case", list(cases()))
def test_the_vectors_are_reproduced(case: dict[str, Any]) -> None:
    answers = by_name(case["kind"], function(case["kind"])(**arguments(case)))
    assert answers.keys() == case["expect"].keys()
    for name, want in case["expect"].items():
        got = answers[name]
        if isinstance(want, str):
            assert type(got) is float
            if float(want) != 0.0:
                tolerance = case.get("tolerance", 1e-8)
                assert math.isclose(got, float(want), rel_tol=tolerance, abs_tol=0.0)
            elif float(got) != 0.0:
                # A number below the floats: nothing else may be taken for 0.
                pytest.fail(f"`{name}` must be 0, got {got}")
        elif isinstance(want, list):
            assert got.tolist() == want
        else:
            assert type(got) is int
            assert got == want


def test_every_kind_has_vectors() -> None:
    held = {param.values[0]["kind"] for param in cases()}
    assert held == set(KINDS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.function)
def test_each_kind_is_a_function_with_a_signature(kind: accounting.Kind) -> None:
    made = getattr(accounting, kind.function)
    parameters = inspect.signature(made).parameters
    assert set(parameters) == {known.python_name for known in kind.inputs}
    for known in kind.inputs:
        given = parameters[known.python_name]
        assert (given.default is inspect.Parameter.empty) == known.is_required
        if not known.is_required:
            assert given.kind is inspect.Parameter.KEYWORD_ONLY
            assert given.default == known.default
    assert set(get_type_hints(made)) == {*parameters, "return"}
    assert (made.__module__, made.__qualname__) == ("efface.accounting", kind.function)
    assert pickle.loads(pickle.dumps(made)) is made
    with pytest.raises(TypeError, match=rf"^{kind.function}\(\) missing a required .*argument"):
        made()
    with pytest.raises(TypeError, match=rf"^{kind.function}\(\) .*'steps_left'"):
        made(steps_left=1, **{known.python_name: 1 for known in kind.inputs})


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.function)
def test_each_function_documents_what_the_engine_says(kind: accounting.Kind) -> None:
    text = inspect.getdoc(getattr(accounting, kind.function)) or ""
    assert text.startswith(kind.in_python(kind.summary).split("`")[0])
    assert len(text.splitlines()[0]) <= 88, "the summary of a kind must be one line"
    lines = text.splitlines()
    for known in kind.inputs:
        (at,) = [n for n, line in enumerate(lines) if line.startswith(f"{known.python_name} : ")]
        assert lines[at + 1].startswith("    ")
    for section in ("Parameters", "Returns", "Raises", "Notes", "References", "Examples"):
        assert f"{section}\n{'-' * len(section)}\n" in text
    assert " ".join(kind.source.split()) in " ".join(text.split())
    assert ("NOT SOUND" in text) == (kind.soundness == "not sound")
    assert kind.function in pydoc.plain(pydoc.render_doc(getattr(accounting, kind.function)))
    if len(kind.results) > 1:
        made = getattr(accounting, kind.class_name)
        for result in kind.results:
            assert f"{result.python_name} : " in made.__doc__


def test_a_result_is_pickled_and_cannot_be_changed() -> None:
    result = accounting.rdp_epsilon(0.01, 1e-5)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is accounting.RdpEpsilonResult
    assert tuple(again) == tuple(result)
    with pytest.raises(AttributeError, match="cannot assign to field 'mironov'"):
        result.mironov = 0.0  # type: ignore[misc]
    assert accounting.RdpEpsilonResult[float] is not None


def test_all_functions_and_results_are_exported() -> None:
    made = {kind.function for kind in KINDS.values()}
    made |= {kind.class_name for kind in KINDS.values() if len(kind.results) > 1}
    others = {"Input", "Kind", "Output", "account", "kinds", "plan"}
    assert sorted(accounting.__all__) == sorted(made | others)
    assert all(hasattr(accounting, name) for name in accounting.__all__)
    shown = pydoc.plain(pydoc.render_doc(accounting))
    assert all(f"\n    {name}(" in shown for name in made if name.islower())


def test_arrays_broadcast_to_what_numbers_give() -> None:
    mu = np.array([0.1, 0.5, 2.0])
    delta = np.array([[1e-5], [1e-9]])
    epsilon = accounting.gdp_epsilon(mu, delta)
    assert epsilon.shape == (2, 3)
    assert epsilon.dtype == np.float64
    for i in range(2):
        for j in range(3):
            assert epsilon[i, j] == accounting.gdp_epsilon(float(mu[j]), float(delta[i, 0]))


def test_several_results_broadcast_together() -> None:
    inputs: dict[str, Any] = {
        "n": 10_000,
        "strong_convexity": 0.01,
        "lipschitz": 1.0,
        "eta": 3.8,
        "group": 1,
    }
    inputs |= {"sigma": 0.03, "delta": 1e-5, "target_epsilon": 1.0}
    many: Any = accounting.langevin(**inputs, steps=[100, 200, 300])
    epsilon, least = many
    assert epsilon is many.epsilon_at_steps
    assert least is many.least_steps_for_target
    assert (epsilon.dtype, least.dtype) == (np.float64, np.int64)
    assert epsilon.shape == least.shape == (3,)
    assert epsilon[0] > epsilon[1] > epsilon[2]
    one: Any = accounting.langevin(**inputs, steps=200)
    assert (epsilon[1], least[1]) == tuple(one)


def test_lists_of_steps_get_an_axis_of_their_own() -> None:
    def steps(sigma: Any, requests: Any) -> Any:
        return accounting.langevin_sequence(
            n=10_000,
            strong_convexity=0.01,
            lipschitz=1.0,
            eta=3.8,
            sigma=sigma,
            group=1,
            delta=1e-5,
            target_epsilon=1.0,
            requests=requests,
        )

    assert steps(0.03, 3).shape == (3,)
    assert steps(0.03, 0).shape == (0,)
    both = steps([0.02, 0.03], 3)
    assert both.shape == (2, 3)
    assert (both[1] == steps(0.03, 3)).all()
    assert steps(np.empty(0), 3).shape == (0, 0)
    with pytest.raises(efface.InputError, match="the number of requests must be the same"):
        steps(0.03, [2, 3])


@pytest.mark.parametrize("mu", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0), np.array(1)])
def test_whatever_has_no_axes_gives_a_float(mu: Any) -> None:
    epsilon = accounting.gdp_epsilon(mu, 1e-5)
    assert type(epsilon) is float
    assert epsilon == accounting.gdp_epsilon(1.0, 1e-5)


def test_a_float_is_passed_on_to_its_last_bit() -> None:
    mu = 0.1 + 0.2
    assert accounting.gdp_epsilon(mu, 1e-5) > accounting.gdp_epsilon(0.3, 1e-5)


def test_no_elements_no_answers() -> None:
    assert accounting.gdp_epsilon(np.empty((0, 3)), 1e-5).shape == (0, 3)


def test_more_elements_than_one_batch_come_back_in_order() -> None:
    mu = np.linspace(0.0, 3.0, 2503)
    epsilon = accounting.gdp_epsilon(mu, 1e-5)
    assert (np.diff(epsilon) >= 0).all()
    assert epsilon[-1] == accounting.gdp_epsilon(3.0, 1e-5)


@pytest.mark.parametrize(
    ("mu", "delta", "message"),
    [
        (1.0, 1.5, "`delta` must be in (0, 1), got 1.5"),
        (float("nan"), 0.1, "`mu` must be a finite number of at least 0, got nan"),
        (float("inf"), 0.1, "`mu` must be a finite number of at least 0, got inf"),
        ([1.0, 2.0, -3.0], 0.1, "at [2]: `mu` must be a finite number of at least 0, got -3.0"),
        ([[1.0], [2.0]], [0.1, 0.0], "at [0, 1]: `delta` must be in (0, 1), got 0.0"),
        ("1", 0.1, "`mu` must be a number or an array of numbers, got '1'"),
        (True, 0.1, "`mu` must be a number or an array of numbers, got True"),
        (None, 0.1, "`mu` is missing"),
        ([1.0, 2.0], [0.1] * 3, "shapes must broadcast together, got `mu` (2,), `delta` (3,)"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_its_place(mu: Any, delta: Any, message: str) -> None:
    with pytest.raises(efface.InputError) as refused:
        accounting.gdp_epsilon(mu, delta)
    assert str(refused.value) == message
    assert refused.value.code == "case"


def test_the_place_is_right_in_a_later_batch() -> None:
    mu = np.ones(2500)
    mu[2345] = -1.0
    with pytest.raises(efface.InputError, match=r"^at \[2345\]: `mu` must be"):
        accounting.gdp_epsilon(mu, 0.1)


def test_messages_name_what_python_names() -> None:
    inputs: dict[str, Any] = {"eta": 1.9, "q": 20.0, "lipschitz": 1.0, "sigma": 0.03, "n": 10_000}
    with pytest.raises(efface.InputError, match=r"^`lambda_` must be a finite number above 0, got"):
        accounting.chourasia_convex(lambda_=-1.0, epsilon_dd=0.1, **inputs)


def test_words_lists_and_requests_are_held_against_their_rules() -> None:
    gd: dict[str, Any] = {"n": 100, "lambda_": 0.01, "beta": 0.25, "lipschitz": 1.0, "eta": 3.0}
    gd |= {"sigma": 0.03, "learning_steps": 10, "delta": 1e-5}
    with pytest.raises(efface.InputError, match="`adjacency` must be `replace`, `remove-fixed`"):
        accounting.noisy_gd(**gd, unlearning_steps=1, group=1, adjacency=cast("Any", "remove"))
    schedule: dict[str, Any] = {"initial_distance": 0.0, "delta": 1e-5, "noise_std": [1.0, 1.0]}
    with pytest.raises(efface.InputError, match="`shift` must be as long as `contraction`, got 1"):
        accounting.noisy_gd_schedule(contraction=[0.9, 0.9], shift=[0.1], **schedule)
    with pytest.raises(efface.InputError, match=r"with 1 axis, got shape \(1, 2\)"):
        accounting.noisy_gd_schedule(contraction=[[0.9, 0.9]], shift=[0.1, 0.1], **schedule)
    for requests, message in [
        ({"steps": 3}, "`requests` must be a list of requests, got {'steps': 3}"),
        ([3], "`requests` must contain mappings with `steps`, `delete` and `add`, got 3"),
        ([{"delete": ["a"]}], "`steps` is missing"),
        ([{"steps": 1, "remove": ["a"]}], "`remove` is not an input of this kind"),
        ([{"steps": 1, "delete": [object()]}], "the inputs must be numbers, strings or ids"),
    ]:
        with pytest.raises(efface.InputError) as refused:
            accounting.noisy_gd_sequence(**gd, requests=cast("Any", requests), adjacency="replace")
        assert message in str(refused.value)


def test_ids_may_be_what_numpy_holds() -> None:
    gd: dict[str, Any] = {"n": 100, "lambda_": 0.01, "beta": 0.25, "lipschitz": 1.0, "eta": 3.0}
    gd |= {"sigma": 0.03, "learning_steps": 10, "delta": 1e-5, "adjacency": "replace"}
    arrays = accounting.noisy_gd_sequence(
        **gd, requests=[{"steps": np.int64(5), "delete": np.array([3, 4])}]
    )
    lists = accounting.noisy_gd_sequence(**gd, requests=[{"steps": 5, "delete": [3, "4"]}])
    assert tuple(arrays) == tuple(lists)


def test_batches_keep_what_numbers_lose() -> None:
    case = {"kind": "gdp-delta", "inputs": {"mu": "0.5", "epsilon": "100"}}
    answered = accounting.account({"title": "x", "cases": [case]})
    assert answered["title"] == "x"
    assert answered["cases"][0]["result"]["delta"].endswith("e-8670")
    assert accounting.account(json.dumps({"cases": [case]})).keys() == {"cases"}
    assert accounting.gdp_delta(0.5, 100.0) == 0.0
    with pytest.raises(efface.InputError, match=r"^case 0 \(`gdp`\): `kind` must be one of"):
        accounting.account({"cases": [{"kind": "gdp", "inputs": {}}]})

"""From parameters of estimators to the engine's settings, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._parameters import MECHANISMS, Mechanism, mechanism_name
from ._setting import Setting, of_mechanism, settings
from ._table import label_named, name_of_label
from ._training import Training

# Settings of whose parameters this module makes more than a number or a word.
_OTHERWISE = frozenset(
    {"mechanism", "target_range", "not_covered", "seed", "class_weight", "missing"}
)


def settings_of(estimator: Any) -> dict[str, Any]:
    """Return the engine's settings; what has its default is left to the engine.

    So a certificate says of each constant whether the user chose it.
    """
    known = type(estimator)._parameter_constraints
    shared = [row for row in settings().values() if row.parameter in known]
    chosen = _chosen(estimator, [row for row in shared if row.name not in _OTHERWISE])
    if estimator._features is not None:
        chosen["features"] = estimator._features
    mechanism = estimator._mechanism
    if mechanism_name(mechanism) != settings()["mechanism"].default:
        chosen["mechanism"] = mechanism_name(mechanism)
    if isinstance(mechanism, Mechanism):
        chosen |= _own(mechanism)
    if not estimator.fit_intercept:
        chosen["intercept"] = 0.0
    # `ridge` draws no random numbers, so a seed would decide nothing.
    if estimator.random_state is not None and mechanism_name(mechanism) != "ridge":
        chosen["seed"] = _seed(estimator.random_state)
    if (weights := getattr(estimator, "class_weight", None)) is not None:
        chosen["class_weight"] = _by_class(weights)
    if estimator.missing is not None:
        chosen["missing"] = _listed(estimator.missing)
    lines = estimator.not_covered
    chosen["not_covered"] = [lines] if isinstance(lines, str) else [str(line) for line in lines]
    return chosen


def _listed(missing: str | Iterable[str]) -> str:
    """Texts for no value as the engine lists them."""
    return missing if isinstance(missing, str) else ",".join(missing)


def start_of(estimator: Any) -> bytes | None:
    """Return the weights to start from, as a file's bytes."""
    start = getattr(estimator._mechanism, "start", None)
    if start is None or isinstance(start, bytes):
        return start
    return Path(start).read_bytes()


def to_json(given: Mapping[str, Any] | None) -> str:
    """Return settings as JSON: None is left out, infinity is the text ``inf``.

    They may have the names that estimators have for them, and a mechanism its own settings.
    """
    named = {row.parameter: row.name for row in settings().values()}
    written = {
        named.get(name, name): value for name, value in (given or {}).items() if value is not None
    }
    if not written.pop("fit_intercept", True):
        written["intercept"] = 0.0
    if "class_weight" in written:
        written["class_weight"] = _by_class(written["class_weight"])
    if "missing" in written:
        written["missing"] = _listed(written["missing"])
    if isinstance(mechanism := written.get("mechanism"), Mechanism):
        written |= {"mechanism": mechanism.name, **_own(mechanism)}
    return json.dumps({name: _written(value) for name, value in written.items()}, default=_number)


def parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as the parameters that estimators have for them."""
    rows = settings()
    chosen = {
        rows[name].parameter: value for name, value in given.items() if not rows[name].internal
    }
    mechanism = chosen.pop("mechanism", settings()["mechanism"].default)
    own = {
        row.parameter: chosen.pop(row.parameter)
        for row in settings().values()
        if row.owner == "mechanism" and row.parameter in chosen
    }
    if own:
        chosen = {"mechanism": MECHANISMS[mechanism](**own), **chosen}
    elif "mechanism" in given:
        chosen = {"mechanism": mechanism, **chosen}
    if chosen.get("intercept") == 0.0:
        del chosen["intercept"]
        chosen["fit_intercept"] = False
    if "class_weight" in chosen:
        chosen["class_weight"] = _of_classes(chosen["class_weight"])
    if chosen.get("loss") == "squared":
        del chosen["loss"]  # the only one of `UnlearningRegressor`
    return chosen


# Constants of a plan whose setting has another name.
_SETTING_OF = {"n": "public_n", "dp-releases": "releases", "step-noise": "noise"}


def chosen_in(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that the user of a plan chose, without classes, range and start."""
    mechanism = plan["mechanism"]
    own = {row.name for row in of_mechanism(mechanism)}
    chosen: dict[str, Any] = {}
    for constant in plan["constants"]:
        name = _SETTING_OF.get(constant["name"], constant["name"].replace("-", "_"))
        row = settings().get(name)
        if constant["origin"] != "user" or row is None or name in _OTHERWISE:
            continue
        if row.owner != "mechanism" or name in own:
            chosen[name] = _read(constant["value"])
    chosen["mechanism"] = mechanism
    chosen["notion"] = plan["target"]["notion"]
    chosen["state"] = plan["state"]
    chosen["row_map"] = plan["rows"]["map"]
    chosen["not_covered"] = tuple(plan.get("not_covered", ()))
    if "solver" in own and (solver := _solver_of(plan)) is not None:
        chosen["solver"] = solver
    if "mean" in str(plan["setting"]["normalizer"]):
        chosen["normalizer"] = "mean"
    if (given := plan.get("given")) is not None:
        chosen |= _given(given)
    if (missing := plan.get("missing")) is not None:
        chosen["missing"] = missing
    if (weights := plan.get("class_weight")) is not None:
        listed = weights if weights == "balanced" else weights["listed"]
        chosen["class_weight"] = (
            [listed] if listed == "balanced" else [f"{name}={weight}" for name, weight in listed]
        )
    return parameters(chosen)


def _given(given: dict[str, Any]) -> dict[str, Any]:
    """The setting that told what a model builds on; none for a network, whose features say it."""
    if (declared := given.get("declared")) is not None:
        phases = [
            tuple(_read(str(phase[name])) for name in ("noise", "rate", "steps"))
            for phase in declared["phases"]
        ]
        clip = declared.get("clip")
        clip = None if clip is None else _read(clip)
        noise, rate, steps = zip(*phases, strict=True)
        told = Training(noise=noise, rate=rate, steps=steps, clip=clip, deleted=declared["deleted"])
        return {"extractor_training": str(told)}
    if given.get("training") is not None:
        return {}
    figures = {name: _read(given[name]) for name in ("epsilon", "delta", "mu") if given[name]}
    return {f"{given['what']}_privacy": {**figures, "group": given["group"]}}


def _by_class(weights: Any) -> list[str]:
    """Weights of classes as the engine's lines; lines stay what they are."""
    if isinstance(weights, Mapping):
        return [
            f"{name_of_label(label)}={_number_text(weight)}" for label, weight in weights.items()
        ]
    return [weights] if isinstance(weights, str) else list(weights)


def _number_text(weight: Any) -> str:
    """A weight as text; what is no number, the engine refuses by its name."""
    return repr(float(weight)) if isinstance(weight, Real) else str(weight)


def _of_classes(lines: list[str]) -> str | dict[str, float]:
    """The engine's lines as a parameter."""
    if lines == ["balanced"]:
        return "balanced"
    pairs = (line.rpartition("=") for line in lines)
    return {label_named(name): float(weight) for name, _, weight in pairs}


def _own(mechanism: Mechanism) -> dict[str, Any]:
    """The settings of a mechanism's own that were chosen; a start is given beside them."""
    return _chosen(mechanism, [row for row in of_mechanism(mechanism.name) if row.form != "file"])


def _chosen(holder: Any, rows: list[Setting]) -> dict[str, Any]:
    values = [(row, getattr(holder, row.parameter)) for row in rows]
    return {
        row.name: _plain(value) for row, value in values if not _same(value, row.parameter_default)
    }


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is not bool and bool(value == default))


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return str(value) if isinstance(value, Training) else value


def _seed(state: Any) -> int:
    if isinstance(state, Integral):
        return int(state)
    return int(check_random_state(state).randint(np.iinfo(np.int32).max))


def _solver_of(plan: dict[str, Any]) -> str | None:
    """Return the solver that a plan names; none where the engine chooses, or solves nothing."""
    schedule = plan["schedule"]
    fixed = next(iter(schedule.values())) if isinstance(schedule, dict) else {}
    fixed = fixed.get("plan", fixed)
    solver = fixed.get("solver") or fixed.get("reach", {}).get("measured")
    return None if solver in {None, "automatic"} else str(solver)


def _read(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _written(value: Any) -> Any:
    if isinstance(value, Training):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _number(value: Any) -> Any:
    """The Python number of a NumPy scalar."""
    if hasattr(value, "item"):
        return _written(value.item())
    raise TypeError(f"{value!r} of type {type(value).__name__} is not a setting")

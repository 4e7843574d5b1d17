"""Parameters of the estimators: their rules, and the engine's settings that they stand for."""

from __future__ import annotations

import inspect
import os
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

_POSITIVE = Interval(Real, 0, None, closed="neither")
_COUNT = Interval(Integral, 1, None, closed="left")
_PRIVACY = [dict, None]

# What scikit-learn checks; which names there are, and what goes with what, the engine says.
CONSTRAINTS: dict[str, list[Any]] = {
    "mechanism": [str],
    "lambda_": [Interval(Real, 0, None, closed="left")],
    "epsilon": [_POSITIVE],
    "delta": [Interval(Real, 0, 1, closed="neither"), None],
    "notion": [str, None],
    "state": [str, None],
    "row_norm": [_POSITIVE],
    "row_map": [str],
    "fit_intercept": ["boolean"],
    "intercept": [_POSITIVE],
    "public_n": [_COUNT, None],
    "capacity": [_COUNT, None],
    "max_weight": [_POSITIVE, None],
    "normalizer": [str, None],
    "minimum": [_COUNT, None],
    "max_group": [_COUNT],
    "releases": [_COUNT],
    "accountant": [str, None],
    "order": [Interval(Real, 1, None, closed="neither")],
    "interactions": [Interval(Integral, 0, None, closed="left"), None],
    "noise": [_POSITIVE, None],
    "excess_risk": [_POSITIVE, None],
    "solver": [str, None],
    "eta": [_POSITIVE, None],
    "radius": [_POSITIVE, None],
    "steps": [_COUNT, None],
    "removal_steps": [_COUNT, None],
    "variant": [str, None],
    "xi": [_POSITIVE, None],
    "iterations": [_COUNT, None],
    "diameter": [_POSITIVE, None],
    "copies": [_COUNT, None],
    "start": [str, os.PathLike, bytes, None],
    "start_public": ["boolean"],
    "start_privacy": _PRIVACY,
    "extractor_privacy": _PRIVACY,
    "not_covered": ["array-like", str],
    "pickle_rows": ["boolean"],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}

# Parameters that are no settings of their own name.
_OTHERWISE = frozenset(
    {"fit_intercept", "start", "not_covered", "pickle_rows", "random_state", "verbose", "classes"}
    | {"target_range", "lambda_", "client"}
)


def settings_of(estimator: Any) -> dict[str, Any]:
    """Return the engine's settings; what has its default is left to the engine.

    So a certificate says of each constant whether the user chose it.
    """
    values = estimator.get_params(deep=False)
    settings: dict[str, Any] = {}
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        if name not in _OTHERWISE and not _same(values[name], parameter.default):
            settings[name] = _plain(values[name])
    default = inspect.signature(type(estimator)).parameters["lambda_"].default
    if values["lambda_"] != default:
        settings["lambda"] = float(values["lambda_"])
    if not values["fit_intercept"]:
        settings["intercept"] = 0.0
    # `ridge` draws no random numbers, so a seed would decide nothing.
    if values["random_state"] is not None and values["mechanism"] != "ridge":
        settings["seed"] = _seed(values["random_state"])
    lines = values["not_covered"]
    settings["not_covered"] = [lines] if isinstance(lines, str) else [str(line) for line in lines]
    return settings


def start_of(estimator: Any) -> bytes | None:
    """Return the weights to start from, as a file's bytes."""
    start = estimator.start
    if start is None or isinstance(start, bytes):
        return start
    return Path(start).read_bytes()


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
    return value


def _seed(state: Any) -> int:
    if isinstance(state, Integral):
        return int(state)
    return int(check_random_state(state).randint(np.iinfo(np.int32).max))


# Constants of a plan whose parameter has another name.
_PARAMETER_OF = {
    "n": "public_n",
    "lambda": "lambda_",
    "dp-releases": "releases",
    "step-noise": "noise",
}


def chosen_in(plan: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return the parameters, of these names, that the user of a plan chose."""
    chosen: dict[str, Any] = {}
    for constant in plan["constants"]:
        name = _PARAMETER_OF.get(constant["name"], constant["name"].replace("-", "_"))
        if constant["origin"] == "user" and name in names - {"classes", "target_range", "start"}:
            chosen[name] = _read(constant["value"])
    if chosen.get("intercept") == 0:
        chosen["fit_intercept"] = False
        del chosen["intercept"]
    chosen["mechanism"] = plan["mechanism"]
    chosen["notion"] = plan["target"]["notion"]
    chosen["state"] = plan["state"]
    chosen["row_map"] = plan["rows"]["map"]
    chosen["solver"] = plan["solver"]
    chosen["not_covered"] = tuple(plan.get("not_covered", ()))
    if "mean" in str(plan["setting"]["normalizer"]):
        chosen["normalizer"] = "mean"
    if (given := plan.get("given")) is not None:
        figures = {name: _read(given[name]) for name in ("epsilon", "delta", "mu") if given[name]}
        chosen[f"{given['what']}_privacy"] = {**figures, "group": given["group"]}
    return chosen


def _read(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text

"""From parameters of estimators to the engine's settings, and back."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from ._errors import InputError
from ._parameters import OPTIONS, Options, options_for, same
from ._setting import settings
from ._table import label_named, name_of_label
from ._training import Training


def settings_of(estimator: Any) -> dict[str, Any]:
    """Return the engine's settings; what has its default is left to the engine.

    So a certificate says of each constant whether the user chose it.
    """
    values = {name: getattr(estimator, name) for name in estimator.parameters}
    known = {row.parameter for row in settings().values()} | OPTIONS.keys() | {"fit_intercept"}
    chosen = _flat(
        {
            name: value
            for name, value in values.items()
            if name in known and not same(value, estimator.parameters[name].default)
        }
    )
    # `ridge` draws no random numbers, so a seed would decide nothing.
    if "seed" in chosen:
        seed = chosen.pop("seed")
        if chosen.get("mechanism") != "ridge":
            chosen["seed"] = _seed(seed)
    lines = chosen.get("not_covered", ())
    chosen["not_covered"] = [lines] if isinstance(lines, str) else [str(line) for line in lines]
    return chosen


def _flat(given: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's settings for parameters of estimators, or for settings by their names.

    None is left out, and so are options' settings that have their defaults and weights to start
    from, which are given beside settings.
    """
    named = {row.parameter: row.name for row in settings().values()}
    flat: dict[str, Any] = {}
    for parameter, value in given.items():
        name = named.get(parameter, parameter)
        if isinstance(value, Options):
            if name in settings() and value.name != settings()[name].default:
                flat[name] = value.name
            own = {
                setting: one
                for setting, one in value.get_params().items()
                if not same(one, value.parameters[setting].default)
                and settings()[named[setting]].form != "file"
            }
            flat |= _flat(own)
        elif name == "fit_intercept":
            flat |= {} if value else {"intercept": 0.0}
        elif value is not None:
            flat[name] = _PLAIN.get(name, _plain)(value)
    return flat


def start_of(estimator: Any) -> bytes | None:
    """Return the weights to start from, as a file's bytes."""
    start = getattr(estimator.mechanism, "start", None)
    if start is None or isinstance(start, bytes):
        return start
    return Path(start).read_bytes()


def to_json(given: Mapping[str, Any] | None) -> str:
    """Return settings as JSON.

    They may have the names that estimators have for them, and options their own settings.
    """
    return written(_flat(given or {}))


def written(given: Mapping[str, Any]) -> str:
    """Return values as JSON: None is left out, infinity is the text ``inf``."""
    plain = {name: _finite(value) for name, value in given.items() if value is not None}
    return json.dumps(plain, default=_number)


def parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as the parameters that estimators have for them."""
    rows = settings()
    chosen: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        row = rows[name]
        value = tuple(value) if row.form == "pair" else value
        if name == "intercept" and value == 0.0:
            chosen["fit_intercept"] = False
        elif row.holder is not None:
            own.setdefault(row.holder, {})[row.parameter] = value
        elif not row.internal:
            chosen[row.parameter] = value
    for holder, of_holder in own.items():
        value = chosen.get(holder, rows[holder].default if holder in rows else None)
        chosen[holder] = options_for(holder, value, of_holder)._replaced(of_holder)
    if "class_weight" in chosen:
        chosen["class_weight"] = _of_classes(chosen["class_weight"])
    if chosen.get("loss") == "squared":
        del chosen["loss"]  # the only one of `UnlearningRegressor`
    return {name: chosen[name] for name in sorted(chosen, key=lambda name: name != "mechanism")}


# Constants of a plan whose setting has another name.
_SETTING_OF = {"n": "public_n", "dp-releases": "releases", "step-noise": "noise"}


# Settings that a plan does not state among its constants, or in another form.
_STATED_ELSEWHERE = {"class_weight", "mechanism", "missing", "not_covered", "seed", "target_range"}


def chosen_in(plan: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the parameters that the user of a plan chose, with these settings more.

    Classes, ranges of targets and weights to start from are not among them.
    """
    own = OPTIONS["mechanism"][plan["mechanism"]].parameters
    chosen: dict[str, Any] = {"mechanism": plan["mechanism"], **more}
    for constant in plan["constants"]:
        name = _SETTING_OF.get(constant["name"], constant["name"].replace("-", "_"))
        row = settings().get(name)
        if constant["origin"] != "user" or row is None or name in _STATED_ELSEWHERE:
            continue
        if row.owner != "mechanism" or name in own:
            chosen[name] = _read(constant["value"])
    chosen["notion"] = plan["target"]["notion"]
    chosen["state"] = plan["state"]
    if plan["rows"]["map"] != settings()["row_map"].default:
        chosen["row_map"] = plan["rows"]["map"]
    if plan.get("not_covered"):
        chosen["not_covered"] = tuple(plan["not_covered"])
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
    """Return the setting that declared what a model builds on; a network is named by `features`."""
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
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value) if isinstance(value, Training) else value


def _listed(missing: str | Iterable[str]) -> str:
    """Texts for no value as the engine lists them."""
    return missing if isinstance(missing, str) else ",".join(missing)


def features_named(features: Any) -> str:
    """Return features as the engine names them; a fitted network by the path of its vault."""
    from .vault import Vault

    if isinstance(features, str):
        return features
    try:
        path = features.path if isinstance(features, Vault) else features
        path = path if isinstance(path, os.PathLike) else features.vault_.path
    except NotFittedError:
        raise InputError(
            "the network of `Declared(features=...)` must be fitted, got "
            f"{type(features).__name__} before `fit`",
            code="trunk",
            hint="fit it first",
        ) from None
    except AttributeError:
        raise InputError(
            "`Declared(features=...)` must be a text, a fitted network, its vault or the vault's "
            f"path, got {type(features).__name__}",
            code="trunk",
        ) from None
    return f"network:{os.fsdecode(path)}"


def _seed(state: Any) -> int:
    if isinstance(state, Integral):
        return int(state)
    return int(check_random_state(state).randint(np.iinfo(np.int32).max))


def _solver_of(plan: dict[str, Any]) -> str | None:
    """Return the solver that a plan names; None if the engine chooses one or solves nothing."""
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


def _finite(value: Any) -> Any:
    """A number as JSON can hold it."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any) -> Any:
    """The Python number of a NumPy scalar."""
    if hasattr(value, "item"):
        return _finite(value.item())
    raise TypeError(f"{value!r} of type {type(value).__name__} is not a setting")


# Conversions of values that need more than `_plain`.
_PLAIN: dict[str, Callable[[Any], Any]] = {
    "class_weight": _by_class,
    "features": features_named,
    "missing": _listed,
}

"""Reads and writes what an estimator keeps in its vault: parameters, columns and classes.

The engine knows classes by their names alone. `load` is to give back what `fit` was given: the same
parameters, and labels of the same type.
"""

from __future__ import annotations

import json
import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._parameters import OPTIONS, Options
from ._settings import features_named
from ._training import Training

# What is no parameter of the model: weights given as bytes may be anybody's, a client is a process,
# and a limit of memory is of this machine.
_LEFT_OUT = ("client", "memory")


def written(estimator: Any, precision: Any, *, refits: bool = False) -> str:
    """Return what is to be kept, as JSON."""
    parameters = _parameters(estimator, _LEFT_OUT)
    classes = getattr(estimator, "classes_", None)
    targets = estimator.__dict__.get("_target_names")
    face: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "parameters": parameters,
        "precision": np.dtype(precision).name,
    }
    if columns := estimator.__dict__.get("_columns"):
        face["columns"] = columns
    if targets is not None:
        face["targets"] = targets
    if estimator._image is not None:
        face["image"] = list(estimator._image)
    if classes is not None:
        if refits and estimator._listed_classes() is None:
            # Classes that come and go with their records stay nowhere but beside the weights.
            kind = estimator._class_type
            face["classes"] = {"type": None if kind is None else kind.str, "values": None}
        else:
            face["classes"] = {"type": classes.dtype.str, "values": _plain(classes.tolist())}
    return json.dumps(face)


def _parameters(holder: Any, left_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """The parameters of an estimator or of options, without what JSON cannot hold."""
    parameters = {}
    for name, value in holder.get_params(deep=False).items():
        if name not in left_out:
            try:
                named = features_named(value) if name == "features" and value is not None else value
                parameters[name] = _plain(named)
            except TypeError:
                continue  # a generator, or bytes: `load` gives it its default
    return parameters


def read(plan: dict[str, Any]) -> dict[str, Any] | None:
    """Return what an estimator kept in a plan; None where another face made the model."""
    text = plan.get("face")
    return None if text is None else dict(json.loads(text))


def parameters_in(face: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator, as they were given."""
    return {name: _given(value) for name, value in face["parameters"].items()}


def classes_in(face: dict[str, Any]) -> NDArray[Any]:
    """Return the classes, in the type that they had."""
    classes = face["classes"]
    return np.array(_given(classes["values"]), dtype=np.dtype(classes["type"]))


def _plain(value: Any) -> Any:
    """A value as JSON has it: arrays become lists, tuples and numbers without bounds are marked."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if np.isfinite(number) else {"float": str(number)}
    if isinstance(value, Options):
        return {"options": [value.holder, value.name, _parameters(value)]}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Training):
        return {"training": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [_plain(one) for one in value]}
    if isinstance(value, np.ndarray | list):
        return [_plain(one) for one in (value.tolist() if hasattr(value, "tolist") else value)]
    if isinstance(value, dict):
        return {"dict": {str(key): _plain(one) for key, one in value.items()}}
    raise TypeError(type(value).__name__)


def _given(value: Any) -> Any:
    if isinstance(value, list):
        return [_given(one) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "float":
        return float(inner)
    if kind == "options":
        holder, name, own = inner
        return OPTIONS[holder][name](**{key: _given(one) for key, one in own.items()})
    if kind == "training":
        return Training._read(inner)
    if kind == "tuple":
        return tuple(_given(one) for one in inner)
    return {key: _given(one) for key, one in inner.items()}

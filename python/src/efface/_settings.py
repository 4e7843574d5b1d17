"""Settings as the engine takes them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_json(settings: Mapping[str, Any] | None) -> str:
    """Return settings as JSON: None is left out, infinity is the text ``inf``.

    The two parameters that estimators call otherwise may have their names.
    """
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    if "lambda_" in given:
        given["lambda"] = given.pop("lambda_")
    if not given.pop("fit_intercept", True):
        given["intercept"] = 0.0
    return json.dumps({name: _written(value) for name, value in given.items()}, default=_plain)


def parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under the names that estimators have for them."""
    given = dict(settings)
    if "lambda" in given:
        given["lambda_"] = given.pop("lambda")
    if given.get("intercept") == 0.0:
        del given["intercept"]
        given["fit_intercept"] = False
    if given.get("loss") == "squared":
        del given["loss"]  # the only one of `UnlearningRegressor`
    return given


def _written(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _plain(value: Any) -> Any:
    """The Python number of a NumPy scalar."""
    if hasattr(value, "item"):
        return _written(value.item())
    raise TypeError(f"{value!r} of type {type(value).__name__} is not a setting")

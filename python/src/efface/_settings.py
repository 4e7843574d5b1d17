"""Settings as the engine takes them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_json(settings: Mapping[str, Any] | None) -> str:
    """Return settings as JSON: None is left out, infinity is the text ``inf``."""
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    return json.dumps({name: _written(value) for name, value in given.items()}, default=_plain)


def _written(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _plain(value: Any) -> Any:
    """The Python number of a NumPy scalar."""
    if hasattr(value, "item"):
        return _written(value.item())
    raise TypeError(f"{value!r} of type {type(value).__name__} is no setting")

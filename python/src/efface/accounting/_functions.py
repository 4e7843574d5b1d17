"""Each kind's function and class of results, made when first used; ``_functions.pyi`` has types."""

from __future__ import annotations

from typing import Any

from .._kinds import Kind, kinds

_KINDS: dict[str, Kind] = {}
for _kind in kinds():
    if len(_kind.results) > 1:
        _KINDS[_kind.class_name] = _kind
    _KINDS[_kind.function] = _kind

__all__ = sorted(_KINDS)


def __getattr__(name: str) -> Any:
    kind = _KINDS.get(name)
    if kind is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._signature import function, result_class

    # Keep what another thread has made: a class must be one object to be pickled.
    made = globals()
    results = None
    if len(kind.results) > 1:
        results = made.setdefault(kind.class_name, result_class(kind))
    made.setdefault(kind.function, function(kind, results))
    return made[name]

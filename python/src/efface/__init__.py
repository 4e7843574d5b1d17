"""Linear models and small networks that can forget, and certificates that say so.

Names are imported when they are first used, so that ``import efface`` itself is quick. Where each
of them is, ``__init__.pyi`` says, which type checkers read as well (SPEC 1 of Scientific Python).
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any


def _homes() -> dict[str, str]:
    """The module that each name of the stub comes from; empty for a module itself."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


_HOMES = _homes()
__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._engine import VERSION

        return VERSION
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not home:
        return importlib.import_module(f".{name}", __name__)
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))

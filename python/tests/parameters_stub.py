"""The types of parameters for type checkers, written from the engine's table of settings.

`python tests/parameters_stub.py` in this folder writes the stub anew, after a change of the table;
a test compares it with what is checked in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from efface import _parameters

STUB = Path(__file__).parent.parent / "src" / "efface" / "_parameters.pyi"

HEAD = '''"""Written by `tests/parameters_stub.py` from the table of settings; do not edit."""

from typing import Any, ClassVar, NamedTuple

from sklearn.base import BaseEstimator

from ._training import Training

class Known(NamedTuple):
    default: Any
    rule: list[Any]
    entry: str
    type: str

class Mechanism(BaseEstimator):  # type: ignore[misc]
    name: ClassVar[str]
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, name: str, **rest: Any) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

MECHANISMS: dict[str, type[Mechanism]]

def mechanism_name(mechanism: str | Mechanism) -> str: ...

class Parameters:
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, of: str | None = None, **rest: Any) -> None: ...
'''


def stub() -> str:
    """Return the text of the stub; not formatted."""
    mechanisms = [
        _class(f"class {kind.__name__}(Mechanism, name={name!r})", kind.parameters)
        for name, kind in _parameters.MECHANISMS.items()
    ]
    estimators = [
        _class(f"class {kind.__name__}(Parameters, of={of!r})", kind.parameters)
        for kind, of in (
            (_parameters.ClassifierParameters, "UnlearningClassifier"),
            (_parameters.RegressorParameters, "UnlearningRegressor"),
        )
    ]
    return HEAD + "".join(mechanisms + estimators)


def _class(head: str, parameters: dict[str, Any]) -> str:
    """Return a class with an attribute and a keyword for each parameter."""
    fields = "".join(f"    {name}: {known.type}\n" for name, known in parameters.items())
    keywords = "".join(
        f", {name}: {known.type} = {known.default!r}" for name, known in parameters.items()
    )
    star = ", *" if parameters else ""
    return f"\n{head}:\n{fields}    def __init__(self{star}{keywords}) -> None: ...\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", str(STUB)], check=True)

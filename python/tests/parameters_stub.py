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

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from typing_extensions import Self

from ._training import Training

class Known(NamedTuple):
    default: Any
    rule: list[Any]
    entry: str
    type: str

class Options:
    holder: ClassVar[str]
    name: ClassVar[str]
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, holder: str, name: str | None = None) -> None: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def _replaced(self, given: dict[str, Any]) -> Self: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __sklearn_clone__(self) -> Self: ...

class Mechanism(Options, holder="mechanism"): ...

OPTIONS: dict[str, dict[str, type[Options]]]

def name_of(value: Any) -> Any: ...
def options_for(holder: str, value: Any, given: Iterable[str]) -> Options: ...
def same(value: Any, default: Any) -> bool: ...

class Parameters:
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, of: str | None = None, **rest: Any) -> None: ...
    def set_params(self, **parameters: Any) -> Self: ...
'''


def stub() -> str:
    """Return the text of the stub; not formatted."""
    options = [
        _class(f"class {_options_head(kind)}", kind.parameters)
        for kinds in _parameters.OPTIONS.values()
        for kind in kinds.values()
    ]
    estimators = [
        _class(f"class {front}{task}Parameters(Parameters, of='{front}Unlearning{task}')", known)
        for front in ("", "Dask")
        for task in ("Classifier", "Regressor")
        for known in (getattr(_parameters, f"{front}{task}Parameters").parameters,)
    ]
    return HEAD + "".join(options + estimators)


def _options_head(kind: type[_parameters.Options]) -> str:
    base = "Mechanism" if issubclass(kind, _parameters.Mechanism) else "Options"
    return f"{kind.__name__}({base}, holder={kind.holder!r}, name={kind.name!r})"


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

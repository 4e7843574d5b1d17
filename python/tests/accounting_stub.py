"""The types of `efface.accounting` for type checkers, written from the engine's kinds of cases.

`python tests/accounting_stub.py` in this folder writes the stub anew, after a change of a kind; a
test compares it with what is checked in. `docs/decisions/0028-python-package.md` says why it is
checked in.
"""

from __future__ import annotations

import subprocess
import sys
from inspect import Parameter, signature
from pathlib import Path

from efface import accounting
from efface.accounting import Kind

STUB = Path(__file__).parent.parent / "src" / "efface" / "accounting" / "_functions.pyi"

HEAD = '''# long because every function has a signature for numbers and one for arrays
"""Written by `tests/accounting_stub.py` from the engine's kinds of cases; do not edit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, overload

from numpy.typing import ArrayLike

from .._case import Counts, CountT, Floats, FloatT, Request, Result, Scalar

'''


def stub() -> str:
    """Return the text of the stub; not formatted."""
    names = f"__all__ = {accounting._functions.__all__!r}\n"
    return HEAD + names + "".join(f"\n{results(kind)}{function(kind)}" for kind in kinds())


def kinds() -> tuple[Kind, ...]:
    """Return the kinds, in the engine's order."""
    return accounting.kinds()


def results(kind: Kind) -> str:
    """Return the class of a kind's results, where it has several."""
    if len(kind.results) == 1:
        return ""
    fields = "".join(
        f"    {result.python_name}: {'CountT' if result.figure == 'count' else 'FloatT'}\n"
        for result in kind.results
    )
    generic = ", ".join(variables(kind, "FloatT", "CountT"))
    return (
        "@dataclass(frozen=True, eq=False)\n"
        f"class {kind.class_name}(Result, Generic[{generic}]):\n{fields}\n"
    )


def function(kind: Kind) -> str:
    """Return the signatures: numbers give numbers, arrays give arrays."""
    plain = definition(kind, "ArrayLike", "Floats", "Counts")
    if kind.results[0].figure == "counts" or not any(known.is_number for known in kind.inputs):
        return plain
    return f"@overload\n{definition(kind, 'Scalar', 'float', 'int')}@overload\n{plain}"


def definition(kind: Kind, number: str, floats: str, counts: str) -> str:
    """Return one signature."""
    scalar = {known.python_name for known in kind.inputs if known.is_number}
    words: list[str] = []
    for name, given in signature(getattr(accounting, kind.function)).parameters.items():
        if given.kind is Parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        shown = given.annotation
        if name in scalar:
            shown = shown.replace("ArrayLike", number)
        default = "" if given.default is Parameter.empty else f" = {given.default!r}"
        words.append(f"{name}: {shown}{default}")
    return f"def {kind.function}({', '.join(words)}) -> {returned(kind, floats, counts)}: ...\n"


def returned(kind: Kind, floats: str, counts: str) -> str:
    """Return the type of what a signature returns."""
    if len(kind.results) > 1:
        return f"{kind.class_name}[{', '.join(variables(kind, floats, counts))}]"
    return {"decimal": floats, "count": counts, "counts": "Counts"}[kind.results[0].figure]


def variables(kind: Kind, floats: str, counts: str) -> list[str]:
    """Return the types that the class of results is made of."""
    figures = {result.figure for result in kind.results}
    return [floats] * ("decimal" in figures) + [counts] * ("count" in figures)


def main() -> None:
    """Write the stub."""
    STUB.write_text(stub(), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", STUB], check=True)


if __name__ == "__main__":
    main()

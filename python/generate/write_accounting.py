"""Writes the functions of ``efface.accounting`` from the engine's table of kinds.

Run it after a kind has changed: ``python generate/write_accounting.py`` in this folder, with the
extension module built. A test compares what it would write with what is checked in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import fill, indent
from typing import Any

from accounting_examples import EXAMPLES

from efface._case import compute
from efface._kinds import Input, Kind, Output, kinds

PACKAGE = Path(__file__).parent.parent / "src" / "efface" / "accounting"

# Which module holds which kinds, and what it is about.
MODULES = {
    "_conversion": (
        "Guarantees turned into one another, and composed.",
        (
            "gdp-delta",
            "gdp-epsilon",
            "gdp-mu",
            "rdp-epsilon",
            "advantage",
            "group-privacy",
            "group-privacy-noted",
            "compose",
        ),
    ),
    "_noisy_gd": (
        "Noisy gradient descent, by the Gaussian accountant.",
        ("noisy-gd-gdp", "noisy-gd-gdp-sequence", "noisy-gd-gdp-schedule"),
    ),
    "_bounded_domain": (
        "Noisy steps inside a bounded domain.",
        ("bounded-domain", "bounded-domain-gd"),
    ),
    "_langevin": (
        "Published bounds of Langevin unlearning for strongly convex losses.",
        ("langevin", "langevin-sequence", "langevin-least-sigma"),
    ),
    "_langevin_ball": (
        "Published bounds of Langevin unlearning inside a ball.",
        ("langevin-finite", "langevin-convex", "langevin-nonconvex"),
    ),
    "_deletion": (
        "Published deletion privacy of noisy gradient descent.",
        ("chourasia-convex", "deletion-rdp", "deletion-rdp-risk"),
    ),
    "_deletion_settings": (
        "Settings for published deletion privacy of noisy gradient descent.",
        ("deletion-rdp-recipe", "deletion-rdp-bounded"),
    ),
    "_descent": (
        "Published bounds of descent-to-delete.",
        ("descent-to-delete", "descent-regularised", "descent-distributed"),
    ),
    "_objective": (
        "Objective perturbation as published.",
        ("objective-residual", "objective-budget"),
    ),
}

HEADER = '''"""{about}

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, overload

from numpy.typing import ArrayLike

from .._case import Counts, CountT, Floats, FloatT, Request, Result, Scalar, compute
'''

SOUNDNESS = {
    "tight": "A sound bound, and the sharpest known to us.",
    "published": "A sound bound as its paper states it or as it is corrected here: the truth lies "
    "on the safe side of it, often far.",
    "not sound": "NOT SOUND: the truth may be far worse than these numbers. For comparison only.",
}

# Words that a sentence may begin with as they are.
SYMBOLS = {"delta", "epsilon", "eta", "lambda", "ln", "m", "mu", "p", "q", "r", "sigma"}

EVALUATION = (
    "Evaluated in double precision and rounded to nearest, not to the safe side: a number may lie "
    "a relative 1e-8 on either side of the formula's value, and what is below the floats is 0. "
    "Certificates round against the one who promises."
)

RAISES = (
    "If a value breaks its rule, with its place in the array, if shapes do not broadcast, or if "
    "the bound does not exist for these values."
)


def modules() -> dict[str, str]:
    """Return the text of each module by its name; not formatted."""
    placed = sorted(name for _, names in MODULES.values() for name in names)
    if placed != sorted(kind.name for kind in kinds()):
        raise ValueError("MODULES must have one place for each kind of the engine")
    texts = {}
    for module, (about, names) in MODULES.items():
        held = [kind for kind in kinds() if kind.name in names]
        texts[module] = HEADER.format(about=about) + "".join(map(code, held))
    return texts


def code(kind: Kind) -> str:
    """Return the function of a kind, with the class of its results where it has several."""
    several = len(kind.results) > 1
    given = ", ".join(f'"{i.python_name}": {i.python_name}' for i in kind.inputs)
    if several:
        body = f'return {class_name(kind)}(*compute("{kind.name}", {{{given}}}))'
    else:
        body = f"result: {implementation(kind)}\n" if implementation(kind) != "Any" else ""
        body += f'(result,) = compute("{kind.name}", {{{given}}})\nreturn result'
    definition = "\n".join(
        [
            *overloads(kind),
            f"def {kind.function}({parameters(kind, 'ArrayLike')}) -> {implementation(kind)}:",
            indent(f'"""{docstring(kind)}"""\n{body}', "    "),
        ]
    )
    return (result_class(kind) if several else "") + "\n\n" + definition + "\n"


def overloads(kind: Kind) -> list[str]:
    """Return the two signatures: numbers give numbers, arrays give arrays."""
    if not any(known.is_number for known in kind.inputs) or implementation(kind) != "Any":
        return []
    signatures = []
    for number, floats, counts in (("Scalar", "float", "int"), ("ArrayLike", "Floats", "Counts")):
        signature = f"({parameters(kind, number)}) -> {returned(kind, floats, counts)}"
        signatures += ["@overload", f"def {kind.function}{signature}: ..."]
    return signatures


def implementation(kind: Kind) -> str:
    """Return the type of what the function returns, whatever it is given."""
    lists = [result for result in kind.results if result.figure == "counts"]
    if lists and len(kind.results) > 1:
        raise ValueError(f"`{kind.name}` has a list beside other results")
    return "Counts" if lists else "Any"


def returned(kind: Kind, floats: str, counts: str) -> str:
    """Return the type of what a signature returns."""
    if len(kind.results) > 1:
        return f"{class_name(kind)}[{', '.join(variables(kind, floats, counts))}]"
    return {"decimal": floats, "count": counts}[kind.results[0].figure]


def variables(kind: Kind, floats: str, counts: str) -> list[str]:
    """Return the types that the class of results is made of."""
    figures = {result.figure for result in kind.results}
    return [floats] * ("decimal" in figures) + [counts] * ("count" in figures)


def parameters(kind: Kind, number: str) -> str:
    """Return the parameters; by keyword alone where there are many, or where one has a default."""
    required = [known for known in kind.inputs if default(known) is None]
    optional = [known for known in kind.inputs if default(known) is not None]
    words = [f"{i.python_name}: {annotation(i, number)}" for i in required]
    if len(required) > 3:
        words.insert(0, "*")
    elif optional:
        words.append("*")
    words += [f"{i.python_name}: {annotation(i, number)} = {default(i)}" for i in optional]
    return ", ".join(words)


def in_order(kind: Kind) -> list[Input]:
    """Return the inputs in the order of the parameters."""
    return sorted(kind.inputs, key=lambda known: default(known) is not None)


def annotation(known: Input, number: str) -> str:
    """Return the type of a parameter."""
    if known.form == "word":
        return f"Literal[{', '.join(repr(word) for word in known.words)}]"
    if known.form in ("numbers", "counts"):
        return "ArrayLike"
    if known.form == "requests":
        return "Sequence[Request]"
    if not known.is_number:
        raise ValueError(f"no type for the form `{known.form}` of `{known.name}`")
    return f"{number} | None" if known.presence == "optional" else number


def default(known: Input) -> str | None:
    """Return the default of a parameter; None where it must be given."""
    if known.form == "word" and len(known.words) == 1:
        return repr(known.words[0])
    if known.presence == "required":
        return None
    if known.presence == "optional":
        return "None"
    return repr(int(known.note or "") if known.form == "count" else float(known.note or ""))


def class_name(kind: Kind) -> str:
    """Return the name of the class of a kind's results."""
    return "".join(word.capitalize() for word in kind.function.split("_")) + "Result"


def result_class(kind: Kind) -> str:
    """Return the class of the results."""
    attributes = "\n".join(
        f"{r.python_name} : {shown_figure(r)}\n{paragraph(described(r), 4)}" for r in kind.results
    )
    lines = [f'"""Results of :func:`{kind.function}`.\n\nAttributes\n----------\n{attributes}\n"""']
    lines += [
        f"{r.python_name}: {'CountT' if r.figure == 'count' else 'FloatT'}" for r in kind.results
    ]
    generic = ", ".join(variables(kind, "FloatT", "CountT"))
    head = f"class {class_name(kind)}(Result, Generic[{generic}]):\n"
    return (
        "\n\n@dataclass(frozen=True, eq=False)\n"
        + head
        + indent("\n\n".join([lines[0], "\n".join(lines[1:])]), "    ")
        + "\n"
    )


def docstring(kind: Kind) -> str:
    """Return the documentation of a kind's function."""
    several = len(kind.results) > 1
    if several:
        results = f"{class_name(kind)}\n" + paragraph(
            "With "
            + ", ".join(f"``{r.python_name}``" for r in kind.results)
            + "; it unpacks in this order.",
            4,
        )
    else:
        results = f"{shown_figure(kind.results[0])}\n{paragraph(described(kind.results[0]), 4)}"
    sections = [
        f"{first_line(kind)}\n",
        paragraph(marked(kind, kind.notes)) + "\n",
        "Parameters\n----------\n"
        + "\n".join(parameter(kind, known) for known in in_order(kind))
        + "\n",
        f"Returns\n-------\n{results}\n",
        f"Raises\n------\nInputError\n{paragraph(RAISES, 4)}\n",
        "Notes\n-----\n" + paragraph(f"{SOUNDNESS[kind.soundness]} {EVALUATION}") + "\n",
        f"References\n----------\n{paragraph(kind.source + '.')}\n",
        f"Examples\n--------\n{example(kind)}\n",
    ]
    return "\n".join(sections)


def first_line(kind: Kind) -> str:
    """Return the summary, which is one line."""
    line = f"{marked(kind, kind.summary)}."
    if len(line) > 88:
        raise ValueError(f"the summary of `{kind.name}` is longer than a line")
    return line


def parameter(kind: Kind, known: Input) -> str:
    """Return the lines of one parameter."""
    shown = {
        "word": " or ".join(f'"{word}"' for word in known.words),
        "count": "array_like of int",
        "numbers": "array_like of float, shape (steps,)",
        "counts": "array_like of int, shape (steps,)",
        "requests": "sequence of mappings",
    }.get(known.form, "array_like of float")
    if known.form == "word" and default(known) is None:
        shown = "{" + ", ".join(f'"{word}"' for word in known.words) + "}"
    if default(known) is not None:
        shown += ", optional"
    text = described(known)
    if known.form == "requests":
        text += (
            "; each has ``steps`` (a whole number) and lists of ids, ``delete`` and ``add``, which "
            "may be left out"
        )
    elif known.form != "word":
        text += f"; {known.rule}"
    if known.presence == "default":
        text += f", by default {default(known)}"
    elif known.presence == "optional":
        text += f"; if left out: {marked(kind, known.note or '')}"
    return f"{known.python_name} : {shown}\n{paragraph(text + '.', 4)}"


def described(what: Input | Output) -> str:
    """Return the meaning, with the unit."""
    text = what.meaning.replace("`", "``")
    first = text.split()[0].rstrip(":,")
    if first.isalpha() and first not in SYMBOLS:
        text = text[0].upper() + text[1:]
    if what.unit:
        text += f" ({what.unit})"
    return text + "." if isinstance(what, Output) else text


def shown_figure(result: Output) -> str:
    """Return the type of a result, for readers."""
    return {
        "decimal": "float or ndarray",
        "count": "int or ndarray of int",
        "counts": "ndarray of int, shape (..., requests)",
    }[result.figure]


def marked(kind: Kind, text: str) -> str:
    """Return a text of the engine with names as Python has them, marked as code."""
    text = kind.in_python(text)
    for other in kinds():
        text = text.replace(f"the kind `{other.name}`", f"`{other.function}`")
        text = text.replace(f"The kind `{other.name}`", f"`{other.function}`")
        text = text.replace(f"`{other.name}`", f"`{other.function}`")
    return text.replace("`", "``")


def paragraph(text: str, indentation: int = 0) -> str:
    """Return the text in lines."""
    space = " " * indentation
    return fill(
        text,
        92,
        initial_indent=space,
        subsequent_indent=space,
        break_long_words=False,
        break_on_hyphens=False,
    )


def example(kind: Kind) -> str:
    """Return a runnable example with what it prints, to eight digits."""
    arguments = EXAMPLES[kind.name]
    values: dict[str, Any] = eval(f"dict({', '.join(arguments)})")  # noqa: S307 - from our own file
    inputs = {
        known.python_name: values.get(known.python_name, eval(default(known) or "None"))  # noqa: S307
        for known in kind.inputs
    }
    results = compute(kind.name, inputs)
    if len(results) > 1:
        fields = ", ".join(
            f"{known.python_name}={eight(value)}"
            for known, value in zip(kind.results, results, strict=True)
        )
        shown = f"{class_name(kind)}({fields})"
    else:
        shown = eight(results[0])
    call = [f">>> from efface.accounting import {kind.function}", f">>> {kind.function}("]
    if len(", ".join(arguments)) + len(kind.function) < 80:
        call[-1] += ", ".join(arguments) + ")"
    else:
        call += [f"...     {line}" for line in fill(", ".join(arguments), 80).split("\n")] + [
            "... )"
        ]
    return "\n".join([*call, paragraph(shown)])


def eight(value: Any) -> str:
    """Return a number as it is printed, cut after eight digits."""
    if not isinstance(value, float):
        return repr(value)
    mantissa, e, exponent = repr(value).partition("e")
    digits = sum(c.isdigit() for c in mantissa.lstrip("-0."))
    if digits <= 8:
        return repr(value)
    return f"{mantissa[: len(mantissa) - digits + 8]}...{e}{exponent}"


def main() -> None:
    """Write the modules."""
    paths = []
    for module, text in modules().items():
        paths.append(PACKAGE / f"{module}.py")
        paths[-1].write_text(text, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    # Imports that a module has no use for, and the order of the others.
    subprocess.run([*ruff, "check", "--quiet", "--select", "F401,I", "--fix", *paths], check=True)  # noqa: S603
    subprocess.run([*ruff, "format", "--quiet", *paths], check=True)  # noqa: S603


if __name__ == "__main__":
    main()

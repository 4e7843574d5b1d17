"""Writes the docstrings of accounting functions, in NumPy's form."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from textwrap import fill

from .._kinds import Input, Kind, Output, kinds

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


def document(kind: Kind) -> str:
    """Return the documentation of a kind's function."""
    if len(kind.results) > 1:
        names = ", ".join(f"``{result.python_name}``" for result in kind.results)
        returns = f"{kind.class_name}\n" + paragraph(f"With {names}; it unpacks in this order.", 4)
    else:
        returns = entry("", figure(kind.results[0]), described(kind.results[0]))
    required_first = sorted(kind.inputs, key=lambda known: not known.is_required)
    sections = {
        "Parameters": "\n".join(parameter(kind, known) for known in required_first),
        "Returns": returns,
        "Raises": entry("", "InputError", RAISES),
        "Notes": paragraph(f"{SOUNDNESS[kind.soundness]} {EVALUATION}"),
        "References": paragraph(f"{kind.source}."),
    }
    if kind.name in examples():
        imported = f">>> from efface.accounting import {kind.function}\n"
        sections["Examples"] = imported + examples()[kind.name]
    head = [f"{marked(kind, kind.summary)}.", paragraph(marked(kind, kind.notes))]
    parts = head + [f"{name}\n{'-' * len(name)}\n{text}" for name, text in sections.items()]
    return "\n\n".join(parts) + "\n"


@cache
def examples() -> dict[str, str]:
    """Return an example of each kind of case, in the form of a session."""
    text = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8")
    _, *parts = text.split("\n# ")
    return {name: example.strip() for name, _, example in (p.partition("\n") for p in parts)}


def document_results(kind: Kind) -> str:
    """Return the documentation of the class of a kind's results."""
    attributes = "\n".join(
        entry(result.python_name, figure(result), described(result)) for result in kind.results
    )
    return f"Results of :func:`{kind.function}`.\n\nAttributes\n----------\n{attributes}\n"


def parameter(kind: Kind, known: Input) -> str:
    """Return the lines of one parameter."""
    words = [f'"{word}"' for word in known.words]
    shown = {
        "word": "{" + ", ".join(words) + "}" if known.is_required else " or ".join(words),
        "count": "array_like of int",
        "numbers": "array_like of float, shape (steps,)",
        "counts": "array_like of int, shape (steps,)",
        "requests": "sequence of mappings",
    }.get(known.form, "array_like of float")
    if not known.is_required:
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
        text += f", by default {known.default!r}"
    elif known.presence == "optional":
        text += f"; if left out: {marked(kind, known.note or '')}"
    return entry(known.python_name, shown, f"{text}.")


def described(what: Input | Output) -> str:
    """Return the meaning, with the unit."""
    text = what.meaning.replace("`", "``")
    first = text.split()[0].rstrip(":,")
    if first.isalpha() and first not in SYMBOLS:
        text = text[0].upper() + text[1:]
    if what.unit:
        text += f" ({what.unit})"
    return text + "." if isinstance(what, Output) else text


def figure(result: Output) -> str:
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
        if other.name in text:
            text = text.replace(f"the kind `{other.name}`", f"`{other.function}`")
            text = text.replace(f"The kind `{other.name}`", f"`{other.function}`")
            text = text.replace(f"`{other.name}`", f"`{other.function}`")
    return text.replace("`", "``")


def entry(name: str, shown: str, text: str) -> str:
    """Return a named value of a section: its type, and what it is below."""
    return f"{name} : {shown}\n{paragraph(text, 4)}" if name else f"{shown}\n{paragraph(text, 4)}"


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

"""The kinds of cases, as the engine documents them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from keyword import iskeyword

from . import _engine
from ._errors import InputError

# Forms that are one number.
_NUMBERS = ("nonnegative", "positive", "above-one", "probability", "count")


@dataclass(frozen=True)
class Input:
    """One input of a kind.

    Attributes
    ----------
    name : str
        As batches spell it.
    meaning : str
        What it stands for.
    unit : str
        Its unit; empty for a pure number or a word.
    form : str
        ``"nonnegative"``, ``"positive"``, ``"above-one"``, ``"probability"``, ``"count"``,
        ``"word"``, ``"numbers"``, ``"counts"``, ``"requests"`` or ``"ids"``.
    rule : str
        Which values it takes, in words.
    words : tuple of str
        The words it takes, if it is one.
    presence : str
        ``"required"``, ``"default"`` or ``"optional"``.
    note : str or None
        The default, or what leaving it out means.
    """

    name: str
    meaning: str
    unit: str
    form: str
    rule: str
    words: tuple[str, ...]
    presence: str
    note: str | None

    @property
    def python_name(self) -> str:
        """The name of the parameter."""
        return in_python(self.name)

    @property
    def is_number(self) -> bool:
        """Whether it is one number, so that arrays of it broadcast."""
        return self.form in _NUMBERS

    @property
    def is_required(self) -> bool:
        """Whether the parameter must be given; a word without a choice need not be."""
        return self.presence == "required" and len(self.words) != 1

    @property
    def default(self) -> str | int | float | None:
        """The default of the parameter; None where it has none."""
        if len(self.words) == 1:
            return self.words[0]
        if self.presence != "default" or self.note is None:
            return None
        return int(self.note) if self.form == "count" else float(self.note)


@dataclass(frozen=True)
class Output:
    """One result of a kind.

    Attributes
    ----------
    name : str
        As batches spell it.
    meaning : str
        What it is.
    unit : str
        Its unit; empty for a pure number.
    figure : str
        ``"decimal"``, ``"count"`` or ``"counts"``.
    """

    name: str
    meaning: str
    unit: str
    figure: str

    @property
    def python_name(self) -> str:
        """The name of the attribute."""
        return in_python(self.name)


@dataclass(frozen=True)
class Kind:
    """One kind of case.

    Attributes
    ----------
    name : str
        As batches and the command line spell it.
    summary, notes : str
        What it computes; what its numbers suppose and what to know about them.
    inputs : tuple of Input
        Everything it reads.
    results : tuple of Output
        Everything it answers.
    soundness : str
        ``"tight"``, ``"published"`` or ``"not sound"``.
    source : str
        Paper and theorem.
    """

    name: str
    summary: str
    notes: str
    inputs: tuple[Input, ...]
    results: tuple[Output, ...]
    soundness: str
    source: str

    @property
    def function(self) -> str:
        """The name of the function that computes it."""
        return in_python(self.name)

    @property
    def class_name(self) -> str:
        """The name of the class of its results, where it has several."""
        return "".join(word.capitalize() for word in self.function.split("_")) + "Result"

    def in_python(self, text: str) -> str:
        """Return a text of the engine with the names that they have in Python."""
        for known in self.inputs:
            text = text.replace(f"`{known.name}`", f"`{known.python_name}`")
        return text


def in_python(name: str) -> str:
    """Return a name of the engine as an identifier.

    ``noisy-gd-gdp`` and what begins with it loses its ``-gdp``: in Python these are the functions
    of noisy gradient descent, since the others carry the names of their papers' bounds.
    """
    name = re.sub("^noisy-gd-gdp", "noisy-gd", name).replace("-", "_")
    return name + "_" if iskeyword(name) else name


@cache
def kinds() -> tuple[Kind, ...]:
    """Return every kind of case that can be computed.

    Returns
    -------
    tuple of Kind
        In the engine's order; each has a function of this module.

    Examples
    --------
    >>> from efface import accounting
    >>> [kind.name for kind in accounting.kinds() if kind.soundness == "not sound"]
    ['objective-budget']
    """
    return tuple(
        Kind(
            **{
                **kind,
                "inputs": tuple(
                    Input(**{**known, "words": tuple(known["words"])}) for known in kind["inputs"]
                ),
                "results": tuple(Output(**result) for result in kind["results"]),
            }
        )
        for kind in json.loads(_engine.kinds())
    )


@cache
def kind_of(name: str) -> Kind:
    """Return the kind of a name."""
    for kind in kinds():
        if kind.name == name:
            return kind
    names = ", ".join(kind.name for kind in kinds())
    raise InputError(f"`kind` must be one of {names}, got `{name}`", code="case")

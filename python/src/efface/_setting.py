"""The engine's table of settings: their names, ranges, defaults and what is said of them."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from os import PathLike
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from . import _engine
from ._training import Training


class _Numbers(Interval):  # type: ignore[misc]
    """Numbers of a range, which True and False are not."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


# For each form of a setting its type in docstrings and for type checkers, and what scikit-learn
# checks; then for settings that also take objects of Python's.
_FORMS: dict[str, tuple[str, str, list[Any]]] = {
    "name": ("str", "str", [str]),
    "number": ("float", "float", [Real]),
    "count": ("int", "int", [Integral]),
    "pair": ("(float, float)", "tuple[float, float]", ["array-like"]),
    "flag": ("bool", "bool", ["boolean"]),
    "file": ("path or bytes", "Any", [str, PathLike, bytes]),
    "figures": ("dict", "dict[str, float]", [dict]),
    "lines": ("str or list of str", "Any", ["array-like", str]),
    "text": ("str", "str", [str]),
}
_OBJECTS: dict[str, tuple[str, str, list[Any]]] = {
    "extractor_training": ("Training or str", "str | Training", [str, Training]),
    "features": ("str, fitted network, Vault or path", "Any", [object]),
    "loss": ("str or HuberHinge", "str | HuberHinge", [str]),
    "preprocess": (
        "str, Fitted or Declared",
        "str | Fitted | Declared",
        [StrOptions({"fitted", "declared"})],
    ),
}

# Sentences that Python adds to the engine's documentation.
_ALSO = {
    "target_range": "By default the least and greatest number in `y`: this causes a warning, "
    'certificates list it as an assumption, and ``"deletion-privacy"`` and '
    '``"differential-privacy"`` are not claimed then.',
    "max_weight": "The default causes a warning.",
    "features": "Arrays of images are given as rows of pixels. A network may also be given as a "
    "fitted `UnlearningClassifier`, as its `Vault` or as the path of its vault. It is copied at "
    "`fit`; clones of the estimator refer to the same network.",
    "network": "Arrays of images (rows, height, width), or with channels last, say their shape "
    "themselves.",
    "preprocess": "`Fitted` and `Declared` have further settings.",
    "start_privacy": 'Such as ``{"epsilon": 1, "delta": 1e-6, "group": 10}`` or '
    '``{"mu": 0.5, "group": 10}``.',
    "extractor_privacy": 'Such as ``{"epsilon": 1, "delta": 1e-6, "group": 10}`` or '
    '``{"mu": 0.5, "group": 10}``.',
    "extractor_training": "By default that of rows that `extract` made with `training`.",
    "not_covered": "Transformers that a pipeline fitted before the model, and searches that chose "
    "its settings, are added automatically.",
}

_QUOTED = re.compile("`([a-z-]+)`")


@dataclass(frozen=True)
class Setting:
    """A row of the table.

    Attributes
    ----------
    name, parameter : str
        Its name in settings, and as a parameter.
    form : str
        ``"name"``, ``"number"``, ``"count"``, ``"pair"``, ``"flag"``, ``"file"``, ``"figures"``,
        ``"lines"`` or ``"text"``.
    names : list of str
        The names it may have.
    low, high : float or None
        The ends of its range, and ``with_low`` and ``with_high``, whether they are in it.
    unit : str
        What it is measured in; empty for a pure number.
    default : str, float, int or None
        What holds where it is not given; None where that follows from something else.
    default_text : str or None
        The default in words.
    owner : str or None
        The setting whose values it belongs to, which are the ``owners``; None for one of all.
    holder : str or None
        The parameter whose options it belongs to, by their names ``options``; None if it is a
        parameter itself.
    sentence, paragraph : str
        What it is, and what else there is to say.
    internal : bool
        Whether it is no parameter.
    """

    name: str
    parameter: str
    form: str
    names: list[str]
    low: float | None
    with_low: bool
    high: float | None
    with_high: bool
    unit: str
    default: Any
    default_text: str | None
    owner: str | None
    owners: list[str]
    holder: str | None
    options: list[str]
    sentence: str
    paragraph: str
    internal: bool

    @property
    def parameter_default(self) -> Any:
        """The default of the parameter."""
        if self.form in ("flag", "lines"):
            return False if self.form == "flag" else ()
        return float(self.default) if self.form == "number" and self.default else self.default

    @property
    def constraint(self) -> list[Any]:
        """The rule that scikit-learn checks; the engine checks names and combinations."""
        _, _, rules = self._form
        if self.form in ("number", "count"):
            (kind,) = rules
            ends = {(False, False): "neither", (True, False): "left", (False, True): "right"}
            closed = ends.get((self.with_low, self.with_high), "both")
            low, high = (
                end if end is None or kind is Real else int(end) for end in (self.low, self.high)
            )
            rules = [_Numbers(kind, low, high, closed=closed)]
        return [*rules] if self.parameter_default is not None else [*rules, None]

    @property
    def type(self) -> str:
        """The type of the parameter, for type checkers."""
        _, kind, _ = self._form
        return kind if kind == "Any" or self.parameter_default is not None else f"{kind} | None"

    @property
    def _form(self) -> tuple[str, str, list[Any]]:
        return _OBJECTS.get(self.name, _FORMS[self.form])

    @property
    def document(self) -> str:
        """The entry of the parameter in docstrings."""
        default = self.parameter_default
        then = "optional" if default is None else f"default={default!r}".replace("'", '"')
        said = f"{self.sentence}."
        if self.owner in ("loss", "normalizer", "notion") and self.owners != ["squared"]:
            said = f"`{self.owners[0]}`: {said[0].lower()}{said[1:]}"
        if any(f"`{name}`" not in f"{said}{self.paragraph}" for name in self.names):
            said += f" One of {', '.join(f'`{name}`' for name in self.names)}."
        if default is None and self.default_text:
            said += f" By default {self.default_text}."
        said = _QUOTED.sub(lambda quoted: _value(quoted[0], quoted[1]), f"{said} {self.paragraph}")
        head = f"{self.parameter} : {self._form[0]}, {then}"
        return documented(head, said, _ALSO.get(self.name))


def documented(head: str, *texts: str | None) -> str:
    """The entry of a parameter in a docstring."""
    text = " ".join(text.strip() for text in texts if text)
    body = textwrap.wrap(text, 92, break_long_words=False, break_on_hyphens=False)
    return "\n    ".join([head, *(f"    {line}" for line in body)])


def _value(quoted: str, word: str) -> str:
    """A name that a setting may have, as the text that it is."""
    return f'``"{word}"``' if word in _names() else quoted


@cache
def _names() -> frozenset[str]:
    return frozenset(name for setting in settings().values() for name in setting.names)


@cache
def settings() -> dict[str, Setting]:
    """Return the table, by name and in the order of help pages."""
    rows = (Setting(**row) for row in json.loads(_engine.settings()))
    return {row.name: row for row in rows}

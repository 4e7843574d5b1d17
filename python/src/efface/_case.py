"""One kind of case over arrays: inputs broadcast, one case of the engine for each element."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _engine
from ._errors import InputError
from ._kinds import Kind, kind_of

Scalar: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""One number."""

Floats: TypeAlias = NDArray[np.float64]
"""An array of numbers."""

Counts: TypeAlias = NDArray[np.int64]
"""An array of whole numbers."""

Request: TypeAlias = Mapping[str, Any]
"""One request: ``steps``, and the ids to ``delete`` and to ``add``."""

FloatT = TypeVar("FloatT", bound=float | Floats)
CountT = TypeVar("CountT", bound=int | Counts)

# Cases that go to the engine at once; between two of them Ctrl-C is heard.
_CHUNK = 1000

_AT = re.compile(r"^case (\d+) \(`[^`]*`\): ")
_GOT = re.compile(r', got "([^"\\]*)"$')


class Result:
    """Several results of one computation, by name and in order."""

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


def compute(name: str, inputs: Mapping[str, Any]) -> list[Any]:
    """Return the results of a kind, in its order.

    ``inputs`` are by their names in Python; those that are None are left out.
    """
    kind = kind_of(name)
    numbers: dict[str, NDArray[Any]] = {}
    others: dict[str, Any] = {}
    for known in kind.inputs:
        value = inputs[known.python_name]
        if value is None:
            continue
        if known.is_number:
            numbers[known.name] = _numbers(known.python_name, value)
        elif known.form in ("numbers", "counts"):
            others[known.name] = [_text(x) for x in _list(known.python_name, value)]
        elif known.form == "word":
            others[known.name] = value
        else:
            others[known.name] = _requests(known.python_name, value)
    shape = _shape(numbers)
    spread = {name: np.broadcast_to(array, shape).ravel() for name, array in numbers.items()}
    cases = (
        {name: _text(array[i]) for name, array in spread.items()} | others
        for i in range(int(np.prod(shape)))
    )
    answers = list(_answers(kind, cases, shape))
    return [_gathered(result.name, result.figure, answers, shape) for result in kind.results]


def _numbers(name: str, value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise InputError(
            f"`{name}` must be a number or an array of numbers, got {_shown(value)}", code="case"
        )
    return array


def _list(name: str, value: Any) -> NDArray[Any]:
    array = _numbers(name, value if np.size(value) else np.zeros(np.shape(value)))
    if array.ndim != 1:
        raise InputError(
            f"`{name}` must be a sequence of numbers with 1 axis, got shape {array.shape}",
            code="case",
        )
    return array


def _requests(name: str, value: Any) -> list[dict[str, Any]]:
    if isinstance(value, Mapping | str) or not isinstance(value, Iterable):
        raise InputError(f"`{name}` must be a list of requests, got {_shown(value)}", code="case")
    return [_request(name, request) for request in value]


def _request(name: str, request: Any) -> dict[str, Any]:
    if not isinstance(request, Mapping):
        raise InputError(
            f"`{name}` must contain mappings with `steps`, `delete` and `add`, got "
            f"{_shown(request)}",
            code="case",
        )
    return {str(key): _plain(value) for key, value in request.items()}


def _plain(value: Any) -> Any:
    """The value as JSON knows it; what it does not know is left to the engine's refusal."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


def _shape(numbers: Mapping[str, NDArray[Any]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in numbers.values()))
    except ValueError:
        shapes = ", ".join(f"`{name}` {a.shape}" for name, a in numbers.items() if a.ndim)
        raise InputError(f"shapes must broadcast together, got {shapes}", code="case") from None


def _text(value: Any) -> str:
    """The shortest decimal that is the same float."""
    return str(int(value)) if isinstance(value, np.integer) else repr(float(value))


def _answers(
    kind: Kind, cases: Iterator[dict[str, Any]], shape: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    done = 0
    while chunk := [case for _, case in zip(range(_CHUNK), cases, strict=False)]:
        try:
            document = json.dumps({"cases": [{"kind": kind.name, "inputs": c} for c in chunk]})
        except TypeError as error:
            message = f"the inputs must be numbers, strings or ids: {error}"
            raise InputError(message, code="case") from None
        try:
            answered = json.loads(_engine.account(document))
        except InputError as error:
            raise _placed(kind, error, done, shape) from None
        yield from (case["result"] for case in answered["cases"])
        done += len(chunk)


def _placed(kind: Kind, error: InputError, done: int, shape: tuple[int, ...]) -> InputError:
    """The engine's refusal in the words of Python: names, and the place in the arrays."""
    message = error.message
    place = ""
    if found := _AT.match(message):
        message = message[found.end() :]
        if shape:
            index = np.unravel_index(done + int(found[1]), shape)
            place = f"at [{', '.join(str(int(i)) for i in index)}]: "
    message = _GOT.sub(r", got \1", message)
    return InputError(place + kind.in_python(message), code=error.code, hint=error.hint)


def _gathered(name: str, figure: str, answers: list[dict[str, Any]], shape: tuple[int, ...]) -> Any:
    """One result over all cases: a number or a list where no input has axes, else an array."""
    values = [answer[name] for answer in answers]
    if figure == "counts":
        lengths = {len(value) for value in values}
        if len(lengths) > 1:
            raise InputError(
                f"`{name}` has one number for each request, so the number of requests must be the "
                f"same everywhere, got {sorted(lengths)}",
                code="case",
            )
        return np.array(values, dtype=np.int64).reshape(*shape, *(lengths or {0}))
    if figure == "count":
        return np.array(values, dtype=np.int64).reshape(shape) if shape else int(values[0])
    floats = [float(value) for value in values]
    return np.array(floats, dtype=np.float64).reshape(shape) if shape else floats[0]

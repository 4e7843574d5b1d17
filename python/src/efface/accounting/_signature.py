"""The functions of the engine's kinds of cases, and the classes of their results.

They are made from the table of kinds that the extension gives, so that Python offers what the
engine computes, no more and no less. What each documents is written in ``_docstring``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence  # noqa: F401 - named in annotations
from dataclasses import make_dataclass
from inspect import Parameter, Signature
from typing import Any, Generic, Literal  # noqa: F401 - named in annotations

from numpy.typing import ArrayLike  # noqa: F401 - named in annotations

from .._case import Counts, CountT, Floats, FloatT, Request, Result, compute  # noqa: F401 - as above
from .._kinds import Input, Kind
from ._docstring import document, document_results

PACKAGE = "efface.accounting"


def result_class(kind: Kind) -> type[Result]:
    """Return the class of a kind's results, which has an attribute for each."""
    types = {"decimal": FloatT, "count": CountT}
    figures = [types[result.figure] for result in kind.results]
    variables = tuple(variable for variable in types.values() if variable in figures)
    made = make_dataclass(
        kind.class_name,
        [(result.python_name, types[result.figure]) for result in kind.results],
        bases=(Result, Generic[variables]),  # type: ignore[index]
        namespace={"__doc__": document_results(kind)},
        frozen=True,
        eq=False,
    )
    made.__module__ = PACKAGE
    return made


def function(kind: Kind, results: type[Result] | None) -> Callable[..., Any]:
    """Return the function of a kind; ``results`` is the class it answers with, if it has one."""
    signature = Signature(parameters(kind), return_annotation=results or single(kind))

    def made(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{kind.function}() {error}") from None
        bound.apply_defaults()
        answers = compute(kind.name, bound.arguments)
        return answers[0] if results is None else results(*answers)

    made.__name__ = made.__qualname__ = kind.function
    made.__module__ = PACKAGE
    made.__doc__ = document(kind)
    made.__signature__ = signature  # type: ignore[attr-defined]
    made.__annotations__ = {
        **{name: one.annotation for name, one in signature.parameters.items()},
        "return": signature.return_annotation,
    }
    return made


def parameters(kind: Kind) -> list[Parameter]:
    """Return the parameters; by keyword alone where there are many, or where one has a default."""
    required = [known for known in kind.inputs if known.is_required]
    optional = [known for known in kind.inputs if not known.is_required]
    how = Parameter.KEYWORD_ONLY if len(required) > 3 else Parameter.POSITIONAL_OR_KEYWORD
    return [Parameter(i.python_name, how, annotation=annotation(i)) for i in required] + [
        Parameter(
            i.python_name, Parameter.KEYWORD_ONLY, default=i.default, annotation=annotation(i)
        )
        for i in optional
    ]


def annotation(known: Input) -> str:
    """Return the type of a parameter."""
    if known.form == "word":
        return f"Literal[{', '.join(repr(word) for word in known.words)}]"
    if known.form == "requests":
        return "Sequence[Request]"
    return "ArrayLike | None" if known.presence == "optional" else "ArrayLike"


def single(kind: Kind) -> str:
    """Return the type of the only result of a kind."""
    (result,) = kind.results
    return {"decimal": "float | Floats", "count": "int | Counts", "counts": "Counts"}[result.figure]

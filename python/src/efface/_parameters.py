"""Parameters of estimators, and the options that some of them take, made of the table of settings.

A setting is a parameter of its own, or belongs to options, the value of one parameter:
``mechanism=NoisyGD(steps=400)``. ``_parameters.pyi`` has their types.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable
from functools import partial
from inspect import Parameter, Signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from . import _engine
from ._losses import losses
from ._setting import Setting, documented, settings

if TYPE_CHECKING:
    from typing_extensions import Self


class Known(NamedTuple):
    """A parameter: its default, what scikit-learn checks, its entry in docstrings, its type."""

    default: Any
    rule: list[Any]
    entry: str
    type: str


# Parameters that are no settings, or have another form than theirs.
_OWN = {
    "mechanism": Known(
        "solve",
        [str],
        documented(
            'mechanism : str or Mechanism, default="solve"',
            "How the model is trained and how it forgets: the name of a mechanism, or an object "
            "with its own settings, such as ``NoisyGD(steps=400)``. "
            + ", ".join(f'``"{name}"``' for name in settings()["mechanism"].names)
            + ' are the names; ``"ridge"`` learns the squared loss.',
        ),
        "str | Mechanism",
    ),
    "promise": Known(
        None,
        [None],
        documented(
            "promise : Promise, optional",
            "What is promised beyond `epsilon` and `delta`, such as "
            '``Promise(notion="deletion-privacy", public_n=1000)``.',
        ),
        "Promise | None",
    ),
    "client": Known(
        None,
        [object],
        documented(
            "client : dask.distributed.Client or InProcess, optional",
            "Whose workers are to hold the rows; by default the current client.",
        ),
        "Any",
    ),
    "fit_intercept": Known(
        True,
        ["boolean"],
        documented(
            "fit_intercept : bool, default=True",
            "Whether to append a constant to each row: `intercept` of `Fitted` and `Declared`.",
        ),
        "bool",
    ),
    "classes": Known(
        None,
        ["array-like", None],
        documented(
            "classes : array-like, optional",
            "The classes as public knowledge. By default those in `y`, which certificates then "
            'list as an assumption: ``"deletion-privacy"`` and ``"differential-privacy"`` are not '
            "claimed then.",
        ),
        "Any",
    ),
    "class_weight": Known(
        None,
        [dict, StrOptions({"balanced"}), None],
        documented(
            'class_weight : dict or "balanced", optional',
            "What a record counts by its class: a weight for each, as public knowledge, 1 for "
            'those that are not in it; or ``"balanced"``, n/(k n_c) for n records, k classes and '
            "n_c records of the class, which is counted again with every request and needs fitted "
            'preprocessing. Of a dict, ``"ridge"`` takes whole numbers.',
        ),
        "dict[Any, float] | str | None",
    ),
    "missing": Known(
        None,
        ["array-like", str, None],
        documented(
            "missing : list of str, optional",
            "The texts that say that there is no value, of features, labels and subjects, exactly "
            'as they are written. By default ``"NA"``, ``"null"``, ``"nan"``, ``"none"``, ``"?"`` '
            "and the like, but for subjects; None and NaN say so always. With a list, which may be "
            "empty, a record may have no subject: it is a person of its own then.",
        ),
        "Any",
    ),
    "memory": Known(
        None,
        [str, Integral, None],
        documented(
            "memory : str or int, optional",
            'About how much memory `fit` and requests may take for rows, such as ``"2GiB"`` (a '
            "number is bytes; at least 64 MiB). Rows that need more are read from the vault anew "
            "for every pass, which gives the same model; an unsaved vault is on the disk then. `X` "
            'is yours and not counted: give ``numpy.load(..., mmap_mode="r")`` where it is larger '
            "than memory.",
        ),
        "str | int | None",
    ),
    "random_state": Known(
        None,
        ["random_state"],
        documented(
            "random_state : int or RandomState, optional",
            "For tests only: the noise of the first training comes from this seed, and every "
            "certificate says that the model is not for release.",
        ),
        "Any",
    ),
    "pickle_rows": Known(
        False,
        ["boolean"],
        documented(
            "pickle_rows : bool, default=False",
            "Whether pickles contain the vault with its rows, and not only its path. Deletions do "
            "not reach such a copy.",
        ),
        "bool",
    ),
    "verbose": Known(
        0,
        ["verbose"],
        documented(
            "verbose : int, default=0",
            "Show progress: with tqdm where it is installed. 2 leaves the bars on the screen.",
        ),
        "int",
    ),
}

# The most used parameters come first.
_FIRST = ("client", "mechanism", "loss", "lambda_", "clip", "epsilon", "delta", "promise")
_FIRST += ("preprocess", "fit_intercept", "classes", "class_weight")
_LAST = ("memory", "pickle_rows", "random_state", "verbose")


def _known(rows: Iterable[Setting], own: Iterable[str] = ()) -> dict[str, Known]:
    """The parameters of these settings, and of these names."""
    found = {
        row.parameter: Known(row.parameter_default, row.constraint, row.document, row.type)
        for row in rows
    }
    found.update((name, _OWN[name]) for name in own)
    for holder in OPTIONS.keys() & found.keys():
        known = found[holder]
        found[holder] = known._replace(rule=[*known.rule, *OPTIONS[holder].values()])
    order = {name: at for at, name in enumerate(_FIRST)}
    order |= {name: len(found) + at for at, name in enumerate(_LAST)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(_FIRST))))


def _equip(cls: Any, kind: str, parameters: dict[str, Known]) -> None:
    """Give a class an initialiser and rules for these parameters; `kind` is who takes them."""
    cls.parameters = parameters
    cls._parameter_constraints = {name: known.rule for name, known in parameters.items()}
    cls.__init__ = _initialiser(kind, {name: known.default for name, known in parameters.items()})


def _initialiser(kind: str, defaults: dict[str, Any]) -> Callable[..., None]:
    """Return an initialiser that takes these parameters by keyword."""

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        for name in given:
            if name not in defaults:
                message = f"{kind}() got an unexpected keyword argument {name!r}{_where(name)}"
                raise TypeError(message)
        vars(self).update({**defaults, **given})

    itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    keywords = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
    ]
    __init__.__signature__ = Signature([itself, *keywords])  # type: ignore[attr-defined]
    return __init__


def _where(name: str) -> str:
    """Say which options have a parameter."""
    kinds = [kind for of in OPTIONS.values() for kind in of.values() if name in kind.parameters]
    if not kinds:
        return ""
    names = ", ".join(kind.__name__ for kind in kinds)
    return f": it belongs to {names}, as in {kinds[0].holder}={kinds[0].__name__}({name}=...)"


class Options:
    """Settings that go together, as the value of one parameter of estimators.

    Those that are not given have their defaults. Options never change: they can be compared,
    copied, pickled and searched, and ``{"mechanism__steps": [100, 400]}`` is a grid.
    """

    holder: ClassVar[str]
    name: ClassVar[str]
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, *, holder: str, name: str | None = None) -> None:
        if name is None:
            return
        cls.holder, cls.name = holder, name
        cls.__module__ = "efface"
        rows = [row for row in settings().values() if row.holder == holder and name in row.options]
        _equip(cls, cls.__name__, _known(rows))
        if cls.__doc__ and cls.parameters:
            entries = [known.entry for known in cls.parameters.values()]
            cls.__doc__ += "\n    ".join(["\n", "Parameters", "----------", *entries, ""])
        OPTIONS.setdefault(holder, {})[name] = cls

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the settings by their names.

        Parameters
        ----------
        deep : ignored
            There for scikit-learn's sake: no setting has settings of its own.

        Returns
        -------
        dict
            All of them, those that were not given as well.
        """
        return {name: getattr(self, name) for name in self.parameters}

    def _replaced(self, given: dict[str, Any]) -> Self:
        """The same options but for these."""
        return type(self)(**{**self.get_params(), **given})

    def _validate_params(self) -> None:
        validate_parameter_constraints(
            self._parameter_constraints, self.get_params(), caller_name=type(self).__name__
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"options do not change: give the estimator others, as in "
            f"`set_params({self.holder}__{name}=...)`"
        )

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return bool(self.get_params() == other.get_params())  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not same(value, self.parameters[name].default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_clone__(self) -> Self:
        return self


def same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default; ``True`` is no number."""
    scalar = not isinstance(value, bool) and not getattr(value, "ndim", 0)
    return value is default or (scalar and bool(value == default))


# The kinds of options, by the parameter that takes them and by their names.
OPTIONS: dict[str, dict[str, type[Options]]] = {}


class Mechanism(Options, holder="mechanism"):
    """How a model is trained and how it forgets; the parameter `mechanism` of estimators takes it.

    Those settings that are not given have their defaults, so that ``NoisyGD()`` and
    ``"noisy-gd"`` are the same.
    """


def _class_name(name: str) -> str:
    """Return the name of a class of options: that of ``"noisy-gd"`` is ``NoisyGD``."""
    return "".join(_WORDS.get(word, word.capitalize()) for word in name.split("-"))


_WORDS = {"dp": "DP", "gd": "GD", "sgd": "SGD"}


# A class for each mechanism of the engine.
for _told in json.loads(_engine.mechanisms()):
    _name = _class_name(_told["name"])
    globals()[_name] = types.new_class(
        _name,
        (Mechanism,),
        {"holder": "mechanism", "name": _told["name"]},
        partial(dict.update, __doc__=_told["sentence"]),
    )


class Fitted(Options, holder="preprocess", name="fitted"):
    """Preprocessing that is fitted to the records, and again with every request.

    The parameter `preprocess` of estimators takes it; ``Fitted()`` and ``"fitted"`` are the same.
    """


class Declared(Options, holder="preprocess", name="declared"):
    """Preprocessing by public constants alone.

    The parameter `preprocess` of estimators takes it; ``Declared()`` and ``"declared"`` are the
    same.
    """


class Promise(Options, holder="promise", name="promise"):
    """The promise beyond epsilon and delta, and the public knowledge that it rests on.

    The parameter `promise` of estimators takes it.
    """


class HuberHinge(Options, holder="loss", name="huber-hinge"):
    """The hinge loss with a smooth part; the parameter `loss` of classifiers takes it."""


def name_of(value: Any) -> Any:
    """Return the name of options, or what is given in the place of options."""
    return value.name if isinstance(value, Options) else value


def options_for(holder: str, value: Any, given: Iterable[str]) -> Options:
    """Return the options that a parameter has, by its value, to be given these settings.

    Parameters
    ----------
    holder : str
        The parameter.
    value : Options, str or None
        Its value; for None the options are those that have the settings.
    given : iterable of str
        Names of settings.

    Raises
    ------
    ValueError
        If the value has no settings of its own.
    """
    if isinstance(value, Options):
        return value
    kinds = OPTIONS[holder]
    if value is None:
        having = [kind for kind in kinds.values() if {*given} <= kind.parameters.keys()]
        return (having or [*kinds.values()])[-1]()
    if value not in kinds:
        raise ValueError(f"`{holder}` is {value!r}, which has no settings of its own")
    return kinds[value]()


class Parameters:
    """The parameters of an estimator."""

    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, *, of: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if of is not None:
            _equip(cls, of, _of_estimator(of))
        elif cls.__doc__ and "{parameters}" in cls.__doc__:
            entries = [known.entry for known in cls.parameters.values()]
            cls.__doc__ = cls.__doc__.replace("{parameters}", "\n    ".join(entries))

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; ``mechanism__steps=400`` sets one of the mechanism's own.

        Parameters
        ----------
        **parameters
            Parameters by name.

        Returns
        -------
        self
            The estimator.
        """
        own: dict[str, dict[str, Any]] = {}
        for name in list(parameters):
            holder, _, setting = name.partition("__")
            if setting and holder in OPTIONS and holder in self.parameters:
                own.setdefault(holder, {})[setting] = parameters.pop(name)
        for holder, given in own.items():
            value = parameters.get(holder, getattr(self, holder))
            parameters[holder] = options_for(holder, value, given)._replaced(given)
        return super().set_params(**parameters)  # type: ignore[misc, no-any-return]

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]
        for holder in OPTIONS.keys() & self.parameters.keys():
            value = getattr(self, holder)
            if isinstance(value, Options):
                value._validate_params()


def _of_estimator(name: str) -> dict[str, Known]:
    """The parameters of an estimator; one loss is no choice."""
    regression, dask = name.endswith("Regressor"), name.startswith("Dask")
    kept = {loss.name for loss in losses() if (loss.task == "regression") == regression}
    rows = [
        row
        for row in settings().values()
        if not (row.internal or row.holder or row.parameter in _OWN)
        and (row.owner != "loss" or kept.intersection(row.owners))
        and not (regression and row.name == "loss")
    ]
    absent = {"classes", "class_weight"} if regression else set()
    absent.add("pickle_rows" if dask else "client")
    return _known(rows, (own for own in _OWN if own not in absent))


class ClassifierParameters(Parameters, of="UnlearningClassifier"):
    """The parameters of a classifier."""


class RegressorParameters(Parameters, of="UnlearningRegressor"):
    """The parameters of a regressor."""


class DaskClassifierParameters(Parameters, of="DaskUnlearningClassifier"):
    """The parameters of a classifier on Dask."""


class DaskRegressorParameters(Parameters, of="DaskUnlearningRegressor"):
    """The parameters of a regressor on Dask."""

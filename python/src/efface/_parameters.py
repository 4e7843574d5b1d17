"""Parameters of estimators and mechanisms, made of the engine's table of settings.

``_parameters.pyi`` has their types.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from . import _engine
from ._losses import losses
from ._setting import Setting, documented, of_mechanism, of_models, settings


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
    "trunk": Known(
        None,
        [object],
        documented(
            "trunk : fitted network, Vault or path, optional",
            "A network whose hidden features the model learns from: a `NetworkClassifier` or "
            "`UnlearningClassifier` with `DPSGD`, fitted; its `Vault`; or the vault's path. The "
            "same as `features` with ``network:`` and that path. The network is copied at "
            "`fit`; clones of the estimator refer to the same network.",
        ),
        "Any",
    ),
    "head": Known(
        None,
        [str, None],
        documented(
            "head : str or Mechanism, optional",
            'The last layer on `trunk`, in the place of `mechanism`: ``"ridge"``; ``"softmax"``, '
            'which is ``"solve"`` with the loss ``"logistic"`` for two classes and ``"softmax"`` '
            "for more; or what `mechanism` takes.",
        ),
        "str | Mechanism | None",
    ),
    "fit_intercept": Known(
        True,
        ["boolean"],
        documented(
            "fit_intercept : bool, default=True", "Whether to append `intercept` to each row."
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

# What is looked for most stands first.
_FIRST = ("mechanism", "loss", "lambda_", "epsilon", "delta", "notion", "state", "noise")
_FIRST += ("excess_risk", "row_norm", "row_map", "fit_intercept", "intercept", "classes")
_FIRST += ("target_range", "trunk", "head")
_LAST = ("not_covered", "memory", "pickle_rows", "random_state", "verbose")


def _known(rows: list[Setting], own: tuple[str, ...]) -> dict[str, Known]:
    """The parameters of these settings, and of these names."""
    found = {
        row.parameter: Known(row.parameter_default, row.constraint, row.document, row.type)
        for row in rows
    }
    found.update((name, _OWN[name]) for name in own)
    order = {name: at for at, name in enumerate(_FIRST)}
    order |= {name: len(found) + at for at, name in enumerate(_LAST)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(_FIRST))))


def _equip(cls: Any, kind: str, parameters: dict[str, Known]) -> None:
    """Give a class an initialiser and rules for these parameters; `kind` is who takes them."""
    cls._parameter_constraints = {name: known.rule for name, known in parameters.items()}
    cls.__init__ = _initialiser(kind, {name: known.default for name, known in parameters.items()})


def _initialiser(kind: str, defaults: dict[str, Any]) -> Callable[..., None]:
    """Return an initialiser that takes these parameters by keyword."""

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        for name in given:
            if name not in defaults:
                message = f"{kind}() got an unexpected keyword argument {name!r}{_where(name)}"
                raise TypeError(message)
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))

    itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    keywords = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
    ]
    __init__.__signature__ = Signature([itself, *keywords])  # type: ignore[attr-defined]
    return __init__


def _where(name: str) -> str:
    """Where a parameter is that belongs to a mechanism."""
    row = next((row for row in settings().values() if row.parameter == name), None)
    if row is None or row.owner != "mechanism":
        return ""
    owners = [kind.__name__ for kind in MECHANISMS.values() if name in kind._parameter_constraints]
    return f": it is one of {', '.join(owners)}, as in mechanism={owners[0]}({name}=...)"


class Mechanism(BaseEstimator):  # type: ignore[misc]
    """A mechanism with its own settings; the parameter `mechanism` of estimators takes it.

    Those that are not given have their defaults, so that ``NoisyGD()`` and ``"noisy-gd"`` are the
    same. Like estimators they can be compared, copied, pickled and searched:
    ``{"mechanism__steps": [100, 400]}`` is a grid.
    """

    name: ClassVar[str]
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, *, name: str, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.name = name
        cls.__module__ = "efface"
        cls.parameters = _known(of_mechanism(name), ())
        _equip(cls, cls.__name__, cls.parameters)
        if cls.__doc__ and cls.parameters:
            entries = [known.entry for known in cls.parameters.values()]
            cls.__doc__ += "\n    ".join(["\n", "Parameters", "----------", *entries, ""])
        MECHANISMS[name] = cls

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return bool(self.get_params() == other.get_params())  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]


MECHANISMS: dict[str, type[Mechanism]] = {}


def _class_name(name: str) -> str:
    """Return the name of a mechanism's class: that of ``"noisy-gd"`` is ``NoisyGD``."""
    return "".join(_WORDS.get(word, word.capitalize()) for word in name.split("-"))


_WORDS = {"dp": "DP", "gd": "GD", "sgd": "SGD"}

# A class for each mechanism of the engine.
for _told in json.loads(_engine.mechanisms()):
    _name, _doc = _told["name"], _told["sentence"]
    globals()[_class_name(_name)] = types.new_class(
        _class_name(_name), (Mechanism,), {"name": _name}, partial(dict.update, __doc__=_doc)
    )


def mechanism_name(mechanism: str | Mechanism) -> str:
    """Return the name of a mechanism."""
    return mechanism.name if isinstance(mechanism, Mechanism) else mechanism


class Parameters:
    """The parameters of an estimator."""

    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, *, of: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if of is not None:
            cls.parameters = _of_estimator(regression=of == "UnlearningRegressor")
            _equip(cls, of, cls.parameters)
            cls._parameter_constraints["mechanism"] = [str, Mechanism]
            if "head" in cls.parameters:
                cls._parameter_constraints["head"] = [str, Mechanism, None]
        elif cls.__doc__ and "{parameters}" in cls.__doc__:
            entries = [known.entry for known in cls.parameters.values()]
            cls.__doc__ = cls.__doc__.replace("{parameters}", "\n    ".join(entries))


def _of_estimator(*, regression: bool) -> dict[str, Known]:
    """The parameters of models with the losses of that task; one loss is no choice."""
    kept = {loss.name for loss in losses() if (loss.task == "regression") == regression}
    left_out = {"seed", "mechanism", "loss"} if len(kept) == 1 else {"seed", "mechanism"}
    rows = [row for row in of_models(kept) if row.name not in left_out]
    of_classes = {"classes", "class_weight", "trunk", "head"} if regression else set()
    return _known(rows, tuple(name for name in _OWN if name not in of_classes))


class ClassifierParameters(Parameters, of="UnlearningClassifier"):
    """The parameters of a classifier."""


class RegressorParameters(Parameters, of="UnlearningRegressor"):
    """The parameters of a regressor."""

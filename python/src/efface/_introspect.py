"""Finds models inside a fitted object, and other parts that learnt from the records."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ._errors import InputError
from ._estimator import Unlearner

# Libraries whose objects hold no models.
_LEAVES = frozenset(
    {"builtins", "logging", "numpy", "pandas", "polars", "pyarrow", "scipy", "threading", "torch"}
    | {"weakref"}
)

# Types of cells and words, of which a vocabulary has many.
_PLAIN = frozenset({bool, bytes, float, int, str, type(None)})

# Libraries whose objects stand for others, which may be in another process.
_REMOTE = frozenset({"dask", "distributed"})

# Parts of these are fitted on all rows in their order, so that positions are the caller's.
_SAME_ROWS = {
    "FeatureUnion": "transformer_list",
    "GridSearchCV": "best_estimator_",
    "HalvingGridSearchCV": "best_estimator_",
    "HalvingRandomSearchCV": "best_estimator_",
    "MultiOutputClassifier": "estimators_",
    "MultiOutputRegressor": "estimators_",
    "OneVsRestClassifier": "estimators_",
    "OutputCodeClassifier": "estimators_",
    "Pipeline": "steps",
    "RandomizedSearchCV": "best_estimator_",
    "StackingClassifier": "estimators_",
    "StackingRegressor": "estimators_",
    "TransformedTargetRegressor": "regressor_",
    "VotingClassifier": "estimators_",
    "VotingRegressor": "estimators_",
}

# These as well, where they draw rows by giving them weights.
_SAME_ROWS_WEIGHTED = {"BaggingClassifier": "estimators_", "BaggingRegressor": "estimators_"}

# Objects that learn nothing themselves; names of classes are a constant of certificates.
_LEARNS_NOTHING = (
    _SAME_ROWS.keys()
    | _SAME_ROWS_WEIGHTED.keys()
    | {"CalibratedClassifierCV", "ColumnTransformer", "LabelBinarizer", "LabelEncoder"}
    | {"OneVsOneClassifier", "TunedThresholdClassifierCV", "_ConstantPredictor"}
)


@dataclass
class Inside:
    """The models and other fitted parts that were found.

    Attributes
    ----------
    models : dict
        The fitted models, by the path that leads to each.
    elsewhere : set of str
        Paths of models whose rows may be some of those that the object was given, or in another
        order: positions there are not the caller's.
    others : list of str
        What else was fitted on the records, a line each.
    closed : set of str
        Types of objects that cannot be looked into.
    """

    models: dict[str, Unlearner] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)
    others: list[str] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)


def look_inside(fitted: Any) -> Inside:
    """Find every model that can forget, through attributes and containers of any depth."""
    found = Inside()
    seen: set[int] = set()
    _look(fitted, "", _Way(), found, seen)
    return found


def models_inside(fitted: Any) -> Inside:
    """Find every model inside, and refuse an object in which none is found."""
    found = look_inside(fitted)
    if found.models:
        return found
    hint = "fit it first; searches keep a model only with `refit=True`"
    closed = ", ".join(sorted(found.closed))
    if closed:
        hint = f"{closed} cannot be looked into: forget from the model itself; else {hint}"
    raise InputError(
        f"found no fitted efface model inside this {type(fitted).__name__}",
        code="no-model",
        hint=hint,
    )


@dataclass(frozen=True)
class _Way:
    """The relation of a part's rows to those of the whole object.

    ``same`` says whether the part's rows are the object's, ``weighted`` whether they are if they
    have weights, ``frozen`` whether the part was fitted before.
    """

    same: bool = True
    weighted: bool = True
    frozen: bool = False

    def into(self, value: Any, part: str) -> _Way:
        if not hasattr(type(value), "get_params"):
            return self
        name = _known(value)
        before = getattr(value, "cv", None) == "prefit"  # fitted by the user, on other rows perhaps
        same = _SAME_ROWS.get(name) == part and not before
        return _Way(
            self.same and same,
            self.weighted and (same or _SAME_ROWS_WEIGHTED.get(name) == part),
            self.frozen or name == "FrozenEstimator",
        )


def _known(value: Any) -> str:
    """The name of a class of scikit-learn; those of other libraries may do anything to rows."""
    of_sklearn = type(value).__module__.partition(".")[0] == "sklearn"
    return type(value).__name__ if of_sklearn else ""


def _look(value: Any, path: str, way: _Way, found: Inside, seen: set[int]) -> None:
    if type(value) in _PLAIN or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Unlearner):
        if value.__sklearn_is_fitted__():
            name = path.removeprefix(".") or type(value).__name__
            found.models[name] = value
            if not (way.same or (way.weighted and _drawn_by_weights(value))):
                found.elsewhere.add(name)
        return
    if not way.frozen:
        found.others += _learnt(path.removeprefix("."), value)
    if isinstance(value, type):
        return
    for part, content in _parts(value):
        _look(content, path + part, way.into(value, part.lstrip(".")), found, seen)
    if _is_closed(value):
        found.closed.add(type(value).__name__)


def _drawn_by_weights(model: Unlearner) -> bool:
    """Whether an ensemble that draws rows gave the model all of them, and how often in its weights.

    A model that asks for weights by another name is given the rows that were drawn, and theirs.
    """
    asked = model.get_metadata_routing().fit.requests.get("sample_weight")
    return bool(model._weighted) and not isinstance(asked, str)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a container or an object, with what leads to each."""
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{at}]", part) for at, part in enumerate(value))
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            yield from ((f"[{at}]", part) for at, part in enumerate(value.ravel()))
    elif hasattr(value, "iloc") and _library(value) == "pandas":
        kinds = [value.dtype] if value.ndim == 1 else value.dtypes
        yield from [("", np.asarray(value, dtype=object))] if object in list(kinds) else ()
    elif isinstance(value, FunctionType):
        kept = [cell for cell in value.__closure__ or () if gc.get_referents(cell)]
        yield from ((".__closure__", cell.cell_contents) for cell in kept)
        yield from ((".__defaults__", part) for part in value.__defaults__ or ())
        yield from ((".__kwdefaults__", part) for part in (value.__kwdefaults__ or {}).values())
    elif isinstance(value, MethodType):
        yield ".__self__", value.__self__
    elif _library(value) not in _LEAVES | _REMOTE:
        if hasattr(value, "__dict__"):
            yield from ((f".{name}", part) for name, part in vars(value).items())
        # Parts without names: slots, and the items of containers written in C.
        yield from (("", part) for part in gc.get_referents(value))


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _is_closed(value: Any) -> bool:
    """Whether an object may hold a model that cannot be reached from Python."""
    library = _library(value)
    if library in _REMOTE:
        return True
    known = library in _LEAVES or library in sys.stdlib_module_names
    return not known and not hasattr(value, "__dict__") and not gc.get_referents(value)


def _learnt(path: str, value: Any) -> list[str]:
    """Return what an object other than a model learnt from the records, a line each."""
    if not hasattr(type(value), "get_params"):
        return []
    name = type(value).__name__
    place = f" (`{path}`)" if path else ""
    lines = [
        f"{name}{place} chose `{chosen}` by results on the records"
        for chosen in ("best_params_", "best_threshold_")
        if chosen in vars(value)
    ]
    if _fitted_itself(_known(value), value):
        lines.append(f"{name}{place} was fitted on the records")
    return lines


def _fitted_itself(name: str, value: Any) -> bool:
    from sklearn.utils import get_tags

    if name in _LEARNS_NOTHING or not get_tags(value).requires_fit:
        return False
    return any(part.endswith("_") and not part.startswith("_") for part in vars(value))

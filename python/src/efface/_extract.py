"""Features that a model makes of raw records: a public one, or one that was trained privately."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError, Refused
from ._state import State, bytes_of
from ._trained import check_left, covers, joint, known_of, tensors_of
from ._training import Training

# How far outputs of a record may be from those it has alone, relative to the largest of their
# column or to their own length: what rounding in single precision makes of many layers, no more.
_CLOSE = 1e-4

# Records of the first batch that are given to the model alone; of a later one it is one.
_TRIED = 16


# Samplers of loaders that draw records one after the other.
_IN_ORDER = ("NoneType", "SequentialSampler", "BatchSampler", "_InfiniteConstantSampler")


class Features(np.ndarray):
    """Rows that are outputs of a model, and which one: an array of float32 that cannot be written.

    Slices of rows keep model and training. Whatever else is made of them is a plain array, whose
    training ``Promise(extractor_training=...)`` must declare.

    Attributes
    ----------
    extractor : str or None
        The model, as certificates name it. None of what is no longer its output.
    dependence : float or None
        How far an output was from the one that the record has alone, relative to the largest of
        its column or to the record's own length: measured on some records of each batch.
    training : Training or None
        How the model was trained privately on data that may hold the records; None where it is
        public.
    """

    extractor: str | None = None
    dependence: float | None = None
    training: Training | None = None

    def __getitem__(self, key: Any) -> Any:
        """Return some of the rows, which keep the name, or a plain array of other parts."""
        found = np.asarray(self)[key]
        further = key[1:] if isinstance(key, tuple) else ()
        is_whole = all(part is Ellipsis or part == slice(None) for part in further)
        if not is_whole or found.ndim < 2 or found.shape[1:] != self.shape[1:]:
            return found
        return _features(found, self.extractor, self.dependence, self.training)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return what is computed from them as it is."""
        return array[()] if return_scalar else np.asarray(array)

    def __copy__(self) -> Features:
        return self

    def __deepcopy__(self, memo: Any) -> Features:
        return self

    def __reduce__(self) -> Any:
        return _features, (np.asarray(self), self.extractor, self.dependence, self.training)


def _features(
    rows: Any, extractor: str | None, dependence: float | None, training: Training | None = None
) -> Features:
    made: Features = np.asarray(rows).view(Features)
    made.extractor, made.dependence, made.training = extractor, dependence, training
    made.flags.writeable = False
    return made


def extract(
    model: Callable[[Any], Any],
    data: Any,
    *,
    name: str | None = None,
    preprocess: Callable[[Any], Any] | None = None,
    preprocess_name: str | None = None,
    batch_size: int = 256,
    training: Training | None = None,
) -> Features:
    """Turn raw records into features by a model that stays as it is.

    Estimators take the result as they take arrays, and their certificates name the model. Without
    `training` it is taken on your word that it was made without these records, and what it was made
    from is not covered. With `training` it may have learnt from them, privately, and certificates
    bound it and what is learnt on its features together, for all records deleted since.

    Certificates state as declared that the model is fixed: a row follows from its own record alone,
    and the model keeps nothing of the records that it sees. That is your word. Some records of each
    batch are given to the model alone, before their batch; those of the first are given to it again
    at the end; and what the model keeps is compared. All this helps against slips and proves
    nothing: a model may keep things in compiled code, in files, in other processes or in globals of
    libraries, or begin with it after many records.

    Parameters
    ----------
    model : torch module, or callable
        A module is put nowhere and changed in nothing; it must be in evaluation mode. A callable
        takes some records, as `data` holds them, and returns an array with a row for each.
    data : array, tensor, list, or iterable of batches
        One record for each row. Of batches that are tuples the first part is taken; they must come
        in a fixed order.
    name : str, optional
        What certificates call the model, such as its name and version; needed for callables. Of a
        module by default its class; the SHA-256 of its layers and weights is added, which says
        nothing of its code.
    preprocess : torch module, or callable, optional
        What records go through before the model, such as resizing and scaling. What is done to them
        elsewhere is in no certificate.
    preprocess_name : str, optional
        What certificates call it, by the same rules as `name`.
    batch_size : int, default=256
        Records that the model is given at once.
    training : Training, optional
        The steps of DP-SGD that made the model, where it may have seen these records. All of its
        weights that are not public come from these steps. A module that `efface.torch` trained in
        this process is refused without it, or with less, and where its weights changed since. Not
        known are a copy, a callable around it, and weights that are other tensors than those that
        were trained (parametrizations put on or removed, conversions that make new parameters).

    Returns
    -------
    Features
        An array (records, features) of float32.

    Raises
    ------
    Refused
        Where the model is in training mode, or what it gives for a record depends on other records
        or on chance, or it changes, or it was trained here by more than `training` says.
    InputError
        Where it does not give a row of finite numbers for each record.
    """
    stages = [_Stage(model, name)]
    if preprocess is not None:
        stages.insert(0, _Stage(preprocess, preprocess_name, before=True))
    elif preprocess_name is not None:
        raise InputError(
            f"`preprocess_name` is {preprocess_name!r}, and there is no `preprocess`",
            code="settings",
            hint="give `preprocess`, what records go through before the model",
        )
    if training is not None and not isinstance(training, Training):
        raise InputError(
            f"`training` must be a `Training`, got {type(training).__name__}",
            code="settings",
            hint="such as `efface.Training(noise=1.1, rate=0.01, steps=1000)`",
        )
    if batch_size < 1:
        raise InputError(f"`batch_size` must be at least 1, got {batch_size}", code="range")
    _check_known(stages, training)

    def apply(batch: Any) -> Any:
        for stage in stages:
            batch = stage.apply(batch)
        return batch

    found: list[NDArray[np.float32]] = []
    state = State([stage.given for stage in stages])
    dependence, asked, first = 0.0, list[tuple[Any, NDArray[np.float32]]](), True
    rng = np.random.default_rng(0)
    for batch in _batches(data, batch_size):
        picked = rng.permutation(len(batch))[: _TRIED if first else 1]
        singles, alone = _alone(apply, batch, picked)
        rows = _output(apply, batch)
        dependence = max(dependence, _dependence(alone, rows[picked], rows))
        if len(asked) < _TRIED:
            asked += zip(singles, alone, strict=True)
        first = first and len(rows) == 1
        if found and rows.shape[1] != found[0].shape[1]:
            raise InputError(
                f"the model gave {found[0].shape[1]} numbers for a record, and then "
                f"{rows.shape[1]}",
                code="data",
            )
        found.append(rows)
    if not found:
        raise InputError("there are no records to make features of", code="data")
    said = ", after ".join(stage.said() for stage in reversed(stages))
    state.check()
    for single, row in reversed(asked):
        if not np.array_equal(_output(apply, single)[0], row):
            raise Refused(
                "what the model gives for a record changed after other records",
                code="settings",
                hint="take one that is fixed and keeps nothing between records",
            )
    return _features(np.concatenate(found), said, dependence, training)


def _check_known(stages: list[_Stage], training: Training | None) -> None:
    """Refuse modules that were trained in this process by more than what is said."""
    modules = [stage.module for stage in stages if stage.module is not None]
    check_left(tensor for module in modules for tensor in tensors_of(module))
    known = known_of(parameter for module in modules for parameter in module.parameters())
    if known and (training is None or not covers(training, known)):
        told = "`training` is missing" if training is None else f"`training` says `{training}`"
        raise Refused(
            f"the model was trained here by `{joint(known)}`, and {told}",
            code="settings",
            hint="give `training=trainer.training` of the last `DPTrainer` that trained any of it",
        )


def named_by(x: Any) -> str | None:
    """Return the public model that rows are outputs of, where they say so."""
    return x.extractor if isinstance(x, Features) else None


def limits_of(x: Any) -> list[str]:
    """Return what rounding leaves of other records in rows, as certificates are to say it."""
    if not isinstance(x, Features):
        return []
    lines, training = [], x.training
    if x.dependence:
        left = f"measured, up to {x.dependence:.1g} of its length or the largest of a column"
        model = "the public model" if training is None else "the model that made the features"
        lines.append(f"what rounding leaves of the rest of its batch in a row of {model}: {left}")
    if training is not None and training.dependence is not None:
        left = f"declared, up to {training.dependence:.1g} of its length or of the clip"
        lines.append(f"what the rest of a batch does to a gradient in that training: {left}")
        lines.append(
            "batches that were larger than the noise of that training was made for, in a step with "
            "a probability below 1e-26: delta does not count them"
        )
    return lines


def training_of(given: Any, x: Any) -> str | None:
    """Return the training behind rows to train on, which settings must not contradict."""
    said, own = Training._of_setting(given), training_behind(x)
    if None not in (said, own) and said != own:
        raise InputError(
            f"`Promise(extractor_training=...)` is `{said}`, but the rows come from `{own}`",
            code="settings",
            hint="leave out `Promise(extractor_training=...)`: the rows say it",
        )
    found = own if said is None else said
    return None if found is None else str(found)


def training_behind(x: Any) -> Training | None:
    """Return the training that rows come from, where they say so."""
    return x.training if isinstance(x, Features) else None


def agreed(given: str | None, x: Any) -> str | None:
    """Return the public model of rows to train on, which settings must not contradict."""
    own = named_by(x)
    if None not in (given, own) and given != own:
        raise InputError(
            f"`Promise(extractor=...)` is {given!r}, but the rows are outputs of {own!r}",
            code="settings",
            hint="leave out `Promise(extractor=...)`: the rows say it",
        )
    return own if given is None else given


def check_same(known: str | None, training: str | None, x: Any) -> None:
    """Refuse outputs of another model, or of another training, than what was trained on."""
    own = named_by(x)
    if own is not None and own != known:
        trained = "rows that name no public model" if known is None else f"outputs of {known!r}"
        raise InputError(
            f"the model was trained on {trained}, and these rows are outputs of {own!r}",
            code="data",
            hint="make features with the same public model",
        )
    behind = training_behind(x)
    if behind is not None and behind != Training._of_setting(training):
        trained = "rows without a training behind them" if training is None else f"`{training}`"
        raise InputError(
            f"the model was trained on features of {trained}, and these rows come from `{behind}`",
            code="data",
            hint="make features with the same model, or train a new one on all of them",
        )


def _module(model: Any) -> Any:
    """The model, where it is a module of torch."""
    torch = sys.modules.get("torch")
    return model if torch is not None and isinstance(model, torch.nn.Module) else None


class _Stage:
    """The model, or what records go through before it: what it does, and what it is called."""

    def __init__(self, given: Any, name: str | None, *, before: bool = False) -> None:
        about = "`preprocess`" if before else "the model"
        parameter, which, such = (
            ("preprocess_name", "steps these are", "pixels over 255")
            if before
            else ("name", "public model this is", "encoder 2.1")
        )
        self.given, self.module = given, _module(given)
        if self.module is not None and any(part.training for part in self.module.modules()):
            raise Refused(
                f"{about} is in training mode: what it gives for a record would depend on others, "
                "or on chance (batch normalisation, dropout)",
                code="settings",
                hint="call its `eval()` first",
            )
        if self.module is None and not callable(given):
            raise InputError(
                f"{about} must be a module of torch or a callable, got {type(given).__name__}",
                code="settings",
            )
        if (name is None and self.module is None) or (name is not None and not name.strip()):
            raise InputError(
                f"`{parameter}` must say which {which}: certificates name it",
                code="settings",
                hint=f'for instance `{parameter}="{such}"`',
            )
        self.about, self.name = about, type(given).__name__ if name is None else name
        self.apply = given if self.module is None else _Applied(self.module)
        self.digest = None if self.module is None else _digest(self.module)

    def said(self) -> str:
        """Its name, with the digest of a module, which must be that of the beginning."""
        if self.module is None:
            return self.name
        if _digest(self.module) != self.digest:
            raise Refused(
                f"the weights of {self.about} changed while it made features",
                code="settings",
                hint="freeze it: features of all records must be made by the same model",
            )
        return f"{self.name}, sha256 {self.digest}"


class _Applied:
    """A module as a callable on arrays, without gradients, where its weights are."""

    def __init__(self, module: Any) -> None:
        self.module = module
        first = next(iter(module.parameters()), None)
        self.device = None if first is None else first.device

    def __call__(self, batch: Any) -> Any:
        torch = sys.modules["torch"]
        if not isinstance(batch, torch.Tensor):
            batch = torch.as_tensor(np.asarray(batch))
            if batch.dtype == torch.float64:
                batch = batch.float()
        with torch.inference_mode():
            return self.module(batch.to(self.device)).cpu().float()


def _digest(module: Any) -> str:
    """SHA-256 of a module's layers, and of names, types, shapes and bytes of its weights.

    Buffers that are not saved with the module are weights here, too.
    """
    found = hashlib.sha256(repr(module).encode())
    tensors = dict(module.named_parameters()) | dict(module.named_buffers())
    for name, tensor in sorted(tensors.items()):
        about = f"{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0"
        found.update(about.encode())
        found.update(bytes_of(tensor))
    return found.hexdigest()


def _batches(data: Any, size: int) -> Iterator[Any]:
    if isinstance(data, str | bytes):
        raise InputError("`data` must be records, got one text", code="data", hint="give a list")
    sliced = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    if sliced:
        rows = getattr(data, "iloc", data)  # a frame with numbers for labels slices by them
        yield from (rows[at : at + size] for at in range(0, len(data), size))
        return
    if not isinstance(data, Iterable):
        raise InputError(
            f"`data` must be an array, a list or batches, got {type(data).__name__}", code="data"
        )
    batches = getattr(data, "batch_sampler", None)
    for sampler in (getattr(data, "sampler", None), getattr(batches, "sampler", None), batches):
        kind = type(sampler).__name__
        if kind not in _IN_ORDER:
            raise InputError(
                f"batches must come in the order of the records, and a `{kind}` may give another",
                code="data",
                hint="make the loader without `shuffle` and samplers, or give batches one by one",
            )
    for batch in data:
        yield batch[0] if isinstance(batch, list | tuple) else batch


def _output(apply: Callable[[Any], Any], batch: Any) -> NDArray[np.float32]:
    """The features of a batch, checked."""
    made = np.asarray(apply(batch))
    if made.ndim == 0 or len(made) != len(batch):
        shape = "one number" if made.ndim == 0 else f"{len(made)} rows"
        raise InputError(
            f"the model must give a row for each of {len(batch)} records, got {shape}", code="data"
        )
    try:
        rows = made.reshape(len(made), -1).astype(np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"the model must give numbers: {error}", code="data") from None
    if not np.isfinite(rows).all():
        raise InputError("the model gave numbers that are not finite", code="data")
    return rows


def _alone(
    apply: Callable[[Any], Any], batch: Any, picked: NDArray[np.int64]
) -> tuple[list[Any], NDArray[np.float32]]:
    """Some records of a batch, and their features where each is given to the model by itself."""
    records = getattr(batch, "iloc", batch)  # a frame with numbers for labels slices by them
    try:
        singles = [records[at : at + 1] for at in picked]
        made = [_output(apply, single) for single in singles]
        if len({rows.shape for rows in made}) > 1:
            raise InputError("the model gives rows of several lengths for one record", code="data")
        return singles, np.concatenate(made)
    except InputError:
        raise
    except (RuntimeError, TypeError, ValueError) as error:
        raise Refused(
            f"the model takes no record by itself: {error}",
            code="settings",
            hint="take one that looks at one record at a time",
        ) from None


def _dependence(
    alone: NDArray[np.float32], beside: NDArray[np.float32], rows: NDArray[np.float32]
) -> float:
    """Return how far features of records in a batch are from those of the records alone."""
    if alone.shape != beside.shape:
        raise InputError("the model gives rows of another length for one record", code="data")
    least = np.finfo(np.float32).tiny
    largest = np.abs(rows).max(axis=0, initial=0.0)
    scale = np.minimum(largest, np.linalg.norm(beside.astype(float), axis=1, keepdims=True))
    found: float = float((np.abs(alone - beside) / np.maximum(scale, least)).max(initial=0.0))
    if found > _CLOSE:
        raise Refused(
            "what the model gives for a record depends on the other records of its batch, or on "
            f"chance: {found:.2g} of its own length or of the largest output",
            code="settings",
            hint="put it into evaluation mode, or take layers that look at one record at a time",
        )
    return found

"""Records by position, and gradients of modules of torch for each of them by itself."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, grad, vmap

from ._errors import InputError, Refused
from ._state import State, changes
from ._table import check_aligned


class Records:
    """Records and targets by position."""

    def __init__(self, data: Any, targets: Any) -> None:
        if not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
            raise Refused(
                f"records must be indexable, got a {type(data).__name__}",
                code="data",
                hint="give arrays, tensors or a data set, not a loader: batches are drawn by the "
                "engine, and those of a loader may be shuffled",
            )
        check_aligned({"data": data, "targets": targets})
        if hasattr(data, "iloc"):  # a frame finds rows by label
            data = np.array(data)
        if isinstance(data, Mapping) or (isinstance(data, np.ndarray) and data.dtype == object):
            raise _form(f"a {type(data).__name__}")
        self.data = _tensor(data) if isinstance(data, np.ndarray) else data
        plain = targets is None or isinstance(targets, torch.Tensor)
        self.targets = targets if plain else _tensor(np.array(targets))
        if self.targets is not None and len(self.targets) != len(data):
            raise InputError(
                f"there are {len(data)} records and {len(self.targets)} targets", code="data"
            )
        if self.targets is None and isinstance(self.data, torch.Tensor):
            raise InputError("`targets` is missing: one for each record", code="data")

    def __len__(self) -> int:
        return len(self.data)

    def at(self, positions: NDArray[np.uint32]) -> tuple[torch.Tensor, torch.Tensor]:
        """The records at positions, and their targets."""
        places = torch.from_numpy(positions.astype(np.int64))
        if isinstance(self.data, torch.Tensor):
            return self.data[places], self.targets[places]
        items = [self.data[int(place)] for place in positions]
        if self.targets is not None:
            return _stacked(items), self.targets[places]
        for item in items:
            if not isinstance(item, tuple | list) or len(item) != 2:
                count = f" of {len(item)}" if isinstance(item, tuple | list) else ""
                raise _form(f"a {type(item).__name__}{count}")
        return _stacked([item[0] for item in items]), _stacked([item[1] for item in items])

    def synthetic(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Records in the shape and type of the first and last, and targets: no number of theirs."""
        x, y = self.at(np.array([0, len(self) - 1], dtype=np.uint32))
        return _drawn_like(x, count, torch.randn), _drawn_like(y, count, torch.rand)


def _drawn_like(one: torch.Tensor, count: int, draw: Callable[..., torch.Tensor]) -> torch.Tensor:
    """Tensors of the same shape: of numbers that are drawn, or of zeros and ones."""
    shape = (count, *one.shape[1:])
    generator = torch.Generator().manual_seed(0)
    if one.is_floating_point():
        return draw(shape, generator=generator).to(one.device, one.dtype)
    return torch.randint(0, 2, shape, generator=generator).to(one.device, one.dtype)


def _stacked(items: list[Any]) -> torch.Tensor:
    found = [_tensor(item) for item in items]
    if len({(item.shape, item.dtype) for item in found}) > 1:
        raise _form("tensors of several shapes or types")
    return torch.stack(found)


def _tensor(value: Any) -> torch.Tensor:
    try:
        return torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        raise _form(f"a {type(value).__name__} that is no tensor") from None


def _form(got: str) -> InputError:
    return InputError(
        f"records must be tensors of one shape and type, or items `(x, y)` of them, got {got}",
        code="data",
        hint="give `fit(x, y)` a row for each record, or a data set whose items are `(x, y)`; of a "
        "data frame give `to_numpy()`, and put several inputs of a record into one tensor",
    )


class Gradients:
    """Gradients of single records, as rows of float32."""

    def __init__(
        self, module: torch.nn.Module, loss: Callable[[Any, Any], Any], max_batch: int
    ) -> None:
        named = dict(module.named_parameters())
        self.parameters = {name: p for name, p in named.items() if p.requires_grad}
        self.module, self.loss, self.max_batch = module, loss, max_batch
        self.width = sum(p.numel() for p in self.parameters.values())
        if self.width == 0:
            raise InputError("the module has no parameter that requires gradients", code="settings")
        first = next(iter(self.parameters.values()))
        self.device, self.dtype = first.device, first.dtype
        frozen = {name: p.detach() for name, p in named.items() if not p.requires_grad}
        frozen |= dict(module.named_buffers())

        def of_one(weights: Any, x: Any, y: Any) -> Any:
            outputs = functional_call(module, {**weights, **frozen}, (x.unsqueeze(0),))
            return loss(outputs, y.unsqueeze(0)).squeeze()

        self._of = vmap(grad(of_one), in_dims=(None, 0, 0), randomness="different")

    def state(self, *, trained: bool = True, keep: bool = False) -> State:
        """All that module, loss and torch's hooks for all modules keep."""
        hooks = {k: v for k, v in vars(torch.nn.modules.module).items() if k.startswith("_global")}
        objects = (self.module, self.loss, SimpleNamespace(**hooks))
        return State(objects, self.parameters.values() if trained else (), keep=keep)

    def of(self, x: torch.Tensor, y: torch.Tensor) -> NDArray[np.float32]:
        """Gradients (records, weights) of at most `max_batch` records.

        The rest of a batch is filled up with zeros, so that the same kernels run for any number.
        """
        x, y = (self._filled(part) for part in (x, y))
        try:
            found = self._alone(x, y) if self.max_batch == 1 else self._together(x, y)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            layers = [
                f"`{name}` ({type(part).__name__})"
                for name, part in self.module.named_modules()
                if isinstance(part, torch.nn.RNN | torch.nn.GRU) and self.max_batch > 1
            ]
            through = f" through {', '.join(layers)}" if layers else ""
            raise InputError(
                f"gradients of single records cannot be computed{through}: {error}",
                code="settings",
                hint="take `max_batch=1`, since `torch.func` has no rule for such layers"
                if layers
                else "the module must take a batch of one record, the loss give one number, "
                "targets be classes that it has, and both be made of operations that `torch.func` "
                "knows, also of zeros",
            ) from None
        rows = torch.cat([part.reshape(len(x), -1) for part in found], 1)
        return np.ascontiguousarray(rows.detach().to("cpu", torch.float32).numpy())

    def _together(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        weights = {name: p.detach() for name, p in self.parameters.items()}
        try:
            found = self._of(weights, x, y)
        finally:
            for part in self.module.modules():
                if isinstance(part, torch.nn.RNNBase):  # it holds what the weights were replaced by
                    part._flat_weights = [getattr(part, name) for name in part._flat_weights_names]
        return [found[name] for name in self.parameters]

    def _alone(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        with torch.enable_grad():
            value = self.loss(self.module(x), y).squeeze()
            those = list(self.parameters.values())
            return list(torch.autograd.grad(value, those, materialize_grads=True))

    def _filled(self, part: torch.Tensor) -> torch.Tensor:
        part = part.to(self.dtype) if part.is_floating_point() else part
        more = part.new_zeros((self.max_batch - len(part), *part.shape[1:]))
        return torch.cat([part, more]).to(self.device)

    def put(self, mean: NDArray[np.float64]) -> None:
        """Make a released sum the gradient of the parameters."""
        at = 0
        for p in self.parameters.values():
            flat = torch.from_numpy(mean[at : at + p.numel()].copy())
            p.grad = flat.reshape(p.shape).to(p.device, p.dtype)
            at += p.numel()

    def dependence(self, x: torch.Tensor, y: torch.Tensor, clip: float) -> float:
        """Return how far gradients depend on other records and on the place in the batch.

        Relative to their length, or to the clip where that is more.
        """
        whole = self._seeded(x, y, 0)
        if not np.isfinite(whole).all():
            raise InputError(
                "a gradient of the start is not finite on synthetic records (normal numbers, or "
                "zeros and ones), so that it cannot be told whether it depends on others",
                code="data",
            )
        far = 0.0
        for place in range(len(x)):
            lone_x, lone_y = torch.zeros_like(x), torch.zeros_like(y)
            lone_x[place], lone_y[place] = x[place], y[place]
            found = self._seeded(lone_x, lone_y, 0)[place]
            far = max(far, _apart(found[None], whole[place : place + 1], clip))
        if np.array_equal(self._seeded(x, y, 1), whole):  # nothing random in it
            moved = self._seeded(x.roll(1, 0), y.roll(1, 0), 0)[: len(x)]
            far = max(far, _apart(np.roll(moved, -1, axis=0), whole, clip))
        return far

    def _seeded(self, x: torch.Tensor, y: torch.Tensor, number: int) -> NDArray[np.float32]:
        seed(number)
        return self.of(x, y)[: len(x)]

    def check_repeats(self, x: torch.Tensor, y: torch.Tensor) -> None:
        """Refuse a module or a loss to which a record's gradient is not the same after others."""
        before = self.state(trained=False)
        first = self._seeded(x[:1], y[:1], 0)
        for at in range(0, len(x), self.max_batch):
            self._seeded(x[at : at + self.max_batch], y[at : at + self.max_batch], 1)
        again = self._seeded(x[:1], y[:1], 0)
        before.check()
        if not np.array_equal(first, again, equal_nan=True):
            raise Refused(
                "a record's gradient is not the same after other records: the module or the loss "
                "keeps something of those that it sees, or draws from a generator of its own",
                code="settings",
                hint="keep nothing between records, and draw from torch's global generator",
            )

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Refuse weights that change where only gradients are computed."""
        before = {name: p.detach().clone() for name, p in self.parameters.items()}
        yield
        for name, p in self.parameters.items():
            if not _equal(p.detach(), before[name]):
                raise changes(type(self.module).__name__, name)


def _apart(found: NDArray[np.float32], whole: NDArray[np.float32], clip: float) -> float:
    """Return the largest distance of rows, relative to the shorter one or to the clip."""
    lengths = np.minimum(np.linalg.norm(whole, axis=1), np.linalg.norm(found, axis=1))
    apart = np.linalg.norm(found.astype(np.float64) - whole, axis=1)
    return float((apart / np.maximum(lengths, clip)).max(initial=0.0))


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.equal(torch.nan_to_num(one), torch.nan_to_num(other)))


def seed(known: int | None = None) -> None:
    """Seed all global generators, by default from the operating system."""
    words = np.frombuffer(secrets.token_bytes(64), np.uint32) if known is None else known
    torch.manual_seed(secrets.randbits(63) if known is None else known)
    random.seed(secrets.randbits(512) if known is None else known)
    np.random.seed(words)

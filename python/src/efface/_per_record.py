"""Records by position, and gradients of modules of torch for each of them by itself."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, grad, vmap

from ._errors import InputError, Refused


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
        self.data = torch.as_tensor(data) if isinstance(data, np.ndarray) else data
        plain = targets is None or isinstance(targets, torch.Tensor)
        self.targets = targets if plain else torch.as_tensor(np.asarray(targets))
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
        return _stacked([item[0] for item in items]), _stacked([item[1] for item in items])

    def synthetic(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Records in the shape and type of the first, and targets: none of its numbers."""
        x, y = self.at(np.zeros(1, dtype=np.uint32))
        return _drawn_like(x, count, torch.randn), _drawn_like(y, count, torch.rand)


def _drawn_like(one: torch.Tensor, count: int, draw: Callable[..., torch.Tensor]) -> torch.Tensor:
    """Tensors of the same shape: of numbers that are drawn, or of zeros and ones."""
    shape = (count, *one.shape[1:])
    generator = torch.Generator().manual_seed(0)
    if one.is_floating_point():
        return draw(shape, generator=generator).to(one.device, one.dtype)
    return torch.randint(0, 2, shape, generator=generator).to(one.device, one.dtype)


def _stacked(items: list[Any]) -> torch.Tensor:
    return torch.stack([torch.as_tensor(item) for item in items])


class Gradients:
    """Gradients of single records, as rows of float32."""

    def __init__(
        self, module: torch.nn.Module, loss: Callable[[Any, Any], Any], max_batch: int
    ) -> None:
        named = dict(module.named_parameters())
        self.parameters = {name: p for name, p in named.items() if p.requires_grad}
        self.frozen = {name: p.detach() for name, p in named.items() if not p.requires_grad}
        self.buffers, self.module, self.max_batch = dict(module.named_buffers()), module, max_batch
        self._kept = {name: buffer.clone() for name, buffer in self.buffers.items()}
        self.width = sum(p.numel() for p in self.parameters.values())
        if self.width == 0:
            raise InputError("the module has no parameter that requires gradients", code="settings")
        self.device = next(iter(self.parameters.values())).device

        def of_one(weights: Any, x: Any, y: Any) -> Any:
            state = {**weights, **self.frozen, **self.buffers}
            outputs = functional_call(module, state, (x.unsqueeze(0),))
            return loss(outputs, y.unsqueeze(0)).squeeze()

        self._of = vmap(grad(of_one), in_dims=(None, 0, 0), randomness="different")

    def of(self, x: torch.Tensor, y: torch.Tensor) -> NDArray[np.float32]:
        """Gradients (records, weights) of at most `max_batch` records.

        The rest of a batch is filled up with zeros, so that the same kernels run for any number.
        """
        x, y = (self._filled(part) for part in (x, y))
        weights = {name: p.detach() for name, p in self.parameters.items()}
        found = self._of(weights, x, y)
        rows = [found[name].reshape(len(x), -1) for name in self.parameters]
        return np.ascontiguousarray(torch.cat(rows, 1).detach().to("cpu", torch.float32).numpy())

    def _filled(self, part: torch.Tensor) -> torch.Tensor:
        part = part.float() if part.dtype == torch.float64 else part
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
        """How far gradients are from those beside zeros, and at another place of the batch.

        Relative to their length, or to the clip where that is more.
        """
        whole = self._seeded(x, y, 0)
        if not np.isfinite(whole).all():
            raise InputError(
                "a gradient of the start is not finite on synthetic records (normal numbers, or "
                "zeros and ones), so that it cannot be told whether it depends on others",
                code="data",
                hint="`max_batch=1` needs not to know",
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

    def check_forward(self, x: torch.Tensor, y: torch.Tensor) -> None:
        """Say in words what does not fit, and refuse what changes in the module on the way."""
        try:
            self.of(x, y)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"gradients of single records cannot be computed: {error}",
                code="settings",
                hint="the module must take a batch of one record, the loss give one number, and "
                "both be made of operations that `torch.func` knows, also of zeros",
            ) from None
        finally:
            changed = self.changed_buffer()
            self.put_back_buffers()
        if changed is not None:
            raise _changes(changed)

    def check_buffers(self) -> None:
        """Refuse a module in which something else than its parameters learnt from the records."""
        if (changed := self.changed_buffer()) is not None:
            raise _changes(changed)

    def changed_buffer(self) -> str | None:
        """A buffer that is no longer what it was before."""
        now = dict(self.module.named_buffers())
        for name in sorted(now.keys() | self.buffers.keys()):
            same = now.get(name) is self.buffers.get(name)
            if not same or not _equal(now[name], self._kept[name]):
                return str(name)
        return None

    def put_back_buffers(self) -> None:
        """Make the numbers of the buffers what they were before."""
        with torch.no_grad():
            for name, buffer in self.buffers.items():
                buffer.copy_(self._kept[name])


def _apart(found: NDArray[np.float32], whole: NDArray[np.float32], clip: float) -> float:
    """How far rows are from each other, relative to the shorter of both or to the clip."""
    lengths = np.minimum(np.linalg.norm(whole, axis=1), np.linalg.norm(found, axis=1))
    apart = np.linalg.norm(found.astype(np.float64) - whole, axis=1)
    return float((apart / np.maximum(lengths, clip)).max(initial=0.0))


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.equal(torch.nan_to_num(one), torch.nan_to_num(other)))


def _changes(buffer: str) -> Refused:
    return Refused(
        f"the buffer `{buffer}` changes with the records that the module sees",
        code="settings",
        hint="put the layer that has it into evaluation mode",
    )


def seed(known: int | None = None) -> None:
    """Seed all global generators, by the operating system where nothing is told."""
    words = np.frombuffer(secrets.token_bytes(64), np.uint32) if known is None else known
    torch.manual_seed(secrets.randbits(63) if known is None else known)
    random.seed(secrets.randbits(512) if known is None else known)
    np.random.seed(words)

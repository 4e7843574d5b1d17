"""DP-SGD for modules of torch: their gradients, with batches, sums and noise of the engine."""

from __future__ import annotations

import math
import secrets
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, grad, vmap

from . import _engine, accounting
from ._errors import InputError, Refused
from ._training import Training

__all__ = ["DPTrainer"]

# What modules of this process were trained by, which a later training goes on from.
_TRAINED: weakref.WeakKeyDictionary[torch.nn.Module, Training] = weakref.WeakKeyDictionary()

# How far a record's gradient may be from the one it has beside other records, relative to its
# length: what rounding in single precision makes, and no more. What is counted on at least, since
# it is measured on a few.
_CLOSE, _LEAST = 1e-4, 1e-6

# The step of the grid of whole numbers, in clips, at most.
_GRID = 2.0**-20


class DPTrainer:
    """Trains a module by DP-SGD, so that certificates can count on what its training was.

    Batches are drawn by the engine, each record by itself with probability `rate`, from the
    operating system's randomness; torch computes the gradient of each record; the engine clips it,
    rounds it to whole numbers, sums these exactly and adds exact noise, once in each step. The
    number of records is taken to be public.

    Certificates of models on the module's features say `declared` all the same: that a record's
    gradient depends on that record alone is up to the module and to torch, which is measured before
    training and told, and not proved. The noise is raised by what a whole batch would need whose
    gradients each depend on another record by as much as measured, and at least by 1e-6 of their
    length.

    Parameters
    ----------
    module : torch.nn.Module
        What is trained, in place: its parameters that require gradients. Its start must not depend
        on the records.
    loss : callable
        ``loss(outputs, targets)`` of a batch of one record, a number.
    clip : float
        The norm that gradients of records are clipped to.
    rate : float
        Probability of a record to be in the batch of a step.
    steps : int
        Number of steps, chosen without looking at results on the records.
    noise : float, optional
        Standard deviation of the noise on a sum, in multiples of `clip`.
    epsilon, delta : float, optional
        Instead of `noise`: how much the module may tell of `deletions` records together; the least
        noise that is enough is found.
    deletions : int, default=1
        Records that may be deleted, where `epsilon` is given.
    optimizer : callable, optional
        Makes an optimizer of torch from a list of parameters. By default gradient descent at
        `learning_rate`.
    learning_rate : float, default=0.1
        Of the default optimizer.
    expected : float, optional
        What sums are divided by, as public knowledge. By default `rate` times the number
        of records.
    unit : str, default="record"
        What is clipped as one: only ``"record"``.
    max_batch : int, default=64
        Records whose gradients are computed at once. Larger batches are computed in parts; none is
        cut. With 1 no record's gradient can depend on another.
    before : Training, optional
        How the module was trained before on data that may hold the records. Modules that were
        trained in this process are known.
    verbose : int, default=0
        Show steps and the time left, on standard error.

    Attributes
    ----------
    training : Training or None
        What was done, after :meth:`fit`: `efface.extract(module, data, training=trainer.training)`.
        What a module was trained by before is part of it.
    dependence : float or None
        How far a record's gradient was from the one it has beside other records, relative to its
        length: measured on a few records before training.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        loss: Callable[[Any, Any], Any],
        *,
        clip: float,
        rate: float,
        steps: int,
        noise: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        deletions: int = 1,
        optimizer: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer] | None = None,
        learning_rate: float = 0.1,
        expected: float | None = None,
        unit: str = "record",
        max_batch: int = 64,
        before: Training | None = None,
        verbose: int = 0,
    ) -> None:
        if unit != "record":
            raise Refused(
                f"`unit` must be `record`, got {unit!r:.40}",
                code="settings",
                hint="networks that count subjects are trained by `efface.DPSGD`",
            )
        if max_batch < 1:
            raise InputError(f"`max_batch` must be at least 1, got {max_batch}", code="range")
        if (noise is None) == (epsilon is None) or (epsilon is None) != (delta is None):
            raise InputError(
                "the noise must be told in one way",
                code="settings",
                hint="give `noise`, or `epsilon` and `delta`",
            )
        if noise is None and epsilon is not None and delta is not None:
            noise = accounting.dp_sgd_noise(
                rate=rate, steps=steps, group=deletions, epsilon=epsilon, delta=delta
            )
        self.module, self.loss, self.clip, self.rate = module, loss, float(clip), float(rate)
        self.noise, self.steps = float(noise or 0), int(steps)
        self.optimizer, self.learning_rate = optimizer, float(learning_rate)
        self.expected, self.max_batch, self.verbose = expected, int(max_batch), verbose
        Training(noise=self.noise, rate=self.rate, steps=self.steps, clip=self.clip)
        self.training: Training | None = _TRAINED.get(module) if before is None else before
        self.dependence: float | None = None if self.training is None else self.training.dependence

    def fit(self, data: Any, targets: Any = None) -> DPTrainer:
        """Train the module on records.

        After an interruption or an error the module's parameters are what they were before. A
        second call goes on from where the first ended: `training` then states both.

        Parameters
        ----------
        data : tensor, array, or indexable data set
            Records, one in each row; a data set gives pairs of a record and its target where
            `targets` is None. No loader: batches are drawn here.
        targets : tensor or array, optional
            One for each record.

        Returns
        -------
        self
            With `training`.

        Raises
        ------
        Refused
            Where a record's gradient would depend on other records, or batches are not drawn here.
        InputError
            Where data, module and loss do not fit.
        """
        records = _Records(data, targets)
        gradients = _Gradients(self.module, self.loss, self.max_batch)
        _check(self.module)
        self._check_start(records, gradients)
        expected = self.rate * len(records) if self.expected is None else float(self.expected)
        sums = _engine.ReleasedSums(
            gradients.width,
            noise=self.noise * self._widened(len(records), gradients.width),
            rate=self.rate,
            clip=self.clip,
            steps=self.steps,
            expected=expected,
        )
        parameters = list(gradients.parameters.values())
        make = self.optimizer or (lambda those: torch.optim.SGD(those, lr=self.learning_rate))
        optimizer = make(parameters)
        held = [p for group in optimizer.param_groups for p in group["params"]]
        if {id(p) for p in held} != {id(p) for p in parameters} or optimizer.state:
            raise InputError(
                "`optimizer` must make a new optimizer of exactly the parameters that it is given",
                code="settings",
            )
        with _as_before(parameters), _own_randomness(parameters):
            for _ in self._told(self.steps):
                drawn = sums.draw(len(records))
                for at in range(0, len(drawn), self.max_batch):
                    part = drawn[at : at + self.max_batch]
                    sums.add(gradients.of(*records.at(part))[: len(part)])
                drawn.fill(0)
                gradients.put(sums.release())
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            if not all(bool(torch.isfinite(p).all()) for p in parameters):
                raise Refused(
                    "the weights are no longer finite",
                    code="settings",
                    hint="lower the learning rate",
                )
        before = _TRAINED.get(self.module, self.training)
        phases = () if before is None else before.phases
        columns = zip(*phases, (self.noise, self.rate, self.steps), strict=True)
        noises, rates, numbers = map(list, columns)
        self.training = Training(
            noise=noises,
            rate=rates,
            steps=numbers,
            clip=self.clip,
            deleted=0 if before is None else before.deleted,
            dependence=self.dependence,
        )
        _TRAINED[self.module] = self.training
        return self

    def _check_start(self, records: _Records, gradients: _Gradients) -> None:
        """Refuse gradients that depend on other records, and keep how far they do by rounding."""
        count = min(len(records), self.max_batch, 16)
        if count == 0:
            raise InputError("there are no records to train on", code="data")
        with _own_randomness(list(gradients.parameters.values())):
            x, y = records.at(np.arange(count, dtype=np.uint32))
            found = gradients.dependence(x, y)
        if found > _CLOSE:
            raise Refused(
                "a record's gradient depends on the other records of its batch: "
                f"{found:.2g} of its length",
                code="settings",
                hint="take layers that look at one record at a time, such as GroupNorm for "
                "BatchNorm, or `max_batch=1`",
            )
        self.dependence = max(found, self.dependence or 0.0)

    def _widened(self, records: int, width: int) -> float:
        """How much more noise hides a record that moves others of its batch by rounding.

        Of a batch of b records it moves the sum by at most 1 + b times the dependence, in clips;
        where there is any, gradients of others may also be rounded to other whole numbers, each by
        at most a grid step in every weight.
        """
        if self.max_batch == 1:
            return 1.0
        mean = self.rate * records
        # Batches are larger than that with a probability below 1e-20.
        most = min(records, mean + 12 * math.sqrt(mean) + 40)
        found = self.dependence or 0.0
        rounded = _GRID * math.sqrt(width) if found > 0 else 0.0
        return 1 + most * (max(found, _LEAST) + rounded)

    def _told(self, steps: int) -> Iterator[int]:
        """Count the steps, and show how long they will take."""
        if not self.verbose:
            yield from range(steps)
            return
        start = last = time.monotonic()
        for step in range(steps):
            yield step
            now = time.monotonic()
            if now - last > 2 or step + 1 == steps:
                left = (now - start) / (step + 1) * (steps - step - 1)
                print(f"step {step + 1} of {steps}, {left:.0f} s left", file=sys.stderr)
                last = now


class _Records:
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


def _stacked(items: list[Any]) -> torch.Tensor:
    return torch.stack([torch.as_tensor(item) for item in items])


class _Gradients:
    """Gradients of single records, as rows of float32."""

    def __init__(
        self, module: torch.nn.Module, loss: Callable[[Any, Any], Any], max_batch: int
    ) -> None:
        named = dict(module.named_parameters())
        self.parameters = {name: p for name, p in named.items() if p.requires_grad}
        self.frozen = {name: p.detach() for name, p in named.items() if not p.requires_grad}
        self.buffers, self.module, self.max_batch = dict(module.named_buffers()), module, max_batch
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

    def dependence(self, x: torch.Tensor, y: torch.Tensor) -> float:
        """How far gradients are from those beside zeros, and at another place of the batch."""
        self._check_forward(x, y)
        seed = 0
        whole = self._seeded(x, y, seed)
        scale = np.maximum(np.linalg.norm(whole, axis=1), np.finfo(np.float32).tiny)
        far = 0.0
        for place in range(len(x)):
            lone_x, lone_y = torch.zeros_like(x), torch.zeros_like(y)
            lone_x[place], lone_y[place] = x[place], y[place]
            found = self._seeded(lone_x, lone_y, seed)[place]
            far = max(far, float(np.linalg.norm(found - whole[place]) / scale[place]))
        if np.array_equal(self._seeded(x, y, seed + 1), whole):  # nothing random in it
            moved = self._seeded(x.roll(1, 0), y.roll(1, 0), seed)[: len(x)]
            moved = np.roll(moved, -1, axis=0)
            far = max(far, float((np.linalg.norm(moved - whole, axis=1) / scale).max()))
        return far

    def _seeded(self, x: torch.Tensor, y: torch.Tensor, seed: int) -> NDArray[np.float32]:
        torch.manual_seed(seed)
        return self.of(x, y)[: len(x)]

    def _check_forward(self, x: torch.Tensor, y: torch.Tensor) -> None:
        """Say in words what does not fit, and refuse what changes in the module on the way."""
        before = {name: buffer.clone() for name, buffer in self.buffers.items()}
        try:
            found = self.of(x, y)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"gradients of single records cannot be computed: {error}",
                code="settings",
                hint="the module must take a batch of one record, the loss give one number, and "
                "both be made of operations that `torch.func` knows",
            ) from None
        for name, buffer in self.buffers.items():
            if not torch.equal(buffer, before[name]):
                raise Refused(
                    f"the buffer `{name}` changes with the records that the module sees",
                    code="settings",
                    hint="put the layer that has it into evaluation mode",
                )
        if not np.isfinite(found).all():
            raise InputError("a gradient of the start is not finite", code="data")


def _check(module: torch.nn.Module) -> None:
    """Refuse layers whose outputs depend on other records."""
    for name, part in module.named_modules():
        batch = isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
        own = getattr(part, "track_running_stats", False)
        if part.training and (batch or own):
            raise Refused(
                f"`{name}` ({type(part).__name__}) is in training mode: a record's gradient would "
                "depend on the other records of its batch",
                code="settings",
                hint="take GroupNorm or LayerNorm, or call `eval()` of this layer",
            )


@contextmanager
def _as_before(parameters: list[torch.nn.Parameter]) -> Iterator[None]:
    """Put the parameters back where a training ends in an error or is interrupted."""
    kept = [p.detach().clone() for p in parameters]
    try:
        yield
    except BaseException:
        with torch.no_grad():
            for p, before in zip(parameters, kept, strict=True):
                p.copy_(before)
                p.grad = None
        raise


@contextmanager
def _own_randomness(parameters: list[torch.nn.Parameter]) -> Iterator[None]:
    """Let dropout draw from a seed that nobody knows; torch's generators are then as before."""
    devices = sorted({p.device.index or 0 for p in parameters if p.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(secrets.randbits(63))
        yield

"""DP-SGD for modules of torch: their gradients, with batches, sums and noise of the engine."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from . import _engine, accounting
from ._errors import InputError, Refused
from ._per_record import Gradients, Records, seed
from ._state import State
from ._trained import Parts, check_left, joint, known_of, parts_of, remember, tensors_of
from ._training import Training

__all__ = ["DPTrainer"]

# The step of the grid of whole numbers, in clips, at most.
_GRID = 2.0**-20

# The most noise that is tried, in clips.
_MOST_NOISE = 2.0**19

# Synthetic records that gradients are compared on.
_TRIED = 16


class DPTrainer:
    """Trains a module by DP-SGD, so that certificates can count on what its training was.

    Batches are drawn by the engine, each record by itself with probability `rate`, from the
    operating system's randomness; torch computes the gradient of each record; the engine clips it,
    rounds it to whole numbers, sums these exactly and adds exact noise, once in each step. The
    number of records is taken to be public.

    Certificates of models on the module's features say `declared` all the same: that a record's
    gradient depends on that record alone, but for `dependence`, is up to the module, the data set
    and torch. It is tried on synthetic records before training, and not proved. The noise is raised
    by what a whole batch would need whose gradients each depend on another record by that much and
    are rounded to other whole numbers for it.

    Module and loss must keep nothing between records. What they keep is compared before training,
    on synthetic records, and at its end: attributes, containers, tensors, arrays, generators,
    hooks, closures, default arguments, and, in code that is no library's, attributes of classes and
    globals that a function names. The gradient of a synthetic record must be the same after others.
    What changed is refused and put back. Assumed to be none, since it is not seen, is what compiled
    code, files, other processes, globals of libraries and data sets keep.

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
        Instead of `noise`: how much the module may tell of `deletions` records together, with what
        it was trained by before; the least noise that is enough is found. A fit beyond it is
        refused. `delta` is at least 1e-20: beside less, a batch larger than the noise is made for,
        which has a probability below 1e-26 in a step and ends the training, could count.
    deletions : int, default=1
        Records that may be deleted, where `epsilon` is given; those that were before included.
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
        Records whose gradients are computed at once, by `torch.func`. Larger batches are computed
        in parts; none is cut. With 1 it is done by plain autograd, which knows GRU and RNN, too.
    dependence : float, default=1e-6
        How far a record's gradient may depend on the others of its batch, relative to its length or
        to the clip, whichever is more: public knowledge about the module and the machine, such as
        rounding, chosen without looking at the records.
    before : Training, optional
        How the module was trained before on data that may hold the records, such as a copy's
        ``trainer.training``. What this process trained any of its parameters by is known, and is
        part of it anyway; a training that is both is counted once where it is a trainer's own
        ``training``, and twice where it was written down.
    verbose : int, default=0
        Show each tenth of the steps, on standard error. How long a step takes tells how large its
        batch was: neither publish when these lines came nor let others watch.

    Attributes
    ----------
    training : Training or None
        What was done, after :meth:`fit`: `efface.extract(module, data, training=trainer.training)`.
        What any of the module's parameters were trained by before is part of it.
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
        dependence: float = 1e-6,
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
        if before is not None and not isinstance(before, Training):
            raise InputError(
                f"`before` must be a `Training`, got {type(before).__name__}", code="settings"
            )
        if not 0 <= dependence < 1:
            raise InputError(
                f"`dependence` must be at least 0 and below 1, got {dependence}", code="range"
            )
        if (noise is None) == (epsilon is None) or (epsilon is None) != (delta is None):
            raise InputError(
                "the noise must be told in one way",
                code="settings",
                hint="give `noise`, or `epsilon` and `delta`",
            )
        self.module, self.loss, self.clip, self.rate = module, loss, float(clip), float(rate)
        self.steps, self.max_batch, self.verbose = int(steps), int(max_batch), verbose
        self.optimizer, self.learning_rate = optimizer, float(learning_rate)
        self.expected, self.dependence = expected, float(dependence)
        self.training: Training | None = None
        self._before = parts_of(before)
        self._promised: tuple[float, float, int] | None = None
        if epsilon is not None and delta is not None:
            self._promised = float(epsilon), float(delta), deletions
            noise = self._noise_for(*self._promised)
        self.noise = float(noise or 0)
        self._joint(self._parts())

    def _parts(self) -> Parts:
        """Return every training of the module once `fit` has run, by name."""
        own = Training(
            noise=self.noise,
            rate=self.rate,
            steps=self.steps,
            clip=self.clip,
            dependence=self.dependence,
        )
        return known_of(self.module.parameters()) | self._before | parts_of(own)

    def _noise_for(self, epsilon: float, delta: float, deletions: int) -> float:
        """The least noise that keeps the module within what it may tell, to a relative 1e-4."""
        noise = accounting.dp_sgd_noise(
            rate=self.rate, steps=self.steps, group=deletions, epsilon=epsilon, delta=delta
        )

        def tells(noise: float) -> float:
            self.noise = noise
            return _tells(self._parts(), delta, deletions)

        if tells(noise) <= epsilon:
            return noise
        low, high = noise, 2 * noise
        while tells(high) > epsilon:
            low, high = high, 2 * high
            if high > _MOST_NOISE:
                raise Refused(
                    f"no noise keeps the module within epsilon {epsilon}: what it was trained by "
                    "before tells as much",
                    code="settings",
                    hint="raise `epsilon`, lower `deletions`, or start with a new module",
                )
        while high > low * (1 + 1e-4):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if tells(middle) <= epsilon else (middle, high)
        return high

    def fit(self, data: Any, targets: Any = None) -> DPTrainer:
        """Train the module on records.

        After an interruption or an error the module is what it was before. A second call goes on
        from where the first ended: `training` then states both. It is refused where weights or
        buffers changed in between.

        Within it torch, NumPy's global generator and Python's `random` draw from seeds of the
        operating system, and are then as they were before. What a data set draws from generators of
        its own must be drawn for each record by itself, and be known to nobody: that is up to you.

        Parameters
        ----------
        data : tensor, array, or indexable data set
            Records, one in each row; a data set gives pairs `(x, y)` of a record and its target,
            tensors of one shape, where `targets` is None. Floating-point numbers take the type of
            the parameters. No loader: batches are drawn here.
        targets : tensor or array, optional
            One for each record.

        Returns
        -------
        self
            With `training`.

        Raises
        ------
        Refused
            Where a record's gradient would depend on other records, module or loss keep something
            of them, batches are not drawn here, or the module would tell more than `epsilon`.
        InputError
            Where data, module and loss do not fit.
        """
        records = Records(data, targets)
        gradients = Gradients(self.module, self.loss, self.max_batch)
        _check(self.module)
        check_left(tensors_of(self.module))
        if len(records) == 0:
            raise InputError("there are no records to train on", code="data")
        parts = self._parts()
        training = self._joint(parts)
        expected = self.rate * len(records) if self.expected is None else float(self.expected)
        most = _most_drawn(len(records), self.rate)
        sums = _engine.ReleasedSums(
            gradients.width,
            noise=self.noise * self._widened(most, gradients.width),
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
        with _trained_or_as_before(gradients, parts) as kept, _own_randomness(parameters):
            self._check_start(records, gradients)
            for _ in self._told(self.steps):
                with gradients.steady():
                    self._step(records, gradients, sums, most)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            kept.check()
            if not all(bool(torch.isfinite(p).all()) for p in parameters):
                raise Refused(
                    "the weights are no longer finite",
                    code="settings",
                    hint="lower the learning rate",
                )
            self.training = training
        return self

    def _step(
        self, records: Records, gradients: Gradients, sums: _engine.ReleasedSums, most: int
    ) -> None:
        """Make the noisy sum of one batch the gradient of the parameters."""
        seed()
        drawn = sums.draw(len(records))
        try:
            if len(drawn) > most:
                raise Refused(
                    "a batch was drawn that is larger than the noise was made for, which happens "
                    "in a step with a probability below 1e-26",
                    code="settings",
                    hint="train again",
                )
            for at in range(0, len(drawn), self.max_batch):
                part = drawn[at : at + self.max_batch]
                sums.add(gradients.of(*records.at(part))[: len(part)])
        finally:
            drawn.fill(0)
        gradients.put(sums.release())

    def _joint(self, parts: Parts) -> Training:
        """All that the module will have been trained by, within what it may tell."""
        training = joint(parts)
        if self._promised is not None:
            epsilon, delta, deletions = self._promised
            if _tells(parts, delta, deletions) > epsilon:
                raise Refused(
                    f"with what it was trained by before, the module would tell more than epsilon "
                    f"{epsilon} of {deletions} records",
                    code="settings",
                    hint="make a new `DPTrainer`, which finds noise for all of it",
                )
        return training

    def _check_start(self, records: Records, gradients: Gradients) -> None:
        """Refuse gradients that depend on other records by more than is declared.

        They are those of synthetic records in the shape of the first, so that what is refused says
        nothing of the records.
        """
        x, y = records.synthetic(_TRIED)
        gradients.check_repeats(x, y)
        found = gradients.dependence(x[: self.max_batch], y[: self.max_batch], self.clip)
        if found > self.dependence:
            raise Refused(
                "a record's gradient depends on the other records of its batch: "
                f"{found:.2g} of its length on synthetic records, with `dependence` "
                f"{self.dependence:.2g}",
                code="settings",
                hint="take layers that look at one record at a time, such as GroupNorm for "
                "BatchNorm; if it is rounding, declare a larger `dependence`",
            )

    def _widened(self, most: int, width: int) -> float:
        """Return the factor on the noise that hides what a record does to others by rounding.

        It moves each other gradient g by at most `dependence` times max(|g|, clip). Clipping takes
        that to at most `dependence` clips, since it brings no two vectors further apart than their
        common multiples of which the shorter has the clip's length. Truncation then moves a
        coordinate by less than one more grid step, so all of them by sqrt(width) of them. Sums of
        squares in double precision are off by a relative 2^-56 width + 2^-50: by so little may
        whole numbers be too long and be shortened, which takes another step from coordinates that
        were just above a whole number, and less than width 2^-35 / min(noise, 1) clips in all.
        """
        grid = _GRID * math.sqrt(width) + width * 2.0**-35 / min(self.noise, 1.0)
        return 1 + most * (self.dependence + grid)

    def _told(self, steps: int) -> Iterator[int]:
        """Count the steps, and show each tenth of them."""
        for step in range(steps):
            yield step
            done = step + 1
            if self.verbose and 10 * done // steps > 10 * step // steps:
                print(f"step {done} of {steps}", file=sys.stderr)


def _tells(parts: Parts, delta: float, deletions: int) -> float:
    """Return the epsilon of these trainings for a group of records, rounded up."""
    return joint(parts).epsilon(delta=delta, deletions=deletions)


def _most_drawn(records: int, rate: float) -> int:
    """A number of records that a batch is larger than with a probability below 1e-26.

    By Bernstein's inequality: with t = 12 sqrt(m) + 40 above a mean of m it is at most
    exp(-t^2/(2 m + 2 t/3)), which is at most exp(-60).
    """
    mean = rate * records
    return min(records, math.ceil(mean + 12 * math.sqrt(mean) + 40))


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
def _trained_or_as_before(gradients: Gradients, parts: Parts) -> Iterator[State]:
    """Record a training before it begins, and put all back where it ends in an error.

    Where it is interrupted twice, so that not all is put back, it stays recorded.
    """
    parameters = list(gradients.parameters.values())
    before = [(p, known_of([p])) for p in parameters]
    kept = gradients.state(keep=True)
    remember(parameters, parts)
    try:
        yield kept
    except BaseException:
        kept.put_back()
        for p, known in before:
            p.grad = None
            remember([p], known, left=True)
        raise
    for tensor in tensors_of(gradients.module):
        remember([tensor], known_of([tensor]), left=True)


@contextmanager
def _own_randomness(parameters: list[torch.nn.Parameter]) -> Iterator[None]:
    """Draw dropout and augmentation from secret seeds, and restore all generators afterwards."""
    devices = sorted({p.device.index or 0 for p in parameters if p.device.type == "cuda"})
    python, numbers = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=devices):
            seed()
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)

"""MNIST by `efface.torch.DPTrainer`: time and accuracy, on the processor and on a GPU.

    EFFACE_DATA=... python3 laboratory/benches/torch_modules.py [cpu] [cuda] [steps=N]

prints a Markdown table. The module is a convolutional network of two layers with tanh, 26,010
weights; torch computes gradients of single records, the engine draws batches, sums and adds noise.
"dependence" is how far a record's gradient was from that beside other records, the largest seen on
synthetic records, relative to its length or the clip; four times that is declared, 1e-6 at least.
"sums" is the engine's part of the time (batches, clipping, rounding, summing, noise), which no GPU
shortens. "plain" is the same module trained by torch alone: as many steps, batches of the same
size, no clipping, no noise. Needs the installed package, numpy and torch.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import torch
from efface import _engine
from efface._per_record import Gradients, Records
from efface.torch import DPTrainer
from shared import head, mnist, row, timed
from torch import nn

RATE, CLIP, STEPS, RATE_OF_LEARNING = 1024 / 60_000, 0.1, 900, 1.0
DELTA = 1 / 60_000
PRINTED = ("device", "by", "max_batch", "dependence", "noise", "time", "sums", "accuracy")


def images(part: str) -> tuple[torch.Tensor, torch.Tensor]:
    pixels, digits = mnist(part)
    scaled = (pixels.reshape(-1, 1, 28, 28).astype(np.float32) / 255 - 0.1307) / 0.3081
    return torch.from_numpy(scaled), torch.from_numpy(digits.astype(np.int64))


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 32),
        nn.Tanh(),
        nn.Linear(32, 10),
    )


def accuracy(module: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    with torch.no_grad():
        return float((module(x).argmax(1) == y).float().mean())


class Timed:
    """The engine's sums, with the time that is spent in them."""

    def __init__(self, *args: Any, **given: Any) -> None:
        self.inner = ENGINES_OWN(*args, **given)

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.inner, name)

        def clocked(*args: Any) -> Any:
            start = time.perf_counter()
            try:
                return call(*args)
            finally:
                spent[0] += time.perf_counter() - start

        return clocked


ENGINES_OWN = _engine.ReleasedSums
spent = [0.0]


def private(device: str, steps: int, max_batch: int, data: Any, test: Any) -> None:
    module = network().to(device)
    (x, y), (tx, ty) = data, (part.to(device) for part in test)
    x, y = x.to(device), y.to(device)
    tried = Records(x, y).synthetic(min(max_batch, 16))
    found = 0.0
    if max_batch > 1:
        found = Gradients(module, nn.functional.cross_entropy, max_batch).dependence(*tried, CLIP)
    trainer = DPTrainer(
        module,
        nn.functional.cross_entropy,
        clip=CLIP,
        rate=RATE,
        steps=steps,
        epsilon=1.0,
        delta=DELTA,
        learning_rate=RATE_OF_LEARNING / CLIP,
        max_batch=max_batch,
        dependence=max(1e-6, 4 * found),
    )
    spent[0] = 0.0
    took = timed(lambda: trainer.fit(x, y))
    row(
        device,
        "DPTrainer",
        max_batch,
        f"{found:.1e}",
        f"{trainer.noise:.3f}",
        f"{took:.1f} s",
        f"{spent[0]:.1f} s",
        f"{accuracy(module, tx, ty):.4f}",
    )


def plain(device: str, steps: int, data: Any, test: Any) -> None:
    module = network().to(device)
    (x, y), (tx, ty) = data, (part.to(device) for part in test)
    x, y = x.to(device), y.to(device)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    size = round(RATE * len(x))

    def train() -> None:
        for _ in range(steps):
            places = torch.randint(len(x), (size,), device=device)
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(x[places]), y[places]).backward()
            optimizer.step()

    took = f"{timed(train):.1f} s"
    row(device, "torch, plain", "-", "-", "-", took, "-", f"{accuracy(module, tx, ty):.4f}")


def main() -> None:
    given = sys.argv[1:]
    steps = next((int(a.removeprefix("steps=")) for a in given if a.startswith("steps=")), STEPS)
    devices = [a for a in given if a in ("cpu", "cuda")]
    devices = devices or ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    _engine.ReleasedSums = Timed
    data, test = images("train"), images("t10k")
    name = torch.cuda.get_device_name() if "cuda" in devices else "no GPU"
    print(f"{torch.get_num_threads()} threads, {name}, torch {torch.__version__}, {steps} steps\n")
    head(*PRINTED)
    for device in devices:
        plain(device, steps, data, test)
        for max_batch in (64, 512):
            private(device, steps, max_batch, data, test)


if __name__ == "__main__":
    main()

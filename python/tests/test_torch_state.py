"""Modules that keep what they see, and records of other forms. Skipped without torch."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from random import uniform
from typing import Any

import conftest
import numpy as np
import pandas as pd
import pytest

import efface

torch = pytest.importorskip("torch")

from efface.torch import DPTrainer  # noqa: E402

nn = torch.nn

SEEN: list[Any] = []


def records(count: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(count, 6)).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy((x[:, 0] > 0).astype(np.int64))


def trainer(module: Any, loss: Any = nn.functional.cross_entropy, **given: Any) -> DPTrainer:
    chosen = {"clip": 1.0, "rate": 0.3, "steps": 3, "noise": 1.0, "max_batch": 16, **given}
    return DPTrainer(module, loss, **chosen)


class Base(nn.Module):  # type: ignore[misc,name-defined]
    """A linear layer whose subclasses do something else beside it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.out = nn.Linear(6, 2)

    def forward(self, x: Any) -> Any:
        return self.out(self.seen(x))

    def seen(self, x: Any) -> Any:
        return x


class Centre(Base):
    """Subtracts a running mean that is a plain attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(6)

    def seen(self, x: Any) -> Any:
        self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return x - self.mean


class Counts(Base):
    """Scales by the number of its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def seen(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls


class Nested(Base):
    """Keeps records in a list in a list in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Any] = {"inner": [[]]}

    def seen(self, x: Any) -> Any:
        self.kept["inner"][0].append(x.detach())
        return x


class OfClass(Base):
    """Keeps the last record in its class."""

    kept: Any = None

    def seen(self, x: Any) -> Any:
        type(self).kept = x.detach()
        return x


class Global(Base):
    """Keeps records in a list of the test's module."""

    def seen(self, x: Any) -> Any:
        SEEN.append(x.detach())
        return x


class Elsewhere(Base):
    """Counts in another module than its own."""

    def seen(self, x: Any) -> Any:
        conftest.calls = getattr(conftest, "calls", 0) + 1  # type: ignore[attr-defined]
        return x


class Default(Base):
    """Keeps something in a default argument."""

    def seen(self, x: Any, kept: list[Any] = []) -> Any:  # noqa: B006
        kept.append(1)
        return x


class Numbers(Base):
    """Counts in an array of NumPy."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = np.zeros(3)

    def seen(self, x: Any) -> Any:
        self.kept[0] += 1
        return x


@functools.cache
def remembered(x: Any) -> Any:
    return x


class Cached(Base):
    """Calls a function that a cache is around."""

    def seen(self, x: Any) -> Any:
        return remembered(x)


def running() -> Iterator[float]:
    total = 0.0
    while True:
        total += 1.0
        yield total


class Generating(Base):
    """Scales by what a generator function yields."""

    def __init__(self) -> None:
        super().__init__()
        self.total = running()

    def seen(self, x: Any) -> Any:
        return x * next(self.total)


class Drawing(Base):
    """Draws from a generator of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.rng, self.python = np.random.default_rng(0), random.Random(0)  # noqa: S311

    def seen(self, x: Any) -> Any:
        return x * float(self.rng.normal())


class Slots:
    """Holds a number without a `__dict__`."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = 0


class Slotted(Base):
    """Counts in an object that has slots."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = Slots()

    def seen(self, x: Any) -> Any:
        self.slots.last += 1
        return x


class Shifting(Base):
    """Moves its own bias, whatever the records."""

    def seen(self, x: Any) -> Any:
        with torch.no_grad():
            self.out.bias.add_(1.0)
        return x


def hooked() -> Any:
    module, kept = Base(), list[Any]()
    module.out.register_forward_hook(lambda _, given, __: kept.append(given[0].detach()))
    return module


def appending() -> Any:
    module, kept = Base(), list[Any]()
    module.kept = kept.append
    module.seen = lambda x: module.kept(x.detach()) or x  # type: ignore[method-assign]
    return module


@pytest.mark.parametrize("max_batch", [1, 16])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Centre, "the attribute `mean` of `Centre` changes"),
        (Counts, "`calls` of `Counts`"),
        (Nested, "`kept` of `Nested`"),
        (OfClass, "`kept` of `OfClass`"),
        (Global, "SEEN` of `Global`"),
        (Elsewhere, "`seen.calls` of `Elsewhere`"),
        (Default, "`seen` of `Default`"),
        (Numbers, "`kept` of `Numbers`"),
        (Cached, "`seen.remembered` of `Cached`"),
        (Generating, "`total.total` of `Generating`"),
        (Drawing, "`rng` of `Drawing`"),
        (Slotted, "`slots` of `Slotted`"),
        (Shifting, "`out.bias` of `Shifting`"),
        (hooked, "_forward_hooks.kept` of `Base`"),
        (appending, "`kept` of `Base`"),
    ],
)
def test_modules_that_keep_something_are_refused_and_put_back(
    make: Callable[[], Any], said: str, max_batch: int
) -> None:
    x, y = records()
    module = make()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    held = set(vars(module))
    with pytest.raises(efface.Refused, match=said.replace("(", r"\(")):
        trainer(module, max_batch=max_batch).fit(x, y)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert set(vars(module)) == held
    assert not getattr(module, "calls", 0)
    assert not SEEN
    assert OfClass.kept is None


def test_what_begins_late_is_found_at_the_end_and_taken_out() -> None:
    x, y = records()

    class Late(Base):
        def __init__(self) -> None:
            super().__init__()
            self.kept: list[Any] = []

        def seen(self, x: Any) -> Any:
            if float(x.detach()[0, 0]) == 7.0:
                self.kept.append(x.detach())
                self.new = x.detach()
            return x

    module = Late()
    x[:, 0] = 7.0
    with pytest.raises(efface.Refused, match=r"`(kept|new)` of `Late`"):
        trainer(module, max_batch=1).fit(x, y)
    assert module.kept == []
    assert not hasattr(module, "new")
    x[:, 0] = 0.0
    trainer(module, max_batch=1).fit(x, y)


def test_weights_move_by_the_steps_alone() -> None:
    x, y = records()

    class Shifts(Base):
        def seen(self, x: Any) -> Any:
            if float(x.detach()[0, 0]) == 7.0:
                self.out.bias.data.add_(1.0)
            return x

    module = Shifts()
    bias = module.out.bias.detach().clone()
    x[:, 0] = 7.0
    with pytest.raises(efface.Refused, match=r"`out\.bias` of `Shifts` changes"):
        trainer(module, max_batch=1, rate=0.9).fit(x, y)
    assert torch.equal(module.out.bias, bias)


def test_losses_that_keep_something_are_refused() -> None:
    x, y = records()
    calls = [0]

    def counting(outputs: Any, targets: Any) -> Any:
        calls[0] += 1
        return nn.functional.cross_entropy(outputs, targets)

    class Kept(nn.Module):  # type: ignore[misc,name-defined]
        total: Any

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(()))

        def forward(self, outputs: Any, targets: Any) -> Any:
            self.total = self.total + 1.0
            return nn.functional.cross_entropy(outputs, targets)

    for loss, said in ((counting, "`calls` of `counting`"), (Kept(), "`total` of `Kept`")):
        for most in (1, 16):
            with pytest.raises(efface.Refused, match=said):
                trainer(Base(), loss, max_batch=most).fit(x, y)
    assert calls == [0]


def test_hooks_of_parameters_are_looked_at() -> None:
    x, y = records()
    module, kept = Base(), list[Any]()
    module.out.weight.register_hook(lambda gradient: kept.append(gradient.clone()))
    with pytest.raises(efface.Refused, match=r"`out\.weight\.kept` of `Base`"):
        trainer(module, max_batch=1).fit(x, y)
    assert kept == []


def test_a_gradient_must_repeat_where_nothing_can_be_seen() -> None:
    """State out of reach of what is compared, that moves gradients."""
    x, y = records()
    kept = [0.0]

    class Hidden(Base):
        def seen(self, x: Any) -> Any:
            held = random.kept  # type: ignore[attr-defined]
            held[0] += 1.0
            return x * held[0]

    random.kept = kept  # type: ignore[attr-defined]
    try:
        with pytest.raises(efface.Refused, match="not the same after other records"):
            trainer(Hidden(), max_batch=1).fit(x, y)
    finally:
        del random.kept  # type: ignore[attr-defined]


def test_what_keeps_nothing_is_trained() -> None:
    x, y = records()
    weights = torch.tensor([1.0, 2.0])

    class Scaled(Base):
        scale = 2.0

        def seen(self, x: Any) -> Any:
            return nn.functional.dropout(x, 0.1) * self.scale * (1.0 + uniform(0.0, 0.1))  # noqa: S311

    loss = functools.partial(nn.functional.cross_entropy, weight=weights)
    for made in (loss, nn.CrossEntropyLoss(), lambda o, t: nn.functional.cross_entropy(o, t)):
        for most in (1, 16):
            trainer(Scaled(), made, max_batch=most).fit(x, y)
    normed = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 4)), nn.Linear(4, 2))
    trainer(normed).fit(x, y)


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("given", [torch.float64, torch.float32])
def test_records_take_the_type_of_the_parameters(kind: Any, given: Any) -> None:
    x, y = records()
    for most in (1, 16):
        module = Base().to(kind)
        trainer(module, max_batch=most, dependence=0.1).fit(x.to(given), y)
        assert module.out.weight.dtype == kind
        trainer(module, nn.functional.mse_loss, max_batch=most, dependence=0.1).fit(
            x.to(given).numpy(), np.ones((60, 2))
        )


def test_double_precision_by_default() -> None:
    x, y = records()
    torch.set_default_dtype(torch.float64)
    try:
        trainer(Base()).fit(x, y)
    finally:
        torch.set_default_dtype(torch.float32)


class Recurrent(nn.Module):  # type: ignore[misc,name-defined]
    """Classifies by the last state of a recurrent layer."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.rnn, self.out = kind(3, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        return self.out(self.rnn(x)[0][:, -1])


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_recurrent_layers() -> None:
    x, y = torch.randn(40, 5, 3), torch.randint(2, (40,))
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        module = Recurrent(kind)
        before = module.rnn.weight_hh_l0.detach().clone()
        trainer(module, max_batch=1, clip=10.0, noise=0.2).fit(x, y)
        assert not torch.equal(module.rnn.weight_hh_l0, before)
    module = Recurrent(nn.LSTM)
    trainer(module).fit(x, y)
    assert all(
        p is q for p, q in zip(module.rnn._flat_weights, module.rnn.parameters(), strict=True)
    )
    for kind in (nn.GRU, nn.RNN):
        with pytest.raises(efface.InputError, match=rf"`rnn` \({kind.__name__}\).*`max_batch=1`"):
            trainer(Recurrent(kind)).fit(x, y)


class Items:
    """A data set of items that a function makes."""

    def __init__(self, item: Callable[[int], Any]) -> None:
        self.item = item

    def __len__(self) -> int:
        return 60

    def __getitem__(self, at: int) -> Any:
        return self.item(at)


def test_items_of_other_forms_are_refused_by_the_form_that_is_wanted() -> None:
    x, y = records()
    frame = pd.DataFrame(x.numpy())
    structured = np.zeros(60, dtype=[("a", "f4"), ("b", "f4")])
    forms: list[tuple[Any, ...]] = [
        (Items(lambda i: {"x": x[i], "y": y[i]}),),
        (Items(lambda i: ({"x": x[i]}, y[i])),),
        (Items(lambda i: (x[i], x[i], y[i])),),
        (Items(lambda i: ((x[i], x[i]), y[i])),),
        (Items(lambda i: (x[i, : 3 + i % 2], y[i])),),
        (Items(lambda i: x[i]),),
        (Items(lambda i: ("word", y[i])),),
        (Items(lambda i: {"x": x[i]}), y),
        ({"x": x, "y": y},),
        (structured, y),
        (x, np.array(["a", "b"] * 30)),
    ]
    for data in forms:
        module = Base()
        before = module.out.weight.detach().clone()
        with pytest.raises(efface.InputError, match=r"`\(x, y\)`"):
            trainer(module, rate=0.9).fit(*data)
        assert torch.equal(module.out.weight, before)
    with pytest.raises(efface.InputError, match="`targets` is missing"):
        trainer(Base(), rate=0.9).fit(frame)
    with pytest.raises(efface.InputError, match=r"cannot be computed.*out of bounds"):
        trainer(Base(), rate=0.9).fit(x, y + 6)
    trainer(Base()).fit(Items(lambda i: [x[i].tolist(), int(y[i])]))

"""What modules of torch were trained by: all of it, and no record's. Skipped without torch."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import numpy as np
import pytest

import efface

torch = pytest.importorskip("torch")

import efface.torch as ours  # noqa: E402
from efface import Training  # noqa: E402
from efface._per_record import Gradients, Records  # noqa: E402
from efface._state import State  # noqa: E402
from efface.torch import DPTrainer  # noqa: E402

nn = torch.nn


def records(count: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(count, 6)).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy((x[:, 0] > 0).astype(np.int64))


def network() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))


def square(outputs: Any, _: Any) -> Any:
    return outputs.square().sum()


def trainer(module: Any, loss: Any = nn.functional.cross_entropy, **given: Any) -> DPTrainer:
    chosen = {"clip": 1.0, "rate": 0.2, "steps": 3, "noise": 1.0, "max_batch": 16, **given}
    return DPTrainer(module, loss, **chosen)


def steps(made: DPTrainer) -> list[tuple[float, int]]:
    assert made.training is not None
    return sorted((noise, count) for noise, _, count in made.training.phases)


def test_a_part_of_a_module_is_known_in_the_whole_and_the_other_way_round() -> None:
    x, y = records()
    module = network()
    wide = DPTrainer(module[:-1], square, clip=1.0, rate=0.2, steps=3, noise=2.0).fit(x, y)
    whole = trainer(module).fit(x, y)
    assert steps(whole) == [(1.0, 3), (2.0, 3)]
    again = trainer(module[:1], square, noise=3.0).fit(x, y)
    assert steps(again) == [(1.0, 3), (2.0, 3), (3.0, 3)]
    last = trainer(nn.Sequential(nn.Linear(6, 8), module[2]), noise=4.0).fit(x, y)
    assert steps(last) == [(1.0, 3), (2.0, 3), (4.0, 3)], "the last layer never saw the third"
    # A training that made two parts is counted once where both are trained on.
    both = trainer(module, noise=5.0).fit(x, y)
    assert steps(both) == [(1.0, 3), (2.0, 3), (3.0, 3), (4.0, 3), (5.0, 3)]
    trunk = module[:-1].eval()
    for training in (None, wide.training, whole.training, Training(noise=9.0, rate=0.2, steps=99)):
        with pytest.raises(efface.Refused, match="was trained here by"):
            efface.extract(trunk, x, training=training)
    X = efface.extract(trunk, x, training=both.training)
    assert X.training == both.training
    assert both.training is not None
    written = Training._read(str(both.training))
    assert efface.extract(trunk, x, training=written).training == written
    assert efface.extract(network().eval(), x).training is None


def test_two_trainings_of_the_same_steps_are_two() -> None:
    x, y = records()
    one, other = nn.Linear(6, 8), nn.Linear(8, 2)
    trainer(one, square).fit(x, y)
    trainer(other).fit(torch.rand(60, 8), y)
    assert steps(trainer(nn.Sequential(one, other), noise=2.0).fit(x, y)) == [(1.0, 6), (2.0, 3)]


def test_what_is_said_of_before_is_added_to_what_is_known() -> None:
    x, y = records()
    module, elsewhere = network(), Training(noise=7.0, rate=0.1, steps=50)
    first = trainer(module).fit(x, y)
    second = trainer(module, before=elsewhere)
    assert steps(second.fit(x, y)) == [(1.0, 6), (7.0, 50)]
    assert steps(second.fit(x, y)) == [(1.0, 9), (7.0, 50)]
    # What is known is counted once, also where it went through a file.
    before = pickle.loads(pickle.dumps(first.training))
    known = trainer(module, before=before, noise=2.0).fit(x, y)
    assert steps(known) == [(1.0, 9), (2.0, 3), (7.0, 50)]
    copied = trainer(copy.deepcopy(module), before=known.training, noise=3.0).fit(x, y)
    assert steps(copied) == [(1.0, 9), (2.0, 3), (3.0, 3), (7.0, 50)]


def test_an_interruption_leaves_neither_weights_nor_their_training() -> None:
    x, y = records()
    module = network()

    class Interrupted(list[Any]):
        def __getitem__(self, at: Any) -> Any:
            if at == 50:
                raise KeyboardInterrupt
            return super().__getitem__(at)

    with pytest.raises(KeyboardInterrupt):
        trainer(module, rate=0.9, steps=50).fit(Interrupted(zip(x, y, strict=True)))
    assert steps(trainer(module).fit(x, y)) == [(1.0, 3)]


def test_a_training_is_recorded_before_its_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where putting back fails, weights that saw records stay, and so does their training."""
    x, y = records()
    module = network()

    def fails(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ours.DPTrainer, "_step", fails)
    monkeypatch.setattr(State, "put_back", fails)
    monkeypatch.setattr(Gradients, "check_repeats", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        trainer(module).fit(x, y)
    monkeypatch.undo()
    with pytest.raises(efface.Refused, match="was trained here"):
        efface.extract(module.eval(), x)
    assert steps(trainer(module).fit(x, y)) == [(1.0, 6)]


def test_more_phases_than_can_be_stated_are_refused_before_any_step() -> None:
    x, y = records()
    module = network()
    many = Training(noise=[1.5 + k / 100 for k in range(64)], rate=[0.1] * 64, steps=[1] * 64)
    before = module[0].weight.detach().clone()
    with pytest.raises(efface.InputError, match="at most 64 phases"):
        trainer(module, before=many)
    late = trainer(module)
    late._before = {"x": many}
    with pytest.raises(efface.InputError, match="at most 64 phases"):
        late.fit(x, y)
    assert torch.equal(module[0].weight, before)


def test_epsilon_holds_for_all_that_the_module_was_trained_by() -> None:
    x, y = records()
    module = network()
    first = trainer(module, noise=None, epsilon=1.0, delta=1e-5, deletions=3).fit(x, y)
    with pytest.raises(efface.Refused, match="would tell more than epsilon"):
        first.fit(x, y)
    second = trainer(module, noise=None, epsilon=1.5, delta=1e-5, deletions=3).fit(x, y)
    assert second.training is not None
    assert 1.49 < second.training.epsilon(delta=1e-5, deletions=3) <= 1.5
    with pytest.raises(efface.Refused, match="no noise keeps the module"):
        trainer(module, noise=None, epsilon=1.2, delta=1e-5, deletions=3)
    with pytest.raises(efface.InputError, match="`deletions`"):
        trainer(
            network(),
            noise=None,
            epsilon=2.0,
            delta=1e-5,
            before=Training(noise=5.0, rate=0.1, steps=2, deleted=4),
        )


def noise_of(monkeypatch: pytest.MonkeyPatch, x: Any, y: Any, **given: Any) -> float:
    """The noise that the engine is asked for."""
    asked: list[float] = []

    class Sums:
        def __init__(self, _: int, *, noise: float, **__: Any) -> None:
            asked.append(noise)
            raise KeyboardInterrupt

    monkeypatch.setattr("efface._engine.ReleasedSums", Sums)
    with pytest.raises(KeyboardInterrupt):
        trainer(network(), **given).fit(x, y)
    monkeypatch.undo()
    return asked[0]


def test_the_noise_is_a_function_of_public_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the formula, for 60 records at rate 0.2 (at most all 60 in a batch) and 74 weights."""
    x, y = records()
    want = 1 + 60 * (1e-6 + 2.0**-20 * math.sqrt(74) + 74 * 2.0**-35)
    for scale in (0.0, 1.0, 1e4, math.nan):
        assert noise_of(monkeypatch, x * scale, y) == want
    assert noise_of(monkeypatch, x, y, dependence=1e-3) == pytest.approx(want + 60 * (1e-3 - 1e-6))
    assert noise_of(monkeypatch, x, y, max_batch=1) == want, "records go through one module"
    assert noise_of(monkeypatch, x, y, noise=0.5) == pytest.approx(
        0.5 * (want + 60 * 74 * 2.0**-35), rel=1e-15
    )


def test_a_dependence_beyond_what_is_declared_is_refused_whatever_the_records() -> None:
    x, y = records()

    class Beside(nn.Module):  # type: ignore[misc,name-defined]
        """Adds a little of the other rows, behind `vmap`'s back."""

        def forward(self, x: Any) -> Any:
            return x + 3e-3 * Others.apply(x)

    class Others(torch.autograd.Function):  # type: ignore[misc,name-defined]
        generate_vmap_rule = False

        @staticmethod
        def forward(x: Any) -> Any:
            return x.clone()

        @staticmethod
        def setup_context(*_: Any) -> None:
            pass

        @staticmethod
        def backward(_: Any, grad: Any) -> Any:
            return grad

        @staticmethod
        def vmap(_: Any, dims: Any, x: Any) -> Any:
            return x.sum(dims[0], keepdim=True).expand_as(x), dims[0]

    module = nn.Sequential(Beside(), nn.Linear(6, 2))
    said = []
    for scale in (1.0, 0.0):
        with pytest.raises(efface.Refused, match="depends on the other records") as refused:
            trainer(module).fit(x * scale, y)
        said.append(str(refused.value))
    assert said[0] == said[1]
    trainer(module, dependence=0.9, noise=1e3).fit(x, y)


def test_records_of_other_types_are_tried_by_zeros_and_ones() -> None:
    module = nn.Sequential(nn.Embedding(50, 4), nn.Flatten(), nn.Linear(12, 3))
    tokens = torch.randint(2, 50, (40, 3))
    trainer(module).fit(tokens, torch.randint(0, 3, (40,)))
    x, _ = records(40)
    binary = nn.Sequential(nn.Linear(6, 1), nn.Sigmoid(), nn.Flatten(0))
    trainer(binary, nn.functional.binary_cross_entropy).fit(x, torch.rand(40))


def test_a_batch_beyond_the_noise_ends_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = records()
    module = network()
    before = module[0].weight.detach().clone()
    monkeypatch.setattr(ours, "_most_drawn", lambda *_: 1)
    with pytest.raises(efface.Refused, match="below 1e-26"):
        trainer(module, rate=0.9).fit(x, y)
    assert torch.equal(module[0].weight, before)


def test_batches_are_within_the_bound() -> None:
    """Bernstein's exponent is above 60 at every mean, and no bound above the number of records."""
    for mean in (0.0, 1e-3, 1.0, 4.0, 17.0, 1e3, 1e9):
        beyond = ours._most_drawn(10**12, mean / 10**12) - mean
        assert beyond**2 / (2 * mean + 2 * beyond / 3) >= 59.99, mean
    assert ours._most_drawn(50, 0.5) == 50


def drawn() -> tuple[float, float, float]:
    """By each of the global generators."""
    return random.random(), float(np.random.rand()), float(torch.rand(1))  # noqa: S311


def test_global_generators_are_secret_within_and_untouched_after() -> None:
    x, y = records()
    found: list[tuple[float, float, float]] = []

    class Augmented:
        def __len__(self) -> int:
            return 60

        def __getitem__(self, at: int) -> Any:
            found.append(drawn())
            return x[at] + found[-1][0] / 10, y[at]

    def seeded() -> None:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)

    seeded()
    want, module = drawn(), network()
    seeded()
    assert drawn() == want
    for _ in range(2):
        seeded()
        trainer(module, rate=0.5).fit(Augmented())
        assert drawn() == want
    assert len(found) > 20
    for column in zip(*found, strict=True):
        assert len(set(column)) == len(column)


def test_positions_are_overwritten_where_a_step_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = records()
    seen: list[Any] = []
    at = Records.at

    def fails(self: Any, positions: Any) -> Any:
        if len(positions) > 2:
            seen.append(positions)
            raise ValueError("no such record")
        return at(self, positions)

    monkeypatch.setattr(Records, "at", fails)
    with pytest.raises(ValueError, match="no such record"):
        trainer(network(), rate=0.9).fit(x, y)
    assert len(seen[0]) > 2
    assert not seen[0].any()


def test_weights_that_went_on_after_a_training_are_refused() -> None:
    x, y = records()
    module = nn.Sequential(*network(), nn.BatchNorm1d(2).eval())
    made = trainer(module).fit(x, y)
    efface.extract(module.eval(), x, training=made.training)
    other = copy.deepcopy(module)
    with torch.no_grad():
        module[0].weight[0, 0] += 1e-6
    for part in (module, module[:1]):
        with pytest.raises(efface.Refused, match="no longer those that the training left"):
            efface.extract(part.eval(), x, training=made.training)
    with pytest.raises(efface.Refused, match="no longer those that the training left"):
        trainer(module).fit(x, y)
    assert steps(made) == [(1.0, 3)]
    efface.extract(other, x, training=made.training)
    with torch.no_grad():
        module[0].weight.copy_(other[0].weight)
    efface.extract(module, x, training=made.training)
    module[3].train()(torch.rand(9, 2))
    with pytest.raises(efface.Refused, match="no longer those that the training left"):
        efface.extract(module.eval(), x, training=made.training)


def test_a_frozen_trunk_stays_public_and_a_training_that_failed_leaves_it_as_it_was() -> None:
    x, y = records()
    module = network()
    module[0].requires_grad_(False)
    trainer(module).fit(x, y)
    assert efface.extract(module[:2].eval(), x).training is None
    with pytest.raises(efface.Refused, match="no longer finite"):
        trainer(module, learning_rate=1e38, noise=100.0, steps=40).fit(x, y)
    assert steps(trainer(module).fit(x, y)) == [(1.0, 6)]


def test_deltas_beside_which_a_large_batch_counts_are_refused() -> None:
    with pytest.raises(efface.InputError, match="`delta` must be at least 1e-20"):
        trainer(network(), noise=None, epsilon=1.0, delta=1e-21)
    made = trainer(network(), dependence=0.0, max_batch=1).fit(*records())
    assert made.training is not None
    with pytest.raises(efface.InputError, match="`delta` must be at least 1e-20"):
        made.training.epsilon(delta=1e-21)
    assert Training(noise=9.0, rate=0.1, steps=2).epsilon(delta=1e-21) > 0

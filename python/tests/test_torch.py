"""DP-SGD on modules of torch: what is trained, and what is refused. Skipped without torch."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import efface

torch = pytest.importorskip("torch")

from efface import _per_record  # noqa: E402
from efface.torch import DPTrainer  # noqa: E402

nn = torch.nn


def records(count: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(count, 6)).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy((x[:, 0] * x[:, 1] > 0).astype(np.int64))


def network(*layers: Any) -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), *(layers or (nn.ReLU(),)), nn.Linear(16, 2))


def trainer(module: Any, **given: Any) -> DPTrainer:
    chosen = {"clip": 1.0, "rate": 0.2, "steps": 10, "noise": 1.0, "max_batch": 32, **given}
    return DPTrainer(module, nn.functional.cross_entropy, **chosen)


def weights(module: Any) -> list[Any]:
    return [p.detach().clone() for p in module.parameters()]


def changed(module: Any, before: list[Any]) -> bool:
    return any(not torch.equal(a, b) for a, b in zip(weights(module), before, strict=True))


def test_a_network_learns_and_its_features_forget() -> None:
    x, y = records(1500)
    module = network()
    made = trainer(
        module, noise=None, epsilon=4.0, delta=5e-4, deletions=5, steps=150, learning_rate=1.0
    )
    made.fit(x, y)
    with torch.no_grad():
        accuracy = (module(x).argmax(1) == y).float().mean()
    assert accuracy > 0.7, accuracy
    training = made.training
    assert training is not None
    assert training.phases[0][1:] == (0.2, 150)
    assert training.epsilon(delta=5e-4, deletions=5) == pytest.approx(4.0, rel=1e-2)
    assert training.dependence == 1e-6
    trunk = module[:2].eval()
    X = efface.extract(trunk, x, training=training)
    mechanism = efface.Ridge(deletions=5)
    model = efface.UnlearningClassifier(mechanism=mechanism, epsilon=4.1, delta=5e-4)
    model.fit(X, y.numpy())
    assert model.score(X, y.numpy()) > 0.7
    certificate = model.forget(ids=[f"row:{k}" for k in range(5)])
    document = json.loads(certificate.to_json())
    assert document["event"]["given"]["declared"]["phases"][0]["steps"] == 150
    assert certificate.claims[0].epsilon <= 4.1
    assert certificate.verify(key=model.vault_.public_key, vault=model.vault_.path)
    limits = " ".join(document["scope"]["does_not_cover"])
    assert "declared, up to 1e-06 of its length or of the clip" in limits, limits


def test_gradients_are_those_of_single_records() -> None:
    from efface._per_record import Gradients

    x, y = records(20)
    module = network(nn.Tanh())
    gradients = Gradients(module, nn.functional.cross_entropy, 32)
    found = gradients.of(x, y)[:20]
    for place in range(20):
        module.zero_grad()
        nn.functional.cross_entropy(module(x[place : place + 1]), y[place : place + 1]).backward()
        want = torch.cat([p.grad.reshape(-1) for p in module.parameters()]).numpy()
        np.testing.assert_allclose(found[place], want, rtol=1e-4, atol=1e-6)


def test_almost_no_noise_is_gradient_descent() -> None:
    """Noise 0.04 of the clip over 400 records: within 1e-2 of the steps without it."""
    x, y = records()
    module, plain = network(nn.Tanh()), network(nn.Tanh())
    trainer(module, rate=1.0, noise=0.04, clip=100.0, steps=5, learning_rate=0.5).fit(x, y)
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.5)
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.cross_entropy(plain(x), y).backward()
        optimizer.step()
    for ours, theirs in zip(weights(module), weights(plain), strict=True):
        assert float((ours - theirs).abs().max()) < 0.2
        assert float((ours - theirs).abs().mean()) < 0.05


def test_what_depends_on_other_records_is_refused() -> None:

    x, y = records(60)
    module = network(nn.BatchNorm1d(16))
    before = weights(module)
    with pytest.raises(efface.Refused, match="BatchNorm1d"):
        trainer(module).fit(x, y)
    with pytest.raises(efface.Refused, match="InstanceNorm1d"):
        trainer(network(nn.InstanceNorm1d(16, track_running_stats=True))).fit(x, y)
    assert not changed(module, before)
    frozen = network(nn.BatchNorm1d(16).eval())
    trainer(frozen).fit(x, y)
    with pytest.raises(efface.Refused, match="not a loader"):
        trainer(network()).fit(torch.utils.data.DataLoader(list(zip(x, y, strict=True))))
    with pytest.raises(efface.Refused, match="`unit`"):
        trainer(network(), unit="subject")


def test_dropout_is_drawn_for_each_record_and_torchs_generator_stays() -> None:
    x, y = records(60)
    module = network(nn.Dropout(0.5))
    before = weights(module)
    torch.manual_seed(5)
    want = torch.rand(3)
    torch.manual_seed(5)
    trainer(module).fit(x, y)
    assert torch.equal(torch.rand(3), want)
    assert changed(module, before)


def test_the_start_is_put_back_after_an_interruption() -> None:
    x, y = records(60)
    module = network()
    before = weights(module)

    class Interrupted(list[Any]):
        calls = 0

        def __getitem__(self, at: Any) -> Any:
            self.calls += 1
            if self.calls > 300:
                raise KeyboardInterrupt
            return super().__getitem__(at)

    pairs = Interrupted(zip(x, y, strict=True))
    made = trainer(module, rate=0.5, steps=100, max_batch=64)
    with pytest.raises(KeyboardInterrupt):
        made.fit(pairs)
    assert not changed(module, before)
    assert made.training is None
    diverging = trainer(module, learning_rate=1e38, noise=100.0, steps=40)
    with pytest.raises(efface.Refused, match="no longer finite"):
        diverging.fit(x, y)
    assert not changed(module, before)


def test_frozen_parameters_stay_and_a_second_fit_adds_up() -> None:
    x, y = records(100)
    module = network()
    module[0].weight.requires_grad_(False)
    first = module[0].weight.clone()
    made = trainer(module, optimizer=lambda those: torch.optim.Adam(those, 1e-2)).fit(x, y)
    assert torch.equal(module[0].weight, first)
    made.fit(x, y)
    assert made.training == efface.Training(noise=1.0, rate=0.2, steps=20, clip=1.0)
    pairs = list(zip(x, y, strict=True))
    trainer(network()).fit(pairs)
    trainer(network(), rate=1e-9, expected=10.0).fit(x.numpy(), y.numpy())


def test_settings_that_do_not_fit_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = records(50)
    for given in (
        {"noise": None},
        {"epsilon": 1.0},
        {"noise": None, "epsilon": 1.0},
        {"noise": -1.0},
        {"rate": 2.0},
        {"steps": 0},
        {"clip": 0.0},
        {"max_batch": 0},
        {"dependence": -1e-9},
        {"dependence": 1.0},
        {"before": "noise=1,rate=0.1,steps=5"},
    ):
        with pytest.raises(efface.InputError):
            trainer(network(), **given)
    with pytest.raises(efface.InputError, match="50 records"):
        trainer(network()).fit(x, y[:-1])
    with pytest.raises(efface.InputError, match="`targets` is missing"):
        trainer(network()).fit(x)
    with pytest.raises(efface.InputError, match="cannot be computed"):
        trainer(network()).fit(x[:, :3], y)
    other = nn.Linear(2, 2)
    with pytest.raises(efface.InputError, match="exactly the parameters"):
        trainer(network(), optimizer=lambda _: torch.optim.SGD(other.parameters(), lr=0.1)).fit(
            x, y
        )
    trainer(network(), steps=20, verbose=1).fit(x, y)
    told = capsys.readouterr().err.splitlines()
    assert told == [f"step {done} of 20" for done in range(2, 21, 2)]


def test_rows_of_frames_go_by_position_with_targets_of_the_same_index() -> None:
    pd = pytest.importorskip("pandas")
    x, y = records(60)
    labels = np.random.default_rng(0).permutation(60)
    frame, targets = pd.DataFrame(x.numpy(), index=labels), pd.Series(y.numpy(), index=labels)
    taken = _per_record.Records(frame, targets).at(np.array([3, 7], dtype=np.uint32))
    assert torch.equal(taken[0], x[[3, 7]]) and torch.equal(taken[1], y[[3, 7]])
    with pytest.raises(efface.InputError, match="`data` and `targets` have different indexes"):
        trainer(network()).fit(frame, targets.iloc[::-1])

"""Features that a public model makes: what they are named by, and what is refused."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score, train_test_split

import efface
from efface import Promise, UnlearningClassifier

WEIGHTS = np.random.default_rng(7).normal(size=(5, 12))


def encoder(batch: Any) -> Any:
    return np.tanh(np.asarray(batch) @ WEIGHTS)


def records(count: int = 300) -> tuple[Any, Any]:
    raw = np.random.default_rng(1).normal(size=(count, 5))
    return raw, np.where(raw[:, 0] * raw[:, 1] > 0, "same", "other")


def made(raw: Any, name: str = "encoder 3") -> Any:
    return efface.extract(encoder, raw, name=name, batch_size=64)


def stated(certificate: efface.Certificate) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(certificate.to_json())
    return document


def test_certificates_name_the_model(tmp_path: Path) -> None:
    raw, y = records()
    X = made(raw)
    assert X.shape == (300, 12)
    assert X.dtype == np.float32
    assert X.extractor == "encoder 3"
    assert X.dependence is not None
    assert X.dependence < 1e-5
    np.testing.assert_allclose(np.asarray(X), encoder(raw), rtol=1e-5, atol=1e-6)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    assert train.extractor == "encoder 3"
    model = UnlearningClassifier().fit(train, y_train)
    assert model.score(test, y_test) > 0.4
    certificate = model.forget(ids="row:3")
    document = stated(certificate)
    listed = {c["name"]: c for c in document["constants"]}
    assert listed["extractor"]["value"] == "encoder 3"
    assert "extractor" in {a["name"] for a in document["assumptions"]}
    assert any("public model" in line for line in document["scope"]["does_not_cover"])
    path = tmp_path / "model.efface"
    model.save(path)
    assert certificate.verify(key=model.vault_.public_key, vault=path)
    model.add(test[:2], y_test[:2])
    # What was computed elsewhere in the same way is taken, as from a pipeline.
    model.predict(encoder(raw[:3]))
    other = made(raw, "encoder 4")
    for loaded in (model, UnlearningClassifier.load(path), pickle.loads(pickle.dumps(model))):
        with pytest.raises(efface.InputError, match="outputs of 'encoder 3'"):
            loaded.predict(other)
    with pytest.raises(efface.InputError, match="'encoder 4'"):
        model.add(other[:2], y[:2])
    plain = UnlearningClassifier().fit(encoder(raw), y)
    with pytest.raises(efface.InputError, match="name no public model"):
        plain.predict(X)


def test_what_goes_before_the_model_is_named_with_it() -> None:
    raw, y = records()
    steps: dict[str, Any] = {"preprocess": lambda batch: batch / 2, "preprocess_name": "halves"}
    X = efface.extract(encoder, raw, name="encoder 3", **steps)
    np.testing.assert_allclose(X, encoder(raw / 2), rtol=1e-5, atol=1e-6)
    assert X.extractor == "encoder 3, after halves"
    model = UnlearningClassifier().fit(X, y)
    listed = {c["name"]: c for c in stated(model.forget(ids="row:3"))["constants"]}
    assert listed["extractor"]["value"] == "encoder 3, after halves"
    with pytest.raises(efface.InputError, match="outputs of 'encoder 3, after halves'"):
        model.predict(made(raw))
    for missing, said in (("preprocess_name", "which steps"), ("preprocess", "there is no")):
        with pytest.raises(efface.InputError, match=said):
            efface.extract(encoder, raw, name="x", **{**steps, missing: None})
    with pytest.raises(efface.Refused, match="other records of its batch"):
        efface.extract(
            encoder,
            raw,
            name="x",
            preprocess=lambda b: b - b.mean(axis=0),
            preprocess_name="centred",
        )
    with pytest.raises(efface.InputError, match="must be a module of torch or a callable, got str"):
        efface.extract(encoder, raw, name="x", preprocess="halves", preprocess_name="x")  # type: ignore[arg-type]


def test_a_model_may_be_named_without_rows_that_say_it() -> None:
    raw, y = records()
    model = UnlearningClassifier(promise=Promise(extractor="encoder 3")).fit(encoder(raw), y)
    model.predict(made(raw))
    UnlearningClassifier(promise=Promise(extractor="encoder 3")).fit(made(raw), y)
    with pytest.raises(efface.InputError, match=r"leave out `Promise.extractor="):
        UnlearningClassifier(promise=Promise(extractor="encoder 4")).fit(made(raw), y)
    with pytest.raises(efface.InputError, match="control character"):
        UnlearningClassifier(promise=Promise(extractor="two\nlines")).fit(encoder(raw), y)
    assert cross_val_score(UnlearningClassifier(), made(raw), y, cv=3).shape == (3,)


def test_only_outputs_keep_the_name() -> None:
    X = made(records()[0])
    for kept in (X[3:9], X[[1, 2]], copy.copy(X), pickle.loads(pickle.dumps(X))):
        assert kept.extractor == "encoder 3"
    made_of = (X * 2, X + X, np.concatenate([X, X]), np.tanh(X), X.sum(axis=1), X.T, X[:, 1:])
    for computed in (*made_of, X.dot(np.ones((12, 2))), X.astype(int), X.reshape(600, 6)):
        assert getattr(computed, "extractor", None) is None
    assert X.copy().extractor is None
    with pytest.raises(ValueError, match="read-only"):
        X[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        np.add(X, 1.0, out=X)


def test_every_batch_is_looked_at() -> None:
    raw, _ = records()

    def centred(batch: Any) -> Any:
        return batch - batch.mean(axis=0)

    with pytest.raises(efface.Refused, match="depends on the other records"):
        efface.extract(centred, iter([raw[:1], raw[1:]]), name="x")

    def later(batch: Any) -> Any:
        return batch if len(batch) < 60 else centred(batch)

    with pytest.raises(efface.Refused, match="depends on the other records"):
        efface.extract(later, iter([raw[:50], raw[50:]]), name="x")

    def beside_a_constant(batch: Any) -> Any:
        return np.hstack([np.full((len(batch), 1), 1e4), centred(batch)])

    with pytest.raises(efface.Refused, match="depends on the other records"):
        efface.extract(beside_a_constant, raw, name="x")
    with pytest.raises(efface.Refused, match="by itself"):
        efface.extract(two_at_least, raw, name="x")
    with pytest.raises(efface.Refused, match="on chance"):
        drawn = np.random.default_rng(3)
        efface.extract(lambda b: b + drawn.normal(size=b.shape), raw, name="x", batch_size=1)


def two_at_least(batch: Any) -> Any:
    if len(batch) < 2:
        raise ValueError("two records at least")
    return batch


class Fitted:
    """Scales by what the first call had, and keeps that in one of several places."""

    kept: Any = None

    def __init__(self, where: str) -> None:
        self.where, self.held = where, [dict[str, Any]()]

    def __call__(self, batch: Any) -> Any:
        rows = np.asarray(batch)
        scale = self.held[0].get("scale", type(self).kept)
        if scale is None:
            scale = np.abs(rows).max(axis=0)
            if self.where == "class":
                type(self).kept = scale
            else:
                self.held[0]["scale"] = scale
        return np.tanh(rows / scale)


def closing() -> Any:
    most = 0.0

    def scaled(batch: Any) -> Any:
        nonlocal most
        most = max(most, float(np.abs(batch).max()))
        return np.asarray(batch) / most

    return scaled


def vocabulary() -> Any:
    known: dict[float, int] = {}

    def numbered(batch: Any) -> Any:
        cells = np.asarray(batch)[:, 0]
        return np.array([[known.setdefault(cell, len(known))] for cell in cells])

    return numbered


def bound() -> Any:
    class Running:
        most = 0.0

        def transform(self, batch: Any) -> Any:
            self.most = max(self.most, float(np.abs(batch).max()))
            return np.asarray(batch) * 1.0

    return Running().transform


@pytest.mark.parametrize("batch_size", [1, 64])
@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda: Fitted("object"), "`held` of `Fitted`"),
        (lambda: Fitted("class"), "`kept` of `Fitted`"),
        (closing, "`most` of `scaled`|depends on the other"),
        (vocabulary, "`known` of `numbered`"),
        (bound, "`most` of `transform`"),
    ],
)
def test_models_that_fit_themselves_are_refused(model: Any, said: str, batch_size: int) -> None:
    raw, _ = records()
    Fitted.kept = None
    with pytest.raises(efface.Refused, match=said):
        efface.extract(model(), raw, name="x", batch_size=batch_size)
    Fitted.kept = None


def test_an_answer_must_repeat_where_nothing_can_be_seen() -> None:
    raw, _ = records()
    pickle.efface_calls = 0  # type: ignore[attr-defined]

    def drifting(batch: Any) -> Any:
        pickle.efface_calls += 1  # type: ignore[attr-defined]
        return np.asarray(batch) * (1 + 1e-6 * pickle.efface_calls)  # type: ignore[attr-defined]

    try:
        with pytest.raises(efface.Refused, match="changed after other records"):
            efface.extract(drifting, raw, name="x")
    finally:
        del pickle.efface_calls  # type: ignore[attr-defined]


def test_one_large_record_hides_no_dependence_of_the_others() -> None:
    raw, _ = records()
    raw[7] *= 1e6

    def beside(batch: Any) -> Any:
        rows = np.asarray(batch)
        return rows + 1e-2 * np.roll(rows, 1, axis=0) * (len(rows) > 1)

    with pytest.raises(efface.Refused, match="depends on the other records"):
        efface.extract(beside, raw, name="x")


def test_what_rounding_leaves_is_said() -> None:
    raw, y = records()
    X = made(raw)
    X.dependence = 2e-6
    document = stated(UnlearningClassifier().fit(X, y).certificate_)
    assert any("2e-06" in line for line in document["scope"]["does_not_cover"])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda batch: batch - batch.mean(axis=0), "depends on the other records"),
        (lambda batch: batch + np.random.default_rng().normal(size=batch.shape), "on chance"),
        (lambda batch: batch[:-1], "a row for each"),
        (lambda batch: batch.sum(), "one number"),
        (lambda batch: batch / 0.0, "not finite"),
        (lambda batch: np.full(len(batch), "word"), "must give numbers"),
        (lambda batch: np.ones((len(batch), 1 + len(batch) % 7)), "length"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_no_model_of_single_records_is_refused(model: Any, reason: str) -> None:
    with pytest.raises(efface.Error, match=reason):
        efface.extract(model, records()[0], name="x", batch_size=100)


def test_batches_and_lists() -> None:
    raw, _ = records(10)
    in_batches = efface.extract(encoder, iter([(raw[:6], "y"), (raw[6:], "y")]), name="x")
    np.testing.assert_array_equal(in_batches, efface.extract(encoder, list(raw), name="x"))
    for data, said in ((raw[:0], "no records"), (3, "got int"), ("text", "one text")):
        with pytest.raises(efface.InputError, match=said):
            efface.extract(encoder, data, name="x")
    for nameless in (None, "", " "):
        with pytest.raises(efface.InputError, match="`name`"):
            efface.extract(encoder, raw, name=nameless)
    with pytest.raises(efface.InputError, match="batch_size"):
        efface.extract(encoder, raw, name="x", batch_size=0)


class Shuffled:
    """A loader that draws the order of its records."""

    class RandomSampler:
        """As torch calls one."""

    sampler = RandomSampler()

    def __iter__(self) -> Any:
        return iter([records()[0]])


def test_a_shuffling_loader_is_refused() -> None:
    with pytest.raises(efface.InputError, match="RandomSampler"):
        efface.extract(encoder, Shuffled(), name="x")


def test_modules_of_torch() -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(
        torch.nn.Linear(5, 12), torch.nn.BatchNorm1d(12), torch.nn.Tanh(), torch.nn.Dropout(0.5)
    )
    raw, y = records()
    with pytest.raises(efface.Refused, match="training mode"):
        efface.extract(module, raw)
    X = efface.extract(module.eval(), raw, name="small")
    assert X.extractor is not None
    assert X.extractor.startswith("small, sha256 ")
    assert len(X.extractor) == len("small, sha256 ") + 64
    loader = torch.utils.data.DataLoader(torch.tensor(raw).float(), batch_size=50)
    np.testing.assert_allclose(efface.extract(module, loader, name="small"), X, rtol=1e-4)
    drawn = torch.utils.data.DataLoader(torch.tensor(raw).float(), batch_size=50, shuffle=True)
    with pytest.raises(efface.InputError, match="RandomSampler"):
        efface.extract(module, drawn)
    rows = torch.tensor(raw).float()
    sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(rows), 50, False)
    drawn = torch.utils.data.DataLoader(rows, batch_sampler=sampler)
    with pytest.raises(efface.InputError, match="RandomSampler"):
        efface.extract(module, drawn)
    scaled = [torch.nn.Sequential(torch.nn.Hardtanh(-b, b)).eval() for b in (2.0, 3.0)]
    said = [efface.extract(module, raw, name="small", preprocess=s).extractor for s in scaled]
    assert all(str(one).startswith(f"{X.extractor}, after Sequential, sha256 ") for one in said)
    assert said[0] != said[1]
    with pytest.raises(efface.Refused, match="`preprocess` is in training mode"):
        efface.extract(module, raw, preprocess=scaled[0].train())

    class Scaling(torch.nn.Module):  # type: ignore[misc,name-defined]
        scale: Any = None

        def forward(self, x: Any) -> Any:
            if self.scale is None:
                self.scale = x.abs().max()
            return torch.tanh(x / self.scale)

    with pytest.raises(efface.Refused, match=r"`0\.scale` of `Sequential`"):
        efface.extract(torch.nn.Sequential(Scaling()).eval(), raw)
    model = UnlearningClassifier().fit(X, y)
    with torch.no_grad():
        module[0].weight[0, 0] += 1e-3
    with pytest.raises(efface.InputError, match="outputs of 'small, sha256"):
        model.predict(efface.extract(module, raw, name="small"))
    module[1].train()
    with pytest.raises(efface.Refused, match="training mode"):
        efface.extract(module, raw)

"""A network as an estimator of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ._errors import InputError
from ._parameters import DPSGD, Declared, Mechanism, Shards
from ._reading import Scoring
from .classifier import UnlearningClassifier

if TYPE_CHECKING:
    from typing_extensions import Self

    from .certificate import Certificate
    from .vault import Vault

# The parameters that each mechanism has of its own.
_OWN: dict[str, tuple[type[Mechanism], tuple[str, ...]]] = {
    "dp-sgd": (DPSGD, ("deletions", "steps", "rate", "gradient_clip", "optimizer", "average")),
    "shards": (Shards, ("shards", "epochs", "batch_size")),
}
_BOTH = ("network", "eta", "momentum")
_OF_NOISE = ("epsilon", "delta")


class NetworkClassifier(Scoring, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small network that forgets records on request, and certifies it.

    An :class:`UnlearningClassifier` with ``mechanism=DPSGD(...)`` or ``Shards(...)``, which
    `model_` is once it is fitted, with their parameters in one place, and with images as they come.

    Parameters
    ----------
    network : str, default="dense:64"
        The layers, such as ``"conv:16x8/2,pool,dense:32"``; that of the classes is added. Images
        say their own shape, which the text must not.
    mechanism : {"dp-sgd", "shards"}, default="dp-sgd"
        Noise for so many deletions, which then compute nothing; or shards without noise, of which a
        deletion trains one anew and is exact.
    epsilon, delta : float, optional
        What all deletions together may tell; of ``"dp-sgd"``. By default 1, and the engine's delta.
    deletions : int, optional
        Deletions that the noise is enough for; of ``"dp-sgd"``. By default 1.
    steps, rate, gradient_clip : optional
        Steps of a training, the probability with which a record is in one, the bound on its
        gradient; of ``"dp-sgd"``.
    optimizer : {"sgd", "adam"}, optional
        How weights follow the noisy sums; of ``"dp-sgd"``. By default ``"sgd"``.
    average : float, optional
        Share of the average of the weights that each step keeps; of ``"dp-sgd"``. With 0 the
        weights of the last step are the model.
    shards, epochs, batch_size : int, optional
        Shards, passes over each, and records of a step; of ``"shards"``. By default 10, 8 and 64.
    eta, momentum : float, optional
        Size of a step, and the share of the last one that it repeats (not with ``"adam"``).
    row_norm : float, optional
        Longer rows are shortened to it; 100 unless given. Numbers of images are best in [0, 1].
    classes : array-like, optional
        The classes as public knowledge.
    random_state : int, optional
        For tests only; of ``"dp-sgd"``.

    Attributes
    ----------
    model_ : UnlearningClassifier
        What was fitted.
    classes_ : array (classes,)
        The classes, sorted.
    n_features_in_ : int
        Numbers of a row.
    certificate_ : Certificate
        The latest.
    vault_ : Vault
        The vault.

    Examples
    --------
    >>> import efface
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> images = rng.uniform(0, 0.2, size=(300, 8, 8))
    >>> y = rng.integers(0, 2, size=300)
    >>> images[y == 1, 2:4] += 0.8
    >>> model = efface.NetworkClassifier("conv:4x3/2,dense:8", mechanism="shards", shards=3)
    >>> model = model.fit(images, y)
    >>> model.score(images, y) > 0.9
    True
    >>> model.forget(ids="row:3").claims[0].notion
    'exact-removal'
    """

    def __init__(
        self,
        network: str = "dense:64",
        *,
        mechanism: str = "dp-sgd",
        epsilon: float | None = None,
        delta: float | None = None,
        deletions: int | None = None,
        steps: int | None = None,
        rate: float | None = None,
        gradient_clip: float | None = None,
        optimizer: str | None = None,
        average: float | None = None,
        shards: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        eta: float | None = None,
        momentum: float | None = None,
        row_norm: float | None = None,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.network = network
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.delta = delta
        self.deletions = deletions
        self.steps = steps
        self.rate = rate
        self.gradient_clip = gradient_clip
        self.optimizer = optimizer
        self.average = average
        self.shards = shards
        self.epochs = epochs
        self.batch_size = batch_size
        self.eta = eta
        self.momentum = momentum
        self.row_norm = row_norm
        self.classes = classes
        self.random_state = random_state

    def _estimator(self, image: tuple[int, ...] | None) -> UnlearningClassifier:
        """The estimator that these parameters stand for, of images of that shape, or of rows."""
        if self.mechanism not in _OWN:
            names = " or ".join(f'"{name}"' for name in _OWN)
            raise InputError(
                f"`mechanism` must be {names}, got {self.mechanism!r}", code="mechanism"
            )
        kind, own = _OWN[self.mechanism]
        others = {name for _, names in _OWN.values() for name in names} - set(own)
        if self.mechanism != "dp-sgd":
            others |= set(_OF_NOISE)
        for name in sorted(others):
            if getattr(self, name) is not None:
                raise InputError(
                    f'`{name}` has no meaning with mechanism="{self.mechanism}"', code="settings"
                )
        settings = {name: getattr(self, name) for name in (*_BOTH, *own)}
        settings = {name: value for name, value in settings.items() if value is not None}
        if image is not None:
            if "image=" in self.network:
                raise InputError(
                    "`network` must not say the shape of images that say it themselves",
                    code="network",
                )
            settings["network"] += ",image=" + "x".join(map(str, image))
        given = {name: getattr(self, name) for name in (*_OF_NOISE, "classes")}
        given = {name: value for name, value in given.items() if value is not None}
        if self.row_norm is not None:
            given["preprocess"] = Declared(row_norm=self.row_norm)
        if self.random_state is not None and self.mechanism == "dp-sgd":
            given["random_state"] = self.random_state
        return UnlearningClassifier(mechanism=kind(**settings), **given)

    def fit(self, X: Any, y: Any, ids: Any = None, subjects: Any = None) -> Self:
        """Train on rows, or on images, and make a new vault.

        Parameters
        ----------
        X : array (rows, features), (rows, height, width) or (rows, height, width, channels)
            Finite numbers; also whatever :meth:`UnlearningClassifier.fit` takes.
        y : array (rows,)
            Classes.
        ids, subjects : optional
            As for :meth:`UnlearningClassifier.fit`.

        Returns
        -------
        self
            The estimator.
        """
        rows, image = _flat(X)
        model = self._estimator(image).fit(rows, y, ids, subjects)
        self.model_, self._image = model, image
        return self

    def forget(self, *names: Any, **named: Any) -> Certificate:
        """Delete records and certify it: :meth:`UnlearningClassifier.forget`."""
        forgotten: Certificate = self._fitted.forget(*names, **named)
        return forgotten

    def add(
        self, X: Any, y: Any, ids: Any = None, subjects: Any = None, request_id: str | None = None
    ) -> Certificate:
        """Add records, and train anew what they touch: :meth:`UnlearningClassifier.add`."""
        return self._fitted.add(self._rows(X), y, ids, subjects, request_id)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each row or image."""
        return self._fitted.predict(self._rows(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, a column for each of `classes_`."""
        chances: NDArray[np.float64] = self._fitted.predict_proba(self._rows(X))
        return chances

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return how far each row is on the side of a class."""
        return self._fitted.decision_function(self._rows(X))

    def save(self, path: Any) -> Self:
        """Move the vault to a place of your choice: :meth:`UnlearningClassifier.save`."""
        self._fitted.save(path)
        return self

    @classmethod
    def open(cls, path: Any, *, key: Any = None) -> Self:
        """Make an estimator of the vault of a network, which takes rows or images as it was fitted.

        Parameters
        ----------
        path : path
            The vault.
        key : path, optional
            As for :meth:`UnlearningClassifier.load`.

        Raises
        ------
        InputError
            If the vault holds another model than a network.
        """
        model = UnlearningClassifier.load(path, key=key)
        kind = model.mechanism
        if not isinstance(kind, DPSGD | Shards):
            raise InputError(f"{path} holds no network", code="mechanism")
        parts = (kind.network or "dense:64").split(",")
        layers = [part for part in parts if not part.startswith("image=")]
        shape = [part for part in parts if part.startswith("image=")]
        own = {name: getattr(kind, name) for name in (*_BOTH, *_OWN[kind.name][1])}
        noise = _OF_NOISE if kind.name == "dp-sgd" else ()
        given = {name: getattr(model, name) for name in (*noise, "classes")}
        given["row_norm"] = getattr(model.preprocess, "row_norm", None)
        made = cls(**{**own, **given, "network": ",".join(layers), "mechanism": kind.name})
        made.model_ = model
        made._image = tuple(map(int, shape[0][6:].split("x"))) if shape else None
        return made

    @property
    def _fitted(self) -> UnlearningClassifier:
        check_is_fitted(self, "model_")
        return self.model_

    def _rows(self, X: Any) -> Any:
        """Rows of images of the shape that it was fitted on."""
        check_is_fitted(self, "model_")
        rows, image = _flat(X)
        if image is not None and image != self._image:
            raise InputError(
                f"the images are {image}, the network was fitted on {self._image}", code="network"
            )
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        return self._fitted.classes_

    @property
    def n_features_in_(self) -> int:
        """Numbers of a row."""
        return int(self._fitted.n_features_in_)

    @property
    def certificate_(self) -> Certificate:
        """The latest certificate."""
        return self._fitted.certificate_

    @property
    def vault_(self) -> Vault:
        """The vault."""
        return self._fitted.vault_


def _flat(X: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Images as rows of numbers, with their shape; other rows as they are.

    Channel stands after channel, and in each line after line.
    """
    if getattr(X, "ndim", 2) == 3:
        images = np.asarray(X)
        return images.reshape(len(images), -1), images.shape[1:]
    if getattr(X, "ndim", 2) == 4:
        images = np.moveaxis(np.asarray(X), -1, 1)
        return images.reshape(len(images), -1), images.shape[1:]
    return X, None

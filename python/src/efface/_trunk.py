"""Classifiers on a fitted network: the parameters `trunk` and `head`, and what they stand for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError

from ._errors import InputError
from ._estimator import Unlearner
from ._parameters import MECHANISMS, Mechanism
from ._setting import settings
from .vault import Vault

if TYPE_CHECKING:
    from typing_extensions import Self

# A last layer of probabilities, whatever the number of classes.
_SOFTMAX = "softmax"


def path_of(trunk: Any) -> str:
    """Return where the vault of a network is, given as an estimator, a vault or a path."""
    if isinstance(trunk, str | os.PathLike):
        return os.fsdecode(trunk)
    if isinstance(trunk, Vault):
        return str(trunk.path)
    try:
        return str(trunk.vault_.path)
    except NotFittedError:
        raise InputError(
            f"`trunk` must be fitted, got {type(trunk).__name__} before `fit`",
            code="trunk",
            hint="fit it first; searches copy the values that they try, and their copies are not "
            "fitted: list paths, `trunk.vault_.path`",
        ) from None
    except AttributeError:
        raise InputError(
            "`trunk` must be a fitted network, its vault or the vault's path, got "
            f"{type(trunk).__name__}",
            code="trunk",
        ) from None


class OnTrunk(Unlearner):
    """What the two parameters change; they are settings by other names, and the engine has no more.

    A trunk is where a network is, not a part to be fitted: clones refer to the same, and its own
    parameters are none of this estimator's.
    """

    loss: str
    trunk: Any = None
    head: str | Mechanism | None = None

    @property
    def _mechanism(self) -> Any:
        if self.head is None:
            return super()._mechanism
        return settings()["mechanism"].default if self.head == _SOFTMAX else self.head

    @property
    def _features(self) -> str | None:
        return super()._features if self.trunk is None else f"network:{path_of(self.trunk)}"

    def _softmax(self, classes: int) -> dict[str, Any]:
        """The loss that a head of this name has beyond two classes."""
        return {"loss": _SOFTMAX} if self._has_softmax() and classes > 2 else {}

    def _has_softmax(self) -> bool:
        return isinstance(self.head, str) and self.head == _SOFTMAX

    def _refits(self) -> bool:
        # Asked before `fit`, when there may be no network yet.
        return super()._refits() if self.trunk is None else self.preprocess == "fitted"

    def _asks_for_declared(self) -> str | None:
        return super()._asks_for_declared() if self.trunk is None else "`trunk`"

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.trunk is None:
            if self.head is not None:
                raise InputError(
                    f"`head` is the last layer on a `trunk`, got {self.head!r} without one",
                    code="settings",
                    hint="without a network use `mechanism`",
                )
            return
        for name, other in (("trunk", "features"), ("head", "mechanism")):
            given = getattr(self, other)
            default = type(self).parameters[other].default
            if getattr(self, name) is not None and given != default:
                raise InputError(
                    f"`{name}` stands for `{other}`, got {other}={given!r} beside it",
                    code="settings",
                    hint="give one of them",
                )
        if self._has_softmax() and self.loss not in (settings()["loss"].default, _SOFTMAX):
            raise InputError(
                f'`head="{_SOFTMAX}"` has a loss of its own, got loss={self.loss!r} beside it',
                code="settings",
                hint='use `head="solve"` with this loss',
            )
        names = [_SOFTMAX, *MECHANISMS]
        if isinstance(self.head, str) and self.head not in names:
            raise InputError(
                f"`head` must be a mechanism or one of {', '.join(names)}, got {self.head!r}",
                code="settings",
            )
        path_of(self.trunk)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and those of the mechanism as ``mechanism__steps``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include those of the mechanism.

        Returns
        -------
        dict
            Values by name. A network given as `trunk` is fitted: its own are not among them.
        """
        found = super().get_params(deep=deep)
        return {name: value for name, value in found.items() if not name.startswith("trunk__")}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; ``mechanism__steps=400`` sets one of the mechanism's own.

        Parameters
        ----------
        **parameters
            Parameters by name.

        Returns
        -------
        self
            The estimator.
        """
        of_trunk = [name for name in parameters if name.startswith("trunk__")]
        if of_trunk:
            raise InputError(
                f"`{of_trunk[0]}` cannot be set: the network of `trunk` is fitted",
                code="settings",
                hint="set it on the network, fit that, and give it as `trunk`",
            )
        super().set_params(**parameters)
        return self

    def __sklearn_clone__(self) -> Self:
        made: Self = super().__sklearn_clone__()
        made.trunk = self.trunk
        return made

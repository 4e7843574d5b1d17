"""Rows that stay in memory between the requests of one process."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any, final

from . import _engine
from ._errors import Refused
from ._introspect import models_inside
from .vault import Vault


@final
class Resident:
    """Rows of one or several models that stay in memory; made by :func:`resident`.

    A context manager: at its end the rows are overwritten, as :meth:`close` does.
    """

    def __init__(self, vaults: list[Any]) -> None:
        self._held = [_engine.ResidentRows(vault) for vault in vaults]

    @property
    def rows(self) -> int:
        """The number of rows in memory now: 0 before the first request."""
        return sum(held.rows for held in self._held)

    @property
    def readings(self) -> int:
        """The number of times a vault was read: once, unless others wrote to it meanwhile."""
        return sum(held.readings for held in self._held)

    def close(self) -> None:
        """Overwrite the rows; later requests read the vault, as they do without this."""
        for held in self._held:
            held.close()

    def __enter__(self) -> Resident:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<efface.Resident of {self.rows} rows>"


def resident(model: Any) -> Resident:
    """Keep the rows of a model in memory between requests of this process.

    The first request reads all rows and holds all names against them; the next ones only read what
    they change. Models, certificates and vaults are the same to the bit as without it. Rows that a
    request takes out are overwritten in memory as well. Where another process has served the vault
    or written to its file in between, all rows are read anew.

    The rows take the memory that a request takes anyway, for as long as this stands. What is
    deleted meanwhile by another process, or here under another name of the file, leaves the vault,
    but stays in this memory until the next request or until :meth:`Resident.close`. What
    :meth:`Vault.prepare` makes meanwhile is here beside them, for the next request, and not in the
    vault. A process that is forked has a copy of the rows, which only its own end overwrites.

    Parameters
    ----------
    model : fitted object, Vault or path
        An estimator, whatever has estimators inside (a pipeline, a search, an ensemble, a list),
        or a vault.

    Returns
    -------
    Resident
        What holds them, a context manager.

    Raises
    ------
    Refused
        For models whose rows are with Dask workers: they are in memory there.
    VaultMissing
        If there is no such vault.

    Examples
    --------
    >>> import numpy as np
    >>> import efface
    >>> X = np.random.default_rng(0).normal(size=(300, 3)) / 4
    >>> model = efface.UnlearningClassifier().fit(X, X[:, 0] > 0)
    >>> with efface.resident(model) as rows:
    ...     one = model.forget("row:7")
    ...     other = model.forget("row:8")
    ...     rows.rows, rows.readings
    (298, 1)
    """
    vaults = _vaults(model)
    for vault in vaults:
        if json.loads(_engine.plan_of(vault)).get("in_parts"):
            raise Refused(
                f"the rows of {vault} are with Dask workers, where they are in memory already",
                code="held-elsewhere",
                hint="leave out `efface.resident` for this model",
            )
    return Resident(list(dict.fromkeys(vaults)))


def _vaults(model: Any) -> list[Any]:
    """The paths of all vaults that a model or an object with models has."""
    if isinstance(model, str | PathLike):
        model = Vault(model)
    if isinstance(model, Vault):
        return [model.path]
    return [one.vault_.path for one in models_inside(model).models.values()]

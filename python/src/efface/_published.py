"""The weights of a model as published, and what they say about rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _engine
from ._entry import Weights
from ._frames import columns_of
from ._notices import Notice, warn_of
from ._table import table


@dataclass(frozen=True)
class Published:
    """Weights, and the row map they are for.

    Attributes
    ----------
    version : int
        Version of the model.
    coef : array (outputs, features)
        In float64, not to be written to; of a network all of its weights, in one row.
    intercept : array (outputs,)
        What is added to each output.
    facts : dict
        What else the engine says of them: among it ``row_norm`` and ``row_map``, the bound on rows
        and what is done to obey it, at training and here alike.
    order : tuple of int, optional
        Which outputs of a network there are, where that is not as it gives them.
    """

    version: int
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    facts: dict[str, Any]
    order: tuple[int, ...] | None = None

    @classmethod
    def of(cls, weights: Weights) -> Published:
        """Take them as the engine tells them."""
        coef, intercept, text = weights
        facts = json.loads(text)
        return cls(facts["version"], _frozen(coef), _frozen(intercept), facts)

    def scaled(self, factor: Any, shift: Any = 0.0) -> Published:
        """Return them for outputs times a factor, plus a shift; one for all, or for each output."""
        coef, intercept = np.multiply(factor, self.coef.T).T, factor * self.intercept + shift
        return replace(self, coef=_frozen(coef), intercept=_frozen(intercept))

    @cached_property
    def per_unit(self) -> Published:
        """The same for numbers in the units of their columns; they are learnt standardised."""
        if self.facts["units"] is None:
            return self
        means, inverses = np.array(self.facts["units"]).reshape(-1, 2).T
        coef = self.coef * inverses
        return replace(self, coef=_frozen(coef), intercept=_frozen(self.intercept - coef @ means))

    def taken(self, order: list[int]) -> Published:
        """Return them for the outputs in another order."""
        if self.facts["network"] is not None:
            before = self.order or range(len(self.intercept))
            return replace(self, order=tuple(before[at] for at in order))
        return replace(
            self, coef=_frozen(self.coef[order]), intercept=_frozen(self.intercept[order])
        )

    def margins(self, x: Any) -> NDArray[np.float64]:
        """Return the outputs (rows, outputs) for rows as the engine would store them.

        Parameters
        ----------
        x : array (rows, features) or CSR matrix
            Finite numbers; with fitted preprocessing also a frame, and missing values.
        """
        facts, fitted = self.facts, self.facts["preprocessing"]
        if fitted is not None:
            names = facts["columns"]
            rows = table(x, columns=None if names is None else columns_of(x, names))
        else:
            # A schema of the command line encodes the numbers of the table.
            rows = table(x, schema=None if facts["plain"] else facts["schema"])
        margins, told = _engine.margins(
            rows,
            self.coef,
            self.intercept,
            row_map=facts["row_map"],
            row_norm=facts["row_norm"],
            preprocessing=fitted,
            feature_map=facts["feature_map"],
            trunk=facts["trunk"],
            network=facts["network"],
        )
        warn_of(Notice._of(notice) for notice in json.loads(told))
        return margins if self.order is None else margins[:, list(self.order)]


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array

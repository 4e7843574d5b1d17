"""Privacy accounting by itself: what a mechanism promises, from its public constants alone.

There is one function for each kind of case that the engine computes, the same as those of
``efface account KIND`` on the command line: conversions of guarantees, noisy gradient descent by
our accountants, and the bounds that papers published, to compare with. Each function's
documentation says where its formula is from and whether it is sound.

Inputs that are numbers broadcast as those of NumPy's functions do. Numbers in give a float (or an
int for counts) out; arrays in give arrays out. Functions with several results return them as
attributes of an object that also unpacks. What breaks a rule is refused with
:class:`efface.InputError`, which names the value, the rule and the place in the array.

Numbers are rounded to nearest. A certificate instead rounds every number against the one who
promises, and adds what its grid and floating-point steps cost: nothing here is a certificate.

:func:`efface.plan`, also here, ranks the mechanisms for given sizes.

Examples
--------
>>> import numpy as np
>>> from efface import accounting

The epsilon of a mechanism, and of a sweep over two parameters:

>>> accounting.gdp_epsilon(0.5, 1e-5)
1.9930914...
>>> mu = np.array([0.1, 0.3, 1.0])
>>> delta = np.array([[1e-5], [1e-8]])
>>> accounting.gdp_epsilon(mu, delta).round(3)
array([[0.341, 1.132, 4.377],
       [0.493, 1.568, 5.776]])

How epsilon falls with the steps after a deletion:

>>> bounds = accounting.noisy_gd(
...     n=10_000, lambda_=0.01, beta=0.25, lipschitz=1.0, eta=3.8, sigma=0.03,
...     learning_steps=1000, unlearning_steps=[0, 20, 40], group=1,
...     adjacency="remove-fixed", delta=1e-5,
... )
>>> bounds.epsilon.round(4)
array([0.1017, 0.0434, 0.0183])
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _engine
from .._kinds import Input, Kind, Output, kinds
from ..planner import plan
from . import _functions

if TYPE_CHECKING:
    from ._functions import *  # noqa: F403 - each kind's function and class of results

__all__ = ["Input", "Kind", "Output", "account", "kinds", "plan"]
__all__ += _functions.__all__


def __getattr__(name: str) -> Any:
    if name not in _functions.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_functions, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


def account(document: Mapping[str, Any] | str) -> dict[str, Any]:
    """Answer a batch of cases, as ``efface account --batch`` does.

    Parameters
    ----------
    document : mapping or str
        ``{"cases": [{"kind": ..., "inputs": {...}}, ...]}``, or its JSON. Kinds and inputs are
        spelt as :func:`kinds` has them; numbers are decimal strings, or numbers. Other keys are
        kept, but for ``expect`` of a case.

    Returns
    -------
    dict
        The document with a ``result`` in each case. Numbers are decimal strings, so that also
        those beyond the floats are there.

    Raises
    ------
    InputError
        At the first case that cannot be computed; nothing is answered then.

    Examples
    --------
    >>> from efface import accounting
    >>> case = {"kind": "gdp-delta", "inputs": {"mu": 0.5, "epsilon": 100}}
    >>> accounting.account({"cases": [case]})["cases"][0]["result"]["delta"]
    '3.2307437...e-8670'
    """
    text = document if isinstance(document, str) else json.dumps(document)
    answered: dict[str, Any] = json.loads(_engine.account(text))
    return answered

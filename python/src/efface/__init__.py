"""Linear models and small networks that can forget, and certificates that say so.

Names are imported when they are first used, so that ``import efface`` itself is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import accounting
    from ._entry import Check, Verdict
    from ._erasure import Erasure
    from ._errors import (
        BudgetExhausted,
        DamagedVaultWarning,
        DuplicateRecord,
        Error,
        FitRefused,
        InputError,
        Interrupted,
        ModelWithdrawn,
        NoiseDominatesWarning,
        NotCoveredWarning,
        PartlyForgotten,
        Refused,
        ReleasesExhausted,
        RowsClippedWarning,
        RowsCopiedWarning,
        SettingsWarning,
        StaleModelWarning,
        StorageError,
        UnknownRecord,
        UnknownSubject,
        UnsavedWarning,
        VaultBusy,
        VaultExists,
        VaultMissing,
    )
    from ._extract import Features, extract
    from ._forget import Forgotten, forget
    from ._notices import Notice
    from ._parameters import (
        DPSGD,
        DescentToDelete,
        DistributedDescent,
        Mechanism,
        NoisyGD,
        Retrain,
        Ridge,
        Shards,
        Solve,
    )
    from ._resident import Resident, resident
    from ._training import Training
    from .certificate import Certificate, Claim
    from .classifier import UnlearningClassifier
    from .network import NetworkClassifier
    from .planner import Plan, plan
    from .regressor import UnlearningRegressor
    from .vault import Receipt, Vault

_HOMES = {
    "_entry": ("Check", "Verdict"),
    "_erasure": ("Erasure",),
    "_errors": (
        "BudgetExhausted",
        "DamagedVaultWarning",
        "DuplicateRecord",
        "Error",
        "FitRefused",
        "InputError",
        "Interrupted",
        "ModelWithdrawn",
        "NoiseDominatesWarning",
        "NotCoveredWarning",
        "PartlyForgotten",
        "Refused",
        "ReleasesExhausted",
        "RowsClippedWarning",
        "RowsCopiedWarning",
        "SettingsWarning",
        "StaleModelWarning",
        "StorageError",
        "UnknownRecord",
        "UnknownSubject",
        "VaultBusy",
        "VaultExists",
        "UnsavedWarning",
        "VaultMissing",
    ),
    "_extract": ("Features", "extract"),
    "_forget": ("Forgotten", "forget"),
    "_notices": ("Notice",),
    "_parameters": (
        "DPSGD",
        "DescentToDelete",
        "DistributedDescent",
        "Mechanism",
        "NoisyGD",
        "Retrain",
        "Ridge",
        "Shards",
        "Solve",
    ),
    "_resident": ("Resident", "resident"),
    "_training": ("Training",),
    "certificate": ("Certificate", "Claim"),
    "classifier": ("UnlearningClassifier",),
    "network": ("NetworkClassifier",),
    "planner": ("Plan", "plan"),
    "regressor": ("UnlearningRegressor",),
    "vault": ("Receipt", "Vault"),
}
_MODULES = ("accounting",)
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order of `_HOMES` and `_MODULES`
    "Check",
    "Verdict",
    "Erasure",
    "BudgetExhausted",
    "DamagedVaultWarning",
    "DuplicateRecord",
    "Error",
    "FitRefused",
    "InputError",
    "Interrupted",
    "ModelWithdrawn",
    "NoiseDominatesWarning",
    "NotCoveredWarning",
    "PartlyForgotten",
    "Refused",
    "ReleasesExhausted",
    "RowsClippedWarning",
    "RowsCopiedWarning",
    "SettingsWarning",
    "StaleModelWarning",
    "StorageError",
    "UnknownRecord",
    "UnknownSubject",
    "VaultBusy",
    "VaultExists",
    "UnsavedWarning",
    "VaultMissing",
    "Features",
    "extract",
    "Forgotten",
    "forget",
    "Notice",
    "DPSGD",
    "DescentToDelete",
    "DistributedDescent",
    "Mechanism",
    "NoisyGD",
    "Retrain",
    "Ridge",
    "Shards",
    "Solve",
    "Resident",
    "resident",
    "Training",
    "Certificate",
    "Claim",
    "UnlearningClassifier",
    "NetworkClassifier",
    "Plan",
    "plan",
    "UnlearningRegressor",
    "Receipt",
    "Vault",
    "accounting",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._engine import VERSION

        return VERSION
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))

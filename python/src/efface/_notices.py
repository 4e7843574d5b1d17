"""Notices of the engine about an outcome, some of them as warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._errors import (
    DamagedVaultWarning,
    NoiseDominatesWarning,
    NotCoveredWarning,
    RowsClippedWarning,
    SettingsWarning,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BY_CODE: dict[str, type[UserWarning]] = {
    "column-changed": SettingsWarning,
    "column-left-out": SettingsWarning,
    "damaged-rows": DamagedVaultWarning,
    "id-learnt": SettingsWarning,
    "large-delta": SettingsWarning,
    "left-over": NotCoveredWarning,
    "no-request-covered": SettingsWarning,
    "noise-dominates": NoiseDominatesWarning,
    "numbers-unclear": SettingsWarning,
    "public-n-far-off": SettingsWarning,
    "rows-clipped": RowsClippedWarning,
    "rows-repeated": SettingsWarning,
    "subject-learnt": SettingsWarning,
    "subjects-beyond-deletions": SettingsWarning,
    "texts-missing": SettingsWarning,
    "values-alike": SettingsWarning,
    "values-unseen": SettingsWarning,
}


@dataclass(frozen=True)
class Notice:
    """Something to know about an outcome.

    Attributes
    ----------
    code : str
        What it is about, from a closed list.
    message : str
        In words.
    """

    code: str
    message: str

    def __str__(self) -> str:
        return self.message

    @classmethod
    def _of(cls, told: Mapping[str, Any]) -> Notice:
        return cls(code=told["code"], message=told["message"])


def warn_of(notices: Iterable[Notice]) -> None:
    """Warn where settings or rows should be changed."""
    for notice in notices:
        if category := _BY_CODE.get(notice.code):
            warn(notice.message, category)

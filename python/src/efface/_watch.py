"""Whether a vault has moved on since an estimator read it."""

from __future__ import annotations

import json
import time
from pathlib import Path

from . import _engine
from ._errors import Error, ModelWithdrawn

# Nanoseconds within which a file may change twice and show it once.
_RACY = 1_000_000_000

# In place of the version of a model that was withdrawn.
WITHDRAWN = 0


class Watch:
    """The version of a vault's model, asked for again when the file has changed.

    To look costs one call of the system while nothing happens. Estimators keep one of these, so
    that predicting changes nothing of their own.
    """

    def __init__(self) -> None:
        self._mark: tuple[int, int, int] | None = None
        self._looked = 0
        self._version: int | None = None

    def version(self, path: Path) -> int | None:
        """Return the version of the newest model; None where there is no vault to read."""
        looked = time.time_ns()
        try:
            facts = path.stat()
        except OSError:
            return None
        mark = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        settled = self._looked - facts.st_mtime_ns > _RACY
        if mark != self._mark or not settled:
            try:
                self._version = int(json.loads(_engine.weights(path)[2])["version"])
            except ModelWithdrawn:
                self._version = WITHDRAWN
            except Error:  # damaged, or not readable just now: a request will say so
                return None
            self._mark, self._looked = mark, looked
        return self._version

    def __deepcopy__(self, memo: dict[int, object]) -> Watch:
        return Watch()

    def __reduce__(self) -> tuple[type[Watch], tuple[()]]:
        return Watch, ()

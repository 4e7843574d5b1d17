"""The extension module; `crates/efface-python` is its source."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, NoReturn, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

_Path: TypeAlias = str | PathLike[str]
_Numbers: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
_Sparse: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], _Numbers, int]
_Column: TypeAlias = NDArray[np.int64] | NDArray[np.float64] | list[str]
_Targets: TypeAlias = tuple[NDArray[np.float64], list[str]]
_Place: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], bytes | None]
_Weights: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], str]
_Answer: TypeAlias = tuple[str, str, _Weights | None]
_Progress: TypeAlias = Callable[[str, int, int | None, float | None, float | None], Any]

__all__ = [
    "VERSION",
    "Part",
    "ReleasedSums",
    "ResidentRows",
    "Table",
    "Unsaved",
    "account",
    "add",
    "backup",
    "bounds",
    "certificate",
    "check_form",
    "codes",
    "create_key",
    "delete",
    "delete_dry_run",
    "doctor",
    "entries",
    "export",
    "kinds",
    "losses",
    "margins",
    "mechanisms",
    "parameter",
    "plan",
    "plan_of",
    "plan_page",
    "prepare",
    "public_key",
    "refresh",
    "relocate",
    "report",
    "show",
    "status",
    "train",
    "train_as_planned",
    "train_unsaved",
    "update",
    "verify",
    "verify_ledger",
    "weights",
]

VERSION: str

@final
class ReleasedSums:
    def __new__(
        cls, parameters: int, *, noise: float, rate: float, clip: float, steps: int, expected: float
    ) -> ReleasedSums: ...
    @property
    def grid(self) -> float: ...
    @property
    def steps(self) -> int: ...
    def draw(self, records: int) -> NDArray[np.uint32]: ...
    def add(self, gradients: NDArray[np.float32]) -> None: ...
    def release(self) -> NDArray[np.float64]: ...

@final
class ResidentRows:
    def __new__(cls, vault: _Path) -> ResidentRows: ...
    @property
    def rows(self) -> int: ...
    @property
    def readings(self) -> int: ...
    def close(self) -> None: ...

@final
class Table:
    def __new__(
        cls,
        x: _Numbers | _Sparse | list[tuple[str, Any]],
        *,
        y: _Column | _Targets | None = None,
        ids: _Column | None = None,
        subjects: _Column | None = None,
        weights: _Column | None = None,
        names: list[str] | None = None,
        classes: list[str] | None = None,
        schema: str | None = None,
        new_classes: bool = False,
    ) -> Table: ...

@final
class Part:
    def __new__(cls, table: Table, plan: str, salt: bytes) -> Part: ...
    @property
    def made(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def shortened(self) -> int: ...
    @property
    def fingerprint(self) -> bytes: ...
    def drop_names(self) -> None: ...
    def set_state(self, place: _Place) -> None: ...
    def change(self, before: _Place, after: _Place) -> bytes: ...
    def names(self, place: _Place) -> tuple[list[str] | None, list[str] | None]: ...
    def totals(
        self, place: _Place, weights: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]: ...
    def hessian(self, place: _Place, weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def product(
        self, place: _Place, weights: NDArray[np.float64], vector: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    def clipped(
        self,
        place: _Place,
        step: int,
        part: int,
        weights: NDArray[np.float32],
        rows: NDArray[np.uint32],
        lengths: NDArray[np.uint32] | None,
    ) -> tuple[int, int, int, NDArray[np.int64]]: ...
    def __reduce__(self) -> NoReturn: ...

def train(
    records: Table | str,
    settings: str,
    vault: _Path,
    key: _Path,
    *,
    start: bytes | None = None,
    progress: _Progress | None = None,
    parts: Any = None,
    memory: str | None = None,
) -> _Answer: ...

@final
class Unsaved:
    @property
    def answer(self) -> _Answer: ...
    @property
    def saved(self) -> bool: ...
    def write_key(self, key: _Path) -> None: ...
    def save(self, vault: _Path) -> None: ...

def train_unsaved(
    table: Table, settings: str, *, start: bytes | None = None, progress: _Progress | None = None
) -> Unsaved: ...
def train_as_planned(
    table: Table,
    plan: str,
    vault: _Path,
    key: _Path,
    *,
    choice: str | None = None,
    seed: int | None = None,
    progress: _Progress | None = None,
    memory: str | None = None,
) -> _Answer: ...
def delete(
    vault: _Path,
    key: _Path,
    *,
    ids: list[str] | None = None,
    subjects: list[str] | None = None,
    request_id: str | None = None,
    release: bool = True,
    progress: _Progress | None = None,
    parts: Any = None,
    memory: str | None = None,
) -> _Answer: ...
def backup(vault: _Path, destination: _Path) -> str: ...
def relocate(vault: _Path, destination: _Path) -> None: ...
def delete_dry_run(
    vault: _Path, key: _Path, *, ids: list[str] | None = None, subjects: list[str] | None = None
) -> str: ...
def add(
    table: Table,
    vault: _Path,
    key: _Path,
    *,
    request_id: str | None = None,
    progress: _Progress | None = None,
) -> _Answer: ...
def update(
    table: Table,
    vault: _Path,
    key: _Path,
    *,
    request_id: str | None = None,
    progress: _Progress | None = None,
    memory: str | None = None,
) -> _Answer: ...
def refresh(
    vault: _Path,
    key: _Path,
    *,
    request_id: str | None = None,
    progress: _Progress | None = None,
    parts: Any = None,
    memory: str | None = None,
) -> _Answer: ...
def prepare(
    vault: _Path, key: _Path, *, progress: _Progress | None = None, memory: str | None = None
) -> str: ...
def export(vault: _Path, key: _Path, format: Literal["npz", "json", "safetensors"]) -> bytes: ...
def status(vault: _Path) -> str: ...
def weights(vault: _Path) -> _Weights: ...
def margins(
    table: Table,
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    *,
    row_map: str,
    row_norm: float,
    preprocessing: str | None = None,
    feature_map: str | None = None,
    trunk: str | None = None,
    network: str | None = None,
    progress: _Progress | None = None,
) -> tuple[NDArray[np.float64], str]: ...
def fits_preprocessing(settings: str, raw: bool) -> bool: ...
def asks_for_declared(settings: str) -> str | None: ...
def plan_of(vault: _Path) -> str: ...
def entries(vault: _Path) -> str: ...
def certificate(vault: _Path, which: str = "latest") -> str: ...
def verify(
    certificate: str, *, key: str | None = None, vault: _Path | None = None, head: str | None = None
) -> str: ...
def verify_ledger(
    vault: _Path,
    *,
    key: str | None = None,
    head: str | None = None,
    whole: bool = False,
    key_file: _Path | None = None,
) -> str: ...
def doctor(vault: _Path, *, key_file: _Path | None = None) -> str: ...
def check_form(entry: str) -> None: ...
def show(certificate: str) -> tuple[str, str]: ...
def parameter(delta: float | None, order: float | None) -> str | None: ...
def plan_page(plan: str) -> str: ...
def bounds(certificate: str, *, delta: float | None = None) -> str: ...
def report(vault: _Path, *, audits: list[str]) -> str: ...
def account(cases: str) -> str: ...
def kinds() -> str: ...
def codes() -> str: ...
def losses() -> str: ...
def mechanisms() -> str: ...
def settings() -> str: ...
def plan(
    settings: str,
    workload: str,
    *,
    table: Table | None = None,
    sizes: str | None = None,
    progress: _Progress | None = None,
) -> tuple[str, str]: ...
def create_key(path: _Path) -> str: ...
def public_key(path: _Path) -> str: ...

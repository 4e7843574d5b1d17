"""A process whose arithmetic is not that of IEEE 754 is refused, and goes on once it is mended."""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import efface

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc",
    reason="the control register is written as the GNU C library lays it out for x86-64",
)

_FLUSH, _ZEROS, _UPWARD = 1 << 15, 1 << 6, 2 << 13
_REGISTER = 28  # Bytes before it in what `fegetenv` stores.


@contextmanager
def _told(bits: int) -> Iterator[None]:
    """Compute otherwise on this thread, and as before in the end."""
    library = ctypes.CDLL("libm.so.6")
    before = ctypes.create_string_buffer(32)
    library.fegetenv(before)
    changed = bytearray(before.raw)
    (register,) = struct.unpack_from("<I", changed, _REGISTER)
    struct.pack_into("<I", changed, _REGISTER, register | bits)
    library.fesetenv(ctypes.create_string_buffer(bytes(changed), 32))
    try:
        yield
    finally:
        library.fesetenv(before)


def _model() -> efface.UnlearningClassifier:
    rows = np.random.default_rng(0).normal(size=(60, 3))
    return efface.UnlearningClassifier().fit(rows, rows[:, 0] > 0)


@pytest.mark.parametrize("bits", [_FLUSH, _ZEROS, _UPWARD])
def test_other_arithmetic_is_refused(bits: int) -> None:
    model = _model()
    with _told(bits), pytest.raises(efface.Refused, match="IEEE 754") as caught:
        _model()
    assert caught.value.code == "arithmetic"
    with _told(bits), pytest.raises(efface.Refused, match="IEEE 754"):
        model.forget(["row:3"])
    # Nothing was changed, and the same request is served now.
    assert model.forget(["row:3"]).version == 2

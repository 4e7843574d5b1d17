"""Detects and undoes changes of the state that modules and callables keep."""

from __future__ import annotations

import functools
import hashlib
import logging
import pickle
import random
import secrets
import sys
import sysconfig
import types
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from ._errors import Refused

# Code in these folders is looked at by the attributes of its objects alone.
_LIBRARIES = ("site-packages", "dist-packages", sysconfig.get_path("stdlib"))

# Loggers fill a cache of their own when they are first called.
_OPAQUE = (types.ModuleType, logging.Logger)

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_LISTS = (list, tuple, set, frozenset, deque)

# Dicts of a module of torch, whose items are attributes of it.
_MODULES_OWN = ("_parameters", "_buffers", "_modules")


class State:
    """Digests of all that objects keep, by attribute.

    It follows attributes, containers, tensors, arrays, generators, bound methods, hooks, closures
    and default arguments. In code that is no library's it also follows attributes of classes, and
    globals that a function names. It sees no files and no other processes, nothing that compiled
    code keeps for itself, and no globals of libraries.

    Parameters
    ----------
    objects : iterable
        The objects; messages name the attributes by the type of the object.
    trained : iterable of tensors, optional
        Parameters whose numbers may change.
    keep : bool, optional
        Whether :meth:`put_back` is to work, which takes a copy of every tensor.
    """

    def __init__(
        self, objects: Iterable[Any], trained: Iterable[Any] = (), *, keep: bool = False
    ) -> None:
        self._objects, self._trained = list(objects), list(trained)
        exempt = {key for one in self._trained for key in (id(one), _storage(one))}
        self._undo: list[Callable[[], Any]] = []
        found: dict[tuple[str, str], Any] = {}
        # The attribute of each object seen. Objects are held, so that no other takes their id.
        # Global generators are seeded for every step, and draw for everybody.
        shared = (random.random.__self__, np.random.rand.__self__)  # type: ignore[attr-defined]
        seen: dict[int, tuple[str, Any]] = {id(one): ("shared", one) for one in shared}
        counts: Counter[tuple[str, str]] = Counter()
        todo = [((_name(one), ""), one) for one in reversed(self._objects)]
        while todo:
            where, value = todo.pop()
            digest = found.setdefault(where, hashlib.sha256())
            digest.update(f"\0{type(value).__qualname__}\0".encode())
            if isinstance(value, _PLAIN):
                digest.update(repr(value).encode())
                continue
            if id(value) in seen:
                digest.update(seen[id(value)][0].encode())
                continue
            counts[where] += 1
            seen[id(value)] = f"again {where} {counts[where]}", value
            if exempt.isdisjoint((id(value), _storage(value))):
                digest.update(numbers_of(value))
            if keep:
                self._undo += _undo(value)
            owner, path = where
            for name, part in reversed(list(_parts(value))):
                below = path if name is None else f"{path}.{name}".lstrip(".")
                todo.append(((owner, below), part))
        self._found = {key: digest.digest() for key, digest in found.items()}

    def check(self) -> None:
        """Refuse objects that no longer keep what they kept."""
        now, before = State(self._objects, self._trained)._found, self._found
        changed = [key for key in [*now, *before] if now.get(key) != before.get(key)]
        if changed:
            raise changes(*next((key for key in changed if key[1]), changed[0]))

    def put_back(self) -> None:
        """Let the objects keep what they kept, and nothing else."""
        for undo in self._undo:
            with suppress(AttributeError, NotImplementedError, RuntimeError, TypeError):
                undo()  # what cannot be written is what it was


def changes(owner: str, path: str) -> Refused:
    """Return the refusal of an attribute that depends on what an object was given."""
    what = f"the attribute `{path}` of `{owner}`" if path else f"`{owner}`"
    return Refused(
        f"{what} changes with the records that the module sees",
        code="settings",
        hint="keep nothing between records: put layers with running statistics into evaluation "
        "mode, and fill what is filled on the first call by a call on records of nobody",
    )


def bytes_of(tensor: Any) -> bytes:
    """The bytes of a tensor's numbers."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    found: bytes = flat.view(sys.modules["torch"].uint8).numpy().tobytes()
    return found


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", type(value).__name__))


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _storage(value: Any) -> int:
    """Return the address of a tensor's numbers, which views share; else the object's id."""
    try:
        return value.untyped_storage().data_ptr() or id(value) if _is_tensor(value) else id(value)
    except (RuntimeError, NotImplementedError):
        return id(value)


def numbers_of(value: Any) -> bytes:
    """The bytes of an object that are in none of its parts."""
    if _is_tensor(value):
        about = f"{value.dtype} {tuple(value.shape)} ".encode()
        try:
            return about + hashlib.sha256(bytes_of(value)).digest()
        except (RuntimeError, TypeError, NotImplementedError):  # sparse, or of a transform
            try:
                return about + pickle.dumps(value)
            except Exception:
                return secrets.token_bytes(16)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}".encode() + hashlib.sha256(value.tobytes()).digest()
    if isinstance(value, type | types.FunctionType):
        return f"{value.__module__} {value.__qualname__}".encode()
    if isinstance(value, functools._lru_cache_wrapper):
        return repr(value.cache_info()[1:]).encode()
    return repr(value.getstate()).encode() if isinstance(value, random.Random) else b""


def _parts(value: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield the parts of an object, with the attribute that holds each, if one does."""
    held = getattr(value, "__dict__", None)
    if isinstance(value, _OPAQUE) or (isinstance(value, type) and not _is_own(value)):
        return
    for part in _unnamed(value, alone=not held):
        yield None, part
    if isinstance(value, types.FunctionType):
        yield from ((name, cell.cell_contents) for name, cell in _cells(value))
        named = _globals(value)
        yield from named.items()
        for module in named.values():  # what is named behind a dot, such as `helpers.count`
            if isinstance(module, types.ModuleType) and _is_own(module):
                held_there = vars(module)
                yield from ((n, held_there[n]) for n in value.__code__.co_names if n in held_there)
    elif isinstance(value, types.GeneratorType) and value.gi_frame:
        yield from dict(value.gi_frame.f_locals).items()
    for name, part in (held or {}).items():
        if name in _MODULES_OWN and isinstance(part, dict):
            yield from part.items()
        else:
            yield name, part


def _unnamed(value: Any, *, alone: bool) -> Iterable[Any]:
    """Return the parts of an object that no attribute holds."""
    classes = [base for base in type(value).__mro__ if _is_own(base)]
    if isinstance(value, dict):
        return [*classes, *value.keys(), *value.values()]
    if isinstance(value, _LISTS):
        return [*classes, *value]
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype == object else ()
    if _is_tensor(value):
        frozen = value.is_leaf and not value.requires_grad
        return value._backward_hooks, value.grad if frozen else None
    if isinstance(value, types.FunctionType):
        return value.__defaults__, value.__kwdefaults__
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if isinstance(value, property):
        return (value.fget,)
    if isinstance(value, types.MethodType | types.BuiltinFunctionType):
        return getattr(value, "__self__", None), getattr(value, "__func__", None)
    if not alone:
        return classes
    try:
        made = value.__reduce_ex__(4)
    except Exception:  # nothing of it can be seen
        return classes
    more = [list(items or ()) for items in made[3:5]]
    return [*classes, made] if isinstance(made, str) else [*classes, *made[1:3], *more]


def _is_own(kind: Any) -> bool:
    """Whether no library brought the class, the function or the module."""
    name = kind.__name__ if isinstance(kind, types.ModuleType) else kind.__module__
    file = getattr(sys.modules.get(str(name)), "__file__", None)
    if name == "__main__" or file is None:
        return bool(name == "__main__")
    return not name.startswith("efface.") and not any(part in file for part in _LIBRARIES)


def _cells(function: types.FunctionType) -> list[tuple[str, Any]]:
    """The variables of a closure that have a value."""
    empty = types.CellType()
    pairs = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return [(name, cell) for name, cell in pairs if cell != empty]


def _globals(function: types.FunctionType) -> dict[str, Any]:
    """The globals that a function names, and those of functions within it."""
    todo, names = [function.__code__] if _is_own(function) else [], list[str]()
    for code in todo:
        todo += [part for part in code.co_consts if isinstance(part, types.CodeType)]
        names += code.co_names
    return {name: function.__globals__[name] for name in names if name in function.__globals__}


def _undo(value: Any) -> Iterator[Callable[[], Any]]:
    """Yield functions that restore all that an object itself holds."""
    if _is_tensor(value):
        yield functools.partial(value.detach().copy_, value.detach().clone())
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        yield functools.partial(np.copyto, value, value.copy())
    elif isinstance(value, functools._lru_cache_wrapper):
        yield value.cache_clear
    elif isinstance(value, random.Random):
        yield functools.partial(value.setstate, value.getstate())
    elif isinstance(value, types.FunctionType):
        for _, cell in _cells(value):
            yield functools.partial(setattr, cell, "cell_contents", cell.cell_contents)
        yield functools.partial(value.__globals__.update, _globals(value))
    elif isinstance(value, type) and _is_own(value):
        yield functools.partial(_set, value, dict(vars(value)))
    held = getattr(value, "__dict__", None)
    own = [held, *(held.get(name) for name in _MODULES_OWN)] if isinstance(held, dict) else []
    if not isinstance(value, _OPAQUE):
        for holder in (value, *own):
            if isinstance(holder, dict):
                yield functools.partial(_fill, holder, dict(holder))
            elif isinstance(holder, list | set | deque):
                yield functools.partial(_fill, holder, list(holder))


def _fill(holder: Any, kept: Any) -> None:
    """Make a container hold what it held."""
    holder.clear()
    (holder.update if isinstance(holder, dict | set) else holder.extend)(kept)


def _set(holder: type, kept: dict[str, Any]) -> None:
    """Make a class have the attributes that it had."""
    for name, value in list(vars(holder).items()):
        if name not in kept:
            delattr(holder, name)
        elif value is not kept[name]:
            setattr(holder, name, kept[name])

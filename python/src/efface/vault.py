"""Vaults: one file for one model, its records and its certificates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _engine
from ._entry import Answer, Request, Verdict
from ._erasure import Erasure, answered
from ._errors import InputError
from ._notices import Notice, warn_of
from ._rows import asked, skipping
from ._settings import to_json
from ._vault import key_of, limit_of
from .certificate import Certificate

if TYPE_CHECKING:
    from ._vault import Home
    from .planner import Plan

Progress = Callable[[str, int, "int | None", "float | None", "float | None"], Any]


@dataclass(frozen=True)
class Receipt:
    """The result of a request.

    Attributes
    ----------
    certificate : Certificate
        The certificate of the request.
    replayed : bool
        True when the request, or each of its records, had been served before: the certificate is
        the one from then.
    version : int
        Version of the model after.
    remaining : int
        Records in the model.
    head : str
        Hash of the ledger's head after the request; kept elsewhere, it shows later whether the
        vault was replaced by an older copy.
    notices : tuple of Notice
        What you should know; of rows and settings that should be changed you are warned, too.
    work : dict or None
        What the request cost and reached. Private: it follows from the model before the request,
        and is told here once; the vault does not keep it.
    skipped : tuple of str
        Names that were unknown, where the request passed over them.
    """

    certificate: Certificate
    replayed: bool
    version: int
    remaining: int
    head: str
    notices: tuple[Notice, ...]
    work: dict[str, Any] | None
    skipped: tuple[str, ...] = ()

    @classmethod
    def _of(cls, answer: Answer) -> Receipt:
        served = json.loads(answer[0])
        return cls(
            certificate=Certificate(answer[1]),
            replayed=served["replayed"],
            version=served["version"],
            remaining=served["remaining"],
            head=served["head"],
            notices=tuple(map(Notice._of, served["notices"])),
            work=served["work"],
        )


class Vault:
    """A model that can forget, in the file it lives in.

    The file is the one that the command line works on; both may take turns.

    Parameters
    ----------
    path : path
        The vault, by custom ``NAME.efface``.
    key : path, optional
        The key file that the vault was made with. By default ``NAME.key.toml`` beside the vault
        if that exists, else the user's: ``$EFFACE_KEY``, or ``efface/key.toml`` in
        ``$XDG_CONFIG_HOME`` or ``~/.config``. Only requests need it.

    Raises
    ------
    VaultMissing
        If there is no such file.
    """

    def __init__(
        self, path: str | PathLike[str], *, key: str | PathLike[str] | None = None
    ) -> None:
        self.path = Path(path)
        self._key = key
        self._home: Home | None = None  # of an estimator that was not saved
        _engine.plan_of(self.path)  # refuses what is no vault

    @classmethod
    def train(
        cls,
        path: str | PathLike[str],
        X: Any,
        y: Any,
        *,
        ids: Iterable[Any] | None = None,
        subjects: Iterable[Any] | None = None,
        sample_weight: Any = None,
        names: Sequence[str] | None = None,
        classes: Iterable[Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        plan: Plan | str | None = None,
        choice: str | int | None = None,
        key: str | PathLike[str] | None = None,
        progress: Progress | None = None,
        memory: str | int | None = None,
    ) -> Vault:
        """Train a model on arrays and make its vault.

        Parameters
        ----------
        path : path
            The vault to create; nothing may be there yet.
        X : array (rows, columns) or SciPy sparse matrix
            Numbers.
        y : array (rows,), or array or data frame (rows, targets)
            Classes, or numbers for ``loss="squared"``; several with ``mechanism="ridge"``.
        ids : iterable of str or int, optional
            What names each record; by default row K of `X`, counted from 0, is ``row:K``.
        subjects : iterable of str or int, optional
            Whom each record belongs to.
        sample_weight : array (rows,), optional
            How often each record counts, 0 or more; the setting ``max_weight`` is the most, as
            public knowledge.
        names : sequence of str, optional
            Names of the columns.
        classes : iterable, optional
            The classes as public knowledge, the positive one of two last.
        settings : mapping, optional
            Settings of the engine by name, such as ``{"loss": "logistic", "epsilon": 0.5}``.
        plan : Plan or str, optional
            A plan to follow, as :func:`efface.plan` found it or as its JSON. It fixes the settings,
            of which only ``seed`` may then be given, and the training is refused where the data
            contradict it.
        choice : str or int, optional
            Which choice of the plan, by its name or rank; by default the first.
        key : path, optional
            As for :class:`Vault`; made if it does not exist.
        progress : callable, optional
            Told ``(phase, done, total, gradient_norm, goal)`` now and then.
        memory : str or int, optional
            About how much memory the rows may take, such as ``"2GiB"`` (a number is bytes; at
            least 64 MiB): rows that need more are put into the vault batch by batch and read from
            there anew for every pass, which gives the same model. Arrays given are yours and not
            counted: give ``numpy.load(..., mmap_mode="r")`` where they are larger than memory.
            Requests do not remember it.
        """
        from ._table import table

        wanted = dict(settings or {})
        if plan is None and choice is not None:
            raise InputError("`choice` needs a `plan`", code="usage", hint="give `plan` too")
        if plan is not None and wanted.keys() - {"seed"}:
            raise InputError(
                "`plan` fixes the settings of model and promise",
                code="plan",
                hint="leave out other settings, or make a plan with them",
            )
        place, limit = key_of(path, key), limit_of(memory)
        if not place.exists():
            _engine.create_key(place)
        rows = table(
            X,
            y,
            ids=ids,
            subjects=subjects,
            sample_weight=sample_weight,
            names=names,
            classes=classes,
        )
        if plan is None:
            answer = _engine.train(
                rows, to_json(wanted), path, place, progress=progress, memory=limit
            )
        else:
            answer = _engine.train_as_planned(
                rows,
                plan if isinstance(plan, str) else plan.to_json(),
                path,
                place,
                choice=None if choice is None else str(choice),
                seed=wanted.get("seed"),
                progress=progress,
                memory=limit,
            )
        warn_of(Receipt._of(answer).notices)
        return cls(path, key=place)

    def delete(
        self,
        names: Any = None,
        /,
        *,
        ids: Iterable[Any] | None = None,
        subjects: Iterable[Any] | None = None,
        request_id: str | None = None,
        skip_unknown: bool = False,
        progress: Progress | None = None,
        memory: str | int | None = None,
    ) -> Receipt:
        """Delete records, or all records of subjects, and certify it.

        The request is served as a whole or not at all. What was deleted before gives its
        certificate again, and so does a ``request_id`` that was served before.

        Parameters
        ----------
        names : iterable of str or int, positional
            Ids, of a model without subjects. With subjects, say which.
        ids, subjects : iterable of str or int
            One of them.
        request_id : str, optional
            A name for the request; it must not contain an id or a subject.
        skip_unknown : bool, default=False
            Whether to pass over names that the model does not know, unless it knows none. The
            receipt lists them.
        progress, memory
            As for :meth:`train`.

        Raises
        ------
        UnknownRecord, UnknownSubject
            If one of the names is not in the model; nothing is deleted then. All of them are in
            ``names`` of the exception.
        """
        told: dict[str, Any] = {"progress": progress, "memory": limit_of(memory)}
        told["request_id"] = request_id
        serve = partial(_engine.delete, self.path, self._key_file(), **told)
        request = self._asked(names, ids, subjects)
        answer, skipped = skipping(serve, request, skip_unknown=skip_unknown)
        return replace(Receipt._of(answer), skipped=skipped)

    def erase(
        self,
        names: Any = None,
        /,
        *,
        ids: Iterable[Any] | None = None,
        subjects: Iterable[Any] | None = None,
        request_id: str | None = None,
        progress: Progress | None = None,
    ) -> Erasure:
        """Erase records now and publish nothing; parameters as for :meth:`delete`.

        The model is withdrawn, with everything kept beside it, until :meth:`refresh`. Nothing that
        can refuse a release refuses this.
        """
        told: dict[str, Any] = {"progress": progress, "request_id": request_id, "release": False}
        request: dict[str, Any] = dict(self._asked(names, ids, subjects))
        answer = _engine.delete(self.path, self._key_file(), **request, **told)
        return answered(answer)  # type: ignore[no-any-return]

    def preview(
        self,
        names: Any = None,
        /,
        *,
        ids: Iterable[Any] | None = None,
        subjects: Iterable[Any] | None = None,
    ) -> dict[str, Any]:
        """Say what a deletion would do and promise, and change nothing.

        Parameters
        ----------
        names : iterable of str or int, positional
            Ids, of a model without subjects. With subjects, say which.
        ids, subjects : iterable of str or int
            One of them.

        Returns
        -------
        dict
            ``records`` and ``remaining`` (how many would go and stay), ``already_deleted`` (names
            that went before), ``steps`` (of the mechanism, or None) and ``claims``.

        Raises
        ------
        UnknownRecord, UnknownSubject
            If one of the names is not in the model.
        """
        request = self._asked(names, ids, subjects)
        answer: dict[str, Any] = json.loads(
            _engine.delete_dry_run(self.path, self._key_file(), **request)
        )
        return answer

    def add(
        self,
        X: Any,
        y: Any,
        *,
        ids: Iterable[Any] | None = None,
        subjects: Iterable[Any] | None = None,
        sample_weight: Any = None,
        names: Sequence[str] | None = None,
        new_classes: bool = False,
        request_id: str | None = None,
        progress: Progress | None = None,
        memory: str | int | None = None,
    ) -> Receipt:
        """Add records and certify the new model.

        Parameters
        ----------
        X : array (rows, columns) or SciPy sparse matrix
            Numbers, with the columns of the training.
        y : array (rows,)
            Classes among those of the training, or numbers in its range.
        ids : iterable of str or int, optional
            Names that no record has or had; exactly if the training had some. Otherwise rows are
            numbered on: after 100 records, the first of these is ``row:100``.
        subjects : iterable of str or int, optional
            Whom each record belongs to; exactly if the training had some.
        sample_weight : array (rows,), optional
            How often each record counts; exactly if the training had some, and at most the largest
            of then.
        names : sequence of str, optional
            Names of the columns.
        new_classes : bool, optional
            Take labels that are no class of the model for new classes, even if they are near a
            known one or turn a model of two classes into one of several.
        request_id : str, optional
            A name for the request, under which it is served once; it must not contain an id or a
            subject.
        progress, memory
            As for :meth:`train`; the rows given are not counted.

        Raises
        ------
        DuplicateRecord
            If a record has or had one of the ids; nothing is added then.
        """
        named = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight, "names": names}
        named["new_classes"] = new_classes
        told = {"progress": progress, "memory": limit_of(memory), "request_id": request_id}
        return self._bring(_engine.add, X, y, named, told)

    def update(
        self,
        X: Any,
        y: Any,
        *,
        ids: Iterable[Any],
        subjects: Iterable[Any] | None = None,
        sample_weight: Any = None,
        names: Sequence[str] | None = None,
        new_classes: bool = False,
        request_id: str | None = None,
        progress: Progress | None = None,
        memory: str | int | None = None,
    ) -> Receipt:
        """Give records new contents under the same ids, in one request.

        Parameters
        ----------
        X, y, subjects, sample_weight, names
            The new contents, as for :meth:`add`.
        ids : iterable of str or int
            The records.
        new_classes : bool, optional
            Take labels that are no class of the model for new classes, even if they are near a
            known one or turn a model of two classes into one of several.
        request_id : str, optional
            A name for the request, under which it is served once; it must not contain an id or a
            subject.
        progress, memory
            As for :meth:`train`; the rows given are not counted.

        Raises
        ------
        UnknownRecord
            If one of the ids is not in the model; nothing is changed then.
        """
        named = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight, "names": names}
        named["new_classes"] = new_classes
        told = {"progress": progress, "memory": limit_of(memory), "request_id": request_id}
        return self._bring(_engine.update, X, y, named, told)

    def _bring(
        self, request: Request, X: Any, y: Any, named: dict[str, Any], told: dict[str, Any]
    ) -> Receipt:
        from ._table import table
        from ._targets import columns, is_table, names_of, unnamed

        targets = None
        if y is not None and is_table(y) and names_of(y) == unnamed(columns(y)):
            targets = self.weights()[2]["target_names"]
        rows = table(X, y, target_names=targets, **named)
        answer = request(rows, self.path, self._key_file(), **told)
        receipt = Receipt._of(answer)
        warn_of(receipt.notices)
        return receipt

    def refresh(
        self,
        *,
        request_id: str | None = None,
        progress: Progress | None = None,
        memory: str | int | None = None,
    ) -> Receipt:
        """Publish a fresh model from the current records, without kept state."""
        beside = {"request_id": request_id, "memory": limit_of(memory)}
        answer = _engine.refresh(self.path, self._key_file(), progress=progress, **beside)
        return Receipt._of(answer)

    def prepare(
        self, *, progress: Progress | None = None, memory: str | int | None = None
    ) -> dict[str, Any]:
        """Make the next request of a ``solve`` model faster, by work done now.

        Keeps the Hessian of the published model over the records there are, with which the next
        request needs a few passes over the data. Where the loss is logistic, or squared without a
        clip, and preprocessing is declared, the gradient near the optimum is kept as well, and a
        request that changes few of many records needs no pass. That request erases it in the same
        transaction as the records; prepare again after it. For models in ``perfect`` state with at
        most 2048 weights. It changes no certificate, and never runs by itself. Inside
        :func:`efface.resident` it stays in memory beside the rows, and the vault does not get it.

        Returns
        -------
        dict
            ``version``, ``records`` and ``weights`` that it is for, its ``bytes``, and ``already``:
            whether it was kept before, so that nothing was done.
        """
        ready: dict[str, Any] = json.loads(
            _engine.prepare(self.path, self._key_file(), progress=progress, memory=limit_of(memory))
        )
        return ready

    def status(self) -> dict[str, Any]:
        """Return what the vault holds, what is spent and what can still be served."""
        status: dict[str, Any] = json.loads(_engine.status(self.path))
        return status

    def weights(self) -> tuple[Any, Any, dict[str, Any]]:
        """Return ``coef`` (outputs, features), ``intercept`` (outputs,) and how to use them."""
        coef, intercept, rest = _engine.weights(self.path)
        return coef, intercept, json.loads(rest)

    @property
    def certificates(self) -> list[Certificate]:
        """Every certificate, oldest first."""
        return [
            self.certificate(entry["index"])
            for entry in self.entries()
            if entry["request_id"] is not None and entry["kind"] != "erase"
        ]

    @property
    def erasures(self) -> list[Erasure]:
        """The erasures without a release in the ledger, oldest first."""
        return [
            Erasure(_engine.certificate(self.path, str(entry["index"])))
            for entry in self.entries()
            if entry["kind"] == "erase"
        ]

    def certificate(self, which: int | str = "latest") -> Certificate:
        """Return one certificate: by its index, its request's id, or the latest."""
        return Certificate(_engine.certificate(self.path, str(which)))

    def entries(self) -> list[dict[str, Any]]:
        """Return every entry of the ledger, oldest first: certificates, exports and checkpoints."""
        entries: list[dict[str, Any]] = json.loads(_engine.entries(self.path))
        return entries

    def verify(
        self, *, key: str | None = None, head: str | None = None, whole: bool = False
    ) -> Verdict:
        """Check the ledger: hashes, signatures, claims, the model's digest, and the rows.

        Checking starts at the ledger's last checkpoint (the last one before ``head``), a signed
        entry that states what those before it add up to. Records are counted, and where the key
        file is at hand each is compared with the checksum it was stored with.

        Parameters
        ----------
        key : str, optional
            The public key you trust, 64 hexadecimal digits.
        head : str, optional
            A head of the ledger that you kept: a hash, or an entry's index and its hash.
        whole : bool, default=False
            Check every entry from the first on, and that checkpoints add up.
        """
        text = _engine.verify_ledger(
            self.path, key=key, head=head, whole=whole, key_file=self._key_file_there()
        )
        return Verdict._from_json(text)

    def doctor(self) -> Verdict:
        """Examine the whole vault: its file, records, requests, ledger, model and kept state.

        Reads everything and changes nothing. Each record is compared with the checksum it was
        stored with, which takes the key file.

        Returns
        -------
        Verdict
            True exactly if the vault is sound; undecided where the key file is not at hand.
        """
        return Verdict._from_json(_engine.doctor(self.path, key_file=self._key_file_there()))

    @property
    def public_key(self) -> str:
        """The public key of the vault's key file, which verifiers of certificates need."""
        return _engine.public_key(self._key_file())

    def report(self, *, audits: Iterable[str | PathLike[str]] = ()) -> str:
        """Return the vault's history and promises as one self-contained HTML page.

        Parameters
        ----------
        audits : iterable of path, optional
            Files that ``efface audit VAULT -o FILE`` wrote; they are shown beside the claims. The
            page is then as private as the records.
        """
        texts = [Path(audit).read_text(encoding="utf-8") for audit in audits]
        return _engine.report(self.path, audits=texts)

    def export(self, format: Literal["npz", "json", "safetensors"] = "npz") -> bytes:  # noqa: A002
        """Return the weights as a file; the ledger notes it, since no certificate covers copies."""
        return _engine.export(self.path, self._key_file(), format)

    def _asked(self, names: Any, ids: Any, subjects: Any) -> dict[str, list[str]]:
        return asked(names, ids, subjects, self._has_subjects)

    def _has_subjects(self) -> bool:
        return bool(json.loads(_engine.plan_of(self.path))["subjects"])

    def _key_file(self) -> Path:
        return key_of(self.path, self._key)

    def _key_file_there(self) -> Path | None:
        """The key file for what can do without: one that was named must be there."""
        try:
            key = self._key_file()
        except InputError:  # no place for the user's key file is known
            return None
        return key if self._key is not None or key.exists() else None

    def __repr__(self) -> str:
        return f"<efface.Vault {str(self.path)!r}>"

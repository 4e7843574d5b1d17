"""Keeps an estimator in step with its vault, which other processes may change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, cast

from sklearn.utils.validation import check_is_fitted

from ._entry import Check, Verdict, Weights
from ._erasure import Withdrawn
from ._errors import ModelWithdrawn, StaleModelWarning, warn
from ._published import Published
from ._watch import WITHDRAWN, Watch
from .certificate import Certificate
from .vault import Vault

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._vault import Home


class Following(ABC):
    """The part of estimators that handles requests served by others."""

    _home: Home
    _watch: Watch
    _last: int
    _published: Published
    _records: int
    certificates_: list[Certificate]

    def sync(self) -> Self:
        """Load the newest model of the vault, which any process or copy may have made.

        Returns
        -------
        self
            The estimator, with the weights and certificates that the vault has now; without
            weights where records were erased and no model was trained since.
        """
        check_is_fitted(self)
        self._home.check()
        with self._home.lock:
            self._follow()
        return self

    def verify(self, *, key: str | None = None, head: str | None = None) -> Verdict:
        """Check the weights of this object against their certificate, and that against the vault.

        Parameters
        ----------
        key : str, optional
            The public key you trust, 64 hexadecimal digits; by default that of the key file.
        head : str, optional
            A head of the ledger that you kept.

        Returns
        -------
        Verdict
            True exactly if all of it holds: what :meth:`Certificate.verify` checks, and that the
            weights that this object predicts with are the certified ones.
        """
        check_is_fitted(self)
        self._home.check()
        vault = Vault(self._home.path, key=self._home.key)
        latest = self.certificates_[-1]
        verdict = latest.verify(key=key or vault.public_key, vault=vault.path, head=head)
        certified = self._orient(Published.of(self._home.weights()))
        return verdict.joined(self._check_weights(certified))

    def _check_weights(self, certified: Published) -> Check:
        name, own = "weights of this object", self._published
        if own.version != certified.version:
            reason = (
                f"they are version {own.version}, but the vault has version {certified.version}: "
                "`sync()` loads it"
            )
            return Check(name, "undecided", reason)
        same = own.order == certified.order and all(
            one.shape == other.shape and one.tobytes() == other.tobytes()
            for one, other in ((own.coef, certified.coef), (own.intercept, certified.intercept))
        )
        if same:
            return Check(name, "holds", "they are the weights that the certificate is about")
        return Check(name, "fails", f"they differ from the weights of version {own.version}")

    def _warn_if_stale(self) -> bool:
        """Warn if the vault holds another model than this estimator, and say whether it does."""
        home = self.__dict__.get("_home")
        if home is None or home.unsaved:
            return False  # nobody else can have served a request
        if not home.lock.acquire(blocking=False):
            return False  # a request of this process is being served, and ends with a look
        try:
            withdrawn = isinstance(self._published, Withdrawn)
            own = WITHDRAWN if withdrawn else self._published.version
            newest = self._watch.version(home.path)
        finally:
            home.lock.release()
        if newest is None or newest == own:
            return False
        has = "no model" if withdrawn else f"version {own} of its model"
        holds = "none, since records were erased" if newest == WITHDRAWN else f"version {newest}"
        warn(
            f"this {type(self).__name__} has {has}, and the vault holds {holds}: another process "
            "or copy served a request since, so this model may still depend on forgotten "
            "records; `sync()` loads the newest",
            StaleModelWarning,
        )
        return True

    def _follow(self) -> None:
        """Take over the state of the vault, which may have no model any more."""
        try:
            self._catch_up()
        except ModelWithdrawn as error:
            known, self._published = self._published, cast("Published", Withdrawn(error.hint))
            if isinstance(known, Published):
                self._forget_records(known)

    def _catch_up(self, latest: Certificate | None = None, weights: Weights | None = None) -> None:
        """Take over the published model; `latest` and `weights` are those of our own request."""
        follows = latest is not None and latest.index == self._last + 1
        if weights is None or not follows:
            weights = self._home.weights()
        published = self._orient(Published.of(weights))
        known = getattr(self, "_published", None)
        if isinstance(known, Withdrawn):
            known = None
        if self._last >= 0 and known is not None and known.version == published.version:
            return
        if latest is not None and follows and latest.version == published.version:
            new, last = [latest], latest.index
        else:
            vault = Vault(self._home.path, key=self._home.key)
            entries = [e for e in vault.entries() if e["request_id"] and e["kind"] != "erase"]
            new = [vault.certificate(e["index"]) for e in entries if e["index"] > self._last]
            last = entries[-1]["index"]
        self.certificates_ = [*self.certificates_, *new]
        self._last = last
        self._records = published.facts["records"]
        self._published = published

    def _forget_records(self, published: Published) -> None:  # noqa: B027
        """Drop what this object has of the records of a model that was withdrawn."""

    @abstractmethod
    def _orient(self, published: Published) -> Published:
        """The outputs as this estimator has them."""

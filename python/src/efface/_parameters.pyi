"""Written by `tests/parameters_stub.py` from the table of settings; do not edit."""

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from typing_extensions import Self

from ._training import Training

class Known(NamedTuple):
    default: Any
    rule: list[Any]
    entry: str
    type: str

class Options:
    holder: ClassVar[str]
    name: ClassVar[str]
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, holder: str, name: str | None = None) -> None: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def _replaced(self, given: dict[str, Any]) -> Self: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __sklearn_clone__(self) -> Self: ...

class Mechanism(Options, holder="mechanism"): ...

OPTIONS: dict[str, dict[str, type[Options]]]

def name_of(value: Any) -> Any: ...
def options_for(holder: str, value: Any, given: Iterable[str]) -> Options: ...
def same(value: Any, default: Any) -> bool: ...

class Parameters:
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, of: str | None = None, **rest: Any) -> None: ...
    def set_params(self, **parameters: Any) -> Self: ...

class Solve(Mechanism, holder="mechanism", name="solve"):
    solver: str | None
    start: Any
    deletions: int
    def __init__(
        self, *, solver: str | None = None, start: Any = None, deletions: int = 1
    ) -> None: ...

class Retrain(Mechanism, holder="mechanism", name="retrain"):
    solver: str | None
    deletions: int
    def __init__(self, *, solver: str | None = None, deletions: int = 1) -> None: ...

class NoisyGD(Mechanism, holder="mechanism", name="noisy-gd"):
    start: Any
    start_public: bool
    start_privacy: dict[str, float] | None
    eta: float | None
    radius: float | None
    batches: int | None
    steps: int | None
    removal_steps: int | None
    def __init__(
        self,
        *,
        start: Any = None,
        start_public: bool = False,
        start_privacy: dict[str, float] | None = None,
        eta: float | None = None,
        radius: float | None = None,
        batches: int | None = None,
        steps: int | None = None,
        removal_steps: int | None = None,
    ) -> None: ...

class DescentToDelete(Mechanism, holder="mechanism", name="descent-to-delete"):
    eta: float | None
    steps: int | None
    variant: str
    xi: float
    iterations: int | None
    diameter: float | None
    def __init__(
        self,
        *,
        eta: float | None = None,
        steps: int | None = None,
        variant: str = "perfect",
        xi: float = 1.0,
        iterations: int | None = None,
        diameter: float | None = None,
    ) -> None: ...

class Ridge(Mechanism, holder="mechanism", name="ridge"):
    deletions: int
    def __init__(self, *, deletions: int = 1) -> None: ...

class DistributedDescent(Mechanism, holder="mechanism", name="distributed-descent"):
    solver: str | None
    xi: float
    iterations: int | None
    copies: int
    def __init__(
        self,
        *,
        solver: str | None = None,
        xi: float = 1.0,
        iterations: int | None = None,
        copies: int = 1,
    ) -> None: ...

class DPSGD(Mechanism, holder="mechanism", name="dp-sgd"):
    network: str | None
    eta: float | None
    steps: int | None
    rate: float | None
    gradient_clip: float
    optimizer: str
    momentum: float
    average: float | None
    unit: str | None
    deletions: int
    def __init__(
        self,
        *,
        network: str | None = None,
        eta: float | None = None,
        steps: int | None = None,
        rate: float | None = None,
        gradient_clip: float = 0.1,
        optimizer: str = "sgd",
        momentum: float = 0.9,
        average: float | None = None,
        unit: str | None = None,
        deletions: int = 1,
    ) -> None: ...

class Shards(Mechanism, holder="mechanism", name="shards"):
    network: str | None
    eta: float | None
    momentum: float
    shards: int
    epochs: int
    batch_size: int
    def __init__(
        self,
        *,
        network: str | None = None,
        eta: float | None = None,
        momentum: float = 0.9,
        shards: int = 10,
        epochs: int = 8,
        batch_size: int = 64,
    ) -> None: ...

class Fitted(Options, holder="preprocess", name="fitted"):
    min_frequency: int | None
    row_norm: float | None
    row_map: str
    intercept: float | None
    def __init__(
        self,
        *,
        min_frequency: int | None = None,
        row_norm: float | None = None,
        row_map: str = "clip",
        intercept: float | None = None,
    ) -> None: ...

class Declared(Options, holder="preprocess", name="declared"):
    features: Any
    row_norm: float | None
    row_map: str
    intercept: float | None
    target_range: tuple[float, float] | None
    def __init__(
        self,
        *,
        features: Any = None,
        row_norm: float | None = None,
        row_map: str = "clip",
        intercept: float | None = None,
        target_range: tuple[float, float] | None = None,
    ) -> None: ...

class Promise(Options, holder="promise", name="promise"):
    normalizer: str | None
    public_n: int | None
    capacity: int | None
    max_weight: float | None
    minimum: int | None
    notion: str | None
    accountant: str | None
    order: float
    interactions: int | None
    state: str | None
    releases: int
    max_group: int
    noise: float | None
    excess_risk: float | None
    extractor_privacy: dict[str, float] | None
    extractor: str | None
    extractor_training: str | Training | None
    not_covered: Any
    def __init__(
        self,
        *,
        normalizer: str | None = None,
        public_n: int | None = None,
        capacity: int | None = None,
        max_weight: float | None = None,
        minimum: int | None = None,
        notion: str | None = None,
        accountant: str | None = None,
        order: float = 2.0,
        interactions: int | None = None,
        state: str | None = None,
        releases: int = 1,
        max_group: int = 1,
        noise: float | None = None,
        excess_risk: float | None = None,
        extractor_privacy: dict[str, float] | None = None,
        extractor: str | None = None,
        extractor_training: str | Training | None = None,
        not_covered: Any = (),
    ) -> None: ...

class HuberHinge(Options, holder="loss", name="huber-hinge"):
    hinge_width: float
    def __init__(self, *, hinge_width: float = 1.0) -> None: ...

class ClassifierParameters(Parameters, of="UnlearningClassifier"):
    mechanism: str | Mechanism
    loss: str | HuberHinge
    lambda_: float | None
    epsilon: float
    delta: float | None
    promise: Promise | None
    preprocess: str | Fitted | Declared | None
    fit_intercept: bool
    classes: Any
    class_weight: dict[Any, float] | str | None
    missing: Any
    memory: str | int | None
    pickle_rows: bool
    random_state: Any
    verbose: int
    def __init__(
        self,
        *,
        mechanism: str | Mechanism = "solve",
        loss: str | HuberHinge = "logistic",
        lambda_: float | None = None,
        epsilon: float = 1.0,
        delta: float | None = None,
        promise: Promise | None = None,
        preprocess: str | Fitted | Declared | None = None,
        fit_intercept: bool = True,
        classes: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        missing: Any = None,
        memory: str | int | None = None,
        pickle_rows: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None: ...

class RegressorParameters(Parameters, of="UnlearningRegressor"):
    mechanism: str | Mechanism
    lambda_: float | None
    clip: float
    epsilon: float
    delta: float | None
    promise: Promise | None
    preprocess: str | Fitted | Declared | None
    fit_intercept: bool
    missing: Any
    memory: str | int | None
    pickle_rows: bool
    random_state: Any
    verbose: int
    def __init__(
        self,
        *,
        mechanism: str | Mechanism = "solve",
        lambda_: float | None = None,
        clip: float = 1.0,
        epsilon: float = 1.0,
        delta: float | None = None,
        promise: Promise | None = None,
        preprocess: str | Fitted | Declared | None = None,
        fit_intercept: bool = True,
        missing: Any = None,
        memory: str | int | None = None,
        pickle_rows: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None: ...

class DaskClassifierParameters(Parameters, of="DaskUnlearningClassifier"):
    client: Any
    mechanism: str | Mechanism
    loss: str | HuberHinge
    lambda_: float | None
    epsilon: float
    delta: float | None
    promise: Promise | None
    preprocess: str | Fitted | Declared | None
    fit_intercept: bool
    classes: Any
    class_weight: dict[Any, float] | str | None
    missing: Any
    memory: str | int | None
    random_state: Any
    verbose: int
    def __init__(
        self,
        *,
        client: Any = None,
        mechanism: str | Mechanism = "solve",
        loss: str | HuberHinge = "logistic",
        lambda_: float | None = None,
        epsilon: float = 1.0,
        delta: float | None = None,
        promise: Promise | None = None,
        preprocess: str | Fitted | Declared | None = None,
        fit_intercept: bool = True,
        classes: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        missing: Any = None,
        memory: str | int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None: ...

class DaskRegressorParameters(Parameters, of="DaskUnlearningRegressor"):
    client: Any
    mechanism: str | Mechanism
    lambda_: float | None
    clip: float
    epsilon: float
    delta: float | None
    promise: Promise | None
    preprocess: str | Fitted | Declared | None
    fit_intercept: bool
    missing: Any
    memory: str | int | None
    random_state: Any
    verbose: int
    def __init__(
        self,
        *,
        client: Any = None,
        mechanism: str | Mechanism = "solve",
        lambda_: float | None = None,
        clip: float = 1.0,
        epsilon: float = 1.0,
        delta: float | None = None,
        promise: Promise | None = None,
        preprocess: str | Fitted | Declared | None = None,
        fit_intercept: bool = True,
        missing: Any = None,
        memory: str | int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None: ...

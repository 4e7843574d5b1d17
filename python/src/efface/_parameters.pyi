"""Written by `tests/parameters_stub.py` from the table of settings; do not edit."""

from typing import Any, ClassVar, NamedTuple

from sklearn.base import BaseEstimator

from ._training import Training

class Known(NamedTuple):
    default: Any
    rule: list[Any]
    entry: str
    type: str

class Mechanism(BaseEstimator):  # type: ignore[misc]
    name: ClassVar[str]
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, name: str, **rest: Any) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

MECHANISMS: dict[str, type[Mechanism]]

def mechanism_name(mechanism: str | Mechanism) -> str: ...

class Parameters:
    parameters: ClassVar[dict[str, Known]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    def __init_subclass__(cls, *, of: str | None = None, **rest: Any) -> None: ...

class Solve(Mechanism, name="solve"):
    solver: str | None
    start: Any
    deletions: int
    def __init__(
        self, *, solver: str | None = None, start: Any = None, deletions: int = 1
    ) -> None: ...

class Retrain(Mechanism, name="retrain"):
    solver: str | None
    deletions: int
    def __init__(self, *, solver: str | None = None, deletions: int = 1) -> None: ...

class NoisyGD(Mechanism, name="noisy-gd"):
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

class DescentToDelete(Mechanism, name="descent-to-delete"):
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

class Ridge(Mechanism, name="ridge"):
    deletions: int
    def __init__(self, *, deletions: int = 1) -> None: ...

class DistributedDescent(Mechanism, name="distributed-descent"):
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

class DPSGD(Mechanism, name="dp-sgd"):
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

class Shards(Mechanism, name="shards"):
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

class ClassifierParameters(Parameters, of="UnlearningClassifier"):
    mechanism: str | Mechanism
    loss: str
    lambda_: float | None
    epsilon: float
    delta: float | None
    notion: str | None
    state: str | None
    noise: float | None
    excess_risk: float | None
    row_norm: float | None
    row_map: str
    fit_intercept: bool
    intercept: float | None
    classes: Any
    trunk: Any
    head: str | Mechanism | None
    preprocess: str | None
    features: str | None
    missing: Any
    min_frequency: int | None
    hinge_width: float
    normalizer: str | None
    public_n: int | None
    capacity: int | None
    max_weight: float | None
    class_weight: dict[Any, float] | str | None
    minimum: int | None
    accountant: str | None
    order: float
    interactions: int | None
    releases: int
    max_group: int
    extractor_privacy: dict[str, float] | None
    extractor: str | None
    extractor_training: str | Training | None
    not_covered: Any
    memory: str | int | None
    pickle_rows: bool
    random_state: Any
    verbose: int
    def __init__(
        self,
        *,
        mechanism: str | Mechanism = "solve",
        loss: str = "logistic",
        lambda_: float | None = None,
        epsilon: float = 1.0,
        delta: float | None = None,
        notion: str | None = None,
        state: str | None = None,
        noise: float | None = None,
        excess_risk: float | None = None,
        row_norm: float | None = None,
        row_map: str = "clip",
        fit_intercept: bool = True,
        intercept: float | None = None,
        classes: Any = None,
        trunk: Any = None,
        head: str | Mechanism | None = None,
        preprocess: str | None = None,
        features: str | None = None,
        missing: Any = None,
        min_frequency: int | None = None,
        hinge_width: float = 1.0,
        normalizer: str | None = None,
        public_n: int | None = None,
        capacity: int | None = None,
        max_weight: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        minimum: int | None = None,
        accountant: str | None = None,
        order: float = 2.0,
        interactions: int | None = None,
        releases: int = 1,
        max_group: int = 1,
        extractor_privacy: dict[str, float] | None = None,
        extractor: str | None = None,
        extractor_training: str | Training | None = None,
        not_covered: Any = (),
        memory: str | int | None = None,
        pickle_rows: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None: ...

class RegressorParameters(Parameters, of="UnlearningRegressor"):
    mechanism: str | Mechanism
    lambda_: float | None
    epsilon: float
    delta: float | None
    notion: str | None
    state: str | None
    noise: float | None
    excess_risk: float | None
    row_norm: float | None
    row_map: str
    fit_intercept: bool
    intercept: float | None
    target_range: tuple[float, float] | None
    preprocess: str | None
    features: str | None
    missing: Any
    min_frequency: int | None
    clip: float
    normalizer: str | None
    public_n: int | None
    capacity: int | None
    max_weight: float | None
    minimum: int | None
    accountant: str | None
    order: float
    interactions: int | None
    releases: int
    max_group: int
    extractor_privacy: dict[str, float] | None
    extractor: str | None
    extractor_training: str | Training | None
    not_covered: Any
    memory: str | int | None
    pickle_rows: bool
    random_state: Any
    verbose: int
    def __init__(
        self,
        *,
        mechanism: str | Mechanism = "solve",
        lambda_: float | None = None,
        epsilon: float = 1.0,
        delta: float | None = None,
        notion: str | None = None,
        state: str | None = None,
        noise: float | None = None,
        excess_risk: float | None = None,
        row_norm: float | None = None,
        row_map: str = "clip",
        fit_intercept: bool = True,
        intercept: float | None = None,
        target_range: tuple[float, float] | None = None,
        preprocess: str | None = None,
        features: str | None = None,
        missing: Any = None,
        min_frequency: int | None = None,
        clip: float = 1.0,
        normalizer: str | None = None,
        public_n: int | None = None,
        capacity: int | None = None,
        max_weight: float | None = None,
        minimum: int | None = None,
        accountant: str | None = None,
        order: float = 2.0,
        interactions: int | None = None,
        releases: int = 1,
        max_group: int = 1,
        extractor_privacy: dict[str, float] | None = None,
        extractor: str | None = None,
        extractor_training: str | Training | None = None,
        not_covered: Any = (),
        memory: str | int | None = None,
        pickle_rows: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None: ...

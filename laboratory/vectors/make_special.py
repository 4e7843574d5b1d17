"""Writes special.json: special functions of the Gaussian with 60 digits (needs mpmath).

python make_special.py > ../../vectors/special.json
"""

import json
import random

from mpmath import erfc, exp, log, mp, mpf, nstr, pi, sqrt

mp.dps = 400  # enough for erfc far in the tail and for 1 - x M(x) at large x

FUNCTIONS = {
    "erfcx": (lambda x: exp(x * x) * erfc(x), (-26, 25)),
    "ln-erfc": (lambda x: log(erfc(x)), (-5, 25)),
    "normal-cdf": (lambda x: erfc(-x / sqrt(mpf(2))) / 2, (-37, 8)),
    "ln-normal-cdf": (lambda x: log(erfc(-x / sqrt(mpf(2))) / 2), (-37, 8)),
    "normal-density": (lambda x: exp(-x * x / 2) / sqrt(2 * pi), (-38, 38)),
    "mills-decay": (
        lambda x: 1 - x * sqrt(pi / 2) * exp(x * x / 2) * erfc(x / sqrt(mpf(2))),
        (-1, 37),
    ),
}

random.seed(20)
rows = []
for name, (function, (low, high)) in FUNCTIONS.items():
    points = [random.uniform(low, high) for _ in range(18)]
    points += [random.uniform(max(low, 0), 3) for _ in range(8)]
    points += [1e-9, 0.25, 1.0, 1.9999, 2.0, 2.0001]
    for x in points:
        value = function(mpf(x))
        rows.append({"function": name, "x": repr(x), "value": nstr(value, 25)})
print(json.dumps({"note": "x is the float64 of that decimal", "rows": rows}, indent=0))

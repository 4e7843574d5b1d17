"""Writes gaussian.json: delta, epsilon and mu of Gaussian DP with 60 digits (needs mpmath).

python make_gaussian.py > ../../vectors/gaussian.json         # the embedded sample
python make_gaussian.py 20 > large.json         # twenty times as many points
"""

import json
import random
import sys

from mpmath import exp, log, mp, mpf, nstr, sqrt
from numerics import delta_of, first, upper

TIMES = int(sys.argv[1]) if len(sys.argv) > 1 else 1


def complement_of(epsilon, mu):
    with mp.workdps(120):
        epsilon, mu = mpf(epsilon), mpf(mu)
        a = mu / 2 - epsilon / mu
        return upper(a) + exp(epsilon) * upper(mu - a)


def epsilon_of(mu, delta):
    target = log(mpf(delta))
    if delta_of(0, mu) <= mpf(delta):
        return mpf(0)
    top = mpf(mu) ** 2 / 2 + mpf(mu) * sqrt(-2 * target) + mpf(mu)
    low = log(top * mpf(10) ** -12)
    return exp(first(lambda e: log(delta_of(exp(e), mu)) < target, low, log(top), 120))


def mu_of(epsilon, delta):
    target = mpf(delta)
    # Where a = -40, below every answer for delta >= 1e-300.
    low = 2 * mpf(epsilon) / (40 + sqrt(1600 + 2 * mpf(epsilon))) + mpf(10) ** -310
    return exp(first(lambda m: delta_of(epsilon, exp(m)) > target, log(low), log(mpf(1000)), 120))


def text(x):
    return nstr(x, 25, min_fixed=0, max_fixed=0)


random.seed(57)
rows = []
corners = [1e-8, 1e-3, 0.0009999, 0.1, 0.4999, 0.5, 0.5001, 1.0, 2.0, 10.0, 99.0, 100.0]


def some_mu():
    return random.choice(corners) if random.random() < 0.2 else 10 ** random.uniform(-8, 2)


while len(rows) < 500 * TIMES:
    mu = some_mu()
    a = random.uniform(-36.8, min(mu / 2, 8.5))
    epsilon = 0.0 if random.random() < 0.05 else max(0.0, mu * (mu / 2 - a))
    delta = delta_of(epsilon, mu)
    if epsilon > 1e4 or delta < mpf(10) ** -300:
        continue
    complement = complement_of(epsilon, mu)
    rows.append(
        {
            "asks": "delta",
            "epsilon": repr(epsilon),
            "mu": repr(mu),
            "delta": text(delta),
            "complement": text(complement),
        }
    )
for _ in range(60 * TIMES):
    mu = some_mu()
    epsilon = mu * random.uniform(40, 300)
    with mp.workdps(400):
        value = log(delta_of(epsilon, mu, 300))
    rows.append(
        {"asks": "ln-delta", "epsilon": repr(epsilon), "mu": repr(mu), "ln_delta": text(value)}
    )
for _ in range(200 * TIMES):
    mu = some_mu()
    delta = 10 ** random.uniform(-300, -0.01) if random.random() < 0.6 else random.random()
    epsilon = epsilon_of(mu, delta)
    if epsilon > 1e4 or 0 < epsilon < mpf(mu) * mpf(10) ** -4:
        continue
    rows.append({"asks": "epsilon", "mu": repr(mu), "delta": repr(delta), "epsilon": text(epsilon)})
for _ in range(200 * TIMES):
    epsilon = 0.0 if random.random() < 0.05 else 10 ** random.uniform(-9, 4)
    delta = 10 ** random.uniform(-300, -0.01) if random.random() < 0.6 else random.random()
    rows.append(
        {
            "asks": "mu",
            "epsilon": repr(epsilon),
            "delta": repr(delta),
            "mu": text(mu_of(epsilon, delta)),
        }
    )
print(json.dumps({"note": "inputs are float64 in decimal", "rows": rows}, indent=0))

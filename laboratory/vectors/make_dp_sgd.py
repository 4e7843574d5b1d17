"""Writes dp_sgd.json: cases of DP-SGD with expected results (needs mpmath; takes minutes).

    python make_dp_sgd.py > ../../vectors/dp_sgd.json

Nothing is put on a grid of losses here. With M(z) = E exp(z L) for the loss L of one step,

    delta(epsilon) = 1/(2 pi) * integral of M(theta + i t)^T exp(-(theta + i t) epsilon)
                     / ((theta + i t)(theta + 1 + i t)) dt        for every theta > 0,

which is the inverse of a Laplace transform: E max(0, 1 - exp(epsilon - L)) over sums of T losses.
M and the integral are trapezoidal sums, which converge exponentially for such functions; both are
repeated with half the step, and must agree. One step alone is a difference of tails of Gaussians.
Results are the larger of both directions. The tolerance is what a grid of losses may add.
"""

import sys
from typing import Any

from mpmath import binomial, ceil, exp, expm1, findroot, log, log1p, mp, mpc, mpf, nstr, pi, sqrt
from numerics import case, first, upper, write

mp.dps = 30


def weights(k, q):
    return [binomial(k, j) * q**j * (1 - q) ** (k - j) for j in range(k + 1)]


class Step:
    """Losses and masses of one step at equally spaced x, in one direction."""

    def __init__(self, sigma, q, k, steps, added, fineness):
        p = [(j, w) for j, w in enumerate(weights(k, q)) if w > mpf(10) ** -60]
        last = max(j for j, _ in p)
        low, high = -14 * sigma, (last if added else 0) + 14 * sigma
        gap = min(sigma / 4, sigma**2 / last) / fineness
        self.steps, self.nodes = steps, []
        for i in range(int(ceil((high - low) / gap)) + 1):
            x = low + i * gap
            ratio = 1 + sum(w * expm1(j * (2 * x - j) / (2 * sigma**2)) for j, w in p if j)
            base = exp(-(x**2) / (2 * sigma**2)) / sqrt(2 * pi) / sigma * gap
            mass = base * ratio if added else base
            if mass > mpf(10) ** -45:
                self.nodes.append((log(ratio) if added else -log(ratio), mass))

    def log_moment(self, z):
        return self.steps * log(sum(m * exp(z * loss) for loss, m in self.nodes))


class Gaussian:
    """What is mu-GDP."""

    def __init__(self, mu):
        self.mu = mu

    def log_moment(self, z):
        return z * (z + 1) * self.mu**2 / 2


class Sum:
    """delta(epsilon) of independent steps by the integral above, around a given tilt."""

    def __init__(self, parts, theta, spread):
        self.theta, self.terms = theta, []
        total = sum(part.log_moment(theta) for part in parts).real
        gap, t = mpf("0.12") / spread, mpf(0)
        while True:
            z = mpc(theta, t)
            # The modulus is that of the moment at theta at most, so no branch is left: exp of it.
            value = exp(sum(part.log_moment(z) for part in parts) - total) / (z * (z + 1))
            self.terms.append((z, value * gap * (1 if t else mpf("0.5"))))
            if abs(value) * theta * (theta + 1) < mpf(10) ** -16:
                break
            if len(self.terms) > 6000:
                raise ValueError("the integrand does not fall")
            t += gap
        self.total = total

    def delta(self, epsilon):
        terms = (v * exp(-(z - self.theta) * epsilon) for z, v in self.terms)
        return exp(self.total - self.theta * epsilon) * sum(x.real for x in terms) / pi

    def epsilon(self, delta, near):
        start = (near * mpf("0.99"), near)
        return findroot(lambda e: log(self.delta(e) / delta), start, tol=mpf(10) ** -24)


def tilt(parts, delta=None, epsilon=None):
    """The tilt whose mean loss is about the epsilon, and the standard deviation there."""

    def moments(theta):
        d = theta / 1000
        low, here, high = (
            sum(p.log_moment(t) for p in parts) for t in (theta - d, theta, theta + d)
        )
        return here, (high - low) / (2 * d), (high - 2 * here + low) / d**2

    low, high = mpf("1e-3"), mpf("1e7")
    for _ in range(30):
        theta = sqrt(low * high)
        here, mean, variance = (x.real for x in moments(theta))
        variance = max(variance, mpf(10) ** -40)
        if delta is not None:
            enough = here - theta * mean - log(theta * (theta + 1)) - log(2 * pi * variance) / 2
            enough = enough <= log(delta)
        else:
            enough = mean >= epsilon
        low, high = (low, theta) if enough else (theta, high)
    return theta, sqrt(moments(theta)[2].real), moments(theta)[1].real


def both(segments, mu, fineness, delta=None, epsilon=None):
    """Epsilon at delta, or delta at epsilon: the larger of both directions."""
    answers = []
    for added in (True, False):
        parts: list[Any] = [Step(mpf(s), mpf(q), k, t, added, fineness) for s, q, t, k in segments]
        if mu:
            parts.append(Gaussian(mpf(mu)))
        theta, spread, mean = tilt(parts, delta, epsilon)
        curve = Sum(parts, theta, spread * fineness)
        if delta is None:
            answers.append(curve.delta(mpf(epsilon)))
        else:
            answers.append(curve.epsilon(mpf(delta), mean))
    return max(answers)


def one_step(sigma, q, k, delta):
    """Epsilon of a single step from tails of Gaussians."""
    sigma, p, d = mpf(sigma), weights(k, mpf(q)), mpf(delta)
    answers = []

    def loss(x):
        return log1p(sum(w * expm1(j * (2 * x - j) / (2 * sigma**2)) for j, w in enumerate(p)))

    def tails(x, sign):
        return sum(w * upper(sign * (x - j) / sigma) for j, w in enumerate(p))

    def added(x):
        return tails(x, 1) - exp(loss(x)) * upper(x / sigma)

    def removed(x):
        return upper(-x / sigma) - exp(-loss(x)) * tails(x, -1)

    for f, sign, low, high in (
        (added, 1, -30 * sigma, k + 30 * sigma),
        (removed, -1, -30 * sigma, 30 * sigma),
    ):

        def reached(x, f=f, sign=sign):
            return (f(x) > d) != (sign == 1)

        high = first(reached, low, high, 140)
        answers.append(sign * loss(high))
    return max(answers)


def checked(f):
    one, other = f(1), f(2)
    if abs(one - other) > mpf(10) ** -9 * abs(other):
        raise ValueError(f"{one} against {other}")
    return other


def add(kind, inputs, tolerance=1e-4, **expect):
    made = case(kind, inputs, 12, **expect)
    made["tolerance"] = tolerance
    print(made, file=sys.stderr, flush=True)


def dp_sgd(noise, rate, steps, group, delta):
    if steps == 1:
        value = one_step(noise, rate, group, delta)
    else:
        segments = [(noise, rate, steps, group)]
        value = checked(lambda fineness: both(segments, 0, fineness, delta=delta))
    inputs = {"noise": noise, "rate": rate, "steps": steps, "group": group, "delta": delta}
    add("dp-sgd", inputs, epsilon=value)


n = 1 / 60000
for given in [
    (1.0, 0.01, 1000, 1, 1e-5),
    (2.0, 1024 / 60000, 878, 1, n),
    (2.0, 1024 / 60000, 878, 5, n),
    (26.74, 4096 / 60000, 175, 8, n),
    (145.673, 8192 / 60000, 73, 36, n),
    (0.8, 0.02, 500, 3, 1e-6),
    (1.0, 0.3, 1, 1, 1e-5),
    (0.3, 0.001, 1, 64, 1e-12),
    (50.0, 0.5, 1, 20, 1e-3),
    (1000.0, 1e-3, 1, 1, 1e-8),
    (5.0, 0.25, 20, 2, 1e-6),
    (1.1, 256 / 60000, 15000, 1, 1e-12),
    (0.7, 1e-3, 100000, 1, 1e-9),
    (20.0, 0.01, 1000000, 1, 1e-10),
    (1000.0, 0.5, 1000000, 1, 1e-7),
    (4.0, 0.9, 30, 6, 1e-5),
    (30.0, 0.005, 100000, 64, 1e-5),
    (0.5, 0.05, 100, 2, 1e-5),
]:
    dp_sgd(*given)

for noise, rate, steps, group, epsilon in [
    (1.0, 0.01, 1000, 1, 2.0),
    (26.74, 4096 / 60000, 175, 8, 3.0),
    (0.8, 0.02, 500, 3, 10.0),
]:
    segments = [(noise, rate, steps, group)]
    value = checked(lambda f, s=segments, e=epsilon: both(s, 0, f, epsilon=e))
    inputs = {"noise": noise, "rate": rate, "steps": steps, "group": group, "epsilon": epsilon}
    add("dp-sgd-delta", inputs, tolerance=1e-3, delta=value)

for segments, mu, delta in [
    ([(26.74, 4096 / 60000, 175, 8)], 0.1378, n),
    ([(1.0, 0.01, 500, 1), (2.0, 0.02, 300, 3)], 0, 1e-6),
    ([(3.0, 0.1, 40, 1), (8.0, 0.05, 100, 4), (2.0, 0.01, 1000, 2)], 0.4, 1e-8),
]:
    value = checked(lambda f, s=segments, m=mu, d=delta: both(s, m, f, delta=d))
    noises, rates, counts, groups = (list(column) for column in zip(*segments, strict=True))
    phases = {
        "noise": [str(x) for x in noises],
        "rate": [str(x) for x in rates],
        "steps": counts,
        "group": groups,
        "mu": mu,
        "delta": delta,
    }
    add("dp-sgd-schedule", phases, epsilon=value)

for noise, rate, steps, group, order in [
    (1.0, 0.01, 1000, 1, 2),
    (1.0, 0.01, 1, 1, 32),
    (26.74, 4096 / 60000, 175, 8, 20),
    (0.8, 0.3, 10, 5, 7),
    (100.0, 1e-3, 100, 64, 64),
]:
    # The nodes of `Step` end where the noise does; the moment's mass is further up.
    sigma, p = mpf(noise), weights(group, mpf(rate))
    gap, low, high = sigma / 16, -14 * sigma, group * order + 14 * sigma
    moment = mpf(0)
    for i in range(int((high - low) / gap) + 1):
        x = low + i * gap
        ratio = sum(w * exp(j * (2 * x - j) / (2 * sigma**2)) for j, w in enumerate(p))
        moment += ratio**order * exp(-(x**2) / (2 * sigma**2)) * gap
    value = steps * log(moment / sqrt(2 * pi) / sigma) / (order - 1)
    inputs = {"noise": noise, "rate": rate, "steps": steps, "group": group, "order": order}
    add("dp-sgd-rdp", inputs, tolerance=1e-7, epsilon=value)

for noise, rate, steps, group, delta in [
    (1.0, 0.01, 1000, 1, 1e-5),
    (26.74, 4096 / 60000, 175, 8, n),
]:
    value = both([(noise, rate, steps, group)], 0, 1, delta=delta)
    inputs = {"rate": rate, "steps": steps, "group": group, "epsilon": nstr(value, 15)}
    add("dp-sgd-noise", {**inputs, "delta": delta}, tolerance=3e-4, noise=mpf(noise))

note = "DP-SGD by inverse Laplace transforms; see make_dp_sgd.py. Tolerances are relative."
write(note, 1)

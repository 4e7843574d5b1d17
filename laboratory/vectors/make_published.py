"""Writes published.json: cases of the published bounds, from 60-digit arithmetic (needs mpmath).

    python make_published.py > ../../vectors/published.json

Every formula is written down a second time, from the theorems and not from the Rust.
"""

import random
from typing import Any

from mpmath import ceil, exp, log, mpf, sqrt
from numerics import Fields, case, digits, first, real, write

random.seed(47)
inputs: Fields


def big(inputs: Fields) -> list[Any]:
    return [real(value) for value in inputs.values()]


def whole(x: Any) -> int:
    return max(0, int(ceil(x)))


for _ in range(12):
    lam, beta = digits(-3, 0), digits(-1, 1)
    inputs = {
        "lambda": lam,
        "beta": beta,
        "eta": float(f"{random.uniform(0.05, 0.98) / (lam + beta):.5g}"),
        "q": 1 + digits(-1, 2),
        "lipschitz": digits(-1, 1),
        "sigma": digits(-2, 1),
        "n": random.randint(20, 10**6),
        "group": random.randint(1, 9),
        "steps": random.randint(0, 3000),
        "releases": random.randint(0, 12),
    }
    lam, beta, eta, q, g, sigma, n, group, steps, releases = big(inputs)
    composed = q * (group * g) ** 2 * eta * steps / (sigma**2 * n**2)
    dp = 4 * q * (group * g) ** 2 / (lam * sigma**2 * n**2) * (1 - exp(-lam * eta * steps / 2))
    dd = 4 * q * (group * g) ** 2 / (lam * sigma**2 * n**2) * exp(-lam * eta * steps / 2)
    case(
        "deletion-rdp",
        inputs,
        epsilon_dd=dd,
        epsilon_dd_adaptive=dd + releases * dp,
        epsilon_dp=dp,
        epsilon_dp_composed=composed,
    )

for _ in range(12):
    inputs = {
        "lambda": digits(-3, 0),
        "beta": digits(-1, 1),
        "lipschitz": digits(-1, 1),
        "n": random.randint(20, 10**6),
        "d": random.randint(1, 1000),
        "q": 1 + digits(-1, 2),
        "epsilon_dp": digits(-2, 1),
        "epsilon_dd": digits(-6, -2.1),
        "group": random.randint(1, 9),
        "replaced": random.randint(1, 20),
    }
    lam, beta, g, n, d, q, dp, dd, group, replaced = big(inputs)
    kap = (lam + beta) / lam
    eta = 1 / (2 * (lam + beta))
    variance = 4 * q * (group * g) ** 2 / (lam * dp * n**2)
    case(
        "deletion-rdp-recipe",
        inputs,
        eta=eta,
        sigma=sqrt(variance),
        start_std=sqrt(variance / (lam * (1 - eta * lam / 2))),
        learning_steps=whole(4 * kap * log(dp * n**2 / (4 * q * d))),
        deletion_steps=whole(4 * kap * log(dp / dd)),
        utility_steps=whole(4 * kap * log(max(5 * kap, 8 * dp * replaced**2 / (q * d)))),
        excess_risk=10 * kap * q * d * (group * g) ** 2 / (lam * dp * n**2),
    )


def plan(ln_b: Any, values: list[Any]) -> tuple[Any, Any, Any, Any]:
    lam, beta, g, _, n, d, q, dp, dd, group, replaced = values
    share = min(dd / d, 1 / q)
    eta = lam * share / (64 * q * exp(ln_b) * (beta + lam) ** 2)
    unit = 2 * exp(ln_b) / (lam * eta)
    bound = unit * log(q * ln_b / dd)
    learn = max(mpf(0), bound)
    remove = bound - unit * log(ln_b / (2 * (dd + replaced / n * ln_b)))
    variance = q * (group * g) ** 2 * eta * max(learn, remove) / (dp * n**2)
    return eta, learn, remove, variance


for _ in range(40):
    inputs = {
        "lambda": digits(-2, 0),
        "beta": digits(-1, 0.5),
        "lipschitz": digits(-1, 0.5),
        "loss_bound": digits(-4, 0.5),
        "n": random.randint(20, 3000),
        "d": random.randint(2, 50),
        "q": 1 + digits(-1, 1),
        "epsilon_dp": digits(-0.7, 0.2),
        "epsilon_dd": digits(-4, -0.8),
        "group": random.randint(1, 3),
        "replaced": random.randint(1, 20),
    }
    values = big(inputs)
    _, _, g, loss, n, _, q, dp, _, group, _ = values

    def fits(ln_b: Any, values: list[Any] = values, loss: Any = loss) -> bool:
        return bool(plan(ln_b, values)[3] * ln_b / 4 >= loss)

    high = first(fits, "1e-40", 600, 190)
    eta, learn, remove, variance = plan(high, values)
    steps = whole(learn), whole(remove)
    # Where the steps are many the last bits of B decide the last digits of the count.
    if max(steps) > 10**10:
        continue
    final = q * (group * g) ** 2 * eta * max(steps) / (dp * n**2)
    case(
        "deletion-rdp-bounded",
        inputs,
        ln_b=high,
        eta=eta,
        sigma=sqrt(final),
        learning_steps=steps[0],
        removal_steps=steps[1],
    )

for _ in range(10):
    lam, beta = digits(-3, 0), digits(-1, 1)
    inputs = {
        "lambda": lam,
        "beta": beta,
        "lipschitz": digits(-1, 1),
        "n": random.randint(20, 10**6),
        "d": random.randint(1, 1000),
        "eta": float(f"{random.uniform(0.05, 0.98) / (lam + beta):.5g}"),
        "sigma": digits(-4, 0),
        "risk": digits(-4, 1),
        "replaced": random.randint(0, 20),
        "steps": random.randint(0, 3000),
    }
    lam, beta, g, n, d, eta, sigma, risk, replaced, steps = big(inputs)
    moved = (1 + beta / lam) * (2 * risk + 16 * replaced**2 * g**2 / (lam * n**2))
    case(
        "deletion-rdp-risk",
        inputs,
        after_request=moved,
        after_steps=moved * exp(-lam * eta * steps / 2) + (1 + beta / lam) * d * sigma**2,
    )


def gap(start: Any, rise: Any) -> Any:
    return sqrt(start + rise) - sqrt(start)


for _ in range(24):
    inputs = {
        "lipschitz": digits(-1, 1),
        "smoothness": digits(-1, 1),
        "diameter": digits(-1, 2),
        "n": random.randint(20, 10**6),
        "d": random.randint(1, 1000),
        "epsilon": digits(-2, 0.7),
        "delta": digits(-12, -1),
        "iterations": random.randint(1, 200),
        "m": digits(-4, 0),
        "xi": random.choice(["1", "1.25", "1.5", "2", "2.5", "4"]),
        "update": random.randint(1, 9),
    }
    g, beta, diameter, n, d, eps, delta, its, m, xi, update = big(inputs)
    power = sqrt(d * log(1 / delta))
    base = g * beta ** mpf("1.5") * power / (diameter * eps * n * its)
    gamma = beta / (beta + 2 * m)
    bound = g + m * diameter
    weak = g**2 * beta ** ((1 + xi) / xi) * d * log(1 / delta)
    weak = (weak / (diameter**2 * eps**2 * n**2 * its ** (1 / xi))) ** (xi / (3 * xi + 1))
    grown = gap(log(1 / delta), eps)
    if xi <= 2:
        sigma = 2 * sqrt(mpf(2)) * beta ** (1 / (2 * xi)) * bound
        sigma /= m * (m * its) ** (1 / (2 * xi)) * n * grown
    else:
        x = gamma**its
        far = [x, x * (1 + x) / 2]
        for i in range(2, 400):
            far.append(x ** (mpf(i) ** (2 * xi)) * (1 + far[-1]))
        sigma = 4 * bound / (m * n) * (x + max(far)) / (sqrt(mpf(2)) * grown)
    strong = 4 * sqrt(mpf(2)) * bound * gamma**its / (m * n * (1 - gamma**its) * grown)
    case(
        "descent-regularised",
        inputs,
        m_printed=base ** mpf("0.8"),
        m_balanced=base ** mpf("0.4"),
        m_weak=weak,
        thm34_sigma=strong,
        learning_steps=whole(its + log(diameter * m * n / (2 * bound)) / log(1 / gamma)),
        weak_sigma=sigma,
        weak_steps=whole(update ** (2 * xi) * its),
    )

for _ in range(16):
    m = digits(-3, 0)
    inputs = {
        "lipschitz": digits(-1, 1),
        "strong_convexity": m,
        "smoothness": float(f"{m * (1 + digits(-1, 2)):.6g}"),
        "diameter": digits(-1, 2),
        "n": random.randint(100, 10**6),
        "d": random.randint(1, 1000),
        "epsilon": digits(-2, 0.7),
        "delta": digits(-12, -1),
        "iterations": random.randint(1, 20),
        "xi": random.choice(["1", "1.1", "1.25", "1.3"]),
        "copies": random.choice([1, 1, 2, 5]),
        "update": random.randint(1, 1000),
    }
    g, m, smooth, diameter, n, d, eps, delta, its, xi, copies, update = big(inputs)
    ln_gamma = log((smooth + m) / (smooth - m))
    speed = n ** ((4 - 3 * xi) / 2)
    local = exp(-ln_gamma * its * speed)
    changes = 10 * log(2 * update * copies / delta)
    first = 1 + 10 * log(2 * copies / delta)
    case(
        "descent-distributed",
        inputs,
        sigma=sqrt(copies)
        * 4
        * sqrt(mpf(2))
        * g
        * local
        / (m * n * (1 - local) * gap(log(2 / delta), eps)),
        learning_steps=whole(its * speed + log(diameter * m / g * n**xi * first) / ln_gamma),
        update_budget=changes * (its + log(1 + update * changes) / (speed * ln_gamma)),
    )

for _ in range(12):
    n = random.randint(3, 10**5)
    inputs = {
        "third_derivative": random.choice(["0.25", "0.09622504486493763"]),
        "row_norm": digits(-1, 1),
        "lipschitz": digits(-1, 1),
        "lambda": digits(-5, 0),
        "n": n,
        "removed": random.randint(1, min(n - 1, 50)),
        "perturbation": random.choice(["0", "0.5", "20"]),
        "spectral": digits(-1, 3),
        "step": digits(-6, 0),
        "moved_margins": digits(-5, 2),
    }
    gamma, r, c, lam, n, k, b, spectral, step, margins = big(inputs)
    case(
        "objective-residual",
        inputs,
        worst_case=gamma * r**3 * k**2 * (2 * c) ** 2 / (lam**2 * (n - k)),
        worst_case_perturbed=gamma * r**3 * k**2 * (2 * c + b / n) ** 2 / (lam**2 * (n - k)),
        from_step=gamma * r**3 * (n - k) * step**2,
        data_dependent=gamma * r * spectral * step * margins,
    )

for _ in range(10):
    inputs = {
        "sigma": digits(-2, 2),
        "residual": digits(-2, 1),
        "epsilon": digits(-2, 0),
        "delta": digits(-9, -1),
    }
    sigma, residual, eps, delta = big(inputs)
    c = sqrt(2 * log(mpf("1.5") / delta))
    case(
        "objective-budget",
        inputs,
        budget=sigma * eps / c,
        sigma_for_residual=c * residual / eps,
        claimed_delta=min(mpf(1), mpf("1.5") * exp(-((sigma * eps / residual) ** 2) / 2)),
        pure_scale=residual / eps,
    )

for _ in range(12):
    inputs = {"epsilon": digits(-3, 1), "delta": digits(-12, -2), "k": random.randint(1, 12)}
    e, d, k = big(inputs)
    case("group-privacy-noted", inputs, epsilon=e / k, delta=d * (exp(e) - 1) / (exp(k * e) - 1))

for _ in range(12):
    inputs = {
        "epsilon": digits(-3, 0),
        "delta": digits(-15, -8),
        "k": random.randint(1, 8),
        "epsilon_second": digits(-3, 1),
        "delta_second": digits(-12, -2),
        "mu": digits(-2, 0.5),
        "mu_second": digits(-2, 0.5),
    }
    e, d, k, e2, d2, mu, mu2 = big(inputs)
    e1, d1 = k * e, d * (exp(k * e) - 1) / (exp(e) - 1)
    one, other = exp(e1) * d2 + d1, exp(e2) * d1 + d2
    case(
        "compose",
        inputs,
        epsilon=e1 + e2,
        delta=min(mpf(1), d1 + d2),
        delta_as_noted=min(mpf(1), one, other),
        delta_as_proven=min(mpf(1), max(one, other)),
        mu=sqrt((k * mu) ** 2 + mu2**2),
    )

note = "Published bounds from 60-digit arithmetic, see make_published.py. Units: nats."
write(note, 1)

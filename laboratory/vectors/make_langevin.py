"""Writes langevin.json: Langevin and bounded-domain cases from 60-digit arithmetic (needs mpmath).

    python make_langevin.py > ../../vectors/langevin.json

Every formula is written down here a second time, step by step; restarts are tried at every step.
"""

import random
from collections.abc import Callable
from typing import Any

from mpmath import exp, log, mpf, nstr, sqrt
from numerics import Fields, case, delta_of, digits, first, least, mu_of, real, write

random.seed(32)
Curve = Callable[[Any], Any]


def epsilon_of(curve: Curve, delta: Any) -> Any:
    def at(t: Any) -> Any:
        a = 1 + exp(mpf(t))
        return curve(a) + log(1 / delta) / (a - 1)

    return least(at, -30, 70)


def settings() -> tuple[Fields, Fields]:
    m = digits(-3, 0)
    eta = float(f"{random.uniform(0.05, 0.99) / m:.5g}")
    inputs = {
        "n": random.randint(20, 50000),
        "strong_convexity": m,
        "lipschitz": digits(-0.5, 0.5),
        "eta": eta,
        "sigma": digits(-2, 0.5),
        "group": random.randint(1, 20),
        "delta": digits(-9, -3),
    }
    return inputs, {k: real(v) for k, v in inputs.items()}


def stationary(r: Fields, sigma: Any) -> Curve:
    reach = r["group"] * r["lipschitz"] / (sigma * r["n"])
    return lambda a: 4 * a * reach**2 / r["strong_convexity"]


for _ in range(6):
    inputs, r = settings()
    del inputs["sigma"]
    steps, target = random.randint(1, 300), digits(-1, 0.7)
    rate = steps * r["strong_convexity"] * r["eta"]

    def enough(ln_sigma: Any, r: Fields = r, rate: Any = rate, target: Any = target) -> bool:
        zero = stationary(r, exp(ln_sigma))
        value = epsilon_of(lambda a: exp(-rate / a) * zero(a), r["delta"])
        return bool(value <= real(target))

    case(
        "langevin-least-sigma",
        {**inputs, "steps": steps, "target_epsilon": target},
        sigma=exp(first(enough, -60, 60, 70)),
    )

for _ in range(8):
    inputs, r = settings()
    learning, steps = random.randint(1, 400), random.randint(0, 300)
    radius = digits(-2, 2)
    m, eta, sigma = r["strong_convexity"], r["eta"], r["sigma"]
    zero = stationary(r, sigma)
    squares, c = mpf(0), 1 - m * eta
    for _ in range(learning):
        squares = squares * c**2 + 2 * eta * sigma**2
    rho = (2 * real(radius) * c**learning) ** 2 / squares / 2

    def after(a: Any, z: Curve = zero, k: int = steps, m: Any = m, eta: Any = eta) -> Any:
        return exp(-k * m * eta / a) * z(a)

    def short(a: Any, f: Curve = after, t: int = learning, m: Any = m, eta: Any = eta) -> Any:
        return f(a) * (1 - exp(-m * eta * t))

    def triangles(a: Any, f: Curve = after, rho: Any = rho) -> Any:
        inner = (2 * a - mpf("0.5")) / (2 * a - 1) * (f(4 * a) + rho * 4 * a)
        return (a - mpf("0.5")) / (a - 1) * (inner + rho * 2 * a)

    case(
        "langevin-finite",
        {**inputs, "learning_steps": learning, "steps": steps, "radius": radius},
        epsilon_against_all_steps=epsilon_of(short, r["delta"]),
        epsilon_against_learning_steps=epsilon_of(triangles, r["delta"]),
    )

for index in range(10):
    inputs, r = settings()
    convex = index % 2 == 0
    del inputs["strong_convexity"]
    inputs["smoothness"] = float(f"{random.uniform(0.1, 2) / inputs['eta']:.4g}")
    eta, sigma, smooth = r["eta"], r["sigma"], real(inputs["smoothness"])
    inputs["radius"] = float(f"{random.uniform(0.05, 4) * float(sqrt(2 * eta) * sigma):.4g}")
    inputs["start_variance"] = random.choice([0.0, 0.25])
    reach = real(inputs["radius"]) + eta * r["lipschitz"]
    g = mpf(1) if convex else (1 + eta * smooth) ** 2
    half = eta * sigma**2

    def cap(v: Any, reach: Any = reach) -> Any:
        return 6 * (4 * reach**2 + v) * exp(4 * reach**2 / v)

    steps = random.randint(1, 60)
    constant, products = real(inputs["start_variance"]), mpf(0)
    if index < 8:
        inputs["learning_steps"] = random.randint(1, 80)
        for _ in range(inputs["learning_steps"]):
            middle = min(g * constant + half, cap(half))
            products = (products + 1) / (1 + half / middle)
            constant = min(middle + half, cap(half))
    else:
        constant = cap(half)
        products = constant / half
    scale = 2 * eta * (r["group"] * r["lipschitz"] / (sigma * r["n"])) ** 2 * products
    decay = mpf(0)
    for _ in range(steps):
        decay += log(1 + 2 * half / (g * constant))
        constant = min(g * constant + 2 * half, cap(2 * half))

    def at_steps(a: Any, s: Any = scale, d: Any = decay) -> Any:
        return a * s * exp(-d / a)

    def at_learning(a: Any, s: Any = scale) -> Any:
        return a * s

    case(
        "langevin-convex" if convex else "langevin-nonconvex",
        {**inputs, "steps": steps},
        epsilon_at_learning=epsilon_of(at_learning, r["delta"]),
        epsilon_at_steps=epsilon_of(at_steps, r["delta"]),
    )


def restarted(diameter: Any, shifts: list[Any], c: Any, noise: Any) -> Any:
    def bound(start: Any, shifts: list[Any]) -> Any:
        return mu_of(start, [c] * len(shifts), shifts, [noise] * len(shifts))

    rest = [bound(diameter, shifts[k:]) for k in range(len(shifts))]
    return min([bound(mpf(0), shifts), *rest])


for index in range(10):
    inputs, r = settings()
    del inputs["strong_convexity"]
    convexity = ["convex", "nonconvex"][index % 2]
    lam = random.choice([0.0, float(f"{0.05 / inputs['eta']:.4g}")])
    beta = float(f"{random.uniform(0.02, 0.3 if index % 2 else 1.9) / inputs['eta']:.4g}")
    eta = r["eta"]
    noise = sqrt(2 * eta) * r["sigma"]
    radius = float(f"{random.uniform(0.3, 6) * float(noise):.4g}")
    learning, unlearning = random.randint(1, 40), random.randint(0, 25)
    adjacency = random.choice(["replace", "remove-fixed"])
    bound = real(beta) * real(radius) * 2
    given = random.random() < 0.5
    flat = real(lam) if convexity == "convex" else real(lam) - real(beta)
    c = max(1 - eta * flat, eta * (real(beta) + real(lam)) - 1)
    times = 2 if adjacency == "replace" else 1
    inputs["n"] = random.randint(20, 200)
    shift = times * eta * r["lipschitz"] * r["group"] / inputs["n"]
    shifts = [shift] * learning + [mpf(0)] * unlearning
    diameter = 2 * real(radius)
    gradient = bound if given else r["lipschitz"] + real(lam) * real(radius)
    apart = min(diameter * c, diameter + 2 * eta * gradient)
    mu = restarted(diameter, shifts, c, noise)
    before = restarted(diameter, shifts[:learning], c, noise)

    def delta_after(
        e: Any, mu: Any = mu, before: Any = before, k: int = unlearning, d: Any = apart / noise
    ) -> Any:
        p = delta_of(e, before)
        for _ in range(k):
            # Far below every delta that is asked for; the difference has lost its digits there.
            if p < mpf(10) ** -60:
                return mpf(0)
            p *= max(mpf(0), delta_of(log(1 + (exp(e) - 1) / p), d))
        return min(p, delta_of(e, mu))

    def reached(e: Any, d: Any = r["delta"], f: Curve = delta_after) -> bool:
        return bool(f(e) <= d)

    high = first(reached, 0, mu**2 / 2 + mu * sqrt(-2 * log(r["delta"])) + 1, 60)
    if delta_after(mpf(0)) <= r["delta"]:
        high = mpf(0)
    extra = {"gradient_bound": nstr(bound, 50)} if given else {}
    case(
        "bounded-domain-gd",
        {
            **inputs,
            **extra,
            "convexity": convexity,
            "lambda": lam,
            "beta": beta,
            "radius": radius,
            "learning_steps": learning,
            "unlearning_steps": unlearning,
            "adjacency": adjacency,
        },
        mu=mu,
        epsilon=high,
    )

write("compare at a relative 1e-8", 0)

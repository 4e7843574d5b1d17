"""Writes cases.json: batch cases with expected results from 60-digit arithmetic (needs mpmath).

    python make_cases.py > ../../vectors/cases.json

Every formula is written down here a second time, step by step and without closed forms.
"""

import random

from mpmath import exp, log, mp, mpf, sqrt
from numerics import case, digits, epsilon_of, least, mu_of, upper, write

random.seed(31)

for _ in range(14):
    rho, delta = digits(-8, 3), digits(-60, -0.3)
    r, surprise = mpf(str(rho)), -log(mpf(str(delta)))

    def cks(t, r=r, surprise=surprise):
        above = exp(t)
        alpha = 1 + above
        return r * alpha + log(above / alpha) + (surprise - log(alpha)) / above

    case(
        "rdp-epsilon",
        {"curve": "rho*alpha", "rho": rho, "delta": delta},
        mironov=r + 2 * sqrt(r * surprise),
        canonne__kamath__steinke=max(mpf(0), least(cks, -30, 60)),
    )

for _ in range(10):
    q, epsilon = 1 + digits(-2, 3), digits(-9, 1.2)
    delta, mu = digits(-12, -0.1), digits(-6, 1.2)
    q = float(f"{q:.8g}")
    e, o, d, m = (mpf(str(x)) for x in (epsilon, q, delta, mu))
    bound = o / (o - 1) * exp(e * (o - 1) / o) * (2 * (o - 1)) ** (1 / o) - 1
    case(
        "advantage",
        {"q": q, "epsilon": epsilon, "delta": delta, "mu": mu},
        from_deletion_privacy=min(sqrt(2 * e), bound, mpf(1)),
        from_gdp=1 - 2 * upper(m / 2),
        from_eps_delta=(exp(e) - 1 + 2 * d) / (exp(e) + 1),
    )

for _ in range(10):
    epsilon, delta, k = digits(-6, 1), digits(-30, -1), random.randint(1, 40)
    e, d = mpf(str(epsilon)), mpf(str(delta))
    case(
        "group-privacy",
        {"epsilon": epsilon, "delta": delta, "k": k},
        group_epsilon=k * e,
        group_delta=d * (exp(k * e) - 1) / (exp(e) - 1),
        single_epsilon_for_group_target=e / k,
        single_delta_for_group_target=d * (exp(e / k) - 1) / (exp(e) - 1),
    )

for _ in range(10):
    epsilon = 0.0 if random.random() < 0.2 else digits(-3, 0.7)
    diameter, steps = digits(-0.3, 1.2), random.randint(1, 8)
    ln_p, e = mpf(0), mpf(str(epsilon))
    for _ in range(steps):
        raised = log(1 + (exp(e) - 1) / exp(ln_p))
        with mp.workdps(6000):
            a = mpf(str(diameter)) / 2 - raised / mpf(str(diameter))
            value = upper(-a) - exp(raised) * upper(mpf(str(diameter)) - a)
        if value <= 0 or ln_p < -2000:
            break
        ln_p += log(value)
    else:
        case(
            "bounded-domain",
            {"epsilon": epsilon, "diameter_over_noise": diameter, "steps": steps},
            ln_delta=ln_p,
        )


for _ in range(10):
    n = random.randint(1, 30)
    contraction = [f"{random.uniform(0.2, 1.2):.4f}" for _ in range(n)]
    shift = [random.choice(["0", f"{random.uniform(0, 2):.4f}"]) for _ in range(n)]
    noise = [f"{random.uniform(0.1, 2):.4f}" for _ in range(n)]
    start = random.choice(["0", "1.5", "20"])
    numbers = [[mpf(x) for x in part] for part in (contraction, shift, noise)]
    mu = mu_of(mpf(start), *numbers)
    case(
        "noisy-gd-gdp-schedule",
        {
            "contraction": contraction,
            "shift": shift,
            "noise_std": noise,
            "initial_distance": start,
            "delta": "1e-5",
        },
        mu=mu,
        epsilon=epsilon_of(mu, 1e-5),
    )

for _ in range(14):
    n, lam, beta = random.randint(50, 5000), digits(-3, 0), digits(-1, 1)
    lam = random.choice([lam, 0.0])
    eta = float(f"{random.uniform(0.05, 1.99) / (lam + beta):.5g}")
    lipschitz, sigma, delta = digits(-0.5, 0.5), digits(-2, 0.5), digits(-12, -3)
    learning, unlearning = random.randint(1, 400), random.randint(0, 200)
    group = random.randint(1, 40)
    adjacency = random.choice(["replace", "remove-fixed", "remove-mean"])
    e, m, b = mpf(str(eta)), mpf(str(lam)), mpf(str(beta))
    c = max(1 - e * m, e * (b + m) - 1)
    shift = e * mpf(str(lipschitz)) * group / n * (1 if adjacency == "remove-fixed" else 2)
    steps = learning + unlearning
    mu = mu_of(
        mpf(0),
        [c] * steps,
        [shift] * learning + [mpf(0)] * unlearning,
        [sqrt(2 * e) * mpf(str(sigma))] * steps,
    )
    case(
        "noisy-gd-gdp",
        {
            "n": n,
            "lambda": lam,
            "beta": beta,
            "lipschitz": lipschitz,
            "eta": eta,
            "sigma": sigma,
            "learning_steps": learning,
            "unlearning_steps": unlearning,
            "group": group,
            "adjacency": adjacency,
            "delta": delta,
        },
        mu=mu,
        epsilon=epsilon_of(mu, delta),
    )

for _ in range(8):
    n, lam, beta, sigma, delta = 300, 0.05, 0.25, digits(-1.5, 0), 1e-6
    eta = 3.0
    learning = random.randint(1, 80)
    adjacency = random.choice(["remove-fixed", "remove-mean"])
    current, fresh, requests, sets = set(range(n)), 5000, [], []
    sets.append((learning, set(current)))
    for _ in range(random.randint(1, 6)):
        gone = random.sample(sorted(current), random.randint(0, 8))
        new = list(range(fresh, fresh + random.randint(0, 5)))
        fresh += 100
        current = (current - set(gone)) | set(new)
        steps = random.randint(1, 30)
        requests.append({"delete": gone, "add": new, "steps": steps})
        sets.append((steps, set(current)))
    e = mpf(str(eta))
    c = max(1 - e * mpf("0.05"), e * mpf("0.30") - 1)
    shifts = []
    for steps, data in sets:
        then, now = len(data - current), len(current - data)
        if adjacency == "remove-fixed":
            relative = mpf(then + now) / n
        else:
            relative = mpf(2 * max(then, now)) / max(len(data), len(current))
        shifts += [e * relative] * steps
    mu = mu_of(mpf(0), [c] * len(shifts), shifts, [sqrt(2 * e) * mpf(str(sigma))] * len(shifts))
    case(
        "noisy-gd-gdp-sequence",
        {
            "n": n,
            "lambda": lam,
            "beta": beta,
            "lipschitz": 1,
            "eta": eta,
            "sigma": sigma,
            "learning_steps": learning,
            "delta": delta,
            "adjacency": adjacency,
            "requests": requests,
        },
        mu=mu,
        epsilon=epsilon_of(mu, delta),
    )

write("compare at a relative 1e-8", 0)

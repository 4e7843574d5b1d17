"""Writes noisy_cgd.json: cases of noisy descent over fixed batches (needs mpmath).

    python make_noisy_cgd.py > ../../vectors/noisy_cgd.json

Every step is a point (V_k, Y_k) of its own, in sixty digits, and the minorant is the lower convex
hull of all points by cross products. Where a closed form is known (no step after the request, or a
whole cycle of them) it must agree to forty digits.
"""

import random
import sys
from itertools import pairwise

from mpmath import mpf, nstr, sqrt
from numerics import case, epsilon_of, real, write

random.seed(19)


def hull(c, noise, shifts):
    """mu of the schedule by the lower hull of its points, from the first step to the last."""
    points, ahead = [], mpf(1)
    for shift in reversed(shifts):
        points.append(((ahead * noise) ** 2, ahead * shift))
        ahead *= c
    v, y, corners = mpf(0), mpf(0), [(mpf(0), mpf(0))]
    for dv, dy in reversed(points):
        v, y = v + dv, y + dy
        while len(corners) > 1:
            (v1, y1), (v0, y0) = corners[-1], corners[-2]
            if (v1 - v0) * (y - y0) > (y1 - y0) * (v - v0):
                break
            corners.pop()
        corners.append((v, y))
    return sqrt(sum((y1 - y0) ** 2 / (v1 - v0) for (v0, y0), (v1, y1) in pairwise(corners)))


def add(kind, inputs, mu):
    case(kind, inputs, mu=mu, epsilon=epsilon_of(mu, inputs["delta"]))
    print(kind, inputs, nstr(mu, 12), file=sys.stderr)


def constants(inputs):
    """Contraction, noise and the shift of one record."""
    x = {k: real(inputs[k]) for k in ("lambda", "beta", "lipschitz", "eta", "sigma", "size")}
    c = max(1 - x["eta"] * x["lambda"], x["eta"] * (x["beta"] + x["lambda"]) - 1)
    replaced = 2 if inputs["adjacency"] == "replace" else 1
    shift = replaced * x["eta"] * x["lipschitz"] / x["size"]
    return c, sqrt(2 * x["eta"]) * x["sigma"], shift


def one(batches, learning, unlearning, offset, closed=None, **more):
    inputs = {**setting(), **more}
    c, noise, shift = constants(inputs)
    group = inputs["group"]
    visited = range(learning - offset, 0, -batches)
    shifts = [group * shift if k in visited else mpf(0) for k in range(1, learning + 1)]
    mu = hull(c, noise, shifts + [mpf(0)] * unlearning)
    if closed:
        want = group * shift / noise * closed(c, batches, learning // batches, unlearning)
        if abs(mu / want - 1) > mpf(10) ** -40:
            raise ValueError((mu, want))
    inputs |= {"batches": batches, "learning_steps": learning}
    inputs |= {"unlearning_steps": unlearning, "offset": offset}
    add("noisy-cgd", inputs, mu)


def setting():
    return {
        "batches": 0,
        "size": random.choice([60, 100, 512, 1000]),
        "lambda": random.choice([1e-4, 1e-3, 0.01]),
        "beta": 0.26,
        "lipschitz": random.choice([1.0, 1.4142]),
        "eta": random.choice([0.5, 2.0, 4.0, 7.0]),
        "sigma": float(f"{10 ** random.uniform(-3, -1.7):.3g}"),
        "group": random.choice([1, 1, 2, 5]),
        "adjacency": random.choice(["remove-fixed", "replace"]),
        "delta": random.choice([1e-5, 1e-6]),
    }


def last_step(c, n, epochs, _):
    """No step after the request, the record in the batch of the last one."""
    x = c ** (n * (epochs - 1))
    return sqrt(1 + c ** (2 * n - 2) * (1 - c**2) / (1 - c**n) ** 2 * (1 - x) / (1 + x))


def one_chord(c, n, epochs, after):
    """At least a cycle without the record."""
    total = c**after * (1 - c ** (n * epochs)) / (1 - c**n)
    return total * sqrt((1 - c**2) / (1 - c ** (2 * (after + n * (epochs - 1) + 1))))


for batches, epochs in [(2, 1), (10, 4), (50, 20), (200, 3), (1000, 4)]:
    one(batches, batches * epochs, 0, 0, last_step)
for batches, epochs, after in [(2, 5, 1), (10, 4, 9), (50, 20, 120), (200, 3, 200), (5, 40, 1000)]:
    one(batches, batches * epochs, after, 0, one_chord)
# A chord would be too low here.
one(50, 50 * 400, 10, 0, eta=2.0, **{"lambda": 0.01})
for _ in range(12):
    batches = random.choice([1, 3, 8, 40, 250])
    learning = random.randint(1, 6 * batches + 40)
    one(batches, learning, random.randint(0, 2 * batches), random.randint(0, batches - 1))

for _ in range(8):
    inputs = setting()
    batches, learning = random.choice([2, 10, 60, 300]), random.randint(1, 700)
    c, noise, shift = constants(inputs)
    requests = random.randint(1, 9)
    later = [random.choice([1, 7, 30, 100]) for _ in range(requests)]
    groups = [random.choice([1, 1, 2, 10]) for _ in range(requests)]
    ends = [learning + sum(later[:i]) for i in range(requests)]
    shifts = [mpf(0)] * (learning + sum(later))
    for records, end in zip(groups, ends, strict=True):
        for k in range(end, 0, -batches):
            shifts[k - 1] += records * shift
    del inputs["group"]
    inputs |= {"batches": batches, "learning_steps": learning}
    inputs |= {"unlearning_steps": later, "groups": groups}
    add("noisy-cgd-sequence", inputs, hull(c, noise, shifts))

note = "Noisy descent over fixed batches, from single steps; see make_noisy_cgd.py."
write(note, 1)

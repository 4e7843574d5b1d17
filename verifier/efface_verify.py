#!/usr/bin/env python3
# long because it must stay one file that an auditor can carry and read alone
"""Check efface certificates without efface: `python3 efface_verify.py FILE... [--key KEY]`.

A second verifier, written from the theory and sharing no code with the first: the Python standard
library only, every bound recomputed in 80-digit decimal arithmetic from the event that the
certificate states. Neither the data, nor the model, nor the vault is needed.

Networks are the exception: sums in float64, by a method that has nothing in common with the first.

Prints one line per check. KEY is the signer's public key: 64 hexadecimal digits, or a file that
holds them. Exit status: 0 everything holds, 1 something does not, 2 it cannot be told (no key
given, unreadable file, or a kind of certificate this program does not know).

What it cannot see: whether the constants are true of the data, whether as many records came and
went as the request and the event state, whether rounding was as small as stated, whether the model
in use is the one whose digest is stated, and whether the ledger was rolled back to an older state.
"""

from __future__ import annotations

import argparse
import cmath
import hashlib
import json
import math
import operator
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    setcontext,
)
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

SCHEMA = "efface.certificate/0.3"
# Of development versions.
EARLIER = ("efface.certificate/0", "efface.certificate/0.1", "efface.certificate/0.2")
ERASURE = "efface.erasure/0.4"
MAX_BYTES = 4 << 20
LARGEST = 2**53  # integers beyond this have no unique canonical form
MOST_PHASES = 100_000
MOST_VISITS = 100_000
LEAST, MOST = Decimal("1e-100"), Decimal("1e100")  # sizes at which no formula loses its digits
TOLERANCE = Decimal("1e-12")  # stated numbers are rounded up, so none is below the exact one
DIGITS = Context(
    prec=80, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation, DivisionByZero, Overflow]
)
setcontext(DIGITS)
ZERO, ONE = Decimal(0), Decimal(1)
INFINITY = Decimal("Infinity")
# Entries of one ledger have the same events again and again. Few: an event may have many phases.
remembered = lru_cache(maxsize=16)
Fields = dict[str, Any]  # a JSON object, its shape checked by `fit`


class Refused(Exception):
    """This program cannot judge the file."""


class Undecided(Exception):
    """This check cannot be told from what was given."""


class Broken(Exception):
    """This check does not hold."""


# --- Ed25519 (RFC 8032): verification only

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int, int]  # x, y and z stand for (x/z, y/z): no sum has to divide
IDENTITY: Point = (0, 1, 1)


def add(a: Point, b: Point) -> Point:
    """Sum of two points of the curve -x^2 + y^2 = 1 + CURVE x^2 y^2."""
    z, xx, yy = a[2] * b[2] % P, a[0] * b[0], a[1] * b[1]
    cross = CURVE * xx * yy % P
    less, more = z * z - cross, z * z + cross
    x = z * less * (a[0] * b[1] + a[1] * b[0])
    return x % P, z * more * (xx + yy) % P, less * more % P


def same(a: Point, b: Point) -> bool:
    """Whether two points are equal."""
    return all((a[at] * b[2] - b[at] * a[2]) % P == 0 for at in (0, 1))


def times(scalar: int, point: Point) -> Point:
    """Add a point to itself that many times, by doubling."""
    total = IDENTITY
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point, scalar = add(point, point), scalar >> 1
    return total


def decode_point(data: bytes) -> Point | None:
    """Read a point: y in 255 bits, then the parity of x; None if it is not on the curve."""
    number = int.from_bytes(data, "little")
    y, odd = number & (2**255 - 1), number >> 255
    if len(data) != 32 or y >= P:
        return None
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or (x == 0 and odd):
        return None
    return (P - x if x & 1 != odd else x), y, 1


BASE: Point = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little")) or IDENTITY


def ed25519_holds(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is valid, strictly: canonical encodings, no small-order points."""
    a, r = decode_point(key), decode_point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or len(signature) != 64 or s >= ORDER:
        return False
    if same(times(8, a), IDENTITY) or same(times(8, r), IDENTITY):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    return same(times(s, BASE), add(r, times(k, a)))


# --- Reading: strict JSON, canonical form (RFC 8785), and the shape of a certificate


def _pairs(pairs: list[tuple[str, Any]]) -> Fields:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Refused("an object has the same key twice")
    return fields


def _integer(text: str) -> int:
    if len(text) > 17 or text == "-0" or abs(int(text)) > LARGEST:
        raise Refused(f"integer {text[:24]} has no unique canonical form")
    return int(text)


def _no_float(text: str) -> float:
    raise Refused(f"numbers with a fraction must be strings, got {text[:24]}")


def read_json(data: bytes) -> Fields:
    """Parse one JSON object of integers, strings, booleans, null, arrays and objects."""
    if len(data) > MAX_BYTES:
        raise Refused(f"a certificate has at most {MAX_BYTES} bytes, this has more")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_pairs,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
        canonical(value)  # refuses lone surrogates
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refused("not a JSON object")
    return value


def canonical(value: Any) -> bytes:
    """Write a value in the canonical form: keys in UTF-16 order, no spaces."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return b"{" + b",".join(canonical(k) + b":" + canonical(value[k]) for k in keys) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def document_hash(document: Fields) -> str:
    """SHA-256 of the canonical document without `chain.hash` and `signature`."""
    body = {key: value for key, value in document.items() if key != "signature"}
    body["chain"] = {key: value for key, value in body["chain"].items() if key != "hash"}
    return hashlib.sha256(canonical(body)).hexdigest()


def spelled(value: float) -> str:
    """The one spelling of a float64: its shortest digits, an exponent where it is far from 1."""
    if value == math.inf:
        return "inf"
    shortest = Decimal(repr(value)).normalize()
    # Of two neighbours as near, the larger: halves of powers of two end so.
    rounding = Context(len(shortest.as_tuple().digits), ROUND_HALF_UP, MIN_EMIN, MAX_EMAX)
    nearest = rounding.plus(Decimal(value)).normalize()
    shortest = nearest if float(nearest) == value else shortest
    sign, digits, _ = shortest.as_tuple()
    figures, minus = "".join(map(str, digits)), "-" * sign
    if value == 0:
        return f"{minus}0"
    if 1e-4 <= abs(value) < 1e15:
        return minus + format(abs(shortest), "f")
    rest = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{minus}{figures[0]}{rest}e{shortest.adjusted()}"


def number(text: str) -> Decimal:
    """The exact value of the float64 that a decimal string stands for; `inf` is allowed.

    A number has one spelling, so that nothing can be changed in a certificate without a trace.
    """
    if text == "inf":
        return INFINITY
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?", text):
        raise ValueError(f"expected a decimal number or `inf`, got `{text[:40]}`")
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"`{text[:40]}` is beyond float64")
    if spelled(value) != text:
        raise ValueError(f"`{text[:40]}` must be spelled `{spelled(value)}`")
    return Decimal(value)


def stands_for(text: str, value: Decimal) -> bool:
    """Whether a decimal string stands for the number."""
    try:
        return number(text) == value
    except ValueError:
        return False


RETRAINING, RENYI = "indistinguishable-from-retraining", "renyi-unlearning"
DELETION, PRIVACY = "deletion-privacy", "differential-privacy"
EXACT = "exact-removal"
NOTIONS = (RETRAINING, RENYI, DELETION, PRIVACY, EXACT)

# What a certificate consists of: objects with their fields, `name?` may be null or missing. A form
# is text, time, count, flag, number (a decimal string), hexN (N digits), records (a count as a
# string, or hidden), words|to|choose|from, [array], or an object.
FORMS = """
certificate: schema=text id=text vault=text issued_at=time not_for_release=flag request=request
    model=model claims=[claim] event=event constants=[constant] assumptions=[assumption]
    noise=drawn scope=scope chain=chain signature=signature
request: id=text kind=train|delete|add|update|refresh records=records subjects?=hex64
    received_at=time
model: digest_before?=hex64 digest_after=hex64 version=count
claim: notion=notion epsilon=number rdp_epsilon?=number delta?=number mu?=number order?=number
    group=text adjacency?=remove|replace normalizer=text reference=text requests=requests
    state=perfect|secret releases=count accountant=text theorem=text advantage=number words=text
requests: p-adaptive=count
event/output-noise: kind=text setting=setting procedure=retrain|solve distance=number noise=number
    grid=number state=perfect|secret joint_releases=count releases=count
    records?=count preprocessing?=refitted
refitted: min_frequency=count
event/noisy-gd: kind=text setting=setting step=number noise=number grid=number rounding=number
    radius?=number phases=[phase] replaced?=[count] longest=count learning=count releases=count
    batches?=batches
batches: count=count size=count most=count changed?=[count]
event/descent: kind=text setting=setting variant=secret|perfect|regularised|weak xi?=number
    tail?=number iterations=count step=number diameter=number noise=number grid=number
    rounding=number phases=[phase] updates=count longest=count joint_releases=count releases=count
event/composed: kind=text given=given removed?=count inner=event
given: what=extractor|start epsilon?=number delta?=number mu?=number group=count
    training?=training declared?=elsewhere
elsewhere: phases=[drawing] clip?=number deleted=count
drawing: noise=number rate=number steps=count
training: parameters=count unit=record|subject rows_per_unit=count clip=number
    noise=number grid=number rate=number group=count releases=count segments=[segment]
    earlier_steps=count
event/exact-removal: kind=text setting=setting row_bound=number row_grid=number
    target_bound=number target_grid=number releases=count max_weight?=count records?=count
    preprocessing?=refitted
event/distributed-descent: kind=text setting=setting sample=count parts=count copies=count
    distance=number iterations?=count noise=number grid=number state=perfect|secret
    joint_releases=count releases=count records=count
event/dp-sgd: kind=text parameters=count unit=record|subject rows_per_unit=count clip=number
    noise=number grid=number rate=number group=count releases=count segments=[segment]
    earlier_steps=count
segment: steps=count deleted=count
event/shards: kind=text parameters=count unit=record|subject shards=count retrained=count
    arithmetic=count releases=count
phase: steps=count releases=count only_then=count only_now=count records?=count
setting: parameters=count normalizer=normalizer lipschitz=number smoothness=number
    strong_convexity=number group=count
normalizer/fixed: kind=text n=count capacity=count
normalizer/mean: kind=text minimum=count
constant: name=text value=text origin=user|default|data
assumption: name=text value=text evidence=enforced|measured|declared|assumed
drawn: sampler=text generator=text grid?=number
scope: covers=[text] does_not_cover=[text]
erasure: schema=text vault=text at=time not_for_release=flag request=erased damage?=damage
    model=withdrawn scope=scope chain=chain signature=signature
damage: erased=records missing=records remaining=records
erased: id=text records=records subjects?=hex64
withdrawn: version=count withdrawn=now|before
chain: index=count previous=hex64 hash=hex64
signature: key_id=hex16 public_key=hex64 value=hex128
"""
OBJECTS = {
    name: dict(field.split("=") for field in fields.split())
    for name, fields in re.findall(r"^([a-z/-]+):(.*(?:\n .*)*)", FORMS, re.MULTILINE)
}

# Exact forms of text: what has two spellings can be changed without a trace.
PATTERNS = {
    **{f"hex{digits}": f"[0-9a-f]{{{digits}}}" for digits in (16, 64, 128)},
    "records": "not stated|0|[1-9][0-9]{0,15}",
    "time": "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3])"
    ":[0-5][0-9]:([0-5][0-9]|60)Z",
}


def fit(value: Any, form: str, at: str) -> Any:
    """Refuse what has not exactly the form, unknown fields included; numbers come back parsed."""
    if form.startswith("[") and isinstance(value, list):
        return [fit(item, form[1:-1], f"{at}[{index}]") for index, item in enumerate(value)]
    if form in ("event", "normalizer") and isinstance(value, dict):
        form = f"{form}/{value.get('kind')}"  # an unknown kind is no form, and refused below
    if form in OBJECTS and isinstance(value, dict):
        checked, fields = {}, OBJECTS[form]
        if unknown := set(value) - {name.rstrip("?") for name in fields}:
            raise Refused(f"`{at}` has an unknown field `{min(unknown)[:40]}`")
        for field, inner in fields.items():
            name = field.rstrip("?")
            if value.get(name) is None and field == name:
                raise Refused(f"`{at}` lacks `{name}`")
            part = value.get(name)
            checked[name] = None if part is None else fit(part, inner, f"{at}.{name}")
        return checked
    if form == "number" and isinstance(value, str):
        try:
            return number(value)
        except ValueError as error:
            raise Refused(f"`{at}`: {error}") from error
    words = {"requests": "any|non-adaptive", "notion": "|".join(NOTIONS)}.get(form, form)
    right = {
        "count": type(value) is int and value >= 0,
        "flag": type(value) is bool,
        "text": isinstance(value, str),
    }.get(form, isinstance(value, str) and "|" in words and value in words.split("|"))
    if isinstance(value, str) and (pattern := PATTERNS.get(form)):
        right = re.fullmatch(pattern, value) is not None
    if not right:
        raise Refused(f"`{at}` is not as this program knows it ({form})")
    return value


# --- Gaussian differential privacy, by the textbook formulas in 80 digits

PI = Decimal(
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253"
)


def density(x: Decimal) -> Decimal:
    """Density of the standard normal distribution."""
    return (-x * x / 2).exp() / (2 * PI).sqrt()


def mills(x: Decimal) -> Decimal:
    """P(Z > x) / density(x) for x >= 0: a positive series up to 6, a continued fraction beyond."""
    if x > 6:
        fraction = x
        for k in range(250, 0, -1):
            fraction = x + k / fraction
        return ONE / fraction
    term, total, k = x, x, 1
    while term > total * Decimal("1e-85"):
        k += 2
        term = term * x * x / k
        total += term
    return ONE / 2 / density(x) - total


def upper_tail(x: Decimal) -> Decimal:
    """P(Z > x) for a standard normal Z."""
    return ONE - upper_tail(-x) if x < 0 else density(x) * mills(x)


def gdp_delta(mu: Decimal, epsilon: Decimal) -> Decimal:
    """Least delta for which mu-GDP gives (epsilon, delta), mu above 0.

    P(Z > x) - e^epsilon P(Z > x + mu) with x = epsilon/mu - mu/2, where e^epsilon times the
    density at x + mu is the density at x.
    """
    x = epsilon / mu - mu / 2
    return upper_tail(x) - density(x) * mills(x + mu)


@remembered
def gdp_epsilon(mu: Decimal, delta: Decimal) -> Decimal:
    """Least epsilon for which mu-GDP gives (epsilon, delta), from above, to 1e-15 of itself."""
    if mu.adjusted() > 20:
        return INFINITY
    if mu == 0 or gdp_delta(mu, ZERO) <= delta:
        return ZERO
    low, high = ZERO, mu * mu / 2 + mu * (-2 * delta.ln()).sqrt()  # the Gaussian tail bound
    while high - low > high * Decimal("1e-15") and high > Decimal("1e-60"):
        middle = (low + high) / 2
        if gdp_delta(mu, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def pair_advantage(mu: Decimal) -> Decimal:
    """Largest advantage of any test between two worlds that are a mu-GDP pair."""
    return ONE - 2 * upper_tail(mu / 2)


def stated_advantage(epsilon: Decimal, delta: Decimal) -> Decimal:
    """Largest advantage between (epsilon, delta)-indistinguishable worlds."""
    rest = (-epsilon).exp()
    return (1 - rest + 2 * delta * rest) / (1 + rest)


def deletion_advantage(q: Decimal, epsilon: Decimal) -> Decimal:
    """Largest advantage under (q, epsilon)-deletion-privacy (Chourasia and Shah, Thm 4.1)."""
    if epsilon > 1000:
        return ONE
    power = (epsilon * (q - 1) / q).exp() * (2 * (q - 1)) ** (1 / q)
    return min((2 * epsilon).sqrt(), q / (q - 1) * power - 1, ONE)


# --- Accountants: mu from an event

ONE_RELEASE = "differential privacy of one release"  # no notion, but part of p-adaptive claims


def geometric(ratio: Decimal, terms: int) -> Decimal:
    """1 + ratio + ... + ratio^(terms - 1)."""
    return Decimal(terms) if ratio == 1 else (ONE - power(ratio, terms)) / (ONE - ratio)


def power(base: Decimal, exponent: int) -> Decimal:
    """base^exponent with 0^0 = 1."""
    return ONE if exponent == 0 else base**exponent


def interpolate(
    c: Decimal, noise: Decimal, phases: list[tuple[int, Decimal]], apart: Decimal = ZERO
) -> Decimal:
    """Shifted interpolation: mu of noisy steps with contraction c <= 1, from starts so far apart.

    Each phase has so many steps whose update maps differ by at most so much. With V the variance
    and Y the distance that reach the last step, mu^2 is the sum of dY^2 / dV over the segments of
    the greatest convex minorant of the points (V, Y) after each phase, (0, 0) included.
    """
    left = sum(steps for steps, _ in phases)
    v, y = ZERO, apart * power(c, left)
    points = [(ZERO, ZERO)]
    for steps, shift in phases:
        left -= steps
        fade = power(c, left)
        v += (noise * fade) ** 2 * geometric(c * c, steps)
        y += shift * fade * geometric(c, steps)
        points.append((v, y))
    return minorant(points)


def visits(batches: int, steps: int, differing: list[tuple[int, Decimal]]) -> dict[int, Decimal]:
    """The shifts of steps over batches in turn, by step, where records show most.

    Some records set the runs apart until a step at most. Their batch is visited every so many
    steps, and a shift that comes later counts for more: the last visit is taken to be that step.
    """
    shifts: dict[int, Decimal] = {}
    number = 0
    for until, shift in differing:
        last = min(until, steps)
        number += -(-last // batches)
        require(number <= MOST_VISITS, f"batches are visited more than {MOST_VISITS} times")
        for step in range(last, 0, -batches):
            shifts[step] = shifts.get(step, ZERO) + shift
    return shifts


def interpolate_visits(
    c: Decimal, noise: Decimal, steps: int, shifts: dict[int, Decimal], each: Decimal
) -> Decimal:
    """Shifted interpolation where single steps have more shift than all have.

    The points after each visit and before it: between two of them the steps are alike.
    """
    phases, done = [], 0
    for step in sorted(shifts):
        phases += [(step - done - 1, each), (1, shifts[step] + each)]
        done = step
    phases.append((steps - done, each))
    return interpolate(c, noise, [phase for phase in phases if phase[0] > 0])


def minorant(points: list[tuple[Decimal, Decimal]]) -> Decimal:
    """Root of the sum of dY^2 / dV over the greatest convex minorant of points of rising V."""
    hull = points[:1]
    for v, y in points[1:]:
        if v == hull[-1][0]:
            continue  # faded out entirely; a later phase has the larger V
        while len(hull) > 1:
            (v0, y0), (v1, y1) = hull[-2:]
            if (y1 - y0) * (v - v0) < (y - y0) * (v1 - v0):
                break  # the last corner is strictly below the new chord
            hull.pop()
        hull.append((v, y))
    squares = [(b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in pairwise(hull)]
    return sum(squares, ZERO).sqrt()


def latest_start(
    c: Decimal, noise: Decimal, phases: list[tuple[int, Decimal]], apart: Decimal
) -> Decimal:
    """Least mu over starts that are so far apart and late: where a ball holds all iterates.

    Starts between the last phases are tried, and those within each where Y^2/V of the rest is
    lowest: Y and V are linear in q = c^n and q^2 for n steps of the phase, so that has one place.
    """
    least = INFINITY
    fade, distance, variance = ONE, ZERO, ZERO  # of the phases after the one at hand
    for index in range(len(phases) - 1, max(len(phases) - 65, -1), -1):
        steps, shift = phases[index]
        if c == 1:
            near = (apart + distance) / shift - 2 * variance / noise**2
        else:
            a, v = shift / (1 - c), noise**2 / (1 - c * c)
            q = (1 - apart / a) * (1 + variance / (fade**2 * v)) / (1 + distance / (fade * a))
            near = q.ln() / c.ln() if 0 < q < 1 and c > 0 else ZERO
        whole = int(min(Decimal(near), Decimal(steps)))
        for n in (steps, whole, whole + 1):
            rest = [(min(max(n, 1), steps), shift), *phases[index + 1 :]]
            least = min(least, interpolate(c, noise, rest, apart))
        distance += fade * shift * geometric(c, steps)
        variance += (fade * noise) ** 2 * geometric(c * c, steps)
        fade *= power(c, steps)
        if fade == 0:
            break
    return least


def require(holds: bool, reason: str) -> None:
    """Break the check unless the rule holds."""
    if not holds:
        raise Broken(reason)


def core(event: Fields) -> Fields:
    """The event of the mechanism itself, whatever it builds on, nested or not."""
    while event["kind"] == "composed":
        event = event["inner"]
    return event


def check_range(part: Fields, *names: str, or_zero: bool = False) -> None:
    """Refuse numbers of a size at which formulas lose their digits."""
    for name in names:
        value = part.get(name)
        fits = value is None or LEAST <= value <= MOST or (or_zero and value == 0)
        require(fits, f"`{name}` must be in [1e-100, 1e100]")


def check_event(event: Fields) -> None:
    """Refuse events that no run can have, and those outside what the theorems suppose."""
    setting, norm, phases = event["setting"], event["setting"]["normalizer"], event.get("phases")
    numbers = [x for x in (*setting.values(), *event.values()) if isinstance(x, Decimal)]
    require(all(x.is_finite() and x >= 0 for x in numbers), "numbers must be finite, at least 0")
    check_range(event, "noise", "step", "radius", "diameter")
    check_range(setting, "lipschitz")
    check_range(event, "distance", "rounding", or_zero=True)
    check_range(setting, "smoothness", "strong_convexity", or_zero=True)
    noise, grid, convexity = event["noise"], event["grid"], setting["strong_convexity"]
    require(0 < grid * 2**20 <= noise, "`grid` must be above 0 and at most 2^-20 of the noise")
    counts = (setting["parameters"], setting["group"], norm.get("n", 1), event["releases"])
    require(min(counts) > 0, "`parameters`, `group`, `n` and `releases` must be above 0")
    capacity = norm.get("capacity", LARGEST)
    for part in [event, *(phases or [])]:
        size = part.get("records")
        fits = size is None or max(norm.get("minimum", 0), 0) <= size <= capacity
        require(fits, "`records` contradicts the normalizer")
        require(part.get("only_then", 0) <= capacity, "`only_then` contradicts the normalizer")
        require(part.get("only_now", 0) <= capacity, "`only_now` contradicts the normalizer")
    require(setting["group"] <= capacity, "`group` must be at most `capacity`")
    if event["kind"] == "distributed-descent":
        parts = 0 < event["parts"] <= event["sample"] <= LARGEST
        require(parts and event["copies"] > 0, "`sample`, `parts` or `copies`")
        require(event["iterations"] != 0, "`iterations` must be above 0")
        require(event["records"] > 0, "a sample needs `records`")
        require(norm["kind"] == "mean", "parts average over their own positions: `mean`")
        require(event["state"] == "secret", "sample and parts are kept: `secret`")
    if phases is None:
        joint = event["joint_releases"]
        require(convexity > 0, "`strong_convexity` must be above 0")
        require(joint == 1 or (joint > 1 and event["state"] == "secret"), "`joint_releases`")
        return
    if event["kind"] == "descent":
        check_descent(event)
        return
    check_phases(event)
    require(event["learning"] > 0, "`learning` must be above 0")
    require(event["longest"] >= event["learning"], "`longest` is below `learning`")
    require(event["learning"] <= phases[0]["steps"], "`learning` is beyond the first phase")
    releases = sum(p["releases"] for p in phases)
    require(event["releases"] == releases, "`releases` is not the sum over the phases")
    require(event["radius"] is None or event["radius"] > 0, "`radius` must be above 0")
    if (replaced := event["replaced"]) is not None:
        require(len(replaced) + 1 == len(phases), "`replaced` must count every request")
        for index, phase in enumerate(phases):  # what differs now was deleted or added since
            since = max(phase["only_then"], phase["only_now"])
            require(sum(replaced[index:]) >= since, "`replaced` contradicts the phases")
    if event.get("batches") is not None:
        check_batches(event)
    curvature = event["step"] * (setting["smoothness"] + convexity)
    require(0 < curvature < 2, "`step` must be above 0 and below 2/L")


def check_batches(event: Fields) -> None:
    """What holds of fixed batches that steps visit in turn."""
    batches, phases = event["batches"], event["phases"]
    require(batches["count"] > 1, "`batches` must number at least 2")
    require(min(batches["size"], batches["most"]) > 0, "`size` and `most` must be above 0")
    require(event["setting"]["normalizer"]["kind"] == "fixed", "batches need `fixed`")
    require(event["radius"] is None, "batches go without a radius")
    if (changed := batches["changed"]) is not None:
        require(len(changed) + 1 == len(phases), "`changed` must count every request")
        for index, phase in enumerate(phases):
            differing = phase["only_then"] + phase["only_now"]
            require(sum(changed[index:]) >= differing, "`changed` contradicts the phases")


def check_phases(event: Fields) -> None:
    """What holds of the phases of every history."""
    phases = event["phases"]
    require(0 < len(phases) <= MOST_PHASES, f"`phases` must number 1 to {MOST_PHASES}")
    require(all(p["steps"] > 0 and p["releases"] > 0 for p in phases), "an empty phase")
    longest = max(-(-p["steps"] // p["releases"]) for p in phases)
    require(event["longest"] >= longest, "`longest` is not the longest phase")
    latest = phases[-1]
    require(latest["only_then"] == latest["only_now"] == 0, "the last phase is the latest data")


def protected(setting: Fields, adjacency: str) -> Decimal:
    """How far the gradient of F moves with the records that DP and deletion privacy protect."""
    norm, sides = setting["normalizer"], 1 if adjacency == "remove" else 2
    moved: Decimal = setting["lipschitz"] * setting["group"]
    if norm["kind"] == "fixed":
        return moved * sides / Decimal(norm["n"])
    require(norm["minimum"] > 0, "`mean` needs a public minimum of records")
    return 2 * moved / Decimal(norm["minimum"])


def off_grid(event: Fields) -> Decimal:
    """How far rounding to the grid moves the weights, at most."""
    rounded: Decimal = event["grid"] * Decimal(event["setting"]["parameters"]).sqrt()
    return rounded


def output_noise_mu(event: Fields, world: str, adjacency: str) -> Decimal:
    """An optimum found to within tau of the exact one, published on a grid with normal noise."""
    setting, tau, seen = event["setting"], event["distance"], 1
    rounded = off_grid(event)
    if refitted := event["preprocessing"]:  # exact statistics are released with the weights
        require(1 <= refitted["min_frequency"] <= LARGEST, "`min_frequency` must be in 1..2^53")
        require(event["state"] == "perfect", "fitted preprocessing needs `perfect` state")
        require(setting["normalizer"]["kind"] == "mean", "fitted preprocessing needs `mean`")
        require(world in (DELETION, RETRAINING), "exact statistics are not differentially private")
    if world == DELETION:  # the reference is the exact optimum
        distance = tau + rounded
    elif world == RETRAINING:
        distance, seen = 2 * tau + rounded, event["joint_releases"]
    else:
        distance = protected(setting, adjacency) / setting["strong_convexity"] + 2 * tau + rounded
        seen = 1 if world == ONE_RELEASE else max(event["releases"], event["joint_releases"])
    mu: Decimal = distance * Decimal(seen).sqrt() / event["noise"]
    return mu


def contraction(event: Fields) -> Decimal:
    """Lipschitz constant of one step of gradient descent."""
    eta, convexity = event["step"], event["setting"]["strong_convexity"]
    c: Decimal = max(ONE - eta * convexity, eta * (event["setting"]["smoothness"] + convexity) - 1)
    return c


def noisy_step(event: Fields) -> tuple[Decimal, Decimal]:
    """Lipschitz constant of a noisy step, and what grid and float64 add to every shift."""
    c = contraction(event)
    return c, (1 + c) * off_grid(event) + 2 * event["rounding"]


def distributed_mu(event: Fields, world: str, _: str) -> Decimal:
    """Averages of parts, each world's within tau of the same average given the same sample."""
    require(world == RETRAINING, "only retraining is bounded for a sample's averages")
    distance = 2 * event["distance"] + off_grid(event)
    joint = Decimal(event["copies"] * event["joint_releases"]).sqrt()
    mu: Decimal = joint * distance / event["noise"]
    return mu


def noisy_gd_mu(event: Fields, world: str, adjacency: str) -> Decimal:
    """Noisy gradient descent: the last iterate after the whole history, or the DP of releases.

    The continuous iterate is rounded before a step (so the two runs' inputs move apart by at most
    g sqrt(P), then contract) and the step's noiseless result is rounded again; float64 moves each
    run's result by at most `rounding`.
    """
    setting, phases, eta = event["setting"], event["phases"], event["step"]
    if event.get("batches") is not None:
        return batches_mu(event, world, adjacency)
    c, arithmetic = noisy_step(event)

    def mu(stretches: list[tuple[int, Decimal]]) -> Decimal:
        shifts = [(n, eta * gap + arithmetic) for n, gap in stretches if n > 0]
        whole = interpolate(c, event["noise"], shifts)
        if event["radius"] is None:
            return whole
        return min(whole, latest_start(c, event["noise"], shifts, 2 * event["radius"]))

    if world == RETRAINING:
        return mu([(p["steps"], gradient_gap(setting, p, phases[-1])) for p in phases])
    gap = protected(setting, adjacency)
    if world == ONE_RELEASE:
        return mu([(event["longest"], gap)])
    if world == DELETION:  # the records are there until the last phase, or never
        require(len(phases) > 1, "nothing was deleted: there is only learning")
        return mu([(sum(p["steps"] for p in phases[:-1]), gap), (phases[-1]["steps"], ZERO)])
    releases: Counter[int] = Counter()  # by steps, each from the one before; merged: the longest
    for p in phases:
        releases[p["steps"] if p["releases"] == 1 else event["longest"]] += p["releases"]
    return sum((n * mu([(k, gap)]) ** 2 for k, n in releases.items()), ZERO).sqrt()


def batches_mu(event: Fields, world: str, adjacency: str) -> Decimal:
    """The same over batches: a step is along one batch's sum over b, and shifted by its records."""
    setting, phases, batches = event["setting"], event["phases"], event["batches"]
    c, arithmetic = noisy_step(event)
    one = event["step"] * setting["lipschitz"] / batches["size"]
    total = sum(p["steps"] for p in phases)

    def mu(steps: int, differing: list[tuple[int, Decimal]]) -> Decimal:
        shifts = visits(batches["count"], steps, differing)
        return interpolate_visits(c, event["noise"], steps, shifts, arithmetic)

    if world == RETRAINING:
        require(batches["changed"] is not None, "what requests changed is private")
        ends = accumulate(p["steps"] for p in phases)
        return mu(total, [(end, n * one) for n, end in zip(batches["changed"], ends, strict=False)])
    group = setting["group"] * one * (1 if adjacency == "remove" else 2)
    if world == ONE_RELEASE:
        return mu(event["longest"], [(event["longest"], group)])
    if world == DELETION:
        require(len(phases) > 1, "nothing was deleted: there is only learning")
        return mu(total, [(total - phases[-1]["steps"], group)])
    releases: Counter[int] = Counter()
    for p in phases:
        releases[p["steps"] if p["releases"] == 1 else event["longest"]] += p["releases"]
    each = {k: mu(k, [(k, group)]) ** 2 for k in releases}
    whole = sum((n * each[k] for k, n in releases.items()), ZERO)
    if phases[0]["releases"] == 1:  # later visits one by one, wherever releases are made
        later = total - phases[0]["steps"]
        seen = -(-later // batches["count"])
        composed = seen * (group + arithmetic) ** 2 + later * arithmetic**2
        whole = min(whole, each[phases[0]["steps"]] + composed / event["noise"] ** 2)
    return whole.sqrt()


def arithmetic_mu(event: Fields, steps: int) -> Decimal:
    """How close so many steps as computed are to the same in exact arithmetic, as a mu."""
    c, arithmetic = noisy_step(event)
    return interpolate(c, event["noise"], [(steps, arithmetic)])


def gradient_gap(setting: Fields, phase: Fields, latest: Fields) -> Decimal:
    """How far the gradient of F on a phase's data can be from that on the latest data."""
    then, now = Decimal(phase["only_then"]), Decimal(phase["only_now"])
    reach: Decimal = setting["lipschitz"]
    if setting["normalizer"]["kind"] == "fixed":
        return reach * (then + now) / Decimal(setting["normalizer"]["n"])
    if then == now == 0:
        return ZERO
    sizes: list[int] = [size for size in (phase["records"], latest["records"]) if size]
    require(len(sizes) == 2, "`mean` needs the records of every phase")
    return 2 * reach * max(then, now) / Decimal(max(sizes))


def state_of(event: Fields) -> str:
    """What is kept after the request."""
    if event["kind"] == "descent":
        return "perfect" if event["variant"] == "perfect" else "secret"
    return str(event.get("state", "perfect"))


def steps_of_updates(event: Fields, first: int, last: int) -> int:
    """The least steps that updates `first` + 1 to `last` make together, each rounded up.

    In float64, so that a long history takes no hours; the rounding goes in the event's favour.
    """
    start: int = event["iterations"]
    if event["variant"] != "weak" and event["tail"] is None:
        return start * (last - first)
    require(last - first <= 2**24, "`updates` must be at most 2^24 of growing length")
    setting, xi, tail = event["setting"], event["xi"], event["tail"]
    beta, m = setting["smoothness"], setting["strong_convexity"]
    rate = math.inf if beta == 0 else math.log1p(2 * m / beta)

    def least(update: int) -> float:
        if xi is not None:
            return start * math.pow(update, 2 * xi)
        logs = math.log(4 * setting["parameters"] * update) - math.log(tail)
        return start + max(math.log(logs) / rate, 0.0)

    return sum(math.ceil(least(i) * (1 - 1e-9)) for i in range(first + 1, last + 1))


def check_updates(event: Fields) -> None:
    """Each request made the steps of as many updates as its phases show.

    Deleted records raise what the phase before has and the latest lacks, added ones what it lacks,
    or lower the former if they left again. A merged phase shows its number of requests.
    """
    updates, phases = 0, event["phases"]
    for before, phase in pairwise(phases):
        shown = phase["releases"]
        if before["releases"] == phase["releases"] == 1:
            gone = before["only_then"] - phase["only_then"]
            come = before["only_now"] - phase["only_now"]
            touched = max(max(gone, 0) + max(come, 0), -gone, -come)
            shown = max(shown, -(-touched // event["setting"]["group"]))
        least = steps_of_updates(event, updates, updates + shown)
        require(phase["steps"] >= least, "fewer steps than the updates of a request need")
        updates += shown
    require(event["updates"] >= updates, "`updates` are fewer than the phases show")
    made = sum(phase["steps"] for phase in phases[1:])
    least = steps_of_updates(event, 0, event["updates"])
    require(made >= least, "fewer steps than the updates need")


def check_descent(event: Fields) -> None:
    """Refuse histories of descent-to-delete that no run can have."""
    phases, variant, joint = event["phases"], event["variant"], event["joint_releases"]
    check_phases(event)
    releases = sum(p["releases"] for p in phases)
    require(event["step"] > 0 and event["setting"]["strong_convexity"] > 0, "`step`, `lambda`")
    require(0 <= contraction(event) < 1, "`step` must be above 0 and below 2/L")
    require(event["diameter"] > 0 and event["iterations"] > 0, "`diameter` and `iterations`")
    xi, tail = event["xi"], event["tail"]
    require((xi is not None) == (variant == "weak"), "`xi` belongs to `weak`")
    require(xi is None or 1 <= xi <= 16, "`xi` must be in [1, 16]")
    require(tail is None or (variant == "perfect" and 0 < tail < 1), "`tail` belongs to `perfect`")
    if variant == "perfect":
        require(joint == 1 and releases == event["releases"], "`releases` in `perfect` state")
    else:
        require(releases <= min(joint, event["releases"]), "`releases` beyond those covered")
    require(phases[0]["releases"] == 1, "the first phase is one release")
    check_updates(event)
    learnt = phases[0]["records"]
    if event["setting"]["normalizer"]["kind"] == "mean":
        require(learnt is not None, "`mean` needs the records of every phase")
    if learnt is not None:
        half = all(p["records"] is not None and 2 * p["records"] >= learnt for p in phases)
        require(half, "fewer than half the records of learning")


def descent_parts(event: Fields) -> tuple[Decimal, Decimal, Decimal, Decimal, Decimal]:
    """q = c^I, 1 - c, c^T D/2, g sqrt(P), and N (under `mean` the records at learning)."""
    c, norm = contraction(event), event["setting"]["normalizer"]
    tail = power(c, event["phases"][0]["steps"]) * event["diameter"] / 2
    records = Decimal(norm["n"] if norm["kind"] == "fixed" else event["phases"][0]["records"])
    return power(c, event["iterations"]), 1 - c, tail, off_grid(event), records


def updates_away(event: Fields, q: Decimal) -> Decimal:
    """Largest distance to the optimum, in units of how far one update moves it."""
    if event["variant"] != "weak":
        return q / (1 - q)
    last, ln = ZERO, q.ln()
    for i in range(1, 100_001):
        following = (ln * Decimal(i) ** (2 * event["xi"])).exp() * (last + 1)
        if following <= last:
            return last
        last = following
    return q / (1 - q)


def descent_mu(event: Fields, world: str, adjacency: str) -> Decimal:
    """Projected gradient descent published with normal noise.

    With a secret iterate both runs stay within a fixed distance of the same optimum; in `perfect`
    state a release is one composite step, so many noiseless ones and then noise.
    """
    setting, phases = event["setting"], event["phases"]
    noise: Decimal = event["noise"]
    c, eta, rho = contraction(event), event["step"], event["rounding"]
    q, rest, tail, rounded, records = descent_parts(event)
    if state_of(event) == "secret":
        require(
            world != DELETION, "the state kept in `secret` state depends on the deleted records"
        )
        if world == RETRAINING:
            one = setting["lipschitz"] * setting["group"] / records
            moved = eta * (one if setting["normalizer"]["kind"] == "fixed" else 4 * one)
            distance = (updates_away(event, q) * moved + 2 * rho) / rest + 3 * tail + rounded
            seen = event["joint_releases"]
        else:
            distance = (eta * protected(setting, adjacency) + 2 * rho) / rest + rounded
            seen = 1 if world == ONE_RELEASE else max(event["releases"], event["joint_releases"])
        mu: Decimal = distance * Decimal(seen).sqrt() / noise
        return mu

    def shift(steps: int, gap: Decimal, inner: int = 0) -> Decimal:
        moved = geometric(c, steps) * (eta * gap + 2 * rho)
        merged = q * geometric(q, inner)  # inner releases round too, then at least I steps follow
        total: Decimal = moved + (1 + power(c, steps) + merged) * rounded
        return total

    if world in (RETRAINING, DELETION):
        gaps = [gradient_gap(setting, p, phases[-1]) for p in phases]
        if world == DELETION:
            require(len(phases) > 1, "nothing was deleted: there is only learning")
            gaps = [protected(setting, adjacency)] * (len(phases) - 1) + [ZERO]
        parts = [
            (p["steps"], shift(p["steps"], gap, p["releases"] - 1))
            for p, gap in zip(phases, gaps, strict=True)
        ]
        return compose(c, noise, parts)
    gap = protected(setting, adjacency)
    if world == ONE_RELEASE:
        return shift(event["longest"], gap) / noise
    squares = ZERO
    for p in phases:
        steps = p["steps"] if p["releases"] == 1 else event["longest"]
        squares += p["releases"] * (shift(steps, gap) / noise) ** 2
    return squares.sqrt()


def compose(c: Decimal, noise: Decimal, parts: list[tuple[int, Decimal]]) -> Decimal:
    """Shifted interpolation over composite steps: so many contractions, a shift, then noise."""
    v = y = ZERO
    points = [(ZERO, ZERO)]
    left = sum(steps for steps, _ in parts)
    for steps, shift in parts:
        left -= steps
        fade = power(c, left)
        v, y = v + (noise * fade) ** 2, y + shift * fade
        points.append((v, y))
    return minorant(points)


def takes_printed_step(event: Fields) -> bool:
    """Whether a step contracts as one of length 2/(L + m) does."""
    setting = event["setting"]
    beta, m = setting["smoothness"], setting["strong_convexity"]
    gamma = beta / (beta + 2 * m)
    return bool(contraction(event).ln() <= gamma.ln() * (1 - Decimal("1e-8")))


def descent_published(event: Fields, claim: Fields) -> Fields:
    """The theorems of Neel, Roth and Sharifi-Malvajerdi (2020), with grid and float64 added."""
    delta, variant, setting = claim["delta"], event["variant"], event["setting"]
    right = claim["notion"] == RETRAINING and delta is not None and claim["order"] is None
    require(right and claim["adjacency"] is None, "the theorems give indistinguishability only")
    require(0 < delta < 1, "`delta` must be in (0, 1)")
    q, rest, tail, rounded, records = descent_parts(event)
    g, m, beta = setting["lipschitz"], setting["strong_convexity"], setting["smoothness"]
    unit = setting["group"] / (m * records)
    require(2 * tail <= 2 * g * unit * q * (1 + Decimal("1e-8")), "learning is too short")
    extra = 2 * event["rounding"] / rest + rounded
    log, steep = -delta.ln(), g + m * event["diameter"]
    strong = 8 * unit * q / (1 - q)
    theorem = {"secret": "3.1", "perfect": "3.2", "regularised": "3.4"}.get(
        variant, "3.5, Remark 3.6"
    )
    if variant == "perfect":
        require(event["tail"] is not None and event["tail"] <= delta, "`tail` is above delta")
        require(takes_printed_step(event), "Theorem 3.2 supposes eta = 2/(L + m)")
        start = 2 * (2 / delta).ln()
        steps = (2 * Decimal(setting["parameters"])).sqrt() * q / rest
        masked = (strong * g + q / (1 - q) * rounded + extra) / event["noise"]
        epsilon = max(
            steps * (steps + 2 * start.sqrt()),
            masked * (5 * masked + (24 * masked * masked + 4 * start).sqrt()),
        )
    else:
        distance = strong * (g if variant == "secret" else steep)
        if variant == "weak" and event["xi"] <= 2:
            require(takes_printed_step(event), "Theorem 3.5 supposes eta = 2/(L + m)")
            slow = (beta / (m * event["iterations"])) ** (1 / (2 * event["xi"]))
            distance = 4 * steep * unit * slow
        b = Decimal(event["joint_releases"]).sqrt() * (distance + extra) / event["noise"]
        epsilon = b * b / 2 + b * (2 * log).sqrt()
    return {
        "mu": None,
        "epsilon": epsilon,
        "advantage": stated_advantage(epsilon, delta),
        "group": "any",
        "reference": RETRAINED["descent/secret"],
        "requests": "non-adaptive" if variant == "perfect" else "any",
        "releases": event["joint_releases"],
        "theorem": f"Neel, Roth, Sharifi-Malvajerdi 2020, Theorem {theorem}",
    }


# --- DP-SGD: what a random batch's noisy sums tell of a group of units
#
# A run with k units and one without them are no easier to tell apart, in either direction, than T
# draws of P = sum over j of Bin(k, q)_j N(j, sigma^2) from T draws of Q = N(0, sigma^2). With L the
# sum of the losses, ln dP/dQ under P or ln dQ/dP under Q, and M(z) = E exp(z L), for every tilt > 0
#
#   delta(epsilon) = 1/(2 pi) integral over real t of M(z) exp(-z epsilon) / (z (z + 1)),
#                    z = tilt + i t,
#
# the inverse Laplace transform of E max(0, 1 - exp(epsilon - L)). M and the integral are sums over
# equal steps, which converge exponentially here: no grid of losses and no convolution. In float64.

CLOSE = Decimal("1e-6")  # what may be missing from a stated number, relatively: far more than errs
MOST_TERMS = 8_000_000  # beyond these, this program does not decide
FAR = 9.5  # standard deviations of the noise that are summed over
MOST_UNITS, MOST_SEGMENTS, MOST_NUMBERS, MOST_STEPS = 1024, 4096, 64, 10**9
MOST_ORDER = 64  # of the divergences that bound an epsilon of losses once more
OF_GRID = Decimal("0.01")  # what a grid of losses may add to epsilon, relatively
MOST_BESIDE = 100  # mu of what is Gaussian beside steps that draw units at random
MOST_WORK = 4096  # of a declared training: units times (1 + 1/noise), over phases that draw
# The same with noise and rate, where these differ.
Phases = tuple[tuple[int, int, float, float], ...]


class Step:
    """Losses and masses of one step at places of equal distance, in one direction."""

    def __init__(self, kind: tuple[int, int], noise: float, rate: float, added: bool) -> None:
        """How many steps with how many units; sigma, q; whether the units are in the first run."""
        self.steps, self.group = kind
        self.noise, self.added = noise, added
        self.gap = min(noise / 4, noise * noise / (4 * self.group))
        lg, out = math.lgamma(self.group + 1), math.log1p(-rate)
        self.weights = [
            lg - math.lgamma(j + 1) - math.lgamma(rest + 1) + j * math.log(rate) + rest * out
            for j, rest in zip(range(self.group + 1), range(self.group, -1, -1), strict=True)
        ]
        self.known: dict[int, tuple[float, float]] = {}

    def ratio(self, x: float) -> float:
        """ln dP/dQ at a place."""
        scale = 2 * self.noise * self.noise
        powers = [j * (2 * x - j) / scale for j in range(self.group + 1)]
        top = max(map(operator.add, self.weights, powers))
        pairs = list(zip(self.weights, powers, strict=True))
        if top < 1 and max(powers) < 1:  # less 1, which may be all there is
            rest = math.fsum(math.exp(w) * math.expm1(p) for w, p in pairs)
            if rest > -0.5:
                return math.log1p(rest)
        return float(top) + math.log(math.fsum(math.exp(w + p - top) for w, p in pairs))

    def at(self, index: int) -> tuple[float, float]:
        """The loss and the logarithm of the mass at a place."""
        if index not in self.known:
            x = index * self.gap
            ratio, share = self.ratio(x), self.gap / self.noise / math.sqrt(math.tau)
            mass = math.log(share) - x * x / (2 * self.noise * self.noise)
            self.known[index] = (ratio, mass + ratio) if self.added else (-ratio, mass)
        return self.known[index]

    def tilt(self, tilt: float) -> tuple[float, float, float]:
        """ln M of all steps at a real place and its first two derivatives; keeps the shares."""
        far = FAR * self.noise
        high = far + self.group * (1 + tilt) if self.added else far
        first, last = math.floor(-far / self.gap), math.ceil(high / self.gap)
        decidable((last - first) * (self.group + 1) <= MOST_TERMS)
        places = [self.at(index) for index in range(first, last + 1)]
        top = max(mass + tilt * loss for loss, mass in places)
        raw = [math.exp(mass + tilt * loss - top) for loss, mass in places]
        total = math.fsum(raw)
        self.losses = [loss for loss, _ in places]
        self.shares = [part / total for part in raw]
        mean = math.fsum(map(operator.mul, self.shares, self.losses))
        spread = math.fsum(
            s * (loss - mean) ** 2 for s, loss in zip(self.shares, self.losses, strict=True)
        )
        value = top + math.log(total)
        if max(tilt * loss for loss in self.losses) < 30:  # less 1, which may be all there is
            rest = math.fsum(math.exp(mass) * math.expm1(tilt * loss) for loss, mass in places)
            value = math.log1p(rest) if rest > -0.5 else value
        return self.steps * value, self.steps * mean, self.steps * spread

    def turned(self, t: float) -> complex:
        """ln of M at the tilt + i t over M at the tilt."""
        half = [t * loss / 2 for loss in self.losses]
        sines, cosines = list(map(math.sin, half)), list(map(math.cos, half))
        parts = list(map(operator.mul, self.shares, sines))
        a = -2 * math.fsum(map(operator.mul, parts, sines))
        b = 2 * math.fsum(map(operator.mul, parts, cosines))
        size = max((1 + a) ** 2 + b * b, 1e-300)
        real = math.log1p(2 * a + a * a + b * b) / 2 if size > 0.5 else math.log(size) / 2
        return self.steps * complex(real, math.atan2(b, 1 + a))


class Losses:
    """The sum of the losses of all steps in one direction, and of a normal distribution's."""

    def __init__(self, phases: Phases, added: bool, mu: float = 0) -> None:
        """The kinds of steps, each with sigma and q; whether the units are in the first run.

        And how far apart two normal distributions are that are seen besides.
        """
        self.steps, self.terms = [Step((n, k), s, q, added) for n, k, s, q in phases], 0
        self.half = mu * mu / 2

    def most(self) -> float:
        """The largest loss there is: without a draw, where the units are absent first."""
        if self.steps[0].added or self.half > 0:
            return math.inf
        return -math.fsum(step.steps * step.weights[0] for step in self.steps)

    def tilt(self, tilt: float) -> tuple[float, float, float]:
        """ln M at a real place and its first two derivatives."""
        found = [step.tilt(tilt) for step in self.steps]
        found.append((self.half * tilt * (1 + tilt), self.half * (1 + 2 * tilt), 2 * self.half))
        value, mean, spread = map(math.fsum, zip(*found, strict=True))
        return value, mean, spread

    def saddle(self, epsilon: float) -> float:
        """About the tilt at which the integrand is least: nearby it does not oscillate."""

        def beyond(tilt: float) -> bool:
            return self.tilt(tilt)[1] - 1 / tilt - 1 / (1 + tilt) > epsilon

        low = high = 1.0
        while beyond(low):
            low /= 2
        while not beyond(high):
            high *= 2
            decidable(high < 1e15)
        for _ in range(10):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if beyond(middle) else (middle, high)
        return math.sqrt(low * high)

    def integral(self, tilt: float, epsilon: float) -> tuple[float, float]:
        """The integral above over exp(ln M - tilt epsilon) at the tilt, and that of z times it.

        Where few steps draw anybody the integrand falls slowly, as a power of t. A window cuts it
        off: a kernel of order 8 in epsilon, so narrow that one wider by a quarter does the same.
        """
        spread, places = self.tilt(tilt)[2], sum(len(step.losses) for step in self.steps)
        gap, wide = math.pi / max(40 * math.sqrt(spread), 45 / abs(tilt)), math.sqrt(spread) / 12
        least = 1e-13 / abs(tilt * (1 + tilt))
        while True:
            sums, index = [[0.0, 0.0] for _ in range(3)], 0
            recent = last = math.inf
            while index * gap * wide < 9 and recent > least:
                self.terms += places
                decidable(self.terms <= MOST_TERMS)
                z = complex(tilt, index * gap)
                turned = sum((step.turned(z.imag) for step in self.steps), 0j)
                turned += self.half * (z * (1 + z) - tilt * (1 + tilt))
                part = cmath.exp(turned - complex(0, z.imag * epsilon)) / (z + 1)
                recent, last = max(abs(part / z), last), abs(part / z)
                for entry, stretch, every in zip(sums, (1.0, 1.25, 1.0), (1, 1, 2), strict=True):
                    if index % every == 0:
                        weight = (
                            every * window(z.imag * wide * stretch) * (0.5 if index == 0 else 1)
                        )
                        entry[0] += weight * (part / z).real
                        entry[1] += weight * part.real
                index += 1
            (whole, slope), (wider, _), (half, _) = sums
            decidable(math.isfinite(whole) and (whole > 0 or tilt < 0))
            if abs(whole - half) > 1e-8 * abs(whole):
                gap /= 2
            elif abs(whole - wider) > 1e-6 * abs(whole):
                wide /= 2
            else:
                return whole * gap / math.pi, slope * gap / math.pi

    def delta(self, epsilon: float) -> tuple[float, float]:
        """ln delta at an epsilon that is not below the mean, and its derivative there."""
        tilt = self.saddle(epsilon)
        whole, slope = self.integral(tilt, epsilon)
        return self.tilt(tilt)[0] - tilt * epsilon + math.log(whole), -slope / whole

    def variation(self) -> float:
        """delta at 0: the total variation of the two runs, the same in both directions."""
        if self.tilt(0.0)[1] < 0.5:
            return math.exp(self.delta(0.0)[0])
        if (value := self.tilt(-0.5)[0]) < -40:
            return 1.0
        return 1 + math.exp(value) * self.integral(-0.5, 0.0)[0]  # past the pole at 0

    def reaches(self, epsilon: float, delta: float, hops: int) -> bool:
        """Whether delta at the epsilon is at most this, by Chernoff's bound if that says so."""
        if epsilon >= self.most():
            return True
        tilt, goal = self.saddle(epsilon), math.log(delta) - twice(epsilon, hops)[0]
        height = tilt * math.log(tilt) - (1 + tilt) * math.log1p(tilt)  # of e^{-tilt y}(1 - e^{-y})
        if self.tilt(tilt)[0] - tilt * epsilon + height <= goal:
            return True
        return self.delta(epsilon)[0] <= goal

    def epsilon(self, delta: float, near: float, hops: int) -> float:
        """The epsilon of a delta below the total variation: Newton's method, from a place near."""
        _, mean, spread = self.tilt(0.0)
        most, wide = self.most(), mean + 2 * math.sqrt(-2 * spread * math.log(delta))
        epsilon = max(min(near, wide), mean) if near < most else mean
        for _ in range(60):
            value, slope = self.delta(epsilon)
            more, steeper = twice(epsilon, hops)
            falls, before = slope + steeper, epsilon
            if steeper > 0 and falls > -0.05:  # two hops' delta rises first: it falls further on
                epsilon = min(1.25 * epsilon + 0.1, (epsilon + most) / 2)
                continue
            step = (math.log(delta) - value - more) / falls
            epsilon = min(max(epsilon + step, epsilon / 8), (epsilon + most) / 2)
            if abs(epsilon - before) <= 1e-9 * before:
                return epsilon
        raise Undecided("no epsilon was found in 60 steps")


class Single(Step):
    """A single step, whose delta is a difference of tails of normal distributions."""

    def delta(self, x: float) -> float:
        """That at the epsilon which is the loss at a place."""
        ratio = self.ratio(x)
        sides = [(w, (j - x) / self.noise) for j, w in enumerate(self.weights)]
        if self.added:
            lost = math.exp(ratio + log_tail(x / self.noise))
            return math.fsum(math.exp(w + log_tail(-u)) for w, u in sides) - lost
        kept = math.fsum(math.exp(w - ratio + log_tail(u)) for w, u in sides)
        return math.exp(log_tail(-x / self.noise)) - kept

    def place(self, below: Callable[[float], bool]) -> float:
        """Where a condition that holds first ends."""
        low, high = -40 * self.noise, self.group + 40 * self.noise
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle) else (low, middle)
        return (low + high) / 2

    def variation(self) -> float:
        """delta at 0: the total variation."""
        return self.delta(self.place(lambda x: self.ratio(x) < 0))

    def reaches(self, epsilon: float, delta: float, hops: int) -> bool:
        """Whether delta at the epsilon is at most this."""
        return self.epsilon(delta, epsilon, hops) <= epsilon

    def epsilon(self, delta: float, _: float, hops: int) -> float:
        """The epsilon of a delta below the total variation."""
        sign = 1 if self.added else -1

        def more(x: float) -> bool:
            factor = math.exp(min(twice(sign * self.ratio(x), hops)[0], 700))
            return sign * (self.delta(x) * factor - delta) > 0

        return sign * self.ratio(self.place(more))


def window(x: float) -> float:
    """exp(-y) (1 + y + y^2/2 + y^3/6), y = x^2 / 2: flat at 0, and soon nothing."""
    y = x * x / 2
    return math.exp(-y) * (1 + y * (1 + y * (0.5 + y / 6)))


def log_tail(u: float) -> float:
    """ln P(Z > u) for a standard normal Z."""
    if u < 5:
        return math.log(math.erfc(u / math.sqrt(2)) / 2)
    fraction = u
    for k in range(60, 0, -1):
        fraction = u + k / fraction
    return -u * u / 2 - math.log(math.tau) / 2 - math.log(fraction)


def decidable(holds: bool) -> None:
    """Leave a question open that would take too long."""
    if not holds:
        raise Undecided("the distribution of losses needs more places than this program sums over")


def twice(epsilon: float, hops: int) -> tuple[float, float]:
    """ln of what delta is multiplied by where two such steps lead from one run to the other.

    And its derivative: (e, d) twice is (2 e, (1 + exp(e)) d).
    """
    if hops == 1:
        return 0.0, 0.0
    rest = math.exp(-abs(epsilon))
    return max(epsilon, 0.0) + math.log1p(rest), (1 if epsilon > 0 else rest) / (1 + rest)


def moments(kind: int, noise: float, rate: float, most: int) -> list[float]:
    """ln of E (dP/dQ)^a of one step under Q for a = 2 to `most`: a convolution for each order.

    With c = 1/(2 sigma^2) and w_j = p_j exp(-c j^2) it is the sum of (w * ... * w)_s exp(c s^2),
    and 1 is the same sum of the law of all draws, whose terms for s = 0 and 1 are equal to its.
    """
    curve = 1 / (2 * noise * noise)
    weights = [x - j * j * curve for j, x in enumerate(binomial(kind, rate))]
    power, found = weights, []
    for order in range(2, most + 1):
        ends = [(max(0, s - len(power) + 1), min(s, kind)) for s in range(len(power) + kind)]
        power = [
            ln_sum([weights[j] + power[s - j] for j in range(first, last + 1)])
            for s, (first, last) in enumerate(ends)
        ]
        terms = [x + s * s * curve for s, x in enumerate(power)]
        if max(terms) < 300:
            law = binomial(kind * order, rate)
            pairs = zip(terms[2:], law[2:], strict=True)
            found.append(math.log1p(math.fsum(math.exp(x) - math.exp(y) for x, y in pairs)))
        else:
            found.append(ln_sum(terms))
    return found


def binomial(count: int, rate: float) -> list[float]:
    """ln of the probabilities that 0 to all of so many are drawn."""
    if rate == 1:
        return [-math.inf] * count + [0.0]
    lg, out, whole = math.lgamma, math.log1p(-rate), math.lgamma(count + 1)
    return [
        whole - lg(j + 1) - lg(count - j + 1) + j * math.log(rate) + (count - j) * out
        for j in range(count + 1)
    ]


def ln_sum(terms: list[float]) -> float:
    """ln of a sum of exponentials."""
    top = max(terms)
    return top + math.log(math.fsum(math.exp(x - top) for x in terms)) if top > -math.inf else top


@remembered
def of_orders(phases: Phases, mu: float, delta: float, hops: int) -> tuple[float, float]:
    """Epsilon by the Rényi divergences of whole orders alone, with the units against without.

    Each order a gives D + ln((a - 1)/a) - (ln delta + ln a)/(a - 1) (Canonne, Kamath, Steinke). For
    two hops it is the least 2 e where an order gives e at delta/(1 + exp(e)). The exact number, and
    the most that may be stated for it: each step's moments may be a little above.
    """
    if not phases and mu == 0:
        return 0.0, 0.0
    most = max(2, min(MOST_ORDER, 4096 // max([units for _, units, _, _ in phases] or [1])))
    decidable(sum((most * units) ** 2 for _, units, _, _ in phases) <= 10 * MOST_TERMS)
    found = [(steps, moments(units, s, q, most)) for steps, units, s, q in phases]
    least = [math.inf, math.inf]
    for order in range(2, most + 1):
        above = order - 1
        total = above * order * mu * mu / 2 + sum(n * logs[order - 2] for n, logs in found)
        rounded = 1e-12 * sum(n * (order + (order * k / s) ** 2) * (1 + k) for n, k, s, _ in phases)
        rest = math.log(above / order) - (math.log(delta) + math.log(order)) / above
        for which, whole in enumerate((total, total + rounded)):
            one = whole / above + rest
            found_here = max(one, 0.0) if hops == 1 else 2 * twice_of_order(one, above)
            least[which] = min(least[which], found_here)
    return least[0], least[1]


def twice_of_order(one: float, above: int) -> float:
    """The least e that is not below `one` + ln(1 + exp(e))/`above`; infinite beyond 1e9."""
    low, high = 0.0, 1.0
    while high - (high + math.log1p(math.exp(-high))) / above < one:
        low, high = high, 2 * high
        if high > 1e9:
            return math.inf
    for _ in range(100):
        e = (low + high) / 2
        enough = e - (e + math.log1p(math.exp(-e))) / above >= one
        low, high = (low, e) if enough else (e, high)
    return high


@remembered
def of_phases(
    phases: Phases, delta: float, near: float, hops: int = 1, mu: float = 0
) -> tuple[float, float]:
    """Least epsilon of one hop in both directions, looked for near a number; total variation.

    The epsilon at which a hop's delta is as it must be for that of all hops to be the one given.
    With two normal distributions besides that are so far apart.
    """
    single = mu == 0 and sum(steps for steps, *_ in phases) == 1
    added, removed = (
        Single(phases[0][:2], *phases[0][2:], first) if single else Losses(phases, first, mu)
        for first in (True, False)
    )
    apart = added.variation()
    if hops * apart <= delta:
        return 0.0, apart
    found = added.epsilon(delta, near, hops)
    if not removed.reaches(found, delta, hops):
        found = max(found, removed.epsilon(delta, near, hops))
    return found, apart


def check_network(event: Fields) -> None:
    """Refuse events of networks that no run can have, and those outside what is accounted."""
    counts = (event["parameters"], event["rows_per_unit"], event["releases"])
    require(min(counts) > 0 and max(counts) <= LARGEST, "a count of the event is not in 1..2^53")
    single = event["unit"] == "subject" or event["rows_per_unit"] == 1
    require(single, "`rows_per_unit` must be 1 where a unit is a record")
    require(0 < event["group"] <= MOST_UNITS, f"`group` must be in 1..{MOST_UNITS}")
    check_range(event, "clip", "noise")
    rate, noise, segments = event["rate"], event["noise"], event["segments"]
    require(Decimal(float("1e-12")) <= rate <= 1, "`rate` must be in [1e-12, 1]")
    drawn = rate == 1 or Decimal("0.1") <= noise <= 10**6
    require(drawn, "`noise` must be in [0.1, 1e6] where `rate` is below 1")
    fine = 0 < event["grid"] * 2**20 <= noise * event["clip"] * (1 + TOLERANCE)
    require(fine, "`grid` must be above 0 and at most 2^-20 of the noise")
    require(0 < len(segments) <= MOST_SEGMENTS, f"`segments` must number 1 to {MOST_SEGMENTS}")
    fits = all(s["steps"] > 0 and s["deleted"] <= MOST_UNITS for s in segments)
    require(fits, f"a segment has no steps, or more than {MOST_UNITS} deleted units")
    steps = sum(s["steps"] for s in segments) + event["earlier_steps"]
    require(steps <= MOST_STEPS, f"more than {MOST_STEPS} steps in all")


def network_bound(event: Fields, claim: Fields) -> Fields:
    """Deleted units as one group in the segments that had them, or a group in every step."""
    check_shape(claim)
    notion = claim["notion"]
    require(notion in (RETRAINING, PRIVACY), "divergences of groups are known one way only")
    steps: Counter[int] = Counter()
    if notion == RETRAINING:
        units, requests = max(s["deleted"] for s in event["segments"]), "non-adaptive"
        for segment in event["segments"]:
            steps[segment["deleted"]] += segment["steps"]
        require(len(steps - Counter({0: steps[0]})) <= MOST_NUMBERS, "too many different `deleted`")
        reference, releases = RETRAINED["dp-sgd"], 1
    else:
        units, requests = event["group"], "any"
        steps[units] = sum(s["steps"] for s in event["segments"]) + event["earlier_steps"]
        reference, releases = DIFFER["units"], event["releases"]
    hops = 2 if claim["adjacency"] == "replace" else 1
    found = network_numbers(event, steps, ZERO, claim, hops)
    word = "" if event["unit"] == "record" else " subject" if units == 1 else " subjects"
    return {
        "mu": None,
        "epsilon": found[0],
        "advantage": found[1],
        "orders": found[2],
        "group": f"{units}{word}",
        "reference": reference,
        "requests": requests,
        "releases": releases,
        "theorem": THEOREMS["dp-sgd"],
    }


def network_numbers(
    event: Fields, counted: Counter[int], head: Decimal, claim: Fields, hops: int
) -> tuple[Decimal, Decimal, tuple[Decimal, Decimal]]:
    """The least epsilon and advantage that may be stated, for steps by the units drawn in them.

    And for two normal distributions that are `head` apart, which is what was built on them; with
    the range in which the epsilon by divergences is.
    """
    steps = {k: n for k, n in counted.items() if k > 0}
    kinds = sorted((n, k) for k, n in steps.items())
    return numbers_of_phases(
        [(n, k, event["noise"], event["rate"]) for n, k in kinds], head, claim, hops
    )


def numbers_of_phases(
    phases: list[tuple[int, int, Decimal, Decimal]], head: Decimal, claim: Fields, hops: int
) -> tuple[Decimal, Decimal, tuple[Decimal, Decimal]]:
    """The same for steps of different noise and rate: their number, the units, sigma and q."""
    delta = claim["delta"]
    # Every unit in every step: two normal distributions.
    whole = sum(((n * Decimal(k) ** 2 / s**2) for n, k, s, q in phases if q == 1), ZERO)
    drawn = [phase for phase in phases if phase[3] != 1]
    mu = (whole + head**2).sqrt()
    far = "phases of rate 1 and what was made from the training are too far beside those that draw"
    require(not drawn or mu <= MOST_BESIDE, far)
    kinds = tuple((n, k, float(s), float(q)) for n, k, s, q in phases)
    least, most = of_orders(kinds, float(head), float(delta), hops)
    orders = (Decimal(least), Decimal(most))
    if not drawn and mu == 0:
        return ZERO, ZERO, orders
    if not drawn:
        apart, one = pair_advantage(mu), gdp_epsilon(mu, delta)
        if hops == 2:
            low, high = ZERO, 2 * one + 100
            while high - low > high * Decimal("1e-12"):
                one = (low + high) / 2
                enough = (1 + one.exp()) * gdp_delta(mu, one) <= delta
                low, high = (low, one) if enough else (one, high)
            one = high
    else:
        near = float(min(claim["epsilon"], Decimal(10**6))) / hops
        kinds = tuple((n, k, float(s), float(q)) for n, k, s, q in drawn)
        found = of_phases(kinds, float(delta), near, hops, float(mu))
        one, apart = map(Decimal, found)
    epsilon = hops * one * (1 - CLOSE)
    apart = min(hops * apart * (1 - CLOSE), stated_advantage(epsilon, delta), ONE)
    return epsilon, apart, orders


def check_orders(claim: Fields, orders: tuple[Decimal, Decimal] | None) -> None:
    """What divergences of whole orders say is stated where epsilon is of losses, and agrees."""
    stated, epsilon = claim["rdp_epsilon"], claim["epsilon"]
    if orders is None:
        require(stated is None, "`rdp_epsilon` is stated, but no losses are behind epsilon")
        return
    low, high = orders
    shown = "infinite" if stated == INFINITY else f"{stated:.12g}"
    text = f"`rdp_epsilon` is {shown}, but the event's is {high:.12g}"
    require(low * (1 - CLOSE) <= stated <= high * (1 + CLOSE), text)
    above = f"`epsilon` is {epsilon:.12g}, above what Rényi divergences give, {high:.12g}"
    require(epsilon in (ZERO, INFINITY) or epsilon <= high * (1 + OF_GRID), above)


# --- The claims an event supports

# The words that certificates must use. In sections; `name: text`, or `- text` in a list.
TEXTS = """
[retrained]
output-noise: `retrain` on the data after the request, with the same distance, noise and grid
output-noise/refitted: `retrain` on the data after the request, which fits its preprocessing again
    to them, with the same distance, noise and grid
noisy-gd: all steps of learning and of every request from the same start, on the data after the
    request
noisy-gd/batches: all steps of learning and of every request from the same start, over the same
    batches in turn, on the data after the request
distributed-descent: the same mechanism trained on the data after the request, with a sample of its
    own, then served the same later requests
descent/secret: the steps of learning from weights 0 on the data after the request, published with
    the same noise and grid
descent/perfect: the same schedule of steps and noises from the same start, on the data after the
    request
network: the network's segments of steps from the same start, with the records deleted so far in
    none of them and all others as they were, and the model retrained on its features of the data
    after the request
elsewhere: the steps of the extractor's training, as declared, from the same start, with the records
    deleted so far in none of them and all others as they were, and the model retrained on its
    features of the data after the request
dp-sgd: the same segments of steps from the same start, with the units deleted so far in none of
    them and all others as they were
[never saw]
output-noise: the exact optimum on the remaining data, published with the same noise and grid
output-noise/refitted: preprocessing fitted to the remaining data and the exact optimum on them,
    published with the same noise and grid
noisy-gd: the same schedule of steps with records of one person among the request's, at most the
    stated group, absent from the start
descent/perfect: the same schedule of steps and noises with records of one person among the
    request's, at most the stated group, absent from the start
[differing]
records: the same releases from data that differ in the protected records
units: the same releases from data that differ in the protected units
network: the same releases, with the trainings of the network, from data that differ in the
    protected records
elsewhere: the same releases, with the extractor's training as declared, from data that differ in
    the protected records
[given]
differential-privacy: the same releases, with the given start or extractor, from data that differ in
    the protected records
deletion-privacy: the given start or extractor and the model, both made without records of one
    person among the request's, at most the stated group
extractor: a feature extractor made without the deleted records, and the model retrained on its
    features of the data after the request
start: a start made without the deleted records, and all steps of learning and of every request from
    it, on the data after the request
[anew]
sums: learning from the records after the request alone, with the same public constants
refitted: learning from the records after the request alone, which fits its preprocessing again to
    them, with the same public constants
named: learning from the records after the request alone, under the names that they have, with the
    same public constants
[theorems]
output-noise: Gaussian mechanism around an optimum found to a measured distance (strong convexity)
noisy-gd: shifted interpolation (Bok, Su, Altschuler, ICML 2024)
exact-removal: whole-number sums of rounded records, solved in a fixed order: a function of the
    current records only
shards: each network is trained on the records of one shard in a fixed order of operations, and a
    record's shard follows from its own name: a function of the current records only
distributed-descent: Gaussian mechanism around averages of parts, given the same uniform sample
dp-sgd: distributions of privacy losses of the Gaussian mechanism with Poisson sampling, for groups
    by Kahane's inequality, composed on a grid (Doroshenko et al., 2022), held against Rényi
    divergences of whole orders
network: distributions of privacy losses of the network's steps, for groups by Kahane's inequality,
    composed on a grid (Doroshenko et al., 2022) with the Gaussian of what the accountant says from
    every network, held against Rényi divergences of whole orders
elsewhere: distributions of privacy losses of the steps that are declared, for groups by Kahane's
    inequality, composed on a grid (Doroshenko et al., 2022) with the Gaussian of what the
    accountant says from every extractor, held against Rényi divergences of whole orders
descent/secret: distance of two runs of projected gradient descent, exact Gaussian conversion
descent/perfect: shifted interpolation (Bok, Su, Altschuler, ICML 2024) over composite steps
composed: adaptive composition with the given start or extractor, after group privacy; otherwise by
    the accountant
late: shifted interpolation, from late starts in the ball too (Bok, Su, Altschuler, ICML 2024)
in-turn: shifted interpolation over batches in turn (Bok, Su, Altschuler, ICML 2024)
bounded-domain: contraction of hockey-stick divergences (Asoodeh, Diaz, Calmon, 2020) after shifted
    interpolation, or the latter alone where it is less
langevin: Theorem 3.2 and Corollary 3.4 of Langevin unlearning (Chien, Wang, Chen, Li, 2024), with
    grid and rounding by a triangle inequality
deletion-rdp: Theorem 5.1 of Forget unlearning (Chourasia, Shah, ICML 2023), with grid and rounding
    by a triangle inequality
[limits]
- backups and copies of the vault or of the source table
- releases made from other copies of the vault
- models exported or published earlier, and comparing an earlier model with a later one
- logs, shell histories and screens that showed the records
- old contents of overwritten blocks that the file system or the disk keeps
- feature extractors, scalers, encoders and cleaning fitted on private data
- choosing settings, thresholds or models by looking at results on private data
- other records about the same person, and copies of a record under another id
- other models trained on the same data
- keyed hashes of deleted ids and their number, kept to answer repeated requests
- names of classes and schema values read from the data, which remain after their records are
    deleted
- what was printed while a request was served (passes, distance, seconds), which depends on the
    previous model
- the size of the vault's file and the positions of rows in it, which show how much space deleted
    records took
- running times and file times, failures and refusals, which may depend on the data
[unhidden]
- the remaining records, which no noise hides: differential-privacy holds at no epsilon
- the difference between two models of this vault, which is made of the changed records
[refitted limits]
- the number of records and of classes of earlier releases, which their certificates state
[exact statistics]
- the remaining records: the release holds their exact means, scales and counts and the names of
    their classes and of their categories (those of fewer than min-frequency records are merged), so
    that differential-privacy holds at no epsilon
- the difference between two releases, whose preprocessing shows what the changed records held
[network limits]
- results on private rows told beside the model, such as losses and accuracies
- which units were in which batch, and the times of single steps, which follow their number
[shards limits]
- which networks changed with a request: they tell some bits of a public hash of the names it was
    about
- the names of the remaining records and subjects: a record named by its position has it from the
    number of records before it, deleted ones included, and the weights follow from these names
[trunk limits]
- the vault that the network comes from, named by the constant `trunk`, and its own copy of the
    records: a deletion here erases nothing there
- records that only the network saw, records deleted from the vault it comes from after its features
    were first used here, and other models made from it
- records deleted here that were more than one record of the network
[declared limits]
- whether the extractor was trained as declared: noise, batches and clipped sums of its steps are
    taken on the user's word, and nothing here checks them
- what rounding of its sums, predictable or seeded generators, gradients that depend on other
    records of a batch, and trainings that were tried before add to what the extractor reveals
- records that only the extractor saw, records deleted elsewhere after its features were first used
    here, and other copies of the extractor and models made from it
- records deleted here that were more than one record of the extractor's training
- the raw records that rows were computed from, and what else was computed from them
[given limits]
- whether the given start or extractor is as private as declared
- records that only the given start or extractor saw, and other models made from it
[public model limits]
- what the public model that rows are outputs of (`extractor`) was made from, which may hold the
    same people
- the raw records that rows were computed from, and what else was computed from them
[weight limit]
- weights computed from the data as a whole, such as class balance: each record's weight is assumed
    to be a fact about that record or public knowledge; the largest weight and the sum of weights,
    where they were computed from the data, which remain after their records are deleted
[covers]
- the weights published with this request
- everything kept after the request: weights, remaining rows, public constants
- later releases up to the stated number, but not the kept state without noise
- the kept sums, which depend on the remaining rows and public constants only
[kept]
refitted: the preprocessing published with the weights (means, scales, names of categories and
    classes), which is fitted again to the remaining records with every request
trunk: the network that makes the features, kept and used with the weights
trunk-sums: the kept sums, which depend on the network, the remaining rows and public constants only
declared-sums: the kept sums, which depend on the extractor, the remaining rows and public constants
    only
[network]
gradients: the gradient of each record, or of all records of a subject, is computed from the weights
    and these records alone, clipped, and rounded towards zero to whole multiples of the grid; their
    sums are exact, and what these are divided by does not depend on who was drawn
batches: whether a record, or all records of a subject, are in the batch of a step is drawn for each
    of them and each step by itself, from the generator of the noise, and kept secret
network: layers, start, steps, rate, clip and size of steps were chosen without the records
[shards]
shards: a record's shard is a public hash of its subject, or of its id where records name no
    subjects, and follows from that name alone; a name by position counts the records before it
determinism: the network of a shard is a function of its records and their ids, bit for bit: from a
    public start, in an order by a public hash of ids and epochs, by sums in a fixed order, whatever
    the number of threads; zeros where a shard has no record
network: shards, layers, start, epochs, batch size and size of steps were chosen without the records
[noise]
drawn: the noise comes from the operating system's generator and is never seen or reused
seeded: the noise comes from a user-given seed: for tests only
[declared]
given: the extractor was trained by DP-SGD elsewhere, by the steps listed as `given-training` and no
    others, before the first training here; it stays as it is, and a record here was at most one
    record there
given-rows: rows are outputs of that extractor as it was when its training ended; each is computed
    from its own raw record alone
given-gradients: in each of these steps a record's gradient depended on the weights, that record and
    randomness of its own alone, nothing was kept of one record for the next, and each gradient was
    clipped, so that no record moved the sum by more than the clip
given-batches: each record was in the batch of a step with the stated probability, by itself, drawn
    afresh and in secret: batches were not shuffled, of fixed size, cut or left out, and sums were
    divided by public numbers
given-noise: each sum got Gaussian noise of at least the stated multiple of the clip once, from a
    generator that nobody can predict or repeat; layers, start, steps and settings were chosen
    without the records
[declared extractor]
- rows are outputs of the model that is listed, which was trained as declared, stays as it is and
    keeps nothing of records; each is computed from its own raw record alone
[erasure covers]
- the rows of the request are erased from every file of the vault's folder, and with them the model,
    the kept state and everything else computed from them
- until `efface refresh` the vault publishes no model; the next one is trained on the remaining
    records from a start that depends on no record
[erasure limits]
- models released before, their copies and their predictions: nothing is claimed about how much they
    reveal about the erased records
- backups and copies of the vault or of its rows, and logs
- feature extractors, preprocessing fitted outside, and other models trained on the same data
- keyed hashes of deleted ids and their number, kept to answer repeated requests
- names of classes and schema values read from the data, which remain after their records are
    deleted
- old contents of blocks that the file system or the disk keeps
"""
WORDS = {
    head: {
        str(place) if name == "-" else name[:-1]: " ".join(text.split())
        for place, (name, text) in enumerate(
            re.findall(r"^(-|\S+:) (.*(?:\n    .*)*)", body, re.MULTILINE)
        )
    }
    for head, body in re.findall(r"^\[(.*)\]\n((?:[^\[].*\n)*)", TEXTS, re.MULTILINE)
}
LISTS = {head: tuple(texts.values()) for head, texts in WORDS.items()}
RETRAINED, NEVER_SAW, DIFFER, THEOREMS, KEPT = (
    WORDS[head] for head in ("retrained", "never saw", "differing", "theorems", "kept")
)
ANEW, ANEW_REFITTED, ANEW_NAMED = LISTS["anew"]
LIMITS, UNHIDDEN, NETWORK_LIMITS = (
    LISTS[head] for head in ("limits", "unhidden", "network limits")
)
SHARDS_LIMITS = (NETWORK_LIMITS[0], *LISTS["shards limits"])
PUBLIC_MODEL_LIMITS, (WEIGHT_LIMIT,) = LISTS["public model limits"], LISTS["weight limit"]
# What two of the limits say where the engine fits the preprocessing.
REFITTED_LIMITS = {
    LIMITS[5]: LIMITS[5] + " before the rows came here",
    LIMITS[10]: LISTS["refitted limits"][0],
}
COVERS = LISTS["covers"]
# What claims about a network rest on, in the words that a certificate must have: other words, such
# as batches that are taken in turn, would not carry the claims. The choice of the network is the
# signer's word, as is a seed; the rest is enforced. Then what exact removal from shards rests on.
NETWORK, SHARDS = WORDS["network"], WORDS["shards"]
NOISE, SEEDED_NOISE = LISTS["noise"]
# About a training that was made elsewhere: the same, that noise was drawn as it is declared, and
# that rows are what the extractor makes of one record each. Nobody but whoever states it can know,
# so that it is neither enforced nor measured, and said in these words alone. The last is said where
# the model is named, too.
DECLARED, (DECLARED_EXTRACTOR,) = WORDS["declared"], LISTS["declared extractor"]


# The names under which certificates list an event's own constants.
CONSTANTS = {
    "output-noise": {"distance": "distance", "noise": "noise", "releases": "joint_releases"},
    "noisy-gd": {"eta": "step", "step-noise": "noise", "steps": "learning", "radius": "radius"},
    "exact-removal": {
        "row-bound": "row_bound",
        "row-grid": "row_grid",
        "target-bound": "target_bound",
        "target-grid": "target_grid",
        "max-weight": "max_weight",
    },
    "distributed-descent": {
        "sample": "sample",
        "parts": "parts",
        "copies": "copies",
        "iterations": "iterations",
        "distance": "distance",
        "noise": "noise",
        "releases": "joint_releases",
    },
    "dp-sgd": {
        "unit": "unit",
        "rows-per-unit": "rows_per_unit",
        "gradient-grid": "grid",
        **{name: name for name in ("clip", "noise", "rate")},
    },
    "shards": {name: name for name in ("unit", "shards", "arithmetic")},
    "descent": {
        **{name: name for name in ("variant", "iterations", "diameter", "noise", "xi", "tail")},
        "eta": "step",
        "releases": "joint_releases",
    },
}
# Constants that no honest plan computes from the records or their number.
CHOICES = (
    *("radius", "start", "max-group", "loss", "row-norm", "intercept", "clip", "hinge-width"),
    *("given", "trunk", "class-weight", "features", "extractor", "network", "unit"),
    *("rows-per-unit", "batches", "shards", "arithmetic", "epochs", "momentum"),
    *("network-start", "network-input", "optimizer", "beta1", "beta2", "adam-epsilon"),
)
GROUNDS = {"dp-sgd": NETWORK, "shards": SHARDS}
CONVEX = ("lipschitz", "smoothness", "lambda", "max-weight", "class-weight")
# Constants that may follow from the number of records. Any other one of origin `data` was read off
# the records, where one of them could have moved it: an assumption of its name then says so, and
# nothing is claimed that protects a single record.
SIZES = (
    *("n", "capacity", "minimum", "delta", "lambda", "lipschitz", "smoothness", "eta", "noise"),
    *("distance", "step-noise", "steps", "removal-steps", "iterations", "diameter", "tail", "xi"),
    *("sample", "parts", "row-grid", "target-bound", "target-grid"),
    *("min-frequency", "rate", "batch", "average", "gradient-grid"),
    *("batch-size", "batch-capacity", "row-norm", "intercept"),
)


def supported(event: Fields, claim: Fields) -> Fields:
    """What a claim of this notion, order, delta, adjacency and accountant may say of this event."""
    inner = core(event)
    kind, accountant = inner["kind"], claim["accountant"]
    bound = BOUNDS.get((kind, accountant))
    if bound is None:
        raise Broken(f"`{accountant[:40]}` has no bound for `{kind}`")
    if kind == "dp-sgd":
        require(inner is event, "of `dp-sgd` no bound on top of something given is known")
        check_network(event)
        return {"normalizer": "fixed", "state": "perfect", **bound(event, claim)}
    if kind == "shards":
        require(inner is event, "the networks of shards start from nothing")
        return {"normalizer": "fixed", "state": "perfect", **bound(event, claim)}
    known = accountant == "gdp" or inner.get("batches") is None
    require(known, f"`{accountant[:40]}` knows no batches")
    if kind != "exact-removal":
        check_event(inner)
    if inner is not event:
        learnt = behind(event) is not None
        bound = partial(trunk_bound if learnt else composed_bound, bound)
    return {
        "normalizer": inner["setting"]["normalizer"]["kind"],
        "state": state_of(inner),
        **bound(event, claim),
    }


def composed_bound(
    inner_bound: Callable[[Fields, Fields], Fields], event: Fields, claim: Fields
) -> Fields:
    """What was given, for as many groups as the records make, and what was made from it."""
    given, inner, notion = event["given"], event["inner"], claim["notion"]
    check_shape(claim)
    require(inner["kind"] != "composed", "`inner` is composed itself")
    require(given["group"] > 0, "`given.group` must be at least 1")
    pair = (given["epsilon"], given["delta"])
    figures = [x for x in (*pair, given["mu"]) if x is not None]
    shape = pair == (None, None) if given["mu"] is not None else None not in pair
    require(shape, "`given` needs epsilon and delta, or mu")
    require(all(x.is_finite() and x >= 0 for x in figures), "`given` has a figure out of range")
    require(pair[1] is None or pair[1] < 1, "`given.delta` must be below 1")
    removed = event["removed"]
    gone = max((p["only_then"] for p in inner.get("phases", [])), default=0)
    require(removed is None or removed >= gone, "`removed` is below what a phase saw")
    if notion in (RETRAINING, RENYI):
        require(removed is not None, "the number of deleted records is private")
        records: int = removed
        group, requests = str(records), "non-adaptive"
    else:
        adaptive = notion == DELETION and isinstance(claim["requests"], dict)
        require(not adaptive, "what was given allows `non-adaptive` requests only")
        records = inner["setting"]["group"] * (2 if claim["adjacency"] == "replace" else 1)
        group, requests = str(inner["setting"]["group"]), "any"
    groups = -(-records // given["group"])
    whole = inner_bound(inner, claim)
    if notion == DELETION:
        requests = whole["requests"]
    mu = epsilon = None
    if given["mu"] is not None and whole["mu"] is not None:
        mu = ((groups * given["mu"]) ** 2 + whole["mu"] ** 2).sqrt()
        advantage = pair_advantage(mu)
        if claim["delta"] is not None:
            epsilon = gdp_epsilon(mu, claim["delta"])
        else:
            epsilon = claim["order"] * mu * mu / 2
        if notion == DELETION:
            advantage = deletion_advantage(claim["order"], epsilon)
    else:
        require(claim["delta"] is not None, "this notion needs the mu of what was given")
        if groups == 0:
            first = (ZERO, ZERO)
        elif given["mu"] is not None:
            half = claim["delta"] / 2
            first = (gdp_epsilon(groups * given["mu"], half), half)
        else:
            each = given["epsilon"]
            grown = groups * (groups * each).exp()  # from above, and so close where digits cancel
            if each > Decimal("1e-40"):
                grown = ((groups * each).exp() - 1) / (each.exp() - 1)
            first = (groups * each, min(given["delta"] * grown, ONE))
        left = claim["delta"] - first[1]
        require(left > 0, "the delta of what was given leaves nothing")
        stated = claim["epsilon"] - first[0]
        rest = inner_bound(inner, {**claim, "delta": left, "epsilon": stated})
        epsilon = first[0] + rest["epsilon"]
        advantage = min(stated_advantage(*first) + rest["advantage"], ONE)
    reference = WORDS["given"][given["what"] if notion in (RETRAINING, RENYI) else notion]
    return {
        **whole,
        "mu": mu,
        "epsilon": epsilon,
        "advantage": advantage,
        "group": group,
        "reference": reference,
        "requests": requests,
        "theorem": THEOREMS["composed"],
    }


def behind(event: Fields) -> Fields | None:
    """The training that features come from: of a network here, or one that is declared."""
    given = event.get("given") or {}
    found: Fields | None = given.get("training") or given.get("declared")
    return found


def is_trained(event: Fields) -> bool:
    """Whether features come from a network that was trained here."""
    return (event.get("given") or {}).get("training") is not None


def is_declared(event: Fields) -> bool:
    """Whether features come from a training elsewhere, on the word of whoever uses them."""
    return (event.get("given") or {}).get("declared") is not None


def check_declared(training: Fields) -> None:
    """Refuse trainings that no run can have had, and those outside what is accounted."""
    phases = training["phases"]
    require(0 < len(phases) <= MOST_NUMBERS, f"`phases` must number 1 to {MOST_NUMBERS}")
    for phase in phases:
        noise, rate = phase["noise"], phase["rate"]
        require(Decimal(float("1e-12")) <= rate <= 1, "`rate` must be in [1e-12, 1]")
        require(Decimal(float("0.1")) <= noise <= 10**6, "`noise` must be in [0.1, 1e6]")
        require(phase["steps"] > 0, "a phase has no steps")
    if training["clip"] is not None:
        check_range(training, "clip")
    require(training["deleted"] <= MOST_UNITS, f"more than {MOST_UNITS} deleted records")
    steps = sum(phase["steps"] for phase in phases)
    require(steps <= MOST_STEPS, f"more than {MOST_STEPS} steps in all")


def trunk_bound(
    inner_bound: Callable[[Fields, Fields], Fields], event: Fields, claim: Fields
) -> Fields:
    """A training's steps with the records deleted before and since, and what was made from it."""
    given, inner, notion = event["given"], event["inner"], claim["notion"]
    training, declared, removed = given["training"], given["declared"], event["removed"]
    check_shape(claim)
    require(inner["kind"] not in ("composed", "dp-sgd"), "nothing is known of `inner` here")
    figures = {given[name] for name in ("epsilon", "delta", "mu")}
    require(figures == {None}, "figures are given beside a training, from which they follow")
    require(given["group"] == 1, "`given.group` must be 1 beside a training")
    require(given["what"] == "extractor", "a training gives an extractor")
    require(None in (training, declared), "two trainings are given")
    if training is not None:
        require(training["unit"] == "record", "the units of a training given must be records")
        check_network(training)
    else:
        check_declared(declared)
    gone = max((p["only_then"] for p in inner.get("phases", [])), default=0)
    require(removed is None or removed >= gone, "`removed` is below what a phase saw")
    require(notion in (RETRAINING, PRIVACY), "divergences of groups are known one way only")
    steps: Counter[int] = Counter()
    hops = 2 if claim["adjacency"] == "replace" else 1
    if notion == PRIVACY:
        units = inner["setting"]["group"]
        if training is not None:
            steps[units] = sum(s["steps"] for s in training["segments"]) + training["earlier_steps"]
        whole, reference = inner_bound(inner, claim), DIFFER["network"]
    else:
        require(removed is not None, "the number of deleted records is private")
        for segment in training["segments"] if training is not None else ():
            steps[segment["deleted"] + removed] += segment["steps"]
        units = max(steps) if training is not None else declared["deleted"] + removed
        reference = RETRAINED["network"]
        require(len(steps - Counter({0: steps[0]})) <= MOST_NUMBERS, "too many different `deleted`")
        exact = inner["kind"] == "exact-removal"  # a function of the network and the data now
        asked = {**claim, "notion": EXACT, "delta": None} if exact else claim
        whole = inner_bound(inner, asked)
        whole = {**whole, "mu": ZERO if exact else whole["mu"], "requests": "non-adaptive"}
    require(units <= MOST_UNITS, f"more than {MOST_UNITS} units")
    require(whole["mu"] is not None, "a network's losses compose with what has a mu")
    if training is not None:
        found, theorem = (
            network_numbers(training, steps, whole["mu"], claim, hops),
            THEOREMS["network"],
        )
    else:
        phases = [(p["steps"], units, p["noise"], p["rate"]) for p in declared["phases"] if units]
        work = sum(units * (1 + 1 / noise) for _, _, noise, rate in phases if rate < 1)
        require(work <= MOST_WORK, "the training has too many phases for so many deletions")
        found = numbers_of_phases(phases, whole["mu"], claim, hops)
        reference = DIFFER["elsewhere"] if notion == PRIVACY else RETRAINED["elsewhere"]
        theorem = THEOREMS["elsewhere"]
    return {
        **whole,
        "mu": None,
        "epsilon": found[0],
        "advantage": found[1],
        "orders": found[2],
        "group": str(units),
        "reference": reference,
        "theorem": theorem,
    }


def check_shape(claim: Fields) -> None:
    """Exactly the parameters that the notion has, in their ranges."""
    notion, order, delta = claim["notion"], claim["order"], claim["delta"]
    require(notion != EXACT, "nothing is exact where something random is released")
    private, renyi = notion in (PRIVACY, DELETION), notion in (RENYI, DELETION)
    require(private == bool(claim["adjacency"]), "`adjacency` is missing or out of place")
    require(renyi == (order is not None), "`order` is missing or out of place")
    require(renyi == (delta is None), "`delta` is missing or out of place")
    if renyi:
        require(order.is_finite() and order > 1, "`order` must be finite and above 1")
    else:
        require(0 < delta < 1, "`delta` must be in (0, 1)")


def releases_seen(event: Fields, requests: str | Fields) -> int:
    """Releases that requesters may have seen under deletion privacy: each costs its DP."""
    require(requests != "any", "deletion privacy does not hold for any requests")
    if isinstance(requests, str):
        return 0
    seen: int = requests["p-adaptive"]
    before = event["releases"] - 1
    require(seen >= before, "`p-adaptive` is below the number of releases before this one")
    return seen


def differing(event: Fields) -> str:
    """The most records in which an earlier phase's data and the latest differ."""
    return str(max(p["only_then"] + p["only_now"] for p in event["phases"]))


def gaussian_bound(event: Fields, claim: Fields) -> Fields:
    """The bound of an event that some mu of Gaussian DP describes in every world."""
    kind, notion, order, delta = event["kind"], claim["notion"], claim["order"], claim["delta"]
    private, renyi = notion in (PRIVACY, DELETION), notion in (RENYI, DELETION)
    adjacency = claim["adjacency"] or ""
    check_shape(claim)
    state = state_of(event)
    name = f"descent/{state}" if kind == "descent" else kind
    if kind == "descent" and private:
        require(adjacency == "replace", "the steps of a request tell its size")
    accountant = WORLDS[kind]
    mu = accountant(event, notion if private else RETRAINING, adjacency)
    direct = name in ("output-noise", "descent/secret")  # whatever led to the data at hand
    requests = "any" if notion == PRIVACY or direct else "non-adaptive"
    refitted = "/refitted" if event.get("preprocessing") else ""
    variant = "/batches" if event.get("batches") else refitted
    releases, reference = event.get("joint_releases", 1), RETRAINED[name + variant]
    if notion == PRIVACY:
        releases, reference = event["releases"], DIFFER["records"]
    elif notion == DELETION:
        require(name in NEVER_SAW, "deletion privacy needs `perfect` state")
        releases, reference = 1, NEVER_SAW[name + refitted]
        require(not refitted or claim["requests"] == "non-adaptive", "releases hold statistics")
    if private and not (kind == "output-noise" and claim["requests"] == "non-adaptive"):
        group = str(event["setting"]["group"])
    elif name in ("output-noise", "descent/secret", "distributed-descent"):
        group = "any"  # the bound is for the data as they are, whatever left them
    else:
        group = differing(event)
    if renyi:
        epsilon, advantage = order * mu * mu / 2, pair_advantage(mu)
    else:
        epsilon, advantage = gdp_epsilon(mu, delta), pair_advantage(mu)
    if notion == DELETION:
        require(state == "perfect", "deletion privacy needs `perfect` state")
        requests = claim["requests"]
        if seen := releases_seen(event, requests):
            one = accountant(event, ONE_RELEASE, adjacency)
            epsilon += seen * order * one * one / 2
        advantage = deletion_advantage(order, epsilon)
    theorem = THEOREMS["late"] if event.get("radius") is not None else THEOREMS[name]
    if event.get("batches"):
        theorem = THEOREMS["in-turn"]
    return {
        "mu": mu,
        "epsilon": epsilon,
        "advantage": advantage,
        "group": group,
        "reference": reference,
        "requests": requests,
        "releases": releases,
        "theorem": theorem,
    }


# --- Other accountants of noisy gradient descent. Their theorems are about exact arithmetic: what
# ran is nu-GDP close to that in both worlds, which two triangle inequalities pay for.


def nearby_epsilon(nu: Decimal, delta: Decimal, exact: Callable[[Decimal], Decimal]) -> Decimal:
    """An epsilon at delta, from that of exact arithmetic at a little less."""
    epsilon = exact(delta * 255 / 256)
    share = delta / 512 / (1 + (epsilon + ONE / 1024).exp())
    if share < Decimal("1e-300"):
        return INFINITY
    moved = gdp_epsilon(nu, share)
    return epsilon + 2 * moved if moved * 2048 <= 1 else INFINITY


def nearby_renyi(nu: Decimal, order: Decimal, exact: Callable[[Decimal], Decimal]) -> Decimal:
    """A Renyi divergence, from those of exact arithmetic: Mironov's triangle inequality twice."""
    part, half = ONE / 1024, nu * nu / 2
    near, far = 1 + part, (1 + part) / part
    rest, raised = order - 1 / near, near * order
    inner = raised - 1 / far
    first = inner / (raised - 1) * far * raised * half + exact(near * inner)
    return rest / (order - 1) * first + far * rest * half


def mironov(curve: Callable[[Decimal], Decimal], delta: Decimal) -> Decimal:
    """Least epsilon at delta of a Renyi curve: coarse search over ln(order - 1), then fine."""

    def at(place: Decimal) -> Decimal:
        above = place.exp()
        return curve(1 + above) - delta.ln() / above

    low, high = Decimal(-36), Decimal(92)
    best = min((at(low + k), low + k) for k in range(int(high - low) + 1))[1]
    low, high, ratio = best - 1, best + 1, (Decimal(5).sqrt() - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = at(left), at(right)
    for _ in range(70):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = at(right)
    return max(min(at_left, at_right), ZERO)


def published(event: Fields, claim: Fields, numbers: tuple[Decimal, Decimal], text: str) -> Fields:
    """A bound on noisy gradient descent that has no mu."""
    notion, releases, requests = claim["notion"], 1, "non-adaptive"
    if notion == PRIVACY:
        group, reference = str(event["setting"]["group"]), DIFFER["records"]
        releases, requests = event["releases"], "any"
    elif notion == DELETION:
        group, reference = str(event["setting"]["group"]), NEVER_SAW["noisy-gd"]
        requests = claim["requests"]
    else:
        group = differing(event)
        reference = RETRAINED["noisy-gd"]
    return {
        "mu": None,
        "epsilon": numbers[0],
        "advantage": numbers[1],
        "group": group,
        "reference": reference,
        "requests": requests,
        "releases": releases,
        "theorem": text,
    }


def ball_bound(event: Fields, claim: Fields) -> Fields:
    """The last steps on equal data in a ball: each contracts the hockey-stick divergence."""
    check_shape(claim)
    require(claim["notion"] == RETRAINING, "`bounded-domain` is for closeness to retraining")
    require(event["radius"] is not None, "`bounded-domain` needs a radius")
    delta, stated, latest = claim["delta"], claim["epsilon"], event["phases"][-1]
    c, arithmetic = noisy_step(event)
    steps = min(latest["steps"], 512)
    start = {**latest, "steps": latest["steps"] - steps}
    earlier = {**event, "phases": [*event["phases"][:-1], start]}
    empty = len(event["phases"]) == 1 and start["steps"] == 0
    before = ZERO if empty else noisy_gd_mu(earlier, RETRAINING, "")
    reach = (2 * event["radius"] * c + arithmetic) / event["noise"]
    nu, whole = arithmetic_mu(event, steps), noisy_gd_mu(event, RETRAINING, "")

    def contracted(epsilon: Decimal, enough: Decimal) -> Decimal:
        p = gdp_delta(before, epsilon) if before > 0 else ZERO
        for _ in range(steps):
            if p <= enough:
                break
            p *= gdp_delta(reach, (1 + (epsilon.exp() - 1) / p).ln())
        return p

    epsilon = gdp_epsilon(whole, delta)
    if stated < epsilon * (1 - TOLERANCE):
        moved = gdp_epsilon(nu, delta / 512 / (1 + stated.exp()))
        inner, enough = stated - 2 * moved, delta * 255 / 256
        if inner >= 0 and moved * 2048 <= 1 and contracted(inner, enough) <= enough:
            epsilon = stated
    apart = contracted(ZERO, ZERO) + pair_advantage(nu)
    return published(
        event, claim, (epsilon, min(pair_advantage(whole), apart)), THEOREMS["bounded-domain"]
    )


def langevin_bound(event: Fields, claim: Fields) -> Fields:
    """Chien et al. (2024), Theorem 3.2 and Corollary 3.4, for requests that replace records."""
    check_shape(claim)
    require(claim["notion"] in (RETRAINING, RENYI), "`langevin` is for closeness to retraining")
    setting, eta, phases, replaced = (
        event["setting"],
        event["step"],
        event["phases"],
        event["replaced"],
    )
    m: Decimal = setting["strong_convexity"]
    norm = setting["normalizer"]
    require(m > 0, "`langevin` needs strong convexity")
    require(eta * (setting["smoothness"] + m) <= 1, "`langevin` needs a step of at most 1/L")
    require(replaced is not None and len(replaced) <= 500, "`langevin` needs `replaced`")
    sizes = {p["records"] for p in phases}
    steady = norm["kind"] == "fixed" or (len(sizes) == 1 and None not in sizes)
    require(steady, "`langevin` needs one number of records under `mean`")
    n = Decimal(norm["n"] if norm["kind"] == "fixed" else phases[0]["records"])
    variance: Decimal = event["noise"] ** 2 / (2 * eta)

    def initial(order: Decimal, request: int) -> Decimal:
        reach: Decimal = replaced[request] * setting["lipschitz"] / n
        trained = sum(p["steps"] for p in phases[: request + 1])
        grown: Decimal = 1 - (-m * eta * trained).exp()
        return 4 * order * reach**2 / (m * variance) * grown

    def after(order: Decimal, requests: int) -> Decimal:
        if not any(replaced[:requests]):
            return ZERO
        decay: Decimal = (-phases[requests]["steps"] * m * eta / order).exp()
        if replaced[requests - 1] == 0:
            return decay * after(order, requests - 1)
        if not any(replaced[: requests - 1]):
            return decay * initial(order, requests - 1)
        both = initial(2 * order, requests - 1) + after(2 * order, requests - 1)
        return decay * (order - ONE / 2) / (order - 1) * both

    def exact(order: Decimal) -> Decimal:
        return after(order, len(replaced))

    nu = arithmetic_mu(event, sum(p["steps"] for p in phases))
    if claim["notion"] == RENYI:
        epsilon = nearby_renyi(nu, claim["order"], exact)
        advantage = min((epsilon / 2).sqrt(), ONE)  # Pinsker
    else:
        epsilon = nearby_epsilon(nu, claim["delta"], partial(mironov, exact))
        advantage = stated_advantage(epsilon, claim["delta"])
    return published(event, claim, (epsilon, advantage), THEOREMS["langevin"])


def deletion_bound(event: Fields, claim: Fields) -> Fields:
    """Chourasia and Shah (2023), Theorem 5.1, by its parts G.9 and G.15."""
    check_shape(claim)
    notion, requests = claim["notion"], claim["requests"]
    require(notion in (DELETION, PRIVACY), "`deletion-rdp` is for deletion privacy and DP")
    setting, eta, phases = event["setting"], event["step"], event["phases"]
    m, norm = setting["strong_convexity"], setting["normalizer"]
    require(m > 0, "`deletion-rdp` needs lambda above 0")
    step = eta * (setting["smoothness"] + m)
    require(step < 1, "`deletion-rdp` needs a step below 1/(lambda + beta)")
    replaces = norm["kind"] == "fixed" or (claim["adjacency"] == "replace" and norm["minimum"] > 0)
    require(replaces, "`deletion-rdp` replaces records, of which a minimum must be public")
    n = Decimal(norm["n"] if norm["kind"] == "fixed" else norm["minimum"])
    reach = setting["lipschitz"] * setting["group"] / n
    scale: Decimal = 4 * reach**2 / (m * event["noise"] ** 2 / (2 * eta))
    rate: Decimal = m * eta / 2
    nu = arithmetic_mu(event, sum(p["steps"] for p in phases))

    def private(order: Decimal, steps: int) -> Decimal:
        return order * scale * (1 - (-rate * steps).exp())

    if notion == PRIVACY:
        longest: int = event["longest"]
        releases = [(p["steps"] if p["releases"] == 1 else longest, p["releases"]) for p in phases]

        def joint(order: Decimal) -> Decimal:
            return sum((n * private(order, k) for k, n in releases), ZERO)

        together = arithmetic_mu(event, longest) * Decimal(event["releases"]).sqrt()
        epsilon = nearby_epsilon(together, claim["delta"], partial(mironov, joint))
        advantage = stated_advantage(epsilon, claim["delta"])
        return published(event, claim, (epsilon, advantage), THEOREMS["deletion-rdp"])
    require(len(phases) > 1, "nothing was deleted: there is only learning")
    order, last = claim["order"], phases[-1]["steps"]
    epsilon = nearby_renyi(nu, order, lambda q: q * scale * (-rate * last).exp())
    if seen := releases_seen(event, requests):
        epsilon += seen * nearby_renyi(nu, order, lambda q: private(q, event["longest"]))
    return published(
        event, claim, (epsilon, deletion_advantage(order, epsilon)), THEOREMS["deletion-rdp"]
    )


def exact_bound(event: Fields, claim: Fields) -> Fields:
    """Whole-number sums of rounded records: the same bits as if deleted records never were.

    That holds when no sum over as many records as there may be leaves 64 bits, whatever they are:
    then adding and taking away is exact, and the order has no part in it.
    """
    check_exact_claim(claim)
    setting, norm = event["setting"], event["setting"]["normalizer"]
    capacity = norm.get("capacity", 2**24)
    refitted, records = event["preprocessing"], event["records"]
    if refitted:  # fitted to the records that remain, whose rows are summed anew
        require(1 <= refitted["min_frequency"] <= LARGEST, "`min_frequency` must be in 1..2^53")
        require(norm["kind"] == "mean", "fitted preprocessing needs `mean`")
        stated = records is not None and 1 <= records <= capacity
        require(stated, "fitted preprocessing needs a stated number of at most 2^24 records")
    else:
        require(records is None, "only fitted preprocessing follows the number of records")
    counts = [setting["parameters"], setting["group"], event["releases"], norm.get("n", 1)]
    require(min(*counts, capacity) > 0, "a count of the event is 0")
    require(setting["lipschitz"] > 0, "`lipschitz` must be above 0")
    check_range(setting, "strong_convexity")
    check_range(event, "row_bound", "target_bound")
    entries = []
    for what in ("row", "target"):
        bound, grid = event[f"{what}_bound"], event[f"{what}_grid"]
        power = grid > 0 and grid.is_finite() and math.frexp(float(grid))[0] == 0.5
        require(power, f"`{what}_grid` must be a power of two")
        largest = -(-Fraction(bound) // Fraction(grid))  # rounded up
        require(largest <= 2**22, f"`{what}_grid` must be at least 2^-22 of its bound")
        entries.append(largest)
    row, target = entries
    weight = 1 if event["max_weight"] is None else event["max_weight"]
    require(1 <= weight <= LARGEST, "`max_weight` must be in 1..2^53")
    require(capacity * weight * row * max(row, target) <= 2**62, "a sum could exceed 2^62")
    return nothing_left(ANEW_REFITTED if refitted else ANEW, THEOREMS["exact-removal"])


def check_exact_claim(claim: Fields) -> None:
    """Of what is released without noise nothing is claimed but its removals."""
    require(claim["notion"] == EXACT, "a model without noise earns `exact-removal` and no more")
    parts = (claim["delta"], claim["order"], claim["mu"], claim["adjacency"])
    require(parts == (None,) * 4, "exact removal has no delta, order, mu or adjacency")


def nothing_left(reference: str, theorem: str) -> Fields:
    """The bound of what is bit for bit a function of the records after the request."""
    bound = {"epsilon": ZERO, "advantage": ZERO, "group": "any", "requests": "any", "releases": 1}
    return {**bound, "reference": reference, "theorem": theorem}


MOST_SHARDS = 4096


def shards_bound(event: Fields, claim: Fields) -> Fields:
    """A network for each shard: the one of the record's shard is new, the others never saw it.

    The counts must be those of some run: as many weights for each shard, and one shard or more that
    were trained anew, as a request touches a record and a training all shards.
    """
    check_exact_claim(claim)
    shards, weights = event["shards"], event["parameters"]
    require(0 < shards <= MOST_SHARDS, "`shards` must be in 1..4096")
    require(min(weights, event["arithmetic"], event["releases"]) > 0, "a count of the event is 0")
    require(weights % shards == 0, "the shards do not have as many weights each")
    require(0 < event["retrained"] <= shards, "`retrained` must be in 1..`shards`")
    return nothing_left(ANEW_NAMED, THEOREMS["shards"])


def descent_bound(event: Fields, claim: Fields) -> Fields:
    """The published conversion for counted steps (neel2020, Lemma A.3 at delta/2)."""
    require(claim["notion"] == RETRAINING, "the theorem is about indistinguishability only")
    require(event["iterations"] is not None, "the theorem is about counted steps")
    bound = gaussian_bound(event, claim)
    mu = bound["mu"]
    epsilon = mu * mu / 2 + mu * (2 * (2 / claim["delta"]).ln()).sqrt()
    theorem = "neel2020, Theorem 4.5, with C copies all noised and R releases joint"
    return {**bound, "epsilon": epsilon, "theorem": theorem}


# mu of each kind of event in each world.
WORLDS: dict[str, Callable[[Fields, str, str], Decimal]] = {
    "output-noise": output_noise_mu,
    "noisy-gd": noisy_gd_mu,
    "distributed-descent": distributed_mu,
    "descent": descent_mu,
}

# Which accountants bound which events.
BOUNDS: dict[tuple[str, str], Callable[[Fields, Fields], Fields]] = {
    ("output-noise", "gdp"): gaussian_bound,
    ("noisy-gd", "gdp"): gaussian_bound,
    ("noisy-gd", "bounded-domain"): ball_bound,
    ("noisy-gd", "langevin"): langevin_bound,
    ("noisy-gd", "deletion-rdp"): deletion_bound,
    ("exact-removal", "exact"): exact_bound,
    ("shards", "exact"): shards_bound,
    ("distributed-descent", "gdp"): gaussian_bound,
    ("distributed-descent", "descent"): descent_bound,
    ("dp-sgd", "pld"): network_bound,
    ("descent", "gdp"): gaussian_bound,
    ("descent", "descent"): descent_published,
}


NUMBER = r"(infinity|[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)"


def sentence(claim: Fields) -> tuple[str, list[tuple[Decimal, Decimal]]]:
    """The claim's sentence with # for its numbers, and the range each number must be in."""
    if claim["notion"] == EXACT:
        text = (
            "the published model and what is kept are bit for bit what they would be without the "
            "deleted records, given the same public constants"
        )
        if claim["reference"] == ANEW_NAMED:
            text += " and names of the other records"
        return text, []
    notion, requests, epsilon = claim["notion"], claim["requests"], claim["epsilon"]
    chance = 50 + 50 * claim["advantage"]
    order, delta = claim["order"], claim["delta"]
    ulps, four_digits = 1 - Decimal("1e-12"), Decimal("1.0011")  # all but the order rounded up
    numbers = [
        (epsilon * ulps, epsilon * four_digits),
        (order, order) if delta is None else (delta * ulps, delta * four_digits),
        (min(chance, Decimal(100)) * ulps, chance + Decimal("0.011")),  # two decimals
    ]
    when = {"any": "", "non-adaptive": "for requests chosen without looking at releases, "}
    who = (
        f"even if the requester saw {requests['p-adaptive']} releases, "
        if isinstance(requests, dict)
        else when[requests]
    )
    many = claim["releases"]
    models, seen = "the published model is", "the published model"
    if many > 1:
        models = f"the published model and the next ones, {many} in all, are"
        seen = "these models"
    retrained = "a model retrained from scratch on the remaining data"
    if notion == RETRAINING:
        text = f"{models} (#, #)-indistinguishable from {retrained}"
    elif notion == RENYI:
        text = f"{models} within Rényi divergence # (order #) of {retrained}, in both directions"
    elif notion == DELETION:
        person = "" if claim["group"] == "any" else f" (up to {claim['group']} of one person)"
        seen = "what is kept"
        text = (
            "what is kept is within Rényi divergence # (order #) of what would be kept without "
            f"the deleted records{person}"
        )
    else:
        change = "replaced" if claim["adjacency"] == "replace" else "removed"
        group = claim["group"]
        if group.endswith(" subjects"):
            records = f"all rows of {group.removesuffix(' subjects')} {change} subjects"
        elif group == "1 subject":
            records = f"all rows of one {change} subject"
        else:
            records = f"one {change} record" if group == "1" else f"{group} {change} records"
        releases = "this release is" if many == 1 else f"the {many} releases together are"
        seen = "all that is published"
        text = f"{releases} (#, #)-differentially private for {records}"
    if notion == PRIVACY and epsilon > 10:
        text += ": no meaningful protection"
        del numbers[2]
    else:
        text += (
            f": an attacker who must decide between the two from {seen} succeeds with probability "
            "at most #% (random guessing: 50%)"
        )
    if claim["reference"] in (RETRAINED["elsewhere"], DIFFER["elsewhere"]):
        who = "if the extractor was trained as declared, " + who
    return who + text, numbers


def check_words(claim: Fields) -> None:
    """The sentence must say what the numbers say, rounded against the reader's favour."""
    text, ranges = sentence(claim)
    pattern = NUMBER.join(re.escape(part) for part in text.split("#"))
    match = re.fullmatch(pattern, claim["words"])
    require(match is not None, "the sentence is not the one for this claim")
    for shown, (low, high) in zip(match.groups() if match else (), ranges, strict=True):
        value = INFINITY if shown == "infinity" else Decimal(float(shown))
        require(low <= value <= high, f"the sentence says {shown}, which the numbers do not")


def listed(document: Fields, name: str) -> str:
    """Value of a constant, which must be listed exactly once."""
    found: list[str] = [c["value"] for c in document["constants"] if c["name"] == name]
    require(len(found) == 1, f"`{name}` is listed {len(found)} times, not once")
    return found[0]


def check_no_counts(document: Fields) -> None:
    """Where the row count is private, nothing that the certificate states may follow from it."""
    told = min(of_data(document), default=None)
    require(told is None, f"the row count is private, but `{told}` is from the data")
    request = document["request"]  # a refresh touches none, whatever the data are
    hidden = request["kind"] == "refresh" or request["records"] == "not stated"
    require(hidden, "the row count is private, but the request states a number of records")
    check_event_hides(document["event"])


def check_event_hides(whole: Fields) -> None:
    """No number of the event follows from how many records there are or were touched."""
    event = core(whole)
    counted = event["kind"] in ("descent", "distributed-descent")
    require(not counted, "the steps or the sample follow the counts of records")
    learnt = behind(whole) is not None
    require(not learnt, "the number of records is hidden, but a training's counts deleted ones")
    anew = event["kind"] == "shards"
    require(not anew, "the number of records is hidden, but shards that changed are counted")
    if event["kind"] == "dp-sgd":  # subjects are named by keyed hashes anyhow
        deleted = max((s["deleted"] for s in event["segments"]), default=0)
        hides = event["unit"] == "subject" or deleted == 0
        require(hides, "the number of records is hidden, but the event counts deleted ones")
    phases = event.get("phases", [])
    hidden = (whole.get("removed"), event.get("replaced")) == (None, None)
    hidden &= (event.get("batches") or {}).get("changed") is None
    if phases:  # earlier phases differ from the latest by as much as any can
        norm = event["setting"]["normalizer"]
        require(norm["kind"] == "fixed", "the row count is public under `mean`")
        most = norm["capacity"]
        hidden &= all(p["only_then"] == p["only_now"] == most for p in phases[:-1])
    sizes = [part.get("records") for part in (event, *phases)]
    require(hidden and set(sizes) == {None}, "the row count is hidden, but the event states counts")


def check_fixed_steps(document: Fields) -> None:
    """The steps of each request are a public constant: a number that follows it tells its size."""
    event = core(document["event"])
    name = "iterations" if event["kind"] == "descent" else "removal-steps"
    text = listed(document, name)
    require(re.fullmatch("0|[1-9][0-9]{0,15}", text) is not None, f"`{name}` must be a number")
    for phase in event["phases"][1:]:
        fixed = phase["steps"] == int(text) * phase["releases"]
        require(fixed, f"the event has steps that are not the `{name}` listed, {text}")


def check_claim(document: Fields, claim: Fields) -> str:
    """Recompute one claim from the event, once what it may rest on is checked."""
    notion = claim["notion"]
    protecting = notion in (PRIVACY, DELETION)
    private = protecting and claim["adjacency"] == "remove"
    told = read_off(document) if protecting else None
    require(told is None, f"`{told}` was read off the records, and one of them could have moved it")
    kept = notion != EXACT or not of_data(document) & {"column-types", "label-type"}
    require(kept, "how cells or labels are kept follows the records, and so does what is kept")
    kind = document["request"]["kind"]
    # A refresh that follows no model is the first release without records that were erased.
    completes = kind == "refresh" and document["model"]["digest_before"] is None
    removes = completes or kind in ("delete", "update")
    require(notion != DELETION or removes, "deletion privacy of a request that deletes nothing")
    if private:
        check_no_counts(document)
    if (private or notion == DELETION) and "phases" in core(document["event"]):
        check_fixed_steps(document)
    if (delta := claim["delta"]) is not None:
        same = stands_for(listed(document, "delta"), delta)
        require(same, "its `delta` is not the constant listed")
    event = document["event"]
    losses = event["kind"] == "dp-sgd" or behind(event) is not None
    require(not losses or claim["rdp_epsilon"] is not None, "`rdp_epsilon` is missing")
    bound = supported(event, claim)
    check_orders(claim, bound.pop("orders", None))
    for name, value in bound.items():
        if isinstance(value, Decimal):
            require(claim[name] is not None, f"`{name}` is missing")
            require(
                claim[name] >= value * (1 - TOLERANCE),
                f"`{name}` is {claim[name]:.12g}, but the event only supports {value:.12g}",
            )
        else:
            require(claim[name] == value, f"`{name}` is not the event's, which is `{value}`")
    check_words(claim)
    if claim["epsilon"] == INFINITY:
        return "epsilon is infinite: no guarantee"
    return f"epsilon {claim['epsilon']:.9g} is at least the {bound['epsilon']:.9g} recomputed"


# --- The rest of a certificate


def check_hash(raw: Fields) -> str:
    """The stated hash is that of the body."""
    found = document_hash(raw)
    require(found == raw["chain"]["hash"], f"the body was changed: it hashes to {found}")
    return "the hash matches the body"


def check_signature(document: Fields, raw: Fields, trusted: bytes | None) -> str:
    """The body's hash is signed, by the trusted key if one was given."""
    stated = document["signature"]
    key, value = bytes.fromhex(stated["public_key"]), bytes.fromhex(stated["value"])
    name = hashlib.sha256(key).hexdigest()[:16]
    require(name == stated["key_id"], "the key id does not match the key")
    message = b"efface ledger entry 0\n" + document["chain"]["hash"].encode()
    require(ed25519_holds(key, message, value), "the signature is not by the stated key")
    is_signed = document_hash(raw) == document["chain"]["hash"]
    require(is_signed, "what was signed is not this body")
    if trusted is None:
        raise Undecided(f"signed by key {name}; give the key you trust with --key to decide")
    require(key == trusted, f"signed by key {name}, not by the trusted key")
    return "signed by the trusted key"


def check_noise(document: Fields) -> str:
    """The noise was drawn exactly, on the event's grid, by the generator that releases have."""
    noise, grid = document["noise"], core(document["event"]).get("grid")
    generator = "chacha20-user-seed" if document["not_for_release"] else "chacha20"
    sampler = "exact-grid"
    if grid is None:
        sampler = generator = "none"
    require(noise["sampler"] == sampler, f"`sampler` must be `{sampler}`")
    require(noise["generator"] == generator, f"`generator` must be `{generator}`")
    require(noise["grid"] == grid, "the grid is not the event's")
    if grid is None and is_trained(document["event"]):
        return "nothing random is released but what the network's training was"
    if grid is None and is_declared(document["event"]):
        return "nothing random is released but what the extractor's training was, as declared"
    if grid is None:
        return "nothing random is released"
    return "exact sampling on the grid of the event"


def check_constants(document: Fields) -> str:
    """Every constant of the event is listed once, with the event's value."""
    event = core(document["event"])
    given = document["event"].get("given") or {}
    if setting := event.get("setting"):
        expected = {
            **{name: setting[name] for name in ("parameters", "lipschitz", "smoothness")},
            "lambda": setting["strong_convexity"],
            "max-group": setting["group"],
            **{name: value for name, value in setting["normalizer"].items() if name != "kind"},
        }
    elif event["kind"] == "shards":  # of groups of any size
        expected = {"parameters": event["parameters"], "max-group": 1}
    else:
        expected = {"parameters": event["parameters"], "max-group": event["group"]}
        expected["steps"] = event["segments"][0]["steps"] if event["segments"] else 0
    expected |= {
        **{name: event[field] for name, field in CONSTANTS[event["kind"]].items()},
        **{
            f"given-{name}": value
            for name, value in given.items()
            if name not in ("training", "declared")
        },
    }
    if training := given.get("declared"):
        check_drawings(listed(document, "given-training"), training["phases"])
        expected |= {
            "given-steps": sum(phase["steps"] for phase in training["phases"]),
            "given-deleted": training["deleted"],
            "given-clip": training["clip"],
        }
    if training := given.get("training"):
        own = CONSTANTS["dp-sgd"].items()
        expected |= {f"given-{name}": training[field] for name, field in own}
        expected |= {
            "given-parameters": training["parameters"],
            "given-steps": sum(segment["steps"] for segment in training["segments"]),
            "given-deleted": max((s["deleted"] for s in training["segments"]), default=0),
            "given-earlier-steps": training["earlier_steps"],
        }
    if batches := event.get("batches"):
        names = {"batches": "count", "batch-size": "size", "batch-capacity": "most"}
        expected |= {name: batches[field] for name, field in names.items()}
    if event["kind"] == "descent":
        expected["steps"] = event["phases"][0]["steps"] if event["phases"] else 0
    if refitted := event.get("preprocessing"):
        expected |= {"preprocess": "fitted", "min-frequency": refitted["min_frequency"]}
    expected = {name: value for name, value in expected.items() if value is not None}
    if given:
        expected["given"] = expected.pop("given-what")
    for name, value in expected.items():
        text = listed(document, name)
        plain = isinstance(value, int | str)
        same = text == str(value) if plain else stands_for(text, value)
        require(same, f"`{name}` is {text[:40]} here and {value} in the event")
    return f"all {len(expected)} constants of the event are listed"


def check_drawings(text: str, phases: list[Fields]) -> None:
    """A text lists the phases of a training as the event has them, and no others."""
    parts = text.split(";")
    require(len(parts) == len(phases), "`given-training` lists other phases than the event")
    for part, phase in zip(parts, phases, strict=True):
        found = re.fullmatch(r"noise=([^,]*),rate=([^,]*),steps=(0|[1-9]\d*)", part, re.ASCII)
        same = (
            found is not None
            and stands_for(found[1], phase["noise"])
            and stands_for(found[2], phase["rate"])
            and found[3] == str(phase["steps"])
        )
        require(same, f"`given-training` has `{part[:60]}`, which the event has not")


def heaviest_of_balanced(document: Fields, loss: str) -> Decimal:
    """The most that a record may count where all classes do the same; the weights sum to n.

    Of n records in k classes each of the n_c records of a class counts n/(k n_c): at most n/2, or 1
    where there is one class. Only fitted preprocessing counts again what is left.
    """
    event = core(document["event"])
    require(listed(document, "class-weight") == "balanced", "`class-weight` must be `balanced`")
    require(not weighted(document), "`class-weight` and `max-weight` exclude each other")
    require(loss != "squared", "`class-weight` is of classes, and `loss` of numbers")
    counted = event["kind"] in ("output-noise", "exact-removal") and event["preprocessing"]
    require(counted, "classes are counted again only where preprocessing is fitted")
    require(event["records"] is not None, "`class-weight` follows records whose number is hidden")
    return max(Decimal(event["records"]) / 2, ONE)


def features_of(mapped: str) -> int:
    """How many features a public map makes; 0 where the text is none of version 1."""
    found = re.fullmatch(
        r"(?:(?:rff|gated):([1-9]\d*)(?:,.*)?|random-conv:([1-9]\d*)x[1-9]\d*(?:,.*)?"
        r"|network:([1-9]\d*),[0-9a-f]{64}),version=1",
        mapped,
        re.ASCII | re.DOTALL,
    )
    if not found:
        return 0
    plain, filters, hidden = found.groups()
    count = int(plain or hidden or 0) or 16 * int(filters)  # averaged over 4 x 4 cells
    return count if count <= 1 << 16 else 0


def check_features(document: Fields) -> None:
    """Features are as many as parameters are columns of, and go with declared rows.

    Those of a network go with its training, and with the vault that it comes from.
    """
    learnt = is_trained(document["event"])
    if not learnt and not is_listed(document, "features"):
        return
    mapped, event = listed(document, "features"), core(document["event"])
    fits = mapped.startswith("network:") == learnt
    require(fits, "a network's features go with its training, and no others do")
    own = learnt and listed(document, "trunk") == document["vault"]
    require(not own, "`trunk` is the vault that the network comes from, not the model's own")
    features = features_of(mapped)
    require(features > 0, f"`features` must be a map of version 1, got `{mapped[:60]}`")
    fitted = event.get("preprocessing")
    require(not fitted, "`features` does not go with preprocessing that is fitted")
    columns = features + (1 if size(document, "intercept") > 0 else 0)
    fits = event["setting"]["parameters"] % columns == 0
    require(fits, f"{features} features do not fit into the number of parameters")


def check_listed(document: Fields) -> None:
    """Where preprocessing is declared, what it was declared as is listed, with its origin."""
    if not core(document["event"]).get("preprocessing"):
        regression = listed(document, "loss") == "squared"
        for name in ("schema", "target-range" if regression else "classes"):
            listed(document, name)


def check_objective(document: Fields) -> str:
    """G and beta are not less than the loss gives on rows within the norm listed."""
    event = core(document["event"])
    check_listed(document)
    if event["kind"] in GROUNDS:
        for name in CONVEX:
            require(not is_listed(document, name), f"`{name}` is no constant of a network")
        if event["kind"] == "shards":
            return "exact removal rests on no bound of a network's gradients"
        return "a network's gradients are bounded by clipping, whatever loss and rows are"
    setting = event["setting"]
    exact = event["kind"] == "exact-removal"
    norm = setting["normalizer"]
    load = Decimal(norm["capacity"]) / norm["n"] if norm["kind"] == "fixed" else ONE
    if batches := event.get("batches"):
        load = Decimal(batches["most"]) / batches["size"]
    row = (size(document, "row-norm") ** 2 + size(document, "intercept") ** 2).sqrt()
    loss = listed(document, "loss")
    sums = ("squared", "squared-classes")
    require(loss in sums or not exact, "exact sums are those of the squared losses")
    if exact:  # sums know no clip, and rest on no gradient
        slope, curvature = ZERO, ONE
    elif loss == "squared":
        slope, curvature = size(document, "clip"), ONE
        require(slope > 0, "`clip` must be above 0")
    elif loss == "huber-hinge":
        width = size(document, "hinge-width")
        require(width.is_finite() and width > 0, "`hinge-width` must be finite and above 0")
        slope, curvature = ONE, ONE / width
    else:
        require(loss in ("logistic", "softmax"), f"no loss is known as `{loss[:40]}`")
        slope, curvature = (ONE, ONE / 4) if loss == "logistic" else (Decimal(2).sqrt(), ONE / 2)
    if is_listed(document, "targets"):
        targets = listed(document, "targets")
        require(exact and loss == "squared", "several targets are those of exact sums")
        require(targets.isdecimal() and targets == str(int(targets)), "`targets` is no count")
        blocks = int(targets) > 1 and setting["parameters"] % int(targets) == 0
        require(blocks, "`targets` must be at least 2 and divide the number of parameters")
    check_features(document)
    weight = mean = ONE
    if exact:  # of whole weights, the largest of which the event states
        most = size(document, "max-weight") if weighted(document) else None
        require(most == event["max_weight"], "`max-weight` is not that of the exact sums")
    if is_listed(document, "class-weight"):
        weight = heaviest_of_balanced(document, loss)
    if weighted(document):
        weight = size(document, "max-weight")
        require(weight.is_finite() and weight > 0, "`max-weight` must be finite and above 0")
        mean = weight
    if slope == INFINITY:  # targets are within 1 of zero, optima within sqrt(weight load/lambda)
        bounded = event["kind"] == "output-noise"
        require(bounded, "without a clip the gradients of the squared loss have no bound")
        slope = row * (mean * load / setting["strong_convexity"]).sqrt() + largest_target(event)
    check_followed(document)
    bounds = [
        ("lipschitz", setting["lipschitz"], weight * slope * row),
        ("smoothness", setting["smoothness"], mean * load * curvature * row**2),
    ]
    if exact:
        target = largest_target(event) if loss == "squared" else ONE  # classes are +1 and -1
        fits = bool(event["preprocessing"]) or "target-bound" not in of_data(document)
        require(fits, "`target-bound` follows the records where preprocessing is fitted alone")
        bounds += [
            ("row_bound", event["row_bound"], row),
            ("target_bound", event["target_bound"], target),
        ]
    # Weights scale both; where preprocessing is fitted the first has room for what scales y.
    heavier = all(stated > least * (1 + 1000 * TOLERANCE) for _, stated, least in bounds[:2])
    plain = exact or event.get("preprocessing") or weighted(document)
    require(
        plain or not heavier,
        "the bounds are of records that weigh more than 1, and `max-weight` is not listed",
    )
    for name, stated, least in bounds:
        holds = stated >= least * (1 - TOLERANCE)
        require(holds, f"`{name}` is {stated:.12g}, and the loss and the rows allow {least:.12g}")
    return "the constants of the objective follow from loss, row norm and intercept"


def largest_target(event: Fields) -> Decimal:
    """Bound on |y|; fitted preprocessing scales it to variance 1, so that its squares sum to n."""
    if not event["preprocessing"]:
        return ONE
    require(event["records"] is not None, "y is scaled by records whose number is hidden")
    return Decimal(event["records"]).sqrt()


def check_followed(document: Fields) -> None:
    """What fitted preprocessing takes from the number of records follows that number."""
    event, of = core(document["event"]), of_data(document)
    if not (refitted := event.get("preprocessing")):
        return
    records, lambda_ = event["records"], event["setting"]["strong_convexity"]
    if "lambda" in of:  # nobody's choice: 1/n
        require(records is not None, "`lambda` follows records whose number is not stated")
        same = float(lambda_) == 1 / max(records, 1)
        require(same, f"`lambda` is not 1/n of {records} records")
    if "min-frequency" in of:
        require(records is not None, "`min-frequency` follows records whose number is hidden")
        least = min(max(records // 5000, 1), 5)
        same = refitted["min_frequency"] == least
        require(same, f"`min-frequency` must be {least} for {records} records")


def is_listed(document: Fields, name: str) -> bool:
    """Whether a constant of the name is listed."""
    return any(constant["name"] == name for constant in document["constants"])


def of_data(document: Fields) -> set[str]:
    """The constants that are said to be computed from the data."""
    return {c["name"] for c in document["constants"] if c["origin"] == "data"}


def weighted(document: Fields) -> bool:
    """Whether records have weights, which a certificate says by listing the largest."""
    return is_listed(document, "max-weight")


def read_off(document: Fields) -> str | None:
    """A constant that one record could have moved; where records have weights, N is their sum."""
    setting = core(document["event"]).get("setting")
    summed = weighted(document) and setting and setting["normalizer"]["kind"] == "fixed"
    moved = {name for name in of_data(document) if name not in SIZES or (summed and name == "n")}
    return min(moved, default=None)


def size(document: Fields, name: str) -> Decimal:
    """A listed constant that is a number, not below 0."""
    value = number(listed(document, name))
    require(value >= 0, f"`{name}` must not be below 0")
    return value


def follows_size(document: Fields, name: str) -> bool:
    """Whether an honest plan may compute a constant from the number of records."""
    event = core(document["event"])
    fitted = bool(event.get("preprocessing"))
    if name == "lambda":  # by the variants that choose it, or as 1/n of the records at hand
        return fitted or event.get("variant") in ("regularised", "weak")
    if name == "loss":  # regression, where the first labels are numbers
        return fitted
    if name in ("row-norm", "intercept"):  # of numbers to predict, in small tables more
        return fitted and listed(document, "loss") == "squared"
    if event["kind"] == "shards" and name in ("eta", "batch-size"):
        return False
    return name not in CHOICES and not name.startswith("given-")


def check_assumptions(document: Fields) -> str:
    """All assumptions of the claims beyond mathematics are stated."""
    claims, stated = document["claims"], {a["name"] for a in document["assumptions"]}
    whole, event = document["event"], core(document["event"])
    fixed = dict(GROUNDS.get(event["kind"], {}))
    noisy, trained, given = event.get("grid") is not None, is_trained(whole), whole.get("given")
    if trained:
        fixed |= NETWORK
    if trained or noisy:
        fixed["randomness"] = SEEDED_NOISE if document["not_for_release"] else NOISE
    of = of_data(document)  # taken to be public; sizes follow from the row count
    for name in sorted(of):
        require(follows_size(document, name), f"`{name}` is a choice, and said to be data")
    replaced = any(claim["adjacency"] == "replace" for claim in claims)
    started = is_listed(document, "start") and (given or {}).get("what") != "start"
    needed = {
        "stored-rows": event["kind"] == "exact-removal" and not event.get("preprocessing"),
        "group": noisy or any(claim["notion"] in (PRIVACY, DELETION) for claim in claims),
        "row-count": replaced or bool(of & set(SIZES)),
        "weights": weighted(document),
        "given": whole["kind"] == "composed",
        "start": started,
        **{name: bool(event.get(name)) for name in ("preprocessing", "batches")},
    }
    required = {"rows", *fixed, *(of - set(SIZES)), *(name for name in needed if needed[name])}
    required |= {n for n in ("class-weight", "features", "extractor") if is_listed(document, n)}
    if is_declared(whole):
        required |= set(DECLARED)
        check_word_given(document["assumptions"])
    for name in sorted(required):
        require(name in stated, f"the assumption `{name}` is not stated")
    for name, words in fixed.items():
        right = (words, "declared" if name == "network" or words == SEEDED_NOISE else "enforced")
        said = [(a["value"], a["evidence"]) for a in document["assumptions"] if a["name"] == name]
        require(said == [right], f"`{name}` is stated twice, in other words or on other evidence")
    return f"{len(document['assumptions'])} assumptions are stated"


def check_word_given(assumptions: list[Fields]) -> None:
    """What is said of a training elsewhere is said in its words, and on the user's word."""
    words = DECLARED | {"extractor": DECLARED_EXTRACTOR}
    for said in assumptions:
        name = said["name"]
        if name not in words and not name.startswith("given-"):
            continue
        taken = said["evidence"] in ("declared", "assumed")
        require(taken, f"`{name}` is about a training elsewhere, which nothing enforces")
        same = said["value"] == words.get(name)
        require(same, f"`{name}` is about a training elsewhere, in other words")


def check_consistency(document: Fields) -> str:
    """Version, releases and place in the chain agree; the first entry, and only it, trains."""
    releases, model = core(document["event"])["releases"], document["model"]
    same = releases == model["version"]
    require(same, f"the event has {releases} releases, the model is at version {model['version']}")
    first = document["chain"]["index"] == 0
    follows = document["chain"]["previous"] != "0" * 64
    require(first != follows, "the first entry, and only it, follows nothing")
    trains = document["request"]["kind"] == "train"
    require(trains == first, "the first entry, and only it, is a training")
    anew = model["digest_before"] is None
    fits = anew == first or (anew and document["request"]["kind"] == "refresh")
    require(fits, "only a training, or a refresh after an erasure, has no model before it")
    none = core(document["event"]).get("phases") == []
    require(not none, "the event has no phase, not even training")
    check_request(document)
    check_sizes(core(document["event"]))
    return (
        "version, releases, place in the chain and request agree; how many records there were is "
        "the signer's word"
    )


def check_request(document: Fields) -> None:
    """The event shows what the request says it did; one that hides its size did something."""
    kind, text = document["request"]["kind"], document["request"]["records"]
    event = core(document["event"])
    if event["kind"] == "dp-sgd":
        check_trained(event, kind, text)
    if event["kind"] == "shards":
        check_retrained(event, kind, text)
    if text == "not stated":
        check_event_hides(document["event"])
        require(kind != "refresh", "a refresh affects no record, but this one does not state 0")
        least = 1
    else:
        least = int(text)
    if kind == "refresh":  # begins a new count of releases, so nothing else may pass for one
        require(least == 0, f"a refresh touches no record, this one states {least}")
        phases = event.get("phases")
        if (
            state_of(event) == "perfect" and event["kind"] != "dp-sgd"
        ):  # the model before was withdrawn, this one starts anew
            anew = document["model"]["digest_before"] is None
            require(anew, "in `perfect` state there is nothing to refresh")
            require(phases is None, "a sequence of steps does not restart in `perfect` state")
        require(phases is None or len(phases) == 1, "a refresh begins a new history")
        return
    require(kind == "train" or least > 0, "a request that is no refresh touches a record")
    counts = {"delete": ["only_then"], "add": ["only_now"], "update": ["only_then", "only_now"]}
    changed = counts.get(kind, [])
    removed = document["event"].get("removed")
    fits = "only_then" not in changed or removed is None or removed >= least
    require(fits, f"`removed` is {removed}, the request deleted {least} or more")
    if not changed or "phases" not in event:
        return
    require(len(event["phases"]) > 1, "the event has no phase before the request")
    for name in changed:  # merged phases state the larger counts
        count = event["phases"][-2][name]
        require(count >= least, f"`{name}` before the request is {count}, it touched {least}")
    if (replaced := event.get("replaced")) is not None:
        fits = replaced != [] and replaced[-1] >= least
        require(fits, f"`replaced` ends below {least}, which the request touched")
    if (moved := (event.get("batches") or {}).get("changed")) is not None:
        fits = moved != [] and moved[-1] >= least
        require(fits, f"`changed` ends below {least}, which the request touched")


def check_trained(event: Fields, kind: str, text: str) -> None:
    """A new training has nobody deleted; what a request deletes else may have been in a segment."""
    deleted = max((s["deleted"] for s in event["segments"]), default=0)
    anew = deleted == 0 and len(event["segments"]) <= 1
    if kind in ("train", "refresh"):
        require(anew, "a new training has one segment and nobody deleted since")
        first = (kind == "train") == (event["earlier_steps"] == 0)
        require(first, "only the first training has no steps before it")
    if kind == "update" and anew and event["segments"] and event["earlier_steps"] > 0:
        return  # what was updated is learnt from in a training of its own
    if kind in ("delete", "update"):
        least = 1 if text == "not stated" else int(text)
        if event["unit"] == "subject":
            least = -(-least // max(event["rows_per_unit"], 1))
        require(deleted >= least, f"`deleted` is {deleted}, the request deleted {least} or more")


def check_retrained(event: Fields, kind: str, text: str) -> None:
    """A new training is of every shard; any other request touches no more of them than records.

    An update may take a record of a subject from one shard to that of another subject.
    """
    if kind in ("train", "refresh"):
        whole = event["retrained"] == event["shards"]
        require(whole, "a new training is of all shards")
    elif text != "not stated":
        most = 2 if kind == "update" and event["unit"] == "subject" else 1
        fits = event["retrained"] <= most * int(text)
        require(fits, f"`retrained` is {event['retrained']}, the request touched {text} records")


def check_sizes(event: Fields) -> None:
    """Under `mean` a phase's records, less those gone, plus those come, are the records now.

    A merged phase bounds several data sets, and need not add up.
    """
    if not event.get("phases") or event["setting"]["normalizer"]["kind"] != "mean":
        return
    *earlier, latest = event["phases"]
    for phase in earlier:
        sizes = (latest["records"], phase["records"])
        if None not in sizes and phase["releases"] == 1:
            grown = phase["only_now"] - phase["only_then"]
            require(sizes[0] - sizes[1] == grown, "the records of a phase do not lead to those now")


def check_scope(document: Fields) -> str:
    """The limits every certificate has are stated."""
    listed, whole = document["scope"]["does_not_cover"], document["event"]
    event = core(whole)
    covers, sums = [COVERS[0], COVERS[2 if state_of(event) == "secret" else 1]], COVERS[3]
    limits = [*LIMITS]
    if is_trained(whole):
        covers, sums = [*covers, KEPT["trunk"]], KEPT["trunk-sums"]
        limits += (*LISTS["trunk limits"], *NETWORK_LIMITS)
    elif is_declared(whole):
        limits += (*LISTS["declared limits"], *NETWORK_LIMITS)
        sums = KEPT["declared-sums"]
    elif whole["kind"] == "composed":
        limits += LISTS["given limits"]
    if weighted(document):
        limits.append(WEIGHT_LIMIT)
    if is_listed(document, "extractor") and not is_declared(whole):
        limits += PUBLIC_MODEL_LIMITS
    if refitted := event.get("preprocessing"):
        limits = [REFITTED_LIMITS.get(limit, limit) for limit in limits]
        limits += LISTS["exact statistics"]
        covers.append(KEPT["refitted"])
    if event["kind"] == "exact-removal" and not refitted:
        covers.append(sums)
    if event.get("grid") is None:
        limits += UNHIDDEN
    limits += {"dp-sgd": NETWORK_LIMITS, "shards": SHARDS_LIMITS}.get(event["kind"], ())
    for text in document["scope"]["covers"]:
        require(text in covers, f'"{text[:60]}" is not covered')
    for limit in limits:
        require(limit in listed, f'the limit "{limit}" is missing')
    return f"{len(listed)} limits are stated"


def check_erasure(document: Fields) -> str:
    """An erasure claims nothing about any model, and says so."""
    records, damage = document["request"]["records"], document["damage"]
    fits = records != "0" or damage is not None
    require(fits, "`records` must be a number above 0 or `not stated`")
    require(document["chain"]["index"] > 0, "the first entry of a ledger is a training")
    scope = document["scope"]
    require(
        tuple(scope["covers"]) == LISTS["erasure covers"],
        "the scope covers more or less than it may",
    )
    for limit in LISTS["erasure limits"]:
        require(limit in scope["does_not_cover"], f'the limit "{limit}" is missing')
    erased = counted(records, "record")
    if damage:
        lost = [counted(damage["erased"], "damaged row"), counted(damage["missing"], "row")]
        erased = f"{erased} erased, and {lost[0]} of a damaged vault ({lost[1]} missing)"
    else:
        erased = f"{erased} erased"
    return f"{erased}, no model published; it claims nothing about any model"


def counted(number: str, thing: str) -> str:
    """So many of something, whose number may be private."""
    return f"{thing}s" if number == "not stated" else f"{number} {thing}{'s' * (number != '1')}"


def run(checks: Mapping[str, Callable[[], str]]) -> list[tuple[str, str, str]]:
    """The outcome of each check, as (outcome, name, reason)."""
    verdict = []
    for name, check in checks.items():
        try:
            verdict.append(("holds", name, check()))
        except (Broken, ArithmeticError, ValueError) as reason:
            verdict.append(("fails", name, str(reason) or "numbers beyond all bounds"))
        except (LookupError, TypeError, RecursionError):  # a part that the formula needs
            verdict.append(("fails", name, "the event lacks a part that the check needs"))
        except Undecided as reason:
            verdict.append(("undecided", name, str(reason)))
    return verdict


def verify(data: bytes, key: bytes | None) -> list[tuple[str, str, str]]:
    """All checks of one certificate or erasure, as (outcome, name, reason)."""
    try:
        raw = read_json(data)
        if (schema := raw.get("schema")) in EARLIER:
            made = f"made by an earlier development version (`schema` is `{schema}`)"
            raise Refused(f"{made}; this program reads `{SCHEMA}`")
        if schema == ERASURE:
            document = fit(raw, "erasure", "erasure")
            checks = {
                "hash": partial(check_hash, raw),
                "signature": partial(check_signature, document, raw, key),
                "erasure": partial(check_erasure, document),
            }
            return run(checks)
        if schema != SCHEMA:
            raise Refused(f"`schema` must be `{SCHEMA}`")
        document = fit(raw, "certificate", "certificate")
    except (Refused, RecursionError) as refusal:
        return [("undecided", "certificate", str(refusal))]
    checks = {
        "hash": partial(check_hash, raw),
        "signature": partial(check_signature, document, raw, key),
        "noise": partial(check_noise, document),
        "constants": partial(check_constants, document),
        "objective": partial(check_objective, document),
        "assumptions": partial(check_assumptions, document),
        "consistency": partial(check_consistency, document),
        "scope": partial(check_scope, document),
    }
    for index, claim in enumerate(document["claims"]):
        checks[f"claim {index + 1}: {claim['notion']}"] = partial(check_claim, document, claim)
    verdict = []
    if document["not_for_release"]:
        verdict.append(("fails", "release", "made with a user-given seed: for tests only"))
    if not document["claims"]:
        verdict.append(("fails", "claims", "nothing is claimed"))
    return verdict + run(checks)


def read_key(text: str) -> bytes:
    """The public key, given itself or by the file that holds it."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        text = Path(text).read_text(encoding="utf-8")
    # The digits alone, or what `efface key show` printed.
    found = [word for word in text.split() if re.fullmatch(r"[0-9a-fA-F]{64}", word)]
    if len(found) != 1:
        raise ValueError("a public key is 64 hexadecimal digits")
    return bytes.fromhex(found[0])


def main(arguments: list[str]) -> int:
    """Verify the files named, print one line per check, return the exit status."""
    parser = argparse.ArgumentParser(description="Check efface certificates without efface.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a certificate (JSON)")
    parser.add_argument("--key", help="the signer's public key: hexadecimal, or a file with it")
    options = parser.parse_args(arguments)
    try:
        key = read_key(options.key) if options.key is not None else None
    except (OSError, ValueError) as error:
        print(f"--key: {error}", file=sys.stderr)
        return 2
    outcomes = set()
    for name in options.files:
        try:
            with Path(name).open("rb") as file:
                verdict = verify(file.read(MAX_BYTES + 1), key)
        except OSError as error:
            verdict = [("undecided", "file", error.strerror or str(error))]
        for outcome, check, reason in verdict:
            outcomes.add(outcome)
            line = f"{outcome:9}  {name}: {check}: {reason}"
            print("".join(c if c.isprintable() else "?" for c in line))
    return 1 if "fails" in outcomes else 2 if "undecided" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

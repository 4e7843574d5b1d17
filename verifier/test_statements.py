"""Tests of what a certificate states beside its claims: constants, assumptions, scope, request."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import efface_verify as verify
from sample_certificates import GIVEN, HEALTHY, LINEAR, SOLVED, CertificateCase, put


class Statements(CertificateCase):
    def test_noise_constants_and_scope(self) -> None:
        test, seeded = put({"not_for_release": True}), {"generator": "chacha20-user-seed"}
        self.breaks(self.solved, {"release", "noise", "assumptions"}, test)
        said = {"value": verify.SEEDED_NOISE, "evidence": "declared"}
        seed = (test, put(seeded, "noise"), put(said, "assumptions", 1))
        self.breaks(self.solved, {"release"}, *seed)
        for change in (
            {"sampler": "continuous-float64"},
            {"grid": "1e-12"},
            {"generator": "xorshift"},
            seeded,
        ):
            self.breaks(self.solved, {"noise"}, put(change, "noise"))
        self.fails(self.solved, "constants", lambda d: d["constants"].pop(0))
        self.fails(self.solved, "constants", lambda d: d["constants"].append(d["constants"][0]))
        self.fails(self.solved, "constants", put({"value": "1.4"}, "constants", 1))
        for limit in range(len(verify.LIMITS)):
            drop = partial(lambda at, d: d["scope"]["does_not_cover"].pop(at), limit)
            self.breaks(self.solved, {"scope"}, drop)
        for more in ("every copy", verify.COVERS[2]):  # the latter is for secret state
            self.breaks(self.solved, {"scope"}, put({"covers": [more]}, "scope"))
        self.breaks(self.solved, set(), put({"covers": [*verify.COVERS[:2]]}, "scope"))
        self.breaks(self.solved, {"claims"}, lambda d: d["claims"].clear())

    def test_every_constant_a_claim_rests_on_is_listed_once(self) -> None:
        at = next(n for n, c in enumerate(self.solved["constants"]) if c["name"] == "delta")
        changes: list[Callable[[dict[str, Any]], Any]] = [
            lambda d: d["constants"].pop(at),
            lambda d: d["constants"].append(d["constants"][at]),
            put({"value": "0.00002"}, "constants", at),
            put({"value": "small"}, "constants", at),
        ]
        for change in changes:
            self.breaks(self.solved, {verify.RETRAINING, verify.PRIVACY}, change)

    def test_choices_are_not_from_the_data(self) -> None:
        def of_retraining(document: dict[str, Any]) -> None:
            kept = [c for c in document["claims"] if c["notion"] == verify.RETRAINING]
            document["claims"] = kept

        at = {c["name"]: n for n, c in enumerate(self.solved_openly["constants"])}
        for name in ("lambda", "max-group"):
            origin = put({"origin": "data"}, "constants", at[name])
            self.breaks(self.solved_openly, {"assumptions"}, of_retraining, origin)
        for name in (*verify.CHOICES, "given-mu", "given-group"):
            if name in at:
                continue
            value = {"name": name, "value": "1", "origin": "data"}
            said = {"name": "start", "value": "public", "evidence": "declared"}

            def state(document: dict[str, Any], value: Any = value, said: Any = said) -> None:
                document["constants"].append(value)
                document["assumptions"].append(said)

            # Balanced classes are of fitted preprocessing, which this certificate has none of, `1`
            # is no map to features, and what a public model leaves open is not said.
            more = {"class-weight": "objective", "features": "objective", "extractor": "scope"}
            wrong = {"assumptions", more.get(name, "assumptions")}
            self.breaks(self.solved_openly, wrong, of_retraining, state)
        chosen = {"event": {**LINEAR, "variant": "weak"}}
        self.assertTrue(verify.follows_size(chosen, "lambda"))
        chosen["event"]["variant"] = "secret"
        self.assertFalse(verify.follows_size(chosen, "lambda"))

    def test_assumptions_are_stated(self) -> None:
        def without(name: str) -> Callable[[dict[str, Any]], None]:
            def apply(document: dict[str, Any]) -> None:
                stated = document["assumptions"]
                document["assumptions"] = [a for a in stated if a["name"] != name]

            return apply

        def claims(*notions: str) -> Callable[[dict[str, Any]], None]:
            def apply(document: dict[str, Any]) -> None:
                kept = [c for c in document["claims"] if c["notion"] in notions]
                document["claims"] = kept

            return apply

        for base in self.all:
            for name in ("rows", "randomness", "group"):
                self.breaks(base, {"assumptions"}, without(name))
        count, retraining = without("row-count"), claims(verify.RETRAINING, verify.RENYI)
        self.breaks(self.solved_openly, {"assumptions"}, count)
        self.breaks(self.solved, set(), count)
        self.breaks(self.solved, set(), retraining, count)
        self.breaks(self.solved, {"assumptions"}, retraining, without("group"))
        for name in ("n", "capacity", "delta"):
            at = next(i for i, c in enumerate(self.solved["constants"]) if c["name"] == name)
            data = put({"origin": "data"}, "constants", at)
            self.breaks(self.solved, {"assumptions"}, retraining, data, count)
            self.breaks(self.solved, set(), retraining, data)
        for name in ("classes", "schema", "target-range", "columns", "whatever-else"):
            value = {"name": name, "value": "no,yes", "origin": "data"}

            def taken(document: dict[str, Any], value: Any = value) -> None:
                others = [c for c in document["constants"] if c["name"] != value["name"]]
                document["constants"] = [*others, value]

            self.fails(self.solved_openly, "assumptions", taken)
            said = {"name": name, "value": "read off the data", "evidence": "assumed"}
            say = partial(lambda said, d: d["assumptions"].append(said), said)
            # Then nothing is claimed that protects a single record.
            private = {verify.PRIVACY, verify.DELETION}
            self.breaks(self.solved_openly, private, taken, say)
            self.breaks(self.solved_openly, set(), retraining, taken, say)

    def test_a_public_model_that_rows_are_outputs_of_is_said(self) -> None:
        named = {"name": "extractor", "value": "model, sha256 00", "origin": "user"}
        said = {"name": "extractor", "value": "public", "evidence": "declared"}

        def name(document: dict[str, Any]) -> None:
            document["constants"].append(named)

        def say(document: dict[str, Any]) -> None:
            document["assumptions"].append(said)

        def limit(document: dict[str, Any]) -> None:
            document["scope"]["does_not_cover"].extend(verify.PUBLIC_MODEL_LIMITS)

        self.breaks(self.solved, {"assumptions"}, name, limit)
        self.breaks(self.solved, {"scope"}, name, say)
        self.breaks(self.solved, set(), name, say, limit)

    def test_a_map_to_features_is_public_and_said(self) -> None:
        event = self.solved["event"]["setting"]
        intercept = next(c["value"] for c in self.solved["constants"] if c["name"] == "intercept")
        count = event["parameters"] - (float(intercept) > 0)

        def listed(origin: str, more: int = 0) -> Callable[[dict[str, Any]], None]:
            made = f"rff:{count + more},gamma=1.0,norm=1.0,seed=0,version=1"
            value = {"name": "features", "value": made, "origin": origin}
            return lambda document: document["constants"].append(value)

        def say(document: dict[str, Any]) -> None:
            said = {"name": "features", "value": "a public map", "evidence": "enforced"}
            document["assumptions"].append(said)

        self.fails(self.solved, "assumptions", listed("user"))
        self.breaks(self.solved, set(), listed("user"), say)
        self.breaks(self.solved, {"objective"}, listed("user", 1), say)

        def computed(document: dict[str, Any]) -> None:
            listed("data")(document)
            say(document)

        self.fails(self.solved, "assumptions", computed)

    def test_weights_are_bounded_and_said(self) -> None:
        def of(weight: str, origin: str = "user") -> Callable[[dict[str, Any]], None]:
            value = {"name": "max-weight", "value": weight, "origin": origin}
            return partial(lambda value, d: d["constants"].append(value), value)

        def assume(name: str) -> Callable[[dict[str, Any]], None]:
            said = {"name": name, "value": "said", "evidence": "declared"}
            return partial(lambda said, d: d["assumptions"].append(said), said)

        def limit(document: dict[str, Any]) -> None:
            document["scope"]["does_not_cover"].append(verify.WEIGHT_LIMIT)

        base, weights = self.solved_openly, assume("weights")
        self.breaks(base, {"scope", "assumptions"}, of("1"))
        self.breaks(base, {"scope"}, of("1"), weights)
        self.breaks(base, {"assumptions"}, of("1"), limit)
        self.breaks(base, set(), of("1"), limit, weights)

        def retraining(document: dict[str, Any]) -> None:
            kept = [c for c in document["claims"] if c["notion"] == verify.RETRAINING]
            document["claims"] = kept

        read = (of("1", "data"), limit, weights)
        self.breaks(base, {"assumptions"}, retraining, *read)
        self.breaks(base, set(), retraining, *read, assume("max-weight"))
        private = {verify.PRIVACY, verify.DELETION}
        self.breaks(base, private, *read, assume("max-weight"))
        self.breaks(base, {"objective"}, of("1"), of("1"), limit, weights)
        for weight in ("0", "-1", "inf", "1000000", "many"):
            self.breaks(base, {"objective"}, of(weight), limit, weights)

    def test_a_start_is_vouched_for(self) -> None:
        start = {"name": "start", "value": "ab", "origin": "user"}
        said = {"name": "start", "value": "public", "evidence": "declared"}
        listed = partial(lambda value, d: d["constants"].append(value), start)
        vouched = partial(lambda value, d: d["assumptions"].append(value), said)
        self.breaks(self.descended, {"assumptions"}, listed)
        self.breaks(self.descended, set(), listed, vouched)
        for what, standing in (("start", "given"), ("extractor", "start")):
            document = copy.deepcopy(self.descended_openly)
            inner, given = document["event"], {**GIVEN, "what": what}
            document["event"] = {"kind": "composed", "given": given, "removed": 30, "inner": inner}
            listed(document)
            parsed = verify.fit(document, "certificate", "certificate")
            if standing == "start":
                parsed["assumptions"].append({"name": "given"})
            with self.assertRaisesRegex(verify.Broken, f"`{standing}`"):
                verify.check_assumptions(parsed)

    def test_version_releases_and_place_agree(self) -> None:
        for version in (3, 5):
            self.breaks(self.solved, {"consistency"}, put({"version": version}, "model"))
        kept = [c for c in self.solved["claims"] if c["notion"] != verify.DELETION]
        first = {
            "chain": put({"index": 0, "previous": "0" * 64}, "chain"),
            "kind": put({"kind": "train"}, "request"),
            "model": put({"digest_before": None}, "model"),
        }
        self.breaks(self.solved, set(), put({"claims": kept}), *first.values())
        for name in first:  # all of them, or none
            others = [change for other, change in first.items() if other != name]
            self.breaks(self.solved, {"consistency"}, put({"claims": kept}), first[name])
            self.breaks(self.solved, {"consistency"}, put({"claims": kept}), *others)
        for chain in ({"index": 0}, {"previous": "0" * 64}):
            self.breaks(self.solved, {"consistency"}, put(chain, "chain"))

    def test_the_event_shows_what_the_request_did(self) -> None:
        base = self.descended_openly  # before the request, 5 records more and 1 less
        for kind, most in (("delete", 5), ("add", 1), ("update", 1)):
            only: set[str] = {verify.DELETION} if kind == "add" else set()
            for records, broken in ((most, only), (most + 1, {*only, "consistency"})):
                asked = put({"kind": kind, "records": str(records)}, "request")
                self.breaks(base, broken, asked)
        same = put({"only_then": 0, "only_now": 0}, "event", "phases", 1)
        for kind in ("delete", "add", "update"):
            for text in ("1", "not stated"):
                asked = put({"kind": kind, "records": text}, "request")
                hidden = copy.deepcopy(base)
                same(hidden)
                self.fails(hidden, "consistency", asked)
        nothing = put({"records": "0"}, "request")
        self.breaks(base, {"consistency"}, nothing)
        hides = put({"records": "not stated"}, "request")
        self.breaks(base, {"consistency"}, hides)
        alone = put({"phases": base["event"]["phases"][-1:]}, "event")
        self.fails(base, "consistency", alone)
        few = put({"replaced": [30, 0]}, "event")
        self.fails(base, "consistency", few)
        self.fails(base, "consistency", put({"replaced": []}, "event"))

    def test_only_a_refresh_passes_for_one(self) -> None:
        refresh = put({"kind": "refresh", "records": "0"}, "request")
        self.breaks(self.averaged, set(), refresh)
        self.breaks(self.averaged, {"consistency"}, put({"kind": "refresh"}, "request"))
        # In `perfect` state there is nothing to refresh.
        self.breaks(self.solved_openly, {"consistency", verify.DELETION}, refresh)
        event = {**copy.deepcopy(LINEAR), "phases": LINEAR["phases"] * 2}
        document = {"event": event, "request": {"kind": "refresh", "records": "0"}}
        with self.assertRaises(verify.Broken):
            verify.check_request(document)
        verify.check_request({**document, "event": LINEAR})
        # Hidden counts do not excuse it from saying that it touched none.
        hidden = {**SOLVED, "state": "secret", "joint_releases": 26}
        document = {"event": hidden, "request": {"kind": "delete", "records": "not stated"}}
        verify.check_request(document)
        document["request"]["kind"] = "refresh"
        with self.assertRaisesRegex(verify.Broken, "does not state 0"):
            verify.check_request(document)
        document["request"]["records"] = "0"
        verify.check_request(document)
        verify.check_no_counts({**document, "constants": []})

    def test_the_objective_follows_from_loss_and_rows(self) -> None:
        def listing(**values: str) -> Callable[[dict[str, Any]], None]:
            def apply(document: dict[str, Any]) -> None:
                names = {name.replace("_", "-") for name in values}
                kept = [c for c in document["constants"] if c["name"] not in names]
                changed = [
                    {"name": name.replace("_", "-"), "value": value, "origin": "user"}
                    for name, value in values.items()
                ]
                document["constants"] = kept + changed

            return apply

        def curved(smoothness: str) -> Callable[[dict[str, Any]], None]:
            def apply(document: dict[str, Any]) -> None:
                put({"smoothness": smoothness}, "event", "setting")(document)
                listing(smoothness=smoothness)(document)

            return apply

        def without(name: str) -> Callable[[dict[str, Any]], None]:
            def apply(document: dict[str, Any]) -> None:
                document["constants"] = [c for c in document["constants"] if c["name"] != name]

            return apply

        root, half = "1.4142135623730951", "0.7071067811865476"
        numbers = {"loss": "squared", "target_range": "-1,1"}
        base = self.solved_openly  # G = sqrt(2), beta = 1.25/4 * 2, lambda = 0.001
        for fits in (
            listing(row_norm=root, intercept="0"),
            listing(**numbers, clip="2", row_norm=half, intercept="0"),
            listing(loss="huber-hinge", hinge_width="4", row_norm=root, intercept="0"),
            listing(loss="softmax", row_norm="1", intercept="0"),
            # r (r sqrt(1.25/0.001) + 1) = sqrt(2)
            listing(**numbers, clip="inf", row_norm="0.18635724093390327", intercept="0"),
        ):
            self.breaks(base, set(), fits)
            self.breaks(base, {"objective"}, fits, without("schema"))
        self.breaks(base, {"objective"}, without("classes"))
        self.breaks(
            base, {"objective"}, listing(loss="squared", clip="2", row_norm=half, intercept="0")
        )
        # Whoever states larger bounds has records of larger weights.
        self.breaks(base, {"objective"}, listing(row_norm="1.41", intercept="0"))
        for wrong in (
            listing(row_norm="1.0000001"),
            listing(intercept="1.0000001"),
            listing(loss="squared", clip="2.1", row_norm="0.7", intercept="0"),
            listing(loss="huber-hinge", hinge_width="1.9", row_norm="1", intercept="0"),
            listing(loss="softmax", row_norm="1", intercept="0.1"),
            listing(loss="squared", clip="inf", row_norm="0.19", intercept="0"),
            listing(loss="squared"),
            listing(loss="hinge"),
            listing(row_norm="-1"),
            listing(row_norm="wide"),
            curved("0.62"),
        ):
            self.breaks(base, {"objective"}, wrong)
        # Where steps may lead anywhere, gradients need a bound everywhere.
        unclipped = listing(loss="squared", clip="inf", row_norm="0.001", intercept="0")
        self.breaks(self.descended_openly, {"objective"}, unclipped)
        self.breaks(self.averaged, set(), listing(row_norm="1", intercept="1"))

    def test_sizes_under_mean_add_up(self) -> None:
        event: dict[str, Any] = copy.deepcopy(HEALTHY)
        event["setting"]["normalizer"] = {"kind": "mean", "minimum": 6000}
        then = [11998 + 23 - 2, 11998 + 4 - 1, 11998]
        for phase, records in zip(event["phases"], then, strict=True):
            phase["records"] = records
        verify.check_sizes(event)
        for index in (0, 1):
            event["phases"][index]["records"] += 1
            with self.assertRaises(verify.Broken):
                verify.check_sizes(event)
            event["phases"][index]["releases"] = 2  # merged: bounds need not add up
            verify.check_sizes(event)

    def test_deleted_records_add_up(self) -> None:
        for removed, fits in ((20, True), (19, False)):
            document = copy.deepcopy(self.solved_openly)
            inner = document["event"]
            document["event"] = {
                "kind": "composed",
                "given": GIVEN,
                "removed": removed,
                "inner": inner,
            }
            parsed = verify.fit(document, "certificate", "certificate")
            if fits:
                verify.check_consistency(parsed)
                continue
            with self.assertRaises(verify.Broken):
                verify.check_consistency(parsed)

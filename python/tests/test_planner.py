"""Plans: found, read, shown, and followed by a training."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import People

import efface
from efface import accounting


@pytest.fixture(scope="module")
def plan() -> efface.Plan:
    return efface.plan(
        n=100_000,
        d=50,
        deletions_per_month=20,
        pass_ms=8.0,
        settings={"lambda": 0.05, "epsilon": 2.0},
    )


def test_choices_come_best_first_with_what_they_cost_and_claim(plan: efface.Plan) -> None:
    assert len(plan) >= 3
    assert [choice.rank for choice in plan] == list(range(1, len(plan) + 1))
    assert plan[0] is plan.best is plan[plan.best.name]
    assert plan.best.accurate
    assert plan.best.excess_risk is not None
    assert plan.best.excess_risk <= plan.excess_risk_allowed
    solve = plan["solve"]
    of_all = {"mechanism": "solve", "preprocess": "declared", "epsilon": 2.0}
    assert solve.settings == {**of_all, "lambda": 0.05}
    assert solve.parameters == {**of_all, "lambda_": 0.05}
    assert solve.state == "perfect"
    assert (solve.lasts, solve.requests) == ("unlimited requests", None)
    assert solve.request.passes_usually <= solve.request.passes_at_most
    assert solve.seconds_per_request == solve.seconds_per_month / 20
    claim = solve.claims[0]
    assert claim.notion == "indistinguishable-from-retraining"
    assert 1.99 < claim.epsilon <= 2.0
    # The claim is what its own mu gives, rounded up.
    assert claim.mu is not None
    assert claim.delta is not None
    again = accounting.gdp_epsilon(claim.mu, claim.delta)
    assert again <= claim.epsilon <= again * (1 + 1e-8)
    secret = plan["solve-secret"]
    assert secret.state == "secret"
    assert secret.requests == 20
    assert "until a refresh" in secret.lasts
    assert {"noisy-fine-tuning"} <= {refusal.name for refusal in plan.refused}
    assert plan.baseline.claims.startswith("none")
    assert plan.pass_seconds == 0.008
    assert (plan.deletions_per_month, plan.groups) == (20.0, (1,))
    assert plan.target is not None
    assert (plan.target.notion, plan.target.epsilon) == (claim.notion, 2.0)
    assert plan.target.delta == claim.delta
    assert plan.target.order is None
    with pytest.raises(KeyError, match="the plan has no choice `best`; it has"):
        plan["best"]
    with pytest.raises(IndexError):
        plan[len(plan)]


def test_networks_are_listed_without_an_accuracy(plan: efface.Plan) -> None:
    anew, noisy = plan["network-anew"], plan["dp-sgd"]
    assert anew.beyond
    assert (anew.excess_risk, anew.accurate, anew.loud) == (None, False, False)
    assert anew.parameters["mechanism"].shards == 1
    assert anew.training.passes_usually == 8
    assert noisy.requests == noisy.settings["deletions"] == 20
    assert noisy.request.passes_at_most == 0
    trunk = plan["trunk-ridge"]
    assert trunk.head is not None
    assert trunk.head["features"] == "network:trunk.efface"
    assert '`Declared(features="network:trunk.efface")`' in trunk.notes[0]
    assert noisy.head is None
    assert not plan.best.beyond
    loud = efface.plan(n=300, d=50, pass_ms=1.0, settings={"mechanism": "dp-sgd", "deletions": 100})
    assert loud["dp-sgd"].loud
    assert "the noise outweighs the data" in loud["dp-sgd"].notes[0]


def test_a_plan_is_shown_in_text_and_html(plan: efface.Plan) -> None:
    text, html = str(plan), plan._repr_html_()
    assert repr(plan).startswith("<efface.Plan for 100000 records: ")
    for choice in plan:
        assert choice.name in text
        assert f"<td>{choice.name}</td>" in html
        assert choice.lasts in html
    unwrapped = " ".join(text.split())
    for sentence in plan.advice:
        assert sentence in unwrapped
    # The two tables, and what they are for.
    assert html.count("<tr>") == len(plan) + 3 + 4
    assert "<script" not in html


def test_what_a_plan_says_is_text_and_no_markup(plan: efface.Plan) -> None:
    document = json.loads(plan.to_json())
    document["choices"][0]["name"] = "<b>solve</b>"
    html = efface.Plan(json.dumps(document))._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;solve&lt;/b&gt;" in html


def test_a_plan_survives_json_and_pickle(plan: efface.Plan) -> None:
    for again in (efface.Plan(plan.to_json()), pickle.loads(pickle.dumps(plan))):
        assert again == plan
        assert hash(again) == hash(plan)
        assert again.choices == plan.choices


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "a plan must be a JSON object"),
        ("[]", "a plan must be a JSON object"),
        ("{}", "the plan's `schema` must be `efface.plan/0`, got `None`"),
        ('{"schema": "efface.plan/9"}', "the plan's `schema` must be `efface.plan/0`, got"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, message: str) -> None:
    with pytest.raises(efface.InputError) as refused:
        efface.Plan(text)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("notion", "order", "delta"),
    [
        ("differential-privacy", None, 1e-6),
        ("deletion-privacy", 3.0, None),
        ("renyi-unlearning", 3.0, None),
        ("exact-removal", None, None),
    ],
)
def test_the_target_has_what_its_notion_has(
    plan: efface.Plan, notion: str, order: float | None, delta: float | None
) -> None:
    document = json.loads(plan.to_json())
    target = {"notion": notion, "epsilon": "0.5", "delta": "1e-6", "order": "3"}
    for choice in document["choices"]:
        choice["fixed"]["target"].update(target)
    found = efface.Plan(json.dumps(document))
    assert found.target is not None
    assert (found.target.notion, found.target.epsilon) == (notion, 0.5)
    assert (found.target.order, found.target.delta) == (order, delta)
    assert f"target     {notion}, epsilon 0.5" in str(found)


def test_where_nothing_meets_the_target_there_is_no_best() -> None:
    asked = {"notion": "exact-removal", "mechanism": "solve"}
    plan = efface.plan(n=1000, d=5, pass_ms=1.0, settings=asked)
    assert len(plan) == 0
    assert "no choices" in repr(plan)
    assert plan._repr_html_()
    with pytest.raises(LookupError, match="no mechanism meets the target"):
        _ = plan.best


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n": 100}, "a table, or `n` and `d`, is needed"),
        ({"n": 0, "d": 5}, "`n` must be from 1 to"),
        ({"n": 100, "d": 5, "classes": 1}, "`classes` must be in 2..=65536, got 1"),
        ({"n": 100, "d": 5, "entries": 6.0}, "`entries` must be above 0 and at most `d` = 5"),
        ({"n": 100, "d": 5, "deletions_per_month": 0.0}, "above 0 and at most 1e9, got 0"),
        ({"n": 100, "d": 5, "group": []}, "`group` must name between 1 and 1000 sizes, got 0"),
        ({"n": 100, "d": 5, "settings": {"epsilonn": 1.0}}, "unknown field `epsilonn`"),
        ({"n": 100, "d": 5, "settings": {"seed": 1}}, "a plan cannot have a seed"),
    ],
)
def test_bad_questions_are_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(efface.InputError) as refused:
        efface.plan(pass_ms=1.0, **asked)
    assert message in str(refused.value)


def test_a_training_follows_its_plan(people: People, tmp_path: Path) -> None:
    plan = efface.plan(people.X, people.y, pass_ms=1.0)
    assert plan.sizes == {
        "records": 120,
        "features": 4,
        "classes": 2,
        "entries": None,
        "from_data": True,
    }
    for number, choice in enumerate((None, 1, "solve")):
        vault = efface.Vault.train(
            tmp_path / f"{number}.efface", people.X, people.y, plan=plan, choice=choice
        )
        expected = plan.best if choice in (None, 1) else plan["solve"]
        assert vault.status()["mechanism"] == expected.settings["mechanism"]
        assert vault.status()["state"] == expected.state
    with pytest.raises(efface.Refused, match="the plan is for 120 records, but the data have 119"):
        efface.Vault.train(tmp_path / "x.efface", people.X[1:], people.y[1:], plan=plan.to_json())
    with pytest.raises(efface.InputError, match="`plan` fixes the settings"):
        efface.Vault.train(
            tmp_path / "x.efface", people.X, people.y, plan=plan, settings={"epsilon": 3.0}
        )
    with pytest.raises(efface.InputError, match="`choice` needs a `plan`"):
        efface.Vault.train(tmp_path / "x.efface", people.X, people.y, choice="solve")
    with pytest.raises(efface.Refused, match="the plan has no choice `best`"):
        efface.Vault.train(tmp_path / "x.efface", people.X, people.y, plan=plan, choice="best")
    test = efface.Vault.train(
        tmp_path / "t.efface", people.X, people.y, plan=plan, settings={"seed": 3}
    )
    assert test.status()["not_for_release"]


def test_a_plan_for_a_table_takes_no_sizes(people: People) -> None:
    for more in ({"n": 120}, {"d": 4}, {"entries": 2.0}, {"classes": 2}):
        with pytest.raises(efface.InputError, match="the sizes are taken from `X`"):
            efface.plan(people.X, people.y, **more)
    named = efface.plan(people.X, people.y, classes=[0, 1], pass_ms=1.0)
    assert named.sizes["classes"] == 2


def test_the_time_of_a_pass_is_measured_where_it_is_not_given() -> None:
    plan = efface.plan(n=np.int64(1000).item(), d=5)
    assert plan.pass_seconds > 0.0
    assert "measured" in json.loads(plan.to_json())["pass"]["origin"]


def test_estimators_take_the_parameters_of_a_choice() -> None:
    words = {"lambda_": 0.05, "fit_intercept": False, "row_map": "unit", "target_range": (0, 4)}
    sizes: dict[str, Any] = {"n": 1000, "d": 5, "pass_ms": 1.0}
    found = efface.plan(**sizes, settings={**words, "loss": "squared"})
    for choice in found:
        model = efface.UnlearningRegressor(**choice.parameters)
        assert (model.lambda_, model.fit_intercept) == (0.05, False)
        declared: Any = model.preprocess
        assert (declared.row_map, declared.target_range) == ("unit", (0, 4))
        assert "intercept" not in choice.parameters
    old = {"lambda": 0.05, "intercept": 0.0, "row_map": "unit", "target_range": (0, 4)}
    assert efface.plan(**sizes, settings={**old, "loss": "squared"}) == found


def table() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "member_no": np.arange(300) * 3 + 1000,
            "age": rng.integers(18, 80, 300),
            "city": rng.choice(["Rome", "Oslo"], 300),
        }
    )
    return frame, np.where(frame["age"] + rng.normal(scale=5, size=300) > 50, "yes", "no")


def test_a_data_frame_is_planned_for_as_it_is_trained_on() -> None:
    X, y = table()
    with pytest.warns(efface.SettingsWarning, match='`ids="member_no"`'):
        efface.plan(X, y, pass_ms=1.0)
    plan = efface.plan(X, y, ids="member_no", pass_ms=1.0)
    assert plan.sizes["classes"] == 2
    model = efface.UnlearningClassifier(**plan.best.parameters).fit(X, y, ids="member_no")
    assert model.score(X, y) > 0.8
    fixed = plan.best.fixed
    assert model.status()["mechanism"] == fixed["mechanism"]
    listed = {c["name"]: c["value"] for c in model.certificate_.constants}
    assert float(listed["noise"]) == float(fixed["schedule"]["output"]["noise"])


def test_labels_say_what_is_planned_for() -> None:
    X, _ = table()
    plan = efface.plan(X, X["age"] * 2.5 + 1, ids="member_no", pass_ms=1.0)
    assert plan.sizes["classes"] == 0
    model = efface.UnlearningRegressor(**plan.best.parameters)
    assert model.fit(X, X["age"] * 2.5 + 1, ids="member_no").forget(ids=["1003"]).records == 1
    with pytest.raises(efface.Refused, match="needs at least 2 classes"):
        efface.plan(X, ["a"] * 300)
    with pytest.raises(efface.InputError, match="columns named"):
        efface.plan(pd.concat([X, X], axis=1), ["a", "b"] * 150)

//! Networks: deletions that compute nothing, the capacity that ends them, and what is refused.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::{
    CheckOutcome, Code, Delete, ExportFormat, Linear, Selector, Settings, add, certificate, delete,
    erase, evaluate, export, margins, predict, refresh, status, verify_ledger, weights,
};
use serde_json::Value;

use crate::trunks::named;
use crate::world::World;

/// A small network that forgets three records.
pub(crate) fn network() -> Settings {
    Settings {
        mechanism: Some("dp-sgd".into()),
        network: Some("dense:6,relu".into()),
        steps: Some(40),
        rate: Some(0.2),
        unit: Some("record".into()),
        deletions: Some(3),
        ..Settings::default()
    }
}

pub(crate) fn event(vault: &Path) -> Value {
    let text = certificate(vault, "latest").unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["event"].clone()
}

pub(crate) fn holds(world: &World, vault: &Path) {
    let key = world.keyring.public_key();
    let verdict = verify_ledger(vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

fn trained(settings: Settings) -> (World, PathBuf) {
    let world = World::new();
    let (vault, _) = world.trained(settings).unwrap();
    (world, vault)
}

#[test]
fn a_deletion_keeps_the_weights_and_is_counted_until_the_capacity_is_spent() {
    let (world, vault) = trained(network());
    let first = weights(&vault).unwrap();
    assert_eq!(first.coef.len(), 6 * 3 + 6 + 2 * 6 + 2);
    assert_eq!(status(&vault).unwrap().deletions_left, Some(3));
    let mut before = 0.0;
    for (ids, left) in [(&["id-1"][..], 2), (&["id-5", "id-7"][..], 0)] {
        let served = world.run(|s| delete(&vault, &named(ids), s)).unwrap();
        let now = weights(&vault).unwrap();
        assert_eq!((&now.coef, now.version), (&first.coef, served.version));
        assert_ne!(now.digest, first.digest, "each release has a salt of its own");
        assert_eq!(status(&vault).unwrap().deletions_left, Some(left));
        assert_eq!(event(&vault)["segments"][0]["deleted"], 3 - left);
        let claim = &served.claims[0];
        assert!(claim.epsilon.0 > before && claim.epsilon.0 <= 1.0, "{claim:?}");
        before = claim.epsilon.0;
    }
    let error = world.run(|s| delete(&vault, &named(&["id-9"]), s)).unwrap_err();
    assert_eq!(error.code(), Code::BudgetExhausted);
    assert!(error.what_to_do().unwrap().contains("refresh"), "{error}");
    assert_eq!(status(&vault).unwrap().records, 117, "nothing was deleted");

    world.run(|s| refresh(&vault, None, s)).unwrap();
    let anew = event(&vault);
    assert_eq!((&anew["segments"][0]["deleted"], &anew["earlier_steps"]), (&0.into(), &40.into()));
    assert_ne!(weights(&vault).unwrap().coef, first.coef);
    world.run(|s| delete(&vault, &named(&["id-9"]), s)).unwrap();
    holds(&world, &vault);
}

#[test]
fn additions_train_anew() {
    let (world, vault) = trained(network());
    world.run(|s| delete(&vault, &named(&["id-1"]), s)).unwrap();
    let more = world.table("more.csv", 200, 4, 2);
    world.run(|s| add(&vault, &more, None, s)).unwrap();
    let event = event(&vault);
    assert_eq!(
        (&event["segments"][0]["deleted"], &event["earlier_steps"]),
        (&0.into(), &40.into())
    );
    assert_eq!(status(&vault).unwrap().records, 123);
    holds(&world, &vault);
}

#[test]
fn an_erased_model_is_trained_anew_in_the_same_history() {
    let (world, vault) = trained(network());
    let ids: Vec<String> = (0..30).map(|k| format!("id-{k}")).collect();
    let request = Delete { what: Selector::Ids(ids), request_id: None };
    let error = world.run(|s| delete(&vault, &request, s)).unwrap_err();
    assert_eq!(error.code(), Code::BudgetExhausted);
    world.run(|s| erase(&vault, &request, s)).unwrap();
    assert!(weights(&vault).is_err(), "the model is withdrawn");
    world.run(|s| refresh(&vault, None, s)).unwrap();
    let event = event(&vault);
    assert_eq!(
        (&event["segments"][0]["deleted"], &event["earlier_steps"]),
        (&0.into(), &40.into())
    );
    holds(&world, &vault);
}

#[test]
fn outputs_are_the_same_wherever_they_are_computed() {
    let (world, vault) = trained(network());
    let table = world.table("test.csv", 300, 60, 2);
    let model = weights(&vault).unwrap();
    let intercept = vec![0.0; model.outputs as usize];
    let linear = Linear {
        coef: &model.coef,
        intercept: &intercept,
        row_map: &model.row_map,
        row_norm: model.row_norm,
        preprocessing: None,
        feature_map: None,
        trunk: model.trunk.as_deref(),
        network: model.network.as_deref(),
    };
    let source = efface::Source { schema: Some(model.schema.clone()), ..table.clone() };
    let (outputs, _) = margins(&source, &linear, &mut |_| ControlFlow::Continue(())).unwrap();
    let mut row = 0;
    predict(&vault, &table, &mut |told| {
        let pair = &outputs[2 * row..2 * row + 2];
        let class = model.classes.as_ref().unwrap()[usize::from(pair[1] > pair[0])].clone();
        assert_eq!(told.prediction, class);
        let odds = (told.probabilities[1].1 / told.probabilities[0].1).ln();
        assert!((odds - (pair[1] - pair[0])).abs() < 1e-9);
        row += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(row, 60);
    assert!(evaluate(&vault, &table).unwrap().accuracy.unwrap() > 0.5);
    let short = Linear { coef: &model.coef[1..], ..linear };
    let error = margins(&source, &short, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.code(), Code::Weights);
    for format in ["npz", "json", "safetensors"] {
        let format = ExportFormat::from_name(format).unwrap();
        let bytes = world.run(|s| export(&vault, format, s)).unwrap();
        // Texts of NPZ files are compressed; Python reads them.
        let text = String::from_utf8_lossy(&bytes);
        assert!(format == ExportFormat::Npz || text.contains("dense:6,relu"), "{format:?}");
    }
}

#[test]
fn noise_is_enough_for_the_deletions_asked_for_and_no_less() {
    let noise = |deletions| {
        let (_world, vault) = trained(Settings { deletions: Some(deletions), ..network() });
        event(&vault)["noise"].as_str().unwrap().parse::<f64>().unwrap()
    };
    let (one, four) = (noise(1), noise(4));
    assert!(four > 2.0 * one, "{one} {four}");
    let given = |noise| Settings { noise: Some(noise), deletions: Some(1), ..network() };
    let world = World::new();
    let error = world.trained(given(0.9 * one)).unwrap_err();
    assert_eq!(error.code(), Code::Infeasible, "{error}");
    world.trained(given(1.1 * one)).unwrap();
}

#[test]
fn what_a_network_has_no_use_for_is_refused() {
    let refused = |settings: Settings, said: &str| {
        let error = World::new().trained(settings).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    };
    let of = |network: &str| Settings { network: Some(network.into()), ..self::network() };
    refused(of("conv:4x2,dense:4"), "conv");
    refused(of("dense:0"), "dense");
    refused(of("batchnorm,dense:4"), "batchnorm");
    refused(of("dense:4,image=2x2"), "are not the 3 features");
    refused(of("dense:4,image=2"), "HEIGHTxWIDTH");
    refused(of("dense:4,seed=-1"), "whole number");
    refused(of("dense:4,seed=1,seed=2"), "once");
    refused(of("dense:99999999999"), "dense");
    let settings = Settings { lambda: Some(0.1), ..network() };
    refused(settings, "`lambda` has no meaning with `dp-sgd`");
    refused(Settings { state: Some("secret".into()), ..network() }, "secret");
    refused(Settings { loss: Some("logistic".into()), ..network() }, "with the loss `logistic`");
    refused(Settings { accountant: Some("gdp".into()), ..network() }, "accounted by `pld`");
    let settings = Settings { notion: Some("differential-privacy".into()), ..network() };
    refused(settings, "is not offered");
    refused(Settings { normalizer: Some("mean".into()), ..network() }, "`normalizer` has no");
    refused(Settings { class_weight: vec!["yes=2".into()], ..network() }, "class-weight");
    refused(Settings { preprocess: Some("fitted".into()), ..network() }, "fitted");
    refused(Settings { rate: Some(1.5), ..network() }, "rate");
    refused(Settings { momentum: Some(1.0), ..network() }, "momentum");
    refused(Settings { average: Some(1.0), ..network() }, "average");
    let adam = Settings { optimizer: Some("adam".into()), ..network() };
    refused(Settings { momentum: Some(0.5), ..adam }, "no meaning with `optimizer adam`");
    refused(Settings { optimizer: Some("rmsprop".into()), ..network() }, "optimizer");
    let adam = Settings { optimizer: Some("adam".into()), ..Settings::default() };
    refused(adam, "`dp-sgd` only");
    refused(Settings { eta: Some(1e9), ..network() }, "`eta` must be");
    refused(Settings { rate: Some(0.2), mechanism: None, ..Settings::default() }, "`dp-sgd` only");
}

/// What follows noisy sums is public, states its constants, and changes neither noise nor claims.
#[test]
fn an_optimizer_may_be_chosen() {
    let adam = || Settings { optimizer: Some("adam".into()), ..network() };
    let seeded = |settings| Settings { seed: Some(5), ..settings };
    let coef = |(_world, vault): &(World, PathBuf)| weights(vault).unwrap().coef;
    let (sgd, first, again) =
        (trained(seeded(network())), trained(seeded(adam())), trained(seeded(adam())));
    assert_eq!(coef(&first), coef(&again));
    assert_ne!(coef(&first), coef(&sgd));
    assert_eq!(event(&first.1), event(&sgd.1));
    let constant = |vault: &Path, name: &str| {
        let text = certificate(vault, "latest").unwrap();
        let list =
            serde_json::from_str::<Value>(&text).unwrap()["constants"].as_array().unwrap().clone();
        let found = list.iter().find(|constant| constant["name"] == name).cloned();
        found.map(|found| (found["value"].clone(), found["origin"].clone()))
    };
    let of_adam = |name| constant(&first.1, name).map(|(value, _)| value);
    assert_eq!(constant(&first.1, "optimizer"), Some(("adam".into(), "user".into())));
    assert_eq!(of_adam("beta1"), Some("0.9".into()));
    assert_eq!(of_adam("beta2"), Some("0.999".into()));
    assert_eq!(of_adam("adam-epsilon"), Some("1e-8".into()));
    assert_eq!((of_adam("momentum"), of_adam("eta")), (None, Some("0.002".into())));
    assert_eq!(constant(&sgd.1, "optimizer"), Some(("sgd".into(), "default".into())));
    assert_eq!(constant(&sgd.1, "beta1"), None);
    // The weights of the last step, and an average of them.
    let [last, averaged] = [0.0, 0.5].map(|share| Settings { average: Some(share), ..adam() });
    let (last, averaged) = (trained(seeded(last)), trained(seeded(averaged)));
    assert_ne!(coef(&last), coef(&averaged));
    assert_eq!(constant(&last.1, "average"), Some(("0".into(), "user".into())));
}

#[test]
fn the_same_seed_gives_the_same_network() {
    let settings = || Settings { seed: Some(5), ..network() };
    let coef = |(_world, vault): (World, PathBuf)| weights(&vault).unwrap().coef;
    assert_eq!(coef(trained(settings())), coef(trained(settings())));
    assert_ne!(coef(trained(network())), coef(trained(settings())));
}

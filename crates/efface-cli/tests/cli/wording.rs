//! Small things that people stumble over: one line each, with what must and must not be said.

use std::fmt::Write as _;

use crate::table::{Label, table};
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label y --id id --subject user -o m.efface";

fn with_table() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.efface("key create").done();
    w
}

#[test]
fn numbers_out_of_range_are_told_in_plain_words() {
    let w = with_table();
    for (line, code, says) in [
        ("--capacity -1", 2, "must be at least 0"),
        ("--capacity 1.5", 2, "whole number"),
        ("--max-group=-3", 2, "must be at least 0"),
        ("--row-norm 1e300", 2, "`--row-norm` must be above 0 and at most 1e38, got 1e300"),
        ("--intercept -1", 2, "`--intercept` must be finite and at least 0, got -1"),
        ("--lambda -1", 2, "`--lambda` must be finite and at least 0, got -1"),
        ("--not-covered=", 2, "`--not-covered` must have 1 to"),
    ] {
        let ran = w.efface(&format!("{TRAIN} {line}")).fails(code, &[says]);
        for never in ["1844674407", "invalid digit", "tip:", "got inf"] {
            assert!(!ran.stderr.contains(never), "`{never}` is in {ran:#?}");
        }
    }
    for line in ["plan --n 0 --d 5", "audit m.efface --runs 0", "audit m.efface --rows -1"] {
        let ran = w.efface(line).fails(2, &["at least"]);
        assert!(!ran.stderr.contains("1844674407"), "{ran:#?}");
    }
    w.efface("plan --n 1e6 --d 20 --pass-ms 1").done();
}

#[test]
fn warnings_name_settings_as_they_are_typed_on_every_page() {
    let w = with_table();
    let told = w.efface(&format!("{TRAIN} --public-n 600")).done().stderr;
    assert!(told.contains("`--public-n` 600 is far from"), "{told}");
    let page = w.efface("report m.efface").done().stdout;
    assert!(page.contains("<code>--public-n</code> 600 is far from"), "{page}");
    for line in ["report m.efface", "status m.efface", "status m.efface --json"] {
        assert!(!w.efface(line).done().stdout.contains('\u{a7}'), "{line}");
    }
}

#[test]
fn one_record_is_one_record_and_one_number_one_number() {
    let w = with_table();
    let seeded = format!("{TRAIN} --seed 1 --classes 0,1 --mechanism noisy-gd --lambda 0.1");
    w.efface(&seeded).done();
    let served = w.efface("delete m.efface --record r1").done().stdout;
    let page = w.efface("certificate show m.efface").done().stdout;
    assert!(page.contains("deletion of 1 record,"), "{page}");
    assert!(page.contains("fixed by rule") && !page.contains("(u)"), "{page}");
    // The sentence and the table of notions say the same epsilon.
    let status = w.efface("status m.efface").done().stdout;
    let private = |text: &str, before: &str| -> String {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let after = text.split(before).nth(1).unwrap_or_else(|| panic!("{text}"));
        after.trim_start().split([' ', ',']).next().unwrap().to_owned()
    };
    let claimed = private(&served, "releases together are (");
    assert_eq!(private(&status, "not guaranteed; currently epsilon"), claimed);
}

#[test]
fn exact_steps_are_not_called_noisy() {
    let w = with_table();
    let line = "--mechanism descent-to-delete --lambda 0.05";
    w.efface(&format!("{TRAIN} {line}")).done();
    for line in ["delete m.efface --record r1 --dry-run", "delete m.efface --record r1"] {
        let told = w.efface(line).done().stdout;
        assert!(told.contains(" steps") && !told.contains("noisy step"), "{told}");
    }
}

#[test]
fn files_of_the_wrong_kind_are_named_as_what_they_are() {
    let w = with_table();
    w.efface(TRAIN).done();
    let ran = w.efface("certificate verify m.efface");
    ran.fails(2, &["`m.efface` is a vault", "efface ledger verify m.efface"]);
    let bounds = w.efface("certificate bounds m.efface").done().stdout;
    assert!(bounds.lines().count() <= 16 && !bounds.contains("none:"), "{bounds}");
}

#[test]
fn a_key_that_is_not_there_yet_can_be_made() {
    let w = Workshop::new();
    w.efface("key show").fails(2, &["no key yet", "efface key create"]);
}

#[test]
fn a_target_with_many_numbers_is_taken_for_a_number() {
    let w = Workshop::new();
    let mut text = String::from("y,a\n");
    for k in 0..40 {
        writeln!(text, "{}.5,{}", k, f64::from(k) / 50.0).unwrap();
    }
    w.write("data.csv", text);
    w.efface("train data.csv --label y --preprocess declared -o m.efface").fails(
        1,
        &["the labels are 40 different numbers", "`--loss squared` and `--target-range LOW,HIGH`"],
    );
    let ran = w.efface("train data.csv --label y -o m.efface").done();
    assert!(
        ran.stdout.contains("40 values") && ran.stdout.contains("`--loss squared`"),
        "{ran:#?}"
    );
    assert!(ran.stdout.contains("target  number, mean 20"), "{ran:#?}");
    let status = w.efface("status m.efface").done().stdout;
    assert!(status.contains("squared loss") && status.contains("target  number"), "{status}");
    let page = w.efface("certificate show m.efface").done().stdout;
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(words.join(" ").contains("was decided by the first records' labels"), "{page}");
}

/// A regularisation too weak for float64 is told by the settings that decide it, with one that works.
#[test]
fn what_float64_cannot_certify_is_told_by_its_settings() {
    let w = with_table();
    let line = format!("{TRAIN} --row-norm 1e6 --lambda 1e-3 --noise 1e-9 --epsilon 1e9");
    let ran = w.efface(&line).exits(1);
    assert!(ran.stderr.contains("--lambda") && ran.stderr.contains("--row-norm"), "{ran:#?}");
    assert!(!ran.stderr.contains("tau"), "{ran:#?}");
}

//! A model that cannot be useful says so when it is made, and its status and report say it again.

use efface::{Notice, NoticeCode, Settings, Source, add, certificate, report, status, train};

use crate::world::{World, bytes, holds};

fn codes(notices: &[Notice]) -> Vec<NoticeCode> {
    notices.iter().map(|notice| notice.code).collect()
}

fn private(releases: u64) -> Settings {
    Settings {
        notion: Some("differential-privacy".into()),
        releases: Some(releases),
        max_group: Some(3),
        row_norm: Some(2.0),
        ..Settings::default()
    }
}

/// A bound that no row exceeds, and nothing else.
fn plain() -> Settings {
    Settings { row_norm: Some(2.0), ..Settings::default() }
}

#[test]
fn ordinary_settings_warn_of_nothing() {
    let perfect = ["solve", "retrain", "descent-to-delete"];
    for mechanism in perfect {
        let world = World::new();
        let settings = Settings { mechanism: Some(mechanism.into()), ..plain() };
        let (vault, served) = world.trained(settings).unwrap();
        assert_eq!(codes(&served.notices), [], "{mechanism}");
        assert_eq!(codes(&status(&vault).unwrap().notices), [], "{mechanism}");
        assert!(!report(&vault, &[]).unwrap().contains("Warnings about this model"));
    }
    let noise = Settings { noise: Some(0.01), epsilon: Some(3.0), ..plain() };
    let quiet = Settings { mechanism: Some("noisy-gd".into()), ..noise };
    assert_eq!(codes(&World::new().trained(quiet).unwrap().1.notices), []);
}

/// As for 569 records under epsilon 1: accuracy is that of a coin.
#[test]
fn noise_that_outweighs_the_data_is_said() {
    for mechanism in ["solve", "retrain", "noisy-gd"] {
        let world = World::new();
        let settings = Settings { mechanism: Some(mechanism.into()), ..private(2) };
        let (vault, served) = world.trained(settings).unwrap();
        let told = served.notices.iter().find(|n| n.code == NoticeCode::NoiseDominates).unwrap();
        assert!(told.message.contains("loses at most 0.693"), "{mechanism}: {}", told.message);
        assert!(status(&vault).unwrap().notices.contains(told), "{mechanism}");
        let page = report(&vault, &[]).unwrap();
        assert!(page.contains("Warnings about this model") && page.contains("noise-dominates"));
    }
    // Enough records, as public knowledge, and less noise does.
    let world = World::new();
    let many = Settings { public_n: Some(1 << 20), lambda: Some(0.1), ..private(2) };
    let (_, served) = world.trained(many).unwrap();
    assert!(!codes(&served.notices).contains(&NoticeCode::NoiseDominates));
}

#[test]
fn delta_follows_the_number_of_records_and_is_warned_about_above_one_over_it() {
    let delta = |settings: Settings| {
        let world = World::new();
        let (vault, served) = world.trained(settings).unwrap();
        let text = certificate(&vault, "latest").unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let constants = json["constants"].as_array().unwrap();
        let delta = constants.iter().find(|c| c["name"] == "delta").unwrap();
        let text = |key: &str| delta[key].as_str().unwrap().to_owned();
        (text("value").parse::<f64>().unwrap(), text("origin"), codes(&served.notices))
    };
    let large = NoticeCode::LargeDelta;
    assert_eq!(delta(plain()), (1e-6, "data".into(), vec![]));
    let public = Settings { public_n: Some(120), ..plain() };
    assert_eq!(delta(public), (1e-6, "default".into(), vec![]));
    let million = Settings { public_n: Some(1_000_000), ..plain() };
    let (value, origin, told) = delta(million);
    assert!((value / 1e-7 - 1.0).abs() < 1e-12 && origin == "default", "{value} {origin}");
    assert!(!told.contains(&large));
    let below = Settings { delta: Some(1.0 / 121.0), ..plain() };
    assert_eq!(delta(below), (1.0 / 121.0, "user".into(), vec![]));
    let above = Settings { delta: Some(0.01), ..plain() };
    assert_eq!(delta(above), (0.01, "user".into(), vec![large]));
}

#[test]
fn a_public_n_far_off_is_said_and_kept_out_of_a_report_that_hides_counts() {
    let far = NoticeCode::PublicNFarOff;
    for (n, expected) in [(60, false), (240, false), (59, true), (241, true)] {
        let world = World::new();
        let settings = Settings { public_n: Some(n), capacity: Some(300), ..plain() };
        let (vault, served) = world.trained(settings).unwrap();
        assert_eq!(codes(&served.notices).contains(&far), expected, "{n}");
        assert_eq!(codes(&status(&vault).unwrap().notices).contains(&far), expected, "{n}");
        assert_eq!(report(&vault, &[]).unwrap().contains("public-n-far-off"), expected, "{n}");
    }
    let world = World::new();
    let given = Settings { public_n: Some(5000), capacity: Some(6250), ..private(3) };
    let declared = Settings { delta: Some(1e-6), ..given };
    let (vault, served) = world.trained(declared).unwrap();
    assert!(codes(&served.notices).contains(&far));
    let page = report(&vault, &[]).unwrap();
    assert!(page.contains("not stated: it is private"), "the counts of this model are private");
    assert!(!page.contains("public-n-far-off"));
}

#[test]
fn releases_that_serve_no_request_are_said() {
    let told = |settings| codes(&World::new().trained(settings).unwrap().1.notices);
    let none = NoticeCode::NoRequestCovered;
    let secret = Settings { state: Some("secret".into()), releases: Some(9), ..plain() };
    assert_eq!(told(secret), []);
    assert!(told(private(1)).contains(&none));
    assert!(!told(private(2)).contains(&none));
}

/// The bound that would fit is read off the rows: it is told, and kept nowhere.
#[test]
fn rows_that_are_clipped_are_told_with_the_bound_that_would_fit() {
    let world = World::new();
    let mut text = String::from("y,a,b\n");
    for row in 0..200 {
        let length = if row < 100 { 0.5 } else { 1.0 + f64::from(row) / 40.0 };
        text += &format!("{},{length},0\n", row % 2);
    }
    let path = world.path("long.csv");
    std::fs::write(&path, text).unwrap();
    let source = Source { path: Some(path), label: Some("y".into()), ..Source::default() };
    let vault = world.path("model.efface");
    let declared = Settings { preprocess: Some("declared".into()), ..Settings::default() };
    let served = world.run(|s| train(&source, declared, &vault, s)).unwrap();
    let [told] = &served.notices[..] else { panic!("{:?}", served.notices) };
    assert_eq!(told.code, NoticeCode::RowsClipped);
    assert!(told.message.starts_with("100 of 200 rows (50.0 %)"), "{}", told.message);
    let bound = told.message.split("a bound of ").nth(1).unwrap().split(' ').next().unwrap();
    // The third longest row is 5.925 long: two rows of 200 are longer.
    assert!((5.925..6.1).contains(&bound.parse::<f64>().unwrap()), "{bound}");

    assert_eq!(codes(&status(&vault).unwrap().notices), []);
    let page = report(&vault, &[]).unwrap();
    std::fs::remove_file(source.path.as_ref().unwrap()).unwrap();
    for kept in [served.certificate.as_bytes(), page.as_bytes(), &bytes(&world.path("."))] {
        assert!(!holds(kept, bound.as_bytes()), "{bound}");
    }

    let fitting = Settings { row_norm: Some(bound.parse().unwrap()), ..Settings::default() };
    let world = World::new();
    let other = world.path("other.efface");
    let short = Source { path: Some(world.path("few.csv")), ..source };
    let mut text = String::from("y,a,b\n");
    (0..200)
        .for_each(|row| text += &format!("{},{},0\n", row % 2, if row == 0 { 9.0 } else { 1.0 }));
    std::fs::write(world.path("few.csv"), text).unwrap();
    let served = world.run(|s| train(&short, fitting, &other, s)).unwrap();
    assert_eq!(codes(&served.notices), [], "one row of 200 is below 1 %");

    // What is added is told of, too.
    std::fs::write(world.path("few.csv"), "y,a,b\n0,70,0\n1,1,0\n").unwrap();
    let served = world.run(|s| add(&other, &short, None, s)).unwrap();
    assert_eq!(codes(&served.notices), [NoticeCode::RowsClipped, NoticeCode::NamedByPosition]);
}

/// Who is in several records can be deleted at once where somebody says who it is.
#[test]
fn a_column_of_people_that_is_learnt_from_is_said() {
    let told = |header: &str, people: usize, subject: Option<&str>| {
        let world = World::new();
        let path = world.path("table.csv");
        let mut text = format!("y,a,{header}\n");
        for at in 0..200 {
            let names = vec![(at % people).to_string(); 1 + header.matches(',').count()];
            text += &format!("{},{}.5,{}\n", at % 2, at % 7, names.join(","));
        }
        std::fs::write(&path, text).unwrap();
        let subject = subject.map(str::to_owned);
        let label = Some("y".into());
        let source = Source { path: Some(path), label, subject, ..Source::default() };
        let vault = world.path("model.efface");
        let served = world.run(|s| train(&source, Settings::default(), &vault, s)).unwrap();
        let about = |notice: &Notice| notice.code == NoticeCode::SubjectLearnt;
        served.notices.into_iter().find(about).map(|notice| notice.message)
    };
    let said = told("subject#", 40, None).unwrap();
    assert!(said.contains("`subject#`") && said.contains("§subject"), "{said}");
    assert_eq!(told("subject#", 40, Some("subject#")), None);
    assert_eq!(told("patient_no", 200, None), None, "one record each: an id");
    assert_eq!(told("patient_no", 10, None), None, "few: groups");
    assert_eq!(told("site_no", 40, None), None, "no people");
    let said = told("subject#,household", 40, Some("household")).unwrap();
    assert!(said.contains("`subject#`") && said.contains("named already"), "{said}");
    assert!(told("patient_no", 100, None).is_some());
}

/// Whatever the columns are called.
#[test]
fn addresses_and_words_in_the_place_of_numbers_are_said() {
    let world = World::new();
    let path = world.path("table.csv");
    let mut text = "y,client,contact,age,score\n".to_owned();
    for at in 0..200 {
        let age = if at % 4 == 0 { "weiss nicht".to_owned() } else { (20 + at % 25).to_string() };
        let score = if at % 4 == 0 { "NULL".to_owned() } else { (at % 60).to_string() };
        let (y, who) = (at % 2, at % 90);
        text += &format!("{y},u{who},u{who}@mail.example,{age},{score}\n");
    }
    std::fs::write(&path, text).unwrap();
    let trained = |subject: Option<&str>, ignore: &[&str]| {
        let subject = subject.map(str::to_owned);
        let ignore = ignore.iter().map(|name| (*name).to_owned()).collect();
        let (path, label) = (Some(path.clone()), Some("y".into()));
        let source = Source { path, label, subject, ignore, ..Source::default() };
        let vault = world.path(&format!("{}.efface", source.ignore.len()));
        let _ = std::fs::remove_file(&vault);
        world.run(|s| train(&source, Settings::default(), &vault, s)).unwrap()
    };
    let both = [NoticeCode::SubjectLearnt, NoticeCode::NumbersUnclear];
    for (subject, ignore, said) in [
        (None, &[][..], "`§subject client`"),
        (None, &["client"], "`§subject contact`"),
        (Some("client"), &[], "already: leave it out with `§ignore contact`"),
    ] {
        let served = trained(subject, ignore);
        assert_eq!(codes(&served.notices), both);
        assert!(served.notices[0].message.contains(said), "{}", served.notices[0].message);
    }
    let served = trained(Some("client"), &["contact"]);
    let [age] = &served.notices[..] else { panic!("{:?}", served.notices) };
    assert!(
        age.message.contains("`age`") && age.message.contains("`weiss nicht`"),
        "{}",
        age.message
    );
    let score = served.preprocessing.iter().find(|line| line.trim().starts_with("score")).unwrap();
    assert!(score.contains("number") && score.contains("50 missing"), "{score}");
}

/// By their names and by values that differ in nearly every record; neither would do alone.
/// Columns of whose values nothing is learnt say whether it is learnt that they are missing.
#[test]
fn what_is_left_out_but_for_its_absence_is_said() {
    let world = World::new();
    let (path, vault) = (world.path("table.csv"), world.path("model.efface"));
    let mut text = "x,died_on,note,word,y\n".to_owned();
    for at in 0..170 {
        let rare = at % 17 == 0;
        let day = if rare { format!("2001-01-{:02}", 1 + at / 17) } else { String::new() };
        let note = if rare { format!("case {at}") } else { String::new() };
        text += &format!("{},{day},{note},word{at},{}\n", at % 7, at % 2);
    }
    std::fs::write(&path, text).unwrap();
    let source = Source { path: Some(path), label: Some("y".into()), ..Source::default() };
    let served = world.run(|s| train(&source, Settings::default(), &vault, s)).unwrap();
    let told: Vec<&str> = served
        .notices
        .iter()
        .filter(|told| told.code == NoticeCode::ColumnLeftOut)
        .map(|told| told.message.as_str())
        .collect();
    let [day, note, word] = told[..] else { panic!("{told:?}") };
    let only = "only whether it is missing is learnt from the column";
    assert!(day.starts_with(&format!("{only} `died_on`: fewer than 20 records have")), "{day}");
    assert!(note.starts_with(&format!("{only} `note`: none of its values")), "{note}");
    assert!(word.starts_with("nothing is learnt from the column `word`: none of"), "{word}");
    let all = status(&vault).unwrap().preprocessing;
    let left_out = |line: &&String| line.contains("left out but for whether it is missing");
    assert_eq!(all.iter().filter(left_out).count(), 2, "{all:?}");
    assert!(!all.iter().any(|line| line.contains("2001")), "{all:?}");
}

#[test]
fn every_column_that_names_records_and_is_learnt_from_is_said() {
    let told = |min_frequency: Option<u64>, header: &str, row: fn(usize) -> String| {
        let world = World::new();
        let settings = Settings { min_frequency, ..Settings::default() };
        let path = world.path("table.csv");
        let mut text = format!("y,{header}\n");
        (0..200).for_each(|at| text += &format!("{},{}\n", at % 2, row(at)));
        std::fs::write(&path, text).unwrap();
        let source = Source { path: Some(path), label: Some("y".into()), ..Source::default() };
        let vault = world.path("model.efface");
        let served = world.run(|s| train(&source, settings, &vault, s)).unwrap();
        served.notices
    };
    let header = "Unnamed: 0,member_no,customer_nr,group_id,price,stamp,no,user";
    let row = |at: usize| {
        // A counter, one with a double, one with zeros in front, few values, another price and
        // time in each record, whole numbers too far apart for a counter, and people who are texts.
        let member = 1000 + 3 * at.max(1);
        let (group, price, no) = (at % 9, 7 * at + 1, at * at);
        let (month, day) = (1 + at / 28 % 12, 1 + at % 28);
        format!("{at},{member},{at:05},{group},{price},2024-{month:02}-{day:02},{no},u{at}")
    };
    // A name of each record has a place of its own where somebody asks for it.
    let all = told(Some(1), header, row);
    let [ids] = &all[..] else { panic!("{all:?}") };
    let learnt = "`Unnamed: 0`, `member_no`, `customer_nr` and `user` have another value";
    assert!(ids.code == NoticeCode::IdLearnt && ids.message.contains(learnt), "{}", ids.message);
    assert_eq!(told(None, header, row), told(Some(2), header, row));
    let many = told(None, header, row);
    let [user, ids] = &many[..] else { panic!("{many:?}") };
    assert_eq!((user.code, ids.code), (NoticeCode::ColumnLeftOut, NoticeCode::IdLearnt));
    let message = &ids.message;
    assert!(message.starts_with(
        "the columns `Unnamed: 0`, `member_no` and `customer_nr` have another value in every record, \
         or nearly every one, and are learnt from"
    ));
    assert!(message.contains("`§id Unnamed: 0`"), "{message}");
    assert!(message.ends_with("`§ignore Unnamed: 0,member_no,customer_nr`"), "{message}");
    assert!(user.message.contains("`§id user`, `§subject user`"), "{}", user.message);

    let one = told(None, "invoice_number,a", |at| format!("{},{}", 9000 - at, at % 7));
    let [told_of] = &one[..] else { panic!("{one:?}") };
    assert!(told_of.message.starts_with("the column `invoice_number` has another value in every"));
    let none = told(None, "price,id,x,reading", |at| {
        format!("{},{},{},{}", at * 3, at % 90, 10 * at, at as f64 + 0.5)
    });
    assert_eq!(codes(&none), []);
    let eight = told(None, "id0,id1,id2,id3,id4,id5,id6,id7", |at| {
        vec![(500 - at).to_string(); 8].join(",")
    });
    assert!(eight[0].message.contains("`id5` and 2 more have"), "{}", eight[0].message);
}

#[test]
fn codes_are_written_as_they_are_named() {
    let notice = Notice { code: NoticeCode::PublicNFarOff, message: "x".into() };
    let json = serde_json::to_value(&notice).unwrap();
    assert_eq!(json["code"], notice.code.name());
}

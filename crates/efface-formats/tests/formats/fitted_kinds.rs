//! What the columns of a table are taken for.

use std::num::NonZero;

use efface_formats::{Fitted, Rules};

use super::fitted::{csv, encoded, names, rules};

#[test]
fn a_column_is_what_its_remaining_cells_are() {
    let kind = |cells: &[&str]| {
        let lines: Vec<String> = cells.iter().map(|cell| format!("\"{cell}\",0\n")).collect();
        let rows = csv(&format!("a,y\n{}", lines.concat()));
        Fitted::fit(&rows, &rules()).unwrap().describe()[0].clone()
    };
    assert_eq!(kind(&["1", "2.50", "03", "", "?"]), "a: number, mean 2.17, scale 0.850, 2 missing");
    assert_eq!(kind(&["1", "1", "2", "x"]), "a: 3 categories, 2 rare merged");
    assert_eq!(kind(&["$1,000", "$3,000.00"]), "a: number, mean 2000, scale 1000");
    assert_eq!(kind(&["10%", "30 %"]), "a: number, mean 20.0, scale 10.0");
    assert_eq!(kind(&["1,5", "2,5", "3"]), "a: number with decimal comma, mean 2.33, scale 0.624");
    assert_eq!(
        kind(&["True", "false", "", "true"]),
        "a: number, mean 0.667, scale 0.471, 1 missing"
    );
    // Points between thousands, once a comma elsewhere says what a point is.
    let comma = "a: number with decimal comma, mean 3050, scale 2610";
    assert_eq!(kind(&["142,00", "7.116", "1.580", "3.362,00"]), comma);
    let amounts = ["CHF 1'000", "3\u{202f}000.00 CHF", "2\u{a0}000"];
    assert_eq!(kind(&amounts), "a: number, mean 2000, scale 816");
    let comma = "a: number with decimal comma, mean 1500, scale 500";
    assert_eq!(kind(&["1\u{a0}000,00 €", "2'000,00 EUR"]), comma);
    assert_eq!(kind(&["12:00", "13:00:00"]), "a: time of day in seconds, mean 45000, scale 1800");
    assert_eq!(
        kind(&["12:00", "9:00 am", "late"]),
        "a: time of day in seconds, mean 37800, scale 5400, 1 missing (1 other text)"
    );
    assert_eq!(kind(&["12.6K", "7K"]), "a: 2 categories, none of 2 records or more, left out");
    assert_eq!(kind(&["7.116", "1.58", "9"]), "a: number, mean 5.90, scale 3.15");
    assert_eq!(kind(&["1,5", "2.5"]), "a: 2 categories, none of 2 records or more, left out");
    assert_eq!(kind(&["", "NA", "none"]), "a: no values");
    assert_eq!(kind(&["x", "y"]), "a: 2 categories, none of 2 records or more, left out");
    assert_eq!(kind(&["2024-01-01", "2024-01-03"]), "a: time, mean 2024-01-02, scale 1.00 days");
    assert_eq!(
        kind(&["01/02/2024 10:00", "01/13/2024 11:30"]),
        "a: time, mean 2024-01-07, scale 5.53 days"
    );
    let twice = ["01/02/2024 10:00", "01/13/2024 11:30", "01/02/2024 10:00", "01/13/2024 11:30"];
    assert_eq!(kind(&twice), "a: time, mean 2024-01-07, scale 5.53 days, weekday, hour");
    assert_eq!(kind(&["01/02/2024", "02/02/2024", "01/02/2024"]), "a: 2 categories, 1 rare merged");
    assert_eq!(kind(&["a b c d", "a b c d e", "f g h i"]), "a: text, words hashed to 1024 numbers");
    assert_eq!(kind(&["a b c d", "a b c d", "f g h i"]), "a: 2 categories, 1 rare merged");
    assert_eq!(kind(&["1e400", "1e400"]), "a: 1 category");
    assert_eq!(kind(&["1e300", "-1e300"]), "a: number, mean 0, scale 1.00e300");
}

/// One cell in ten may be something else, and words for no value count for nothing.
#[test]
fn stray_texts_count_as_missing() {
    let kind = |cells: &[(&str, usize)], k| {
        let lines: String =
            cells.iter().map(|(cell, times)| format!("\"{cell}\",0\n").repeat(*times)).collect();
        let rows = csv(&format!("a,y\n{lines}"));
        let rules = Rules { min_records: k, ..Rules::default() };
        Fitted::fit(&rows, &rules).unwrap().describe()[0].clone()
    };
    let numbers = "a: number, mean 4.50, scale 3.50, 2 missing (2 other texts)";
    assert_eq!(kind(&[("1", 9), ("8", 9), ("12 kg", 1), ("ca. 5", 1)], 2), numbers);
    assert_eq!(kind(&[("1", 9), ("8", 9), (">10", 1), ("x", 1)], 1), numbers);
    let one = kind(&[("1", 9), ("8", 9), ("x", 1), ("?", 1), ("NULL", 70)], 2);
    assert_eq!(one, "a: number, mean 4.50, scale 3.50, 72 missing (1 other text)");
    assert_eq!(kind(&[("1", 9), ("8", 8), ("4+", 2)], 2), "a: 3 categories");
    assert_eq!(kind(&[("unknown", 5), ("n.a.", 5)], 2), "a: 1 category, 5 missing");
    assert_eq!(
        kind(&[("1.5", 18), ("2.5", 18), ("3,5", 4)], 2).split(',').next(),
        Some("a: number")
    );
    // Numbers that few records share would be lost as categories.
    let many: Vec<String> = (0..8).map(|at| format!("{at}.25")).collect();
    let mut cells: Vec<(&str, usize)> = many.iter().map(|cell| (cell.as_str(), 1)).collect();
    cells.push(("<0.1", 7));
    let half = "a: number, mean 3.75, scale 2.29, 7 missing (7 other texts)";
    assert_eq!(kind(&cells, 2), half);
    assert_eq!(kind(&cells, 1), half);
    cells.push(("none at all", 1));
    assert_eq!(kind(&cells, 2), "a: 10 categories, 9 rare merged");

    let day = "a: time, mean 2024-02-05, scale 5.00 days, 1 missing (1 other text)";
    let days = [("31/01/2024", 10), ("10/02/2024", 10)];
    assert_eq!(kind(&[days[0], days[1], ("soon", 1)], 99), day);
    assert_eq!(
        kind(&[days[0], days[1], ("01/31/2024", 1), ("n/a", 3)], 99),
        day.replace("1 missing", "4 missing")
    );
    assert!(kind(&[("31/01/2024", 9), ("01/31/2024", 5)], 2).contains("categories"));
    assert_eq!(
        kind(&[("Jan 31 2024", 1), ("31-01-2024", 1), ("2024-01-31", 1), ("January 2024", 3)], 99),
        "a: time, mean 2024-01-16, scale 15.0 days"
    );
}

/// Numbers that come again beside other texts that do, too, are names: categories beside the number.
#[test]
fn codes_are_numbers_and_categories() {
    let of = |cells: &[(&str, usize)]| {
        let lines = cells.iter().map(|(cell, times)| format!("\"{cell}\",0\n").repeat(*times));
        let rows = csv(&format!("a,y\n{}", lines.collect::<String>()));
        (Fitted::fit(&rows, &rules()).unwrap(), rows)
    };
    let cells = [("17", 9), ("7.0", 9), ("12A", 2), ("33", 1), ("null", 1)];
    let (fitted, rows) = of(&cells);
    let line = "a: number, mean 13.1, scale 6.76, also 3 categories, 3 missing (2 other texts)";
    assert_eq!(fitted.describe()[0], line);
    assert_eq!(names(&fitted), ["a", "a=12A", "a=17", "a=7.0", "a=other", "a=missing"]);
    let encoded = encoded(&fitted, &rows);
    assert_eq!(encoded[0][1..], [0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(encoded[18], [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(encoded[20][1..], [0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(encoded[21], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let json = serde_json::to_string(&fitted).unwrap();
    assert_eq!(serde_json::from_str::<Fitted>(&json).unwrap(), fitted);
    let mut strays = Vec::new();
    rows.iter().for_each(|row| fitted.count_unlike(row, &mut strays).unwrap());
    let (_, unknown) = of(&[("13A", 1)]);
    assert_eq!(strays[0].texts, 0);
    fitted.count_unlike(unknown.row(0), &mut strays).unwrap();
    assert_eq!(strays[0].texts, 1);
    // Nor do numbers that are measured become names, or those beside a text that one record has.
    let plain = |cells: &[(&str, usize)]| !of(cells).0.describe()[0].contains("also");
    assert!(plain(&[("17", 9), ("7.0", 9), ("12A", 1)]));
    let many: Vec<String> = (0..40).map(|at| format!("{at}.25")).collect();
    let mut cells: Vec<_> = many.iter().map(|cell| (cell.as_str(), 1)).collect();
    cells.push(("<0.1", 4));
    assert!(plain(&cells));
}

/// That a number or a time is missing is a number where enough records miss it; of categories always.
#[test]
fn few_missing_numbers_are_means_alone() {
    let rows = csv("n,d,w,y\n,,a,0\n,2024-01-02,,1\n3,2024-01-03,a,0\n5,2024-01-04,a,1\n");
    let of = |min_missing| {
        let fitted = Fitted::fit(&rows, &Rules { min_missing, ..rules() }).unwrap();
        let json = serde_json::to_string(&fitted).unwrap();
        assert_eq!(serde_json::from_str::<Fitted>(&json).unwrap(), fitted);
        (names(&fitted), encoded(&fitted, &rows))
    };
    assert_eq!(of(1).0, ["n", "n=missing", "d", "d=missing", "w=a", "w=missing"]);
    let (names, two) = of(2);
    assert_eq!(names, ["n", "n=missing", "d", "w=a", "w=missing"]);
    assert_eq!(two[0], [0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(of(3).1[1], [0.0, two[1][2], 0.0, 1.0]);
}

/// Of a number or time that few records have, where four in five miss it, nothing is learnt but that.
#[test]
fn what_few_records_have_is_not_learnt() {
    let lines = ["7.125,2024-05-06,1\n", "8.25,2024-05-07,0\n"].into_iter().chain([",,0\n"; 18]);
    let rows = csv(&format!("n,d,y\n{}", lines.collect::<String>()));
    let of = |min_missing| {
        let fitted = Fitted::fit(&rows, &Rules { min_missing, ..rules() }).unwrap();
        let json = serde_json::to_string(&fitted).unwrap();
        assert_eq!(serde_json::from_str::<Fitted>(&json).unwrap(), fitted);
        (fitted, json)
    };
    let (few, json) = of(3);
    assert_eq!(names(&few), ["n=missing", "d=missing"]);
    assert_eq!(encoded(&few, &rows)[1..3], [[0.0, 0.0], [1.0, 1.0]]);
    let left_out = "in fewer than 3 records, left out but for whether it is missing, 18 missing";
    let described = ["n: number", "d: time"].map(|column| format!("{column}, {left_out}"));
    assert_eq!(few.describe()[..2], described);
    for learnt in ["\"mean\":\"7.", "2024", "05"] {
        assert!(!json.contains(learnt), "{json}");
    }
    let other = json.replacen("\"mean\":\"0e0\"", "\"mean\":\"7.6875e0\"", 1);
    assert_ne!(other, json);
    assert!(serde_json::from_str::<Fitted>(&other).unwrap_err().to_string().contains("too few"));
    let text = csv("n,d,y\nno number,no time,0\n");
    assert_eq!(encoded(&few, &text), [[1.0, 1.0]]);
    let mut strays = Vec::new();
    few.count_unlike(text.row(0), &mut strays).unwrap();
    assert_eq!(strays.iter().map(|column| column.texts).collect::<Vec<_>>(), [1, 1]);
    // Enough have one; too few miss it; more than one in five have one.
    assert_eq!(names(&of(2).0)[..2], ["n", "n=missing"]);
    assert_eq!(names(&of(19).0), ["n", "d"]);
    let half = csv("n,y\n1,0\n2,1\n,0\n,1\n,1\n");
    let rules = Rules { min_missing: 3, ..rules() };
    assert_eq!(names(&Fitted::fit(&half, &rules).unwrap()), ["n", "n=missing"]);
}

/// A day that several records have is a category as well, unless its year or the like tells it.
#[test]
fn days_that_come_again_are_categories() {
    let of = |cells: &[&str]| {
        let lines: String = cells.iter().map(|cell| format!("{cell},0\n")).collect();
        let rows = csv(&format!("a,y\n{lines}"));
        (Fitted::fit(&rows, &rules()).unwrap(), rows)
    };
    let days = ["2024-01-02", "2024/01/02", "2024-01-09", "2024-01-09", "2024-01-16"];
    let (fitted, rows) = of(&days);
    assert_eq!(names(&fitted), ["a", "a=2024-01-02", "a=2024-01-09", "a=other"]);
    let rows = encoded(&fitted, &rows);
    assert_eq!(rows[1][1..], [1.0, 0.0, 0.0]);
    assert_eq!(rows[4][1..], [0.0, 0.0, 1.0]);
    let json = serde_json::to_string(&fitted).unwrap();
    assert_eq!(serde_json::from_str::<Fitted>(&json).unwrap(), fitted);
    // No two alike, all alike, and told apart by the weekday.
    for days in [vec!["2024-01-02", "2024-01-09"], ["2024-01-02"].repeat(4)] {
        assert_eq!(names(&of(&days).0), ["a"]);
    }
    let weekdays = ["a", "a weekday=tue", "a weekday=wed"];
    assert_eq!(names(&of(&["2024-01-02", "2024-01-03"].repeat(2)).0), weekdays);
}

/// More than 65,536 times are no categories, however many records share some of them; one fewer, and those
/// are. Neither the number of threads nor the order of rows has a part in it.
#[test]
fn very_many_times_are_numbers_alone() {
    let of = |times: u32| {
        let shared = (0..10).chain(0..times);
        let mut lines: Vec<String> = shared
            .map(|at| {
                format!(
                    "2024-01-{:02} {:02}:{:02}:{:02},0\n",
                    1 + at / 86_400,
                    at / 3600 % 24,
                    at / 60 % 60,
                    at % 60
                )
            })
            .collect();
        let all = |lines: &[String]| csv(&format!("a,y\n{}", lines.concat()));
        let one = Fitted::fit_with(&all(&lines), &rules(), NonZero::<usize>::MIN).unwrap();
        lines.reverse();
        let other = Fitted::fit_with(&all(&lines), &rules(), NonZero::new(7).unwrap()).unwrap();
        assert_eq!(one, other);
        one.describe()[0].contains("also 10 categories")
    };
    assert!(of(65_536));
    assert!(!of(65_537));
}

/// Years are categories beside the number of days, where there are few.
#[test]
fn few_years_are_categories() {
    let of = |years: std::ops::Range<u32>| {
        let lines: String = years.map(|year| format!("{year}-01-01,0\n").repeat(2)).collect();
        let rows = csv(&format!("a,y\n{lines}"));
        let fitted = Fitted::fit(&rows, &rules()).unwrap();
        (names(&fitted), encoded(&fitted, &rows))
    };
    let (names, rows) = of(2001..2004);
    assert_eq!(names[..4], ["a", "a year=2001", "a year=2002", "a year=2003"]);
    assert_eq!(rows[2][1..4], [0.0, 1.0, 0.0]);
    assert!(of(2000..2024).0.iter().any(|name| name.starts_with("a year")));
    assert!(!of(2000..2025).0.iter().any(|name| name.starts_with("a year")));
}

#[test]
fn very_many_categories_are_hashed() {
    let mut text = "a,y\n".to_owned();
    (0..100_000).for_each(|at| text += &format!("c{},{}\n", at / 2, at % 2));
    let rows = csv(&text);
    let fitted = Fitted::fit(&rows, &Rules { min_records: 1, ..Rules::default() }).unwrap();
    assert_eq!((fitted.width(), fitted.sparse()), (1024, true));
    assert_eq!(fitted.describe()[0], "a: 50000 categories, hashed to 1024 numbers");
    let mut row = fitted.buffer();
    fitted.encode(rows.row(99_999), &mut row).unwrap();
    assert_eq!(row.features().values().len(), 1);
    let rare = Fitted::fit(&rows, &Rules::default()).unwrap();
    assert_eq!((rare.width(), rare.sparse()), (0, false));
}

/// A time of day is the number that typed tables have for it, and is read back from what was learned.
#[test]
fn times_of_day_are_seconds() {
    let rows = csv("a,y\n12:00,0\n13:00,0\n\"1:00 pm\",1\n43200,0\n12:00,0\n13:00:00.0,1\n\
                    12:00,0\n13:00,0\n12:00,1\n13:00,1\n");
    let fitted = Fitted::fit(&rows, &rules()).unwrap();
    assert_eq!(fitted.describe()[0], "a: time of day in seconds, mean 45000, scale 1800");
    let json = serde_json::to_string(&fitted).unwrap();
    let again: Fitted = serde_json::from_str(&json).unwrap();
    for (row, half) in [-1.0_f32, 1.0, 1.0, -1.0, -1.0, 1.0].into_iter().enumerate() {
        assert_eq!(encoded(&again, &rows)[row][0], half, "{row}");
    }
}

//! Small tables made by a fixed rule.

use std::fmt::Write;

/// A generator of test data with a fixed seed (splitmix64).
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [-1, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }
}

/// What the label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// 0 or 1.
    Two,
    /// a, b or c.
    Three,
    /// A number in [-10, 10].
    Number,
}

/// Column names of every table here.
pub(crate) const COLUMNS: &str = "id,user,x1,x2,x3,x4,y";

/// A table with header: records `r{first}`.. of users `u0`.., five records each.
pub(crate) fn table(label: Label, first: usize, rows: usize) -> String {
    let mut text = format!("{COLUMNS}\n");
    let mut draws = Draws::new(17 + first as u64);
    for row in first..first + rows {
        text.push_str(&record(label, &format!("r{row}"), &format!("u{}", row / 5), &mut draws));
    }
    text
}

/// One row, with its line end.
pub(crate) fn record(label: Label, id: &str, user: &str, draws: &mut Draws) -> String {
    let x: Vec<f64> = (0..4).map(|_| draws.unit() * 0.5).collect();
    let score = 2.0 * x[0] - x[1] + 0.25 * draws.unit();
    let y = match label {
        Label::Two => if score > 0.0 { "1" } else { "0" }.to_owned(),
        Label::Three if score < -0.3 => "a".to_owned(),
        Label::Three if score < 0.3 => "b".to_owned(),
        Label::Three => "c".to_owned(),
        Label::Number => format!("{:.4}", 5.0 * score),
    };
    let mut line = format!("{id},{user}");
    for value in x {
        write!(line, ",{value:.5}").unwrap();
    }
    writeln!(line, ",{y}").unwrap();
    line
}

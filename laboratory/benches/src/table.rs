//! Tables of results in Markdown.

/// Rows of cells under a head.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Appends a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table as text, columns aligned.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            self.rows.iter().filter_map(|row| row.get(c)).map(|s| s.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0).max(3)).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            for (c, width) in widths.iter().enumerate() {
                let cell = row.get(c).map_or("", String::as_str);
                let gap = " ".repeat(width - cell.chars().count());
                text.push_str(&format!("| {cell}{gap} "));
            }
            text.push_str("|\n");
            if index == 0 {
                for width in &widths {
                    text.push_str(&format!("|{}", "-".repeat(width + 2)));
                }
                text.push_str("|\n");
            }
        }
        text
    }
}

/// Seconds as milliseconds with three digits.
pub(crate) fn ms(seconds: f64) -> String {
    match seconds * 1e3 {
        t if t >= 100.0 => format!("{t:.0} ms"),
        t if t >= 10.0 => format!("{t:.1} ms"),
        t => format!("{t:.2} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["a", "b"]);
        table.row(["longer", "1"]);
        let lines: Vec<String> = table.render().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "| a      | b   |");
        assert_eq!(lines[1], "|--------|-----|");
        assert_eq!(lines[2], "| longer | 1   |");
    }
}

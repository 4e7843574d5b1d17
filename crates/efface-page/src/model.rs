//! The parts of a page.

/// A title and sections. Texts are plain; what stands between backticks is code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub(crate) title: String,
    pub(crate) of: String,
    pub(crate) sections: Vec<Section>,
}

/// A heading, which may be empty, and what stands under it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    pub(crate) heading: String,
    pub(crate) folded: bool,
    pub(crate) blocks: Vec<Block>,
}

/// One piece of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    /// Text that is wrapped to the page.
    Text(String),
    /// A line that is never broken: names of files, hashes, text to copy from a terminal.
    Line(String),
    Notice(Tone, String, String),
    /// Points, which may have names.
    List(Vec<Item>),
    /// Names, each above what it means.
    Terms(Vec<Item>),
    /// Pairs of a name and its value.
    Facts(Vec<(String, String)>),
    Table(Table),
    /// A picture as SVG, and its caption.
    Figure(String, String),
}

/// How a notice is meant. Its words say all of it; a colour says nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A good result.
    Good,
    /// Nothing here may be relied on.
    Bad,
    /// Something worth knowing.
    Note,
}

/// A point of a list, or a term.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) more: Vec<String>,
}

/// Rows of cells under named columns; the first cell of a row names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub(crate) caption: String,
    /// Names of the columns, without the sign of alignment.
    pub head: Vec<String>,
    pub(crate) right: Vec<bool>,
    /// Rows of as many cells as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// Returns a page without sections.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds the subject, which browsers show next to the title of a window.
    #[must_use]
    pub fn of(self, what: impl Into<String>) -> Self {
        Self { of: what.into(), ..self }
    }

    /// Adds one more section, unless nothing is in it.
    #[must_use]
    pub fn with(mut self, section: Section) -> Self {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
        self
    }

    /// Adds more sections, unless nothing is in them.
    #[must_use]
    pub fn with_all(self, sections: impl IntoIterator<Item = Section>) -> Self {
        sections.into_iter().fold(self, Self::with)
    }
}

impl Section {
    /// Creates a section with a heading and no content.
    #[must_use]
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Folds the section: a browser shows it on request, and [`Page::brief`] leaves it out.
    #[must_use]
    pub fn folded(self) -> Self {
        Self { folded: true, ..self }
    }

    fn and(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Adds a paragraph of text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.and(Block::Text(text.into()))
    }

    /// Adds a line that is never broken.
    #[must_use]
    pub fn line(self, text: impl Into<String>) -> Self {
        self.and(Block::Line(text.into()))
    }

    /// Adds a line for each text.
    #[must_use]
    pub fn lines(self, texts: impl IntoIterator<Item = String>) -> Self {
        texts.into_iter().fold(self, Self::line)
    }

    /// Adds something that must not be missed.
    #[must_use]
    pub fn notice(self, tone: Tone, title: impl Into<String>, text: impl Into<String>) -> Self {
        self.and(Block::Notice(tone, title.into(), text.into()))
    }

    /// Adds a list of points, unless it is empty.
    #[must_use]
    pub fn list<T: Into<Item>>(self, items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<Item> = items.into_iter().map(Into::into).collect();
        if items.is_empty() { self } else { self.and(Block::List(items)) }
    }

    /// Adds names and what each means, unless there are none.
    #[must_use]
    pub fn terms<T: Into<Item>>(self, items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<Item> = items.into_iter().map(Into::into).collect();
        if items.is_empty() { self } else { self.and(Block::Terms(items)) }
    }

    /// Adds names and their values.
    #[must_use]
    pub fn facts<N: Into<String>, V: Into<String>>(
        self,
        facts: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let facts = facts.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.and(Block::Facts(facts.collect()))
    }

    /// Adds a table, unless it has no rows.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        if table.rows.is_empty() { self } else { self.and(Block::Table(table)) }
    }

    /// Adds a picture, an element `svg` without namespace that describes itself; pages of text leave it out.
    #[must_use]
    pub fn figure(self, svg: impl Into<String>, caption: impl Into<String>) -> Self {
        self.and(Block::Figure(svg.into(), caption.into()))
    }
}

impl Item {
    /// Creates an item of a name and its text.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), more: Vec::new() }
    }

    /// Adds more lines under it.
    #[must_use]
    pub fn more(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.more.extend(lines);
        self
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&String> for Item {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl<N: Into<String>, T: Into<String>> From<(N, T)> for Item {
    fn from((name, text): (N, T)) -> Self {
        Self::new(name, text)
    }
}

impl Table {
    /// Returns a table without rows. `>` before a name sets the column to the right.
    #[must_use]
    pub fn new(caption: impl Into<String>, head: &[&str]) -> Self {
        Self {
            caption: caption.into(),
            head: head.iter().map(|name| name.trim_start_matches('>').to_owned()).collect(),
            right: head.iter().map(|name| name.starts_with('>')).collect(),
            ..Self::default()
        }
    }

    /// Adds a row, a cell for each column.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds a row for each list of cells.
    #[must_use]
    pub fn rows<C: Into<String>, R: IntoIterator<Item = C>>(
        mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        rows.into_iter().for_each(|row| self.row(row));
        self
    }
}

//! A sink that keeps everything, and short ways to read bytes into it.

use efface_formats::{
    DenseRows, Features, Format, LabelRef, Layout, ReadOptions, Record, RowMap, RowMapMode, Sink,
    SinkError, Summary, read_from,
};

/// Everything a reader handed over.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Collected {
    pub(crate) names: Vec<String>,
    pub(crate) sparse: bool,
    pub(crate) rows: Vec<Vec<f32>>,
    pub(crate) entries: usize,
    pub(crate) labels: Vec<f64>,
    pub(crate) ids: Vec<String>,
    pub(crate) subjects: Vec<String>,
    pub(crate) weights: Vec<f64>,
    pub(crate) positions: Vec<u64>,
}

impl Sink for Collected {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        assert_eq!(layout.columns.len(), layout.width as usize);
        let all = 0..layout.columns.len().min(2000);
        self.names = all.map(|at| layout.columns.name(at).unwrap().into_owned()).collect();
        self.sparse = layout.sparse;
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        let row = match record.features {
            Features::Dense(values) => values.to_vec(),
            Features::Sparse { indices, values } => {
                assert!(indices.windows(2).all(|pair| pair[0] < pair[1]));
                let mut row = vec![0.0; self.names.len()];
                for (&at, &value) in indices.iter().zip(values) {
                    assert_ne!(value, 0.0);
                    row[at as usize] = value;
                }
                row
            }
        };
        self.entries += record.features.values().len();
        self.rows.push(row);
        self.positions.push(record.position);
        match record.label {
            Some(LabelRef::Class { index, name }) => {
                assert!(!name.is_empty());
                self.labels.push(f64::from(index));
            }
            Some(LabelRef::Value(value)) => self.labels.push(value),
            Some(LabelRef::Values(values)) => self.labels.extend_from_slice(values),
            None => {}
        }
        self.ids.extend(record.id.map(str::to_owned));
        self.subjects.extend(record.subject.map(str::to_owned));
        self.weights.extend(record.weight);
        Ok(())
    }
}

/// A sink that keeps everything, and takes all rows at once where they are offered, in two threads.
#[derive(Debug, Default)]
pub(crate) struct AtOnce {
    pub(crate) collected: Collected,
    /// How many rows were offered, and whether they were taken.
    pub(crate) offered: Option<(usize, bool)>,
}

impl Sink for AtOnce {
    fn begin(&mut self, layout: &Layout) -> Result<(), SinkError> {
        self.collected.begin(layout)
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), SinkError> {
        self.collected.record(record)
    }

    fn rows(&mut self, rows: &dyn DenseRows) -> Result<bool, SinkError> {
        let (width, count) = (self.collected.names.len(), rows.len());
        let mut taken = Collected { names: self.collected.names.clone(), ..Collected::default() };
        let told = rows.each_record(&mut |record| {
            assert!(record.features.values().is_empty());
            taken.record(record)
        })?;
        let mut values = vec![0.0; count * width];
        let (first, second) = values.split_at_mut(count / 2 * width);
        let write = |from: usize, places: &mut [f32]| {
            let mut writer = rows.writer();
            let places = places.chunks_exact_mut(width).enumerate();
            places.fold(true, |all, (at, row)| writer.write(from + at, row) && all)
        };
        let written = std::thread::scope(|scope| {
            let other = scope.spawn(|| write(count / 2, second));
            write(0, first) & other.join().unwrap()
        });
        self.offered = Some((count, told && written));
        if told && written {
            taken.rows = values.chunks_exact(width).map(<[f32]>::to_vec).collect();
            taken.entries = values.len();
            self.collected = taken;
        }
        Ok(told && written)
    }
}

/// Options that leave rows as they are, with label `y`.
pub(crate) fn plain() -> ReadOptions {
    ReadOptions {
        label: Some("y".into()),
        row_map: RowMap { mode: RowMapMode::Clip, norm: 1e300 },
        ..ReadOptions::default()
    }
}

/// Options that leave rows as they are and do not look at labels.
pub(crate) fn unlabelled() -> ReadOptions {
    ReadOptions { label: None, label_required: false, ..plain() }
}

/// Reads bytes of a known format.
pub(crate) fn collect(
    format: Format,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Collected, Summary), String> {
    let mut collected = Collected::default();
    let name = format!("data.{format}");
    read_from(&name, bytes, Some(format), options, &mut collected)
        .map(|summary| (collected, summary))
        .map_err(|error| error.to_string())
}

/// The error of reading bytes of a known format.
pub(crate) fn refused(format: Format, bytes: &[u8], options: &ReadOptions) -> String {
    match collect(format, bytes, options) {
        Ok((collected, _)) => panic!("was read: {collected:?}"),
        Err(message) => message,
    }
}

//! What an objective needs of one data set: sums over its records.

use std::sync::atomic::{AtomicU64, Ordering};

use efface_matrix::{
    GROUP, Link, Products, Refusal, Totals, TwiceTotals, curvature_pass, fused_pass,
    mapped_margins, twice_totals, weighted_block_gram_onto, weighted_gram_onto,
};
use faer::Mat;

use crate::dataset::Dataset;
use crate::loss::{Loss, RecordCurvature, RecordLoss, Visitor, visit};

/// The link on the records of a data set: each record's value and derivative times its weight.
struct Weighted<'a, L> {
    loss: L,
    outputs: usize,
    targets: &'a [f64],
    weights: &'a [f64],
}

impl<L: RecordLoss> Link for Weighted<'_, L> {
    fn outputs(&self) -> usize {
        self.outputs
    }

    #[inline(always)]
    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        let weight = self.weights[row];
        let value = self.loss.record(self.targets[row], margins, coefficients);
        for coefficient in coefficients {
            *coefficient *= weight;
        }
        weight * value
    }

    #[inline(always)]
    fn group(
        &self,
        first: usize,
        margins: &[f64; GROUP],
        coefficients: &mut [f64; GROUP],
    ) -> [f64; GROUP] {
        let own = first..first + GROUP;
        let (Some((targets, _)), Some((weights, _))) = (
            self.targets[own.clone()].split_first_chunk(),
            self.weights[own].split_first_chunk::<GROUP>(),
        ) else {
            unreachable!("as many as asked for")
        };
        let mut values = self.loss.group(targets, margins, coefficients);
        for i in 0..GROUP {
            coefficients[i] *= weights[i];
            values[i] *= weights[i];
        }
        values
    }
}

/// One pass over a data set at these weights.
struct Pass<'a> {
    data: &'a Dataset,
    outputs: usize,
    weights: &'a [f64],
}

impl Visitor for Pass<'_> {
    type Output = Result<Totals, Refusal>;

    fn link<L: RecordLoss>(self, loss: L) -> Self::Output {
        let (targets, weights) = (self.data.y(), self.data.sample_weights());
        let link = Weighted { loss, outputs: self.outputs, targets, weights };
        fused_pass(self.data.x(), self.weights, &link)
    }
}

/// A [`Pass`] with margins and sums in twice the precision.
struct TwicePass<'a>(Pass<'a>);

impl Visitor for TwicePass<'_> {
    type Output = Result<TwiceTotals, Refusal>;

    fn link<L: RecordLoss>(self, loss: L) -> Self::Output {
        let Pass { data, outputs, weights } = self.0;
        let (targets, sample_weights) = (data.y(), data.sample_weights());
        twice_totals(data.x(), weights, outputs, |row, margins, corrections, coefficients| {
            let weight = sample_weights[row];
            let value = loss.record_twice(targets[row], margins, corrections, coefficients);
            coefficients.iter_mut().for_each(|c| *c *= weight);
            weight * value
        })
    }
}

/// A [`Pass`] for the curvature of every record.
struct Bends<'a>(Pass<'a>);

impl Visitor for Bends<'_> {
    type Output = Result<RecordCurvature, Refusal>;

    fn link<L: RecordLoss>(self, loss: L) -> Self::Output {
        let Pass { data, outputs, weights } = self.0;
        let (targets, sample_weights) = (data.y(), data.sample_weights());
        let bent = mapped_margins(data.x(), weights, outputs, |row, margins| {
            loss.bend(margins, targets[row], sample_weights[row]);
        })?;
        Ok(loss.curvature(bent, sample_weights))
    }
}

/// A [`Pass`] that also notes how each record bends.
struct BentPass<'a>(Pass<'a>);

impl Visitor for BentPass<'_> {
    type Output = Result<(Totals, RecordCurvature), Refusal>;

    fn link<L: RecordLoss>(self, loss: L) -> Self::Output {
        let Pass { data, outputs, weights } = self.0;
        let (targets, sample_weights) = (data.y(), data.sample_weights());
        let bent: Vec<AtomicU64> = (0..data.rows() * outputs).map(|_| AtomicU64::new(0)).collect();
        let inner = Weighted { loss, outputs, targets, weights: sample_weights };
        let totals = fused_pass(data.x(), weights, &Bending { inner: &inner, bent: &bent })?;
        let bent = bent.into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect();
        Ok((totals, inner.loss.curvature(bent, sample_weights)))
    }
}

/// A link that notes how each record bends; each is noted once, by some thread.
struct Bending<'a, L> {
    inner: &'a Weighted<'a, L>,
    bent: &'a [AtomicU64],
}

impl<L: RecordLoss> Bending<'_, L> {
    #[inline(always)]
    fn note(&self, row: usize, margins: &[f64]) {
        let (mut few, mut many) = ([0.0; 16], Vec::new());
        let bent = match few.get_mut(..margins.len()) {
            Some(few) => few,
            None => {
                many.resize(margins.len(), 0.0);
                &mut many[..]
            }
        };
        bent.copy_from_slice(margins);
        self.inner.loss.bend(bent, self.inner.targets[row], self.inner.weights[row]);
        for (place, bent) in self.bent[row * margins.len()..].iter().zip(bent) {
            place.store(bent.to_bits(), Ordering::Relaxed);
        }
    }
}

impl<L: RecordLoss> Link for Bending<'_, L> {
    fn outputs(&self) -> usize {
        self.inner.outputs()
    }

    #[inline(always)]
    fn record(&self, row: usize, margins: &[f64], coefficients: &mut [f64]) -> f64 {
        self.note(row, margins);
        self.inner.record(row, margins, coefficients)
    }

    #[inline(always)]
    fn group(
        &self,
        first: usize,
        margins: &[f64; GROUP],
        coefficients: &mut [f64; GROUP],
    ) -> [f64; GROUP] {
        for (row, margin) in (first..).zip(margins) {
            self.note(row, &[*margin]);
        }
        self.inner.group(first, margins, coefficients)
    }
}

impl Dataset {
    /// Loss and gradient, each record's times its weight, summed over the records by one pass in
    /// float64.
    ///
    /// # Errors
    /// Fails if `weights` has not one entry per parameter.
    pub fn totals(&self, loss: Loss, weights: &[f64]) -> Result<Totals, Refusal> {
        visit(loss, Pass { data: self, outputs: loss.outputs(), weights })
    }

    /// Sums as [`totals`](Self::totals) does, with margins and the sums of gradients in twice the precision:
    /// two to five times the work.
    ///
    /// # Errors
    /// Fails if `weights` has not one entry per parameter.
    pub fn totals_twice(&self, loss: Loss, weights: &[f64]) -> Result<Totals, Refusal> {
        Ok(self.sums_twice(loss, weights)?.round())
    }

    /// Sums as [`totals_twice`](Self::totals_twice) does, before the gradient is rounded.
    ///
    /// # Errors
    /// Fails if `weights` has not one entry per parameter.
    pub(super) fn sums_twice(&self, loss: Loss, weights: &[f64]) -> Result<TwiceTotals, Refusal> {
        visit(loss, TwicePass(Pass { data: self, outputs: loss.outputs(), weights }))
    }

    /// Returns the curvature of every record at `weights`, times its weight, by one pass over the data.
    ///
    /// # Errors
    /// Fails if `weights` has not one entry per parameter.
    pub fn curvature(&self, loss: Loss, weights: &[f64]) -> Result<RecordCurvature, Refusal> {
        visit(loss, Bends(Pass { data: self, outputs: loss.outputs(), weights }))
    }

    /// Computes [`totals`](Self::totals) and [`curvature`](Self::curvature), to the bit, by one pass.
    ///
    /// # Errors
    /// Fails as there.
    pub(super) fn totals_and_curvature(
        &self,
        loss: Loss,
        weights: &[f64],
    ) -> Result<(Totals, RecordCurvature), Refusal> {
        visit(loss, BentPass(Pass { data: self, outputs: loss.outputs(), weights }))
    }

    /// Returns the second derivatives of the losses, summed over the records: P x P, lower triangle filled.
    ///
    /// # Errors
    /// Fails if the curvature is not that of this data set, or the matrix does not fit in memory.
    pub fn hessian(&self, curvature: &RecordCurvature) -> Result<Mat<f64>, Refusal> {
        self.hessian_in(curvature, Products::Double)
    }

    /// Computes the same by products of a kind.
    pub(super) fn hessian_in(
        &self,
        curvature: &RecordCurvature,
        products: Products,
    ) -> Result<Mat<f64>, Refusal> {
        let outputs = match curvature {
            RecordCurvature::Equal { outputs, .. } => *outputs,
            RecordCurvature::Scalar(_) | RecordCurvature::Classes { .. } => 1,
        };
        Ok(spread(self.gram_onto(None, curvature, products)?, outputs))
    }

    /// Adds the same to the Hessian of earlier records, if one is given; of one margin alone if all bend
    /// equally.
    pub(super) fn gram_onto(
        &self,
        sum: Option<Mat<f64>>,
        curvature: &RecordCurvature,
        products: Products,
    ) -> Result<Mat<f64>, Refusal> {
        match curvature {
            RecordCurvature::Scalar(s) | RecordCurvature::Equal { weights: s, .. } => {
                weighted_gram_onto(sum, self.x(), s, products)
            }
            RecordCurvature::Classes { classes, probabilities } => {
                weighted_block_gram_onto(sum, self.x(), *classes, probabilities, products)
            }
        }
    }

    /// Returns the blocks of [`hessian`](Self::hessian) that couple no classes, each d x d, lower triangle
    /// filled, by products of a kind; `None` if the curvature is not that of several classes.
    ///
    /// # Errors
    /// Fails as [`hessian`](Self::hessian) does.
    pub(crate) fn class_blocks(
        &self,
        curvature: &RecordCurvature,
        products: Products,
    ) -> Result<Option<Vec<Mat<f64>>>, Refusal> {
        self.class_blocks_onto(None, curvature, products)
    }

    /// Adds the same to the blocks of earlier records, if they are given.
    pub(super) fn class_blocks_onto(
        &self,
        sums: Option<Vec<Mat<f64>>>,
        curvature: &RecordCurvature,
        products: Products,
    ) -> Result<Option<Vec<Mat<f64>>>, Refusal> {
        let RecordCurvature::Classes { classes, probabilities } = curvature else {
            return Ok(None);
        };
        let of_class = |class: usize| -> Vec<f64> {
            let records = probabilities.chunks_exact(*classes);
            let weight = |p: &[f64]| match p.iter().sum::<f64>() {
                0.0 => 0.0,
                sum => p[class] * ((sum - p[class]) / sum),
            };
            records.map(weight).collect()
        };
        let mut blocks: Vec<Mat<f64>> = Vec::with_capacity(*classes);
        let mut before = Vec::new();
        let mut sums = sums.map(Vec::into_iter);
        for class in 0..*classes {
            let weights = of_class(class);
            // They are equal at zeros, the start of training.
            let block = match (blocks.last(), &mut sums) {
                (Some(last), None) if weights == before => last.clone(),
                (_, None) => weighted_gram_onto(None, self.x(), &weights, products)?,
                (_, Some(sums)) => weighted_gram_onto(sums.next(), self.x(), &weights, products)?,
            };
            blocks.push(block);
            before = weights;
        }
        Ok(Some(blocks))
    }

    /// Returns the matrix of [`hessian`](Self::hessian) times `vector`, by one pass over the data.
    ///
    /// # Errors
    /// Fails if `vector` has not one entry per parameter.
    pub fn product(
        &self,
        loss: Loss,
        curvature: &RecordCurvature,
        vector: &[f64],
    ) -> Result<Vec<f64>, Refusal> {
        let (x, outputs) = (self.x(), loss.outputs());
        match curvature {
            RecordCurvature::Scalar(s) => curvature_pass(x, vector, outputs, |row, m, out| {
                out[0] = s[row] * m[0];
            }),
            RecordCurvature::Classes { classes, probabilities } => {
                curvature_pass(x, vector, outputs, |row, m, out| {
                    let p = &probabilities[row * classes..(row + 1) * classes];
                    let weight = self.sample_weights()[row];
                    if weight == 0.0 {
                        return;
                    }
                    let mean = p.iter().zip(m).map(|(p, m)| p * m).sum::<f64>() / weight;
                    for ((out, p), m) in out.iter_mut().zip(p).zip(m) {
                        *out = p * (m - mean);
                    }
                })
            }
            RecordCurvature::Equal { weights, .. } => {
                curvature_pass(x, vector, outputs, |row, m, out| {
                    out.iter_mut().zip(m).for_each(|(out, m)| *out = weights[row] * m);
                })
            }
        }
    }
}

/// Repeats a block for each of so many uncoupled outputs.
pub(super) fn spread(block: Mat<f64>, outputs: usize) -> Mat<f64> {
    if outputs <= 1 {
        return block;
    }
    let cols = block.ncols();
    Mat::from_fn(cols * outputs, cols * outputs, |i, j| {
        if i / cols == j / cols && i >= j { block[(i % cols, j % cols)] } else { 0.0 }
    })
}

impl RecordCurvature {
    /// Returns the number of blocks on a side of the sum, each with a row per column of the data.
    pub(super) fn blocks(&self) -> usize {
        self.classes().unwrap_or(1)
    }

    /// Returns the number of classes, if margins bend together.
    pub(super) fn classes(&self) -> Option<usize> {
        match self {
            Self::Classes { classes, .. } => Some(*classes),
            Self::Scalar(_) | Self::Equal { .. } => None,
        }
    }
}

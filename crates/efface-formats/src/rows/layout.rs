//! Which columns rows are made of: those of a schema, of a given frame, or of the table itself.

use std::borrow::Cow;

use super::RowMaker;
use crate::error::{Fault, ReadError, absent, fault, other_rows, other_shape, other_width};
use crate::fitted::{Declared, Frame, FrameColumn, FrameRequest};
use crate::options::ReadOptions;
use crate::schema::{Body, Kind, Matrix, Origin, RowEncoder, Schema};

/// What a given frame calls its columns in messages.
const ROLE: &str = "a feature of the model";

/// Returns the schema of an array that comes without one.
pub(crate) fn implied(width: usize, divide: f64) -> Matrix {
    Matrix { width: width as u32, origin: Origin::Default, first: 0, divide }
}

/// Returns what makes rows of an array without names, as the options want them; `found` is what the table
/// itself says.
pub(crate) fn array(
    file: &str,
    found: Matrix,
    is_sparse: bool,
    options: &ReadOptions,
) -> Result<RowMaker, ReadError> {
    let here = |fault: Fault| ReadError::of_file(file, fault);
    let Some(request) = &options.frame else {
        let schema = match &options.schema {
            Some(schema) => schema.clone(),
            None => Schema::matrix(found)?,
        };
        let (got, expected) = (u64::from(found.width), RowEncoder::new(&schema).columns().len());
        return match got == expected as u64 {
            true => Ok(RowMaker::encoded(schema, is_sparse)),
            false => Err(here(other_width(got, expected as u64))),
        };
    };
    let (matrix, sparse) = match (request, options.schema.as_ref().map(Schema::body)) {
        (FrameRequest::Given(Frame::Columns(_)), _) => {
            return Err(here(other_rows("named columns", "an array without names")));
        }
        (&FrameRequest::Given(Frame::Matrix { width, first, sparse, divide }), _) => {
            (Matrix { width, first, divide, ..found }, sparse)
        }
        (FrameRequest::New, Some(Body::Columns { .. })) => {
            return Err(here(other_shape("named columns", "an array without names")));
        }
        (FrameRequest::New, Some(Body::Matrix(matrix))) => (*matrix, is_sparse),
        (FrameRequest::New, None) => (found, is_sparse),
    };
    let Matrix { width, first, divide, .. } = matrix;
    if width != found.width {
        return Err(here(other_width(found.width.into(), width.into())));
    }
    let frame = Frame::Matrix { width, first, sparse, divide };
    Ok(RowMaker::raw(Schema::matrix(matrix)?, frame, &options.missing))
}

/// Returns the columns of raw rows of a table with these names, and the position of each. A new frame has the
/// columns at the places `features`, as schema or table declare them.
pub(crate) fn columns(
    file: &str,
    names: &[String],
    options: &ReadOptions,
    request: &FrameRequest,
    features: &[usize],
    declared: impl Fn(usize) -> Option<Declared>,
) -> Result<(Vec<FrameColumn>, Vec<usize>), ReadError> {
    match request {
        FrameRequest::Given(frame) => {
            let columns = given_columns(file, frame)?;
            Ok((columns.to_vec(), places(file, columns, names)?))
        }
        FrameRequest::New => {
            let column = |&at: &usize| {
                let name = names.get(at).cloned().unwrap_or_default();
                let stated = options.schema.as_ref().and_then(|schema| declared_in(schema, &name));
                FrameColumn { name, declared: stated.or_else(|| declared(at)) }
            };
            Ok((features.iter().map(column).collect(), features.to_vec()))
        }
    }
}

/// Returns the columns of a given frame; an array is refused.
fn given_columns<'f>(file: &str, frame: &'f Frame) -> Result<&'f [FrameColumn], ReadError> {
    match frame {
        Frame::Columns(columns) => Ok(columns),
        Frame::Matrix { .. } => {
            let fault = other_rows("numbers without names", "named columns");
            Err(ReadError::of_file(file, fault))
        }
    }
}

/// Returns what a schema declares a column to be.
fn declared_in(schema: &Schema, column: &str) -> Option<Declared> {
    match schema.columns().iter().find(|other| other.name == column)?.kind {
        Kind::Numeric(_) => Some(Declared::Number),
        Kind::Categorical { .. } | Kind::Hashed { .. } => Some(Declared::Category),
        Kind::Label | Kind::Id | Kind::Subject | Kind::Weight | Kind::Ignored => None,
    }
}

/// Returns the columns of a given frame among the names of a table, in the frame's order.
fn places(file: &str, columns: &[FrameColumn], names: &[String]) -> Result<Vec<usize>, ReadError> {
    let place = |column: &FrameColumn| {
        names
            .iter()
            .position(|name| *name == column.name)
            .ok_or_else(|| ReadError::of_file(file, absent(&column.name, ROLE, names)))
    };
    columns.iter().map(place).collect()
}

/// Returns the options for reading named columns. Those of a given frame are features, and columns without a
/// role are left out.
pub(crate) fn options_for<'o>(
    file: &str,
    names: &[String],
    options: &'o ReadOptions,
) -> Result<Cow<'o, ReadOptions>, ReadError> {
    let Some(FrameRequest::Given(frame)) = &options.frame else {
        return Ok(Cow::Borrowed(options));
    };
    let columns = given_columns(file, frame)?;
    places(file, columns, names)?;
    let mut options = ReadOptions { schema: None, ..options.clone() };
    let usual = options.usual_id.take().filter(|id| names.contains(id));
    options.id = options.id.or(usual);
    let is_feature = |name: &str| columns.iter().any(|column| column.name == name);
    if let Some((column, kind)) = options.roles().find(|(name, _)| is_feature(name)) {
        let role = kind.name();
        let fault =
            fault!("column `{column}` is a feature of the model, but {role} in the options");
        return Err(ReadError::of_file(file, fault));
    }
    let has_role = |name: &str| options.roles().any(|(column, _)| column == name);
    let others: Vec<String> =
        names.iter().filter(|name| !is_feature(name) && !has_role(name)).cloned().collect();
    options.ignore.extend(others);
    Ok(Cow::Owned(options))
}

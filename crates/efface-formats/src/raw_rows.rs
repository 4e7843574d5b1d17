//! Raw rows in place of encoded ones: which columns they are made of, and what reading them shares.

use crate::error::{Fault, Place, ReadError, absent, fault, other_rows, other_shape, other_width};
use crate::fitted::{Declared, Frame, FrameColumn, FrameRequest};
use crate::options::ReadOptions;
use crate::schema::{Body, Kind, Matrix, Schema};

/// What a given frame calls its columns in messages.
const ROLE: &str = "a feature of the model";

/// What a schema declares a column to be.
pub(crate) fn declared_in(schema: &Schema, column: &str) -> Option<Declared> {
    match schema.columns().iter().find(|other| other.name == column)?.kind {
        Kind::Numeric(_) => Some(Declared::Number),
        Kind::Categorical { .. } | Kind::Hashed { .. } => Some(Declared::Category),
        Kind::Label | Kind::Id | Kind::Subject | Kind::Weight | Kind::Ignored => None,
    }
}

/// The columns of a given frame among the names of a table, in the frame's order.
pub(crate) fn places(
    file: &str,
    frame: &[FrameColumn],
    names: &[String],
) -> Result<Vec<usize>, ReadError> {
    let place = |column: &FrameColumn| {
        names.iter().position(|name| *name == column.name).ok_or_else(|| {
            let fault = absent(&column.name, ROLE, names);
            ReadError::at(Place::file(file), fault)
        })
    };
    frame.iter().map(place).collect()
}

/// The options for reading into a given frame: its columns are features, and columns without a role are
/// left out.
pub(crate) fn options_for(
    file: &str,
    frame: &[FrameColumn],
    names: &[String],
    options: &ReadOptions,
) -> Result<ReadOptions, ReadError> {
    let mut options = ReadOptions { schema: None, ..options.clone() };
    let usual = options.usual_id.take().filter(|id| names.contains(id));
    options.id = options.id.or(usual);
    let is_feature = |name: &str| frame.iter().any(|column| column.name == name);
    let taken = options.roles().find(|(name, _)| is_feature(name));
    if let Some((column, kind)) = taken {
        let (column, role) = (column.to_owned(), kind.name());
        return Err(ReadError::at(
            Place::file(file),
            fault!("column `{column}` is a feature of the model, but {role} in the options"),
        ));
    }
    let has_role = |name: &str| options.roles().any(|(column, _)| column == name);
    let others: Vec<String> =
        names.iter().filter(|name| !is_feature(name) && !has_role(name)).cloned().collect();
    options.ignore.extend(others);
    Ok(options)
}

/// The frame of an array, new with these constants or as given; a given one must have its width.
pub(crate) fn array_frame(
    file: &str,
    request: &FrameRequest,
    schema: Option<&Schema>,
    made: Frame,
) -> Result<Frame, ReadError> {
    let refuse = |fault: Fault| Err(ReadError::at(Place::file(file), fault));
    let frame = match (request, schema.map(Schema::body)) {
        (FrameRequest::Given(frame), _) => frame.clone(),
        (FrameRequest::New, Some(Body::Columns { .. })) => {
            return refuse(other_shape("named columns", "an array without names"));
        }
        (FrameRequest::New, Some(Body::Matrix(Matrix { width, first, divide, .. }))) => match &made
        {
            Frame::Matrix { width: got, .. } if got != width => {
                let (got, expected) = (u64::from(*got), u64::from(*width));
                return refuse(other_width(got, expected));
            }
            Frame::Matrix { sparse, .. } => {
                Frame::Matrix { width: *width, first: *first, sparse: *sparse, divide: *divide }
            }
            Frame::Columns(_) => made.clone(),
        },
        (FrameRequest::New, None) => return Ok(made),
    };
    match (&frame, made.columns(), frame.columns()) {
        (Frame::Columns(_), ..) => refuse(other_rows("named columns", "an array without names")),
        (Frame::Matrix { .. }, got, expected) if got != expected => {
            refuse(other_width(got, expected))
        }
        (Frame::Matrix { .. }, ..) => Ok(frame),
    }
}

/// The frame of named columns, where an array was given.
pub(crate) fn not_an_array(file: &str) -> ReadError {
    ReadError::at(Place::file(file), other_rows("numbers without names", "named columns"))
}

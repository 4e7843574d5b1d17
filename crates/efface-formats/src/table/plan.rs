//! Which column of a file feeds which part of a record.

use std::collections::{HashMap, HashSet};

use crate::error::{
    CellFault, ColumnFault, LimitFault, OptionFault, Place, ReadError, SchemaError, listed,
};
use crate::look;
use crate::options::ReadOptions;
use crate::schema::{Body, Column, CsvShape, Kind, Origin, RowEncoder, Schema};

/// The match between the columns of a file and the schema in force.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) schema: Schema,
    pub(crate) encoder: RowEncoder,
    /// File column of each rule of the encoder.
    pub(crate) features: Vec<usize>,
    /// Where the labels are, in the order of the options.
    pub(crate) labels: Vec<usize>,
    pub(crate) id: Option<usize>,
    pub(crate) subject: Option<usize>,
    pub(crate) weight: Option<usize>,
    implied: bool,
}

/// A column that the options give a role.
struct Named<'a> {
    column: &'a str,
    kind: Kind,
}

impl Plan {
    /// Matches the file's column names with schema and options.
    pub(crate) fn new(
        file: &str,
        names: &[String],
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let named = named_columns(options)?;
        let fault = |fault: ColumnFault| ReadError::at(Place::file(file), fault);
        let mut places = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            if places.insert(name.as_str(), at).is_some() {
                return Err(fault(ColumnFault::NameTwice { column: name.clone() }));
            }
        }
        for Named { column, kind } in &named {
            let may_lack = !options.label_required
                && matches!(kind, Kind::Label | Kind::Weight | Kind::Ignored);
            if !places.contains_key(column) && !may_lack {
                return Err(fault(ColumnFault::absent(column, option(kind), names)));
            }
        }
        let (schema, implied) = match &options.schema {
            None => (
                implied_schema(names, &named, options.csv).map_err(|error| match error {
                    SchemaError::NoFeatures => fault(ColumnFault::NoFeatures),
                    error => ReadError::Schema(error),
                })?,
                true,
            ),
            Some(schema) => (
                extend(schema, names, &named).map_err(|error| match error {
                    Extension::Column(column) => fault(column),
                    Extension::Schema(error) => ReadError::Schema(error),
                })?,
                false,
            ),
        };
        if let Body::Matrix(_) = schema.body() {
            let (schema, file) = ("an array without names", "named columns");
            return Err(fault(ColumnFault::SchemaShape { schema, file }));
        }
        let width = u64::from(schema.width());
        LimitFault::check("features", width, u64::from(options.limits.columns))
            .map_err(|limit| ReadError::at(Place::file(file), limit))?;
        let encoder = RowEncoder::new(&schema);
        let mut plan = Self {
            schema,
            encoder,
            features: Vec::new(),
            labels: Vec::new(),
            id: None,
            subject: None,
            weight: None,
            implied,
        };
        for column in plan.schema.columns() {
            let place = places.get(column.name.as_str()).copied();
            let needed = match column.kind {
                // Whether a record must have a weight is its taker's to say.
                Kind::Ignored | Kind::Weight => false,
                Kind::Label | Kind::Id | Kind::Subject => options.label_required,
                Kind::Numeric(_) | Kind::Categorical { .. } | Kind::Hashed { .. } => true,
            };
            let Some(place) = place else {
                if needed {
                    return Err(fault(ColumnFault::absent(
                        &column.name,
                        format!("{} in the schema", column.kind.name()),
                        names,
                    )));
                }
                continue;
            };
            match column.kind {
                Kind::Ignored => {}
                Kind::Label => plan.labels.push(place),
                Kind::Id => plan.id = Some(place),
                Kind::Subject => plan.subject = Some(place),
                Kind::Weight => plan.weight = options.label_required.then_some(place),
                Kind::Numeric(_) | Kind::Categorical { .. } | Kind::Hashed { .. } => {
                    plan.features.push(place);
                }
            }
        }
        let stated: Vec<usize> =
            options.labels().filter_map(|name| places.get(name).copied()).collect();
        let missing = plan.labels.iter().find(|at| !stated.contains(*at));
        match (missing, stated.first()) {
            (_, None) => {}
            (None, Some(_)) => plan.labels = stated,
            (Some(&first), Some(&second)) => {
                let name = |at: usize| names.get(at).cloned().unwrap_or_default();
                let (first, second) = (name(first), name(second));
                let role = "label";
                return Err(SchemaError::RoleTwice { role, first, second }.into());
            }
        }
        if !options.label_required {
            plan.labels.clear();
        } else if plan.labels.is_empty() {
            return Err(fault(ColumnFault::NoLabel { present: listed(names) }));
        }
        Ok(plan)
    }

    /// The names of the labels among those of the file.
    pub(crate) fn label_names(&self, names: &[String]) -> Vec<String> {
        self.labels.iter().filter_map(|&at| names.get(at).cloned()).collect()
    }

    /// A fault of a feature column, with the way out where there is no schema yet.
    pub(crate) fn explain(&self, file: &str, column: &str, fault: CellFault) -> CellFault {
        let file = file.to_owned();
        match fault {
            CellFault::NotANumber { value } if self.implied => {
                let column = crate::cell::quoted(column);
                match look::look(&value).notation() {
                    Some(notation) => CellFault::Notation { value, notation, column },
                    None => CellFault::WordWithoutSchema { value, column, file },
                }
            }
            CellFault::NotFinite { value } if self.implied => {
                CellFault::InfiniteWithoutSchema { value, file }
            }
            CellFault::UndeclaredMissing { value } if self.implied => {
                CellFault::MissingWithoutSchema { value, file }
            }
            fault => fault,
        }
    }
}

/// The role of a column that an option names.
pub(crate) fn option(kind: &Kind) -> String {
    let option = if *kind == Kind::Ignored { "ignore" } else { kind.name() };
    format!("named with `§{option}`")
}

/// The roles that the options give, each column once.
fn named_columns(options: &ReadOptions) -> Result<Vec<Named<'_>>, OptionFault> {
    let mut labels = HashSet::new();
    if let Some(column) = options.labels().find(|column| !labels.insert(*column)) {
        return Err(OptionFault::LabelTwice { column: column.to_owned() });
    }
    let mut named: Vec<Named<'_>> = Vec::new();
    for (column, kind) in options.roles() {
        match named.iter().find(|other| other.column == column) {
            Some(other) if other.kind != kind => {
                let (first, second) = (other.kind.name(), kind.name());
                return Err(OptionFault::TwoRoles { column: column.to_owned(), first, second });
            }
            Some(_) => {}
            None => named.push(Named { column, kind }),
        }
    }
    Ok(named)
}

fn implied_schema(
    names: &[String],
    named: &[Named<'_>],
    csv: CsvShape,
) -> Result<Schema, SchemaError> {
    let roles: HashMap<&str, &Kind> =
        named.iter().map(|named| (named.column, &named.kind)).collect();
    Schema::implied(
        csv,
        names
            .iter()
            .map(|name| (name.as_str(), roles.get(name.as_str()).map(|&kind| kind.clone()))),
    )
}

enum Extension {
    Column(ColumnFault),
    Schema(SchemaError),
}

/// The schema with the roles of the options added; every column of the file must be in it.
fn extend(schema: &Schema, names: &[String], named: &[Named<'_>]) -> Result<Schema, Extension> {
    let Body::Columns { storage, columns } = schema.body() else { return Ok(schema.clone()) };
    let mut columns = columns.clone();
    let mut known: HashMap<String, &'static str> =
        columns.iter().map(|column| (column.name.clone(), column.kind.name())).collect();
    for Named { column, kind } in named {
        match known.get(*column) {
            None => {
                columns.push(Column::new(*column, kind.clone(), Origin::User));
                known.insert((*column).to_owned(), kind.name());
            }
            Some(declared) if *declared != kind.name() => {
                return Err(Extension::Column(ColumnFault::Disagree {
                    column: (*column).to_owned(),
                    declared,
                    asked: kind.name(),
                }));
            }
            Some(_) => {}
        }
    }
    if let Some(column) = names.iter().find(|name| !known.contains_key(*name)) {
        return Err(Extension::Column(ColumnFault::Undeclared { column: column.clone() }));
    }
    let storage = *storage;
    Schema::new(schema.csv(), Body::Columns { storage, columns }).map_err(Extension::Schema)
}

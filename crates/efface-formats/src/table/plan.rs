//! Which column of a file feeds which part of a record.

use std::collections::{HashMap, HashSet};

use crate::error::{Fault, ReadError, absent, check_distinct, fault, listed, other_shape, within};
use crate::options::ReadOptions;
use crate::schema::{Body, Column, CsvShape, Kind, Origin, Schema, Storage};

/// The match between the columns of a file and the schema in force.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) schema: Schema,
    /// The file column of each feature column of the schema.
    pub(crate) features: Vec<usize>,
    /// Positions of the labels, in the order of the options.
    pub(crate) labels: Vec<usize>,
    pub(crate) id: Option<usize>,
    pub(crate) subject: Option<usize>,
    pub(crate) weight: Option<usize>,
}

/// A column that the options give a role.
pub(crate) struct Named<'a> {
    pub(crate) column: &'a str,
    pub(crate) kind: Kind,
}

impl Plan {
    /// Matches the file's column names with schema and options.
    pub(crate) fn new(
        file: &str,
        names: &[String],
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let named = named_columns(options)?;
        let here = |fault: Fault| ReadError::of_file(file, fault);
        check_distinct(names).map_err(here)?;
        let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        for Named { column, kind } in &named {
            let may_lack = !options.label_required
                && matches!(kind, Kind::Label | Kind::Weight | Kind::Ignored);
            if !places.contains_key(column) && !may_lack {
                return Err(here(absent(column, &option(kind), names)));
            }
        }
        let schema = match &options.schema {
            // Columns are numbers unless they have another role.
            None if names.iter().all(|name| named.iter().any(|named| named.column == name)) => {
                return Err(here(fault!("no feature columns are left")));
            }
            None => implied_schema(names, &named, options.csv)?,
            Some(schema) => extend(file, schema, names, &named)?,
        };
        if let Body::Matrix(_) = schema.body() {
            return Err(here(other_shape("an array without names", "named columns")));
        }
        let width = u64::from(schema.width());
        within("features", width, u64::from(options.limits.columns)).map_err(here)?;
        let mut plan = Self {
            schema,
            features: Vec::new(),
            labels: Vec::new(),
            id: None,
            subject: None,
            weight: None,
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
                    return Err(here(absent(
                        &column.name,
                        &format!("{} in the schema", column.kind.name()),
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
                return Err(fault!(
                    "schema: only one column can be the {role}, got `{first}` and `{second}`"
                )
                .into());
            }
        }
        if !options.label_required {
            plan.labels.clear();
        } else if plan.labels.is_empty() {
            return Err(here(fault!(
                "no label column given; name one of {present} with `§label`",
                present = listed(names)
            )));
        }
        Ok(plan)
    }
}

/// Returns the role of a column that an option names.
pub(crate) fn option(kind: &Kind) -> String {
    let option = if *kind == Kind::Ignored { "ignore" } else { kind.name() };
    format!("named with `§{option}`")
}

/// Returns the roles that the options give, each column once.
pub(crate) fn named_columns(options: &ReadOptions) -> Result<Vec<Named<'_>>, Fault> {
    let mut labels = HashSet::new();
    if let Some(column) = options.labels().find(|column| !labels.insert(*column)) {
        return Err(fault!("`label` names `{column}` twice"));
    }
    let mut named: Vec<Named<'_>> = Vec::new();
    for (column, kind) in options.roles() {
        match named.iter().find(|other| other.column == column) {
            Some(other) if other.kind != kind => {
                let (first, second) = (other.kind.name(), kind.name());
                return Err(fault!("column `{column}` has two roles: {first} and {second}"));
            }
            Some(_) => {}
            None => named.push(Named { column, kind }),
        }
    }
    Ok(named)
}

/// Returns the schema of a table that comes without one.
fn implied_schema(names: &[String], named: &[Named<'_>], csv: CsvShape) -> Result<Schema, Fault> {
    let roles: HashMap<&str, &Kind> =
        named.iter().map(|named| (named.column, &named.kind)).collect();
    let role = |name: &String| roles.get(name.as_str()).map(|&kind| kind.clone());
    let columns = names.iter().map(|name| (name.as_str(), role(name)));
    Schema::implied(csv, Storage::Dense, columns)
}

/// Returns the schema with the roles of the options added; every column of the file must be in it.
fn extend(
    file: &str,
    schema: &Schema,
    names: &[String],
    named: &[Named<'_>],
) -> Result<Schema, ReadError> {
    let here = |fault: Fault| ReadError::of_file(file, fault);
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
                return Err(here(fault!(
                    "column `{column}` is {declared} in the schema, but {asked} in the options",
                    column = (*column),
                    asked = kind.name()
                )));
            }
            Some(_) => {}
        }
    }
    if let Some(column) = names.iter().find(|name| !known.contains_key(*name)) {
        return Err(here(fault!(
            "column `{column}` is not in the schema; declare it, at least as `ignored`"
        )));
    }
    let storage = *storage;
    Ok(Schema::new(schema.csv(), Body::Columns { storage, columns })?)
}

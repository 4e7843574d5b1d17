//! What changes from one JSON document to the next, as JSON: how the ledger stores entries that
//! repeat most of what the one before them says.
//!
//! A difference is read beside the document it starts from:
//!
//! - an object beside an object: the members that change, each with its own difference; `"-"` lists
//!   those that go;
//! - `{"~": [...]}` beside a list: from its start, `3` keeps three elements, `-3` leaves three out,
//!   a list puts its elements in, an object is the difference of the next element, and `{"+": ...}`
//!   puts one in by its difference to the new element before it;
//! - `{"|": {...}}` beside a list of objects that hold whole numbers: for each member that changes,
//!   the column of its values, as a list in the way above. Whole numbers in a column are counted
//!   from the element before;
//! - `{"=": [...]}` beside a text: its words, as a list in the first way above;
//! - anything else is the new value itself.

use serde_json::{Map, Value};

/// Members of an object that go.
const GONE: &str = "-";
/// A list, element by element.
const STEPS: &str = "~";
/// A new element, beside the new one before it.
const LIKE: &str = "+";
/// A text, word by word.
const WORDS: &str = "=";
/// A list of objects of whole numbers, column by column.
const COLUMNS: &str = "|";
/// The most pairs of elements that are compared to find the shortest difference.
const MOST_PAIRS: usize = 400;
/// The most bytes of elements that a difference copies: no few bytes become many gigabytes.
const MOST_COPIED: usize = 1 << 20;
/// Elements that must agree for a difference of long lists to go on.
const RUN: usize = 3;
/// Elements left out and put in, together, before it gives one for one.
const FARTHEST: usize = 16;

/// The difference from `base` to `value`. [`apply`] may not lead back to `value` where that uses the
/// marks of differences as its own names: compare before relying on it.
pub(crate) fn difference(base: &Value, value: &Value) -> Value {
    match (base, value) {
        (Value::Object(base), Value::Object(value)) => Value::Object(of_objects(base, value)),
        (Value::Array(base), Value::Array(list)) => {
            let change = match of_tables(base, list) {
                Some(columns) => marked(COLUMNS, columns),
                None => marked(STEPS, Value::Array(of_lists(base, list))),
            };
            if size(&change) < size(value) { change } else { value.clone() }
        }
        (Value::String(base), Value::String(text)) => {
            let change = marked(WORDS, Value::Array(of_lists(&words(base), &words(text))));
            if size(&change) < size(value) { change } else { value.clone() }
        }
        _ => value.clone(),
    }
}

/// The document that a difference leads to from `base`; none for what is no difference, or would copy
/// elements to more than [`MOST_COPIED`] bytes.
pub(crate) fn apply(base: Value, difference: Value) -> Option<Value> {
    applied(base, difference, &mut { MOST_COPIED })
}

/// As [`apply`], with the bytes that may still be copied.
fn applied(base: Value, difference: Value, copies: &mut usize) -> Option<Value> {
    let Value::Object(mut members) = difference else { return Some(difference) };
    match base {
        Value::Object(mut document) => {
            if let Some(gone) = members.remove(GONE) {
                for name in gone.as_array()? {
                    document.remove(name.as_str()?)?;
                }
            }
            for (name, change) in members {
                let value = match document.remove(&name) {
                    Some(base) => applied(base, change, copies)?,
                    None => change,
                };
                document.insert(name, value);
            }
            Some(Value::Object(document))
        }
        Value::Array(list) => match (members.remove(STEPS), members.remove(COLUMNS)) {
            (Some(steps), None) => Some(Value::Array(follow(list, steps, copies)?)),
            (None, Some(changes)) => Some(Value::Array(table(&list, changes, copies)?)),
            _ => None,
        },
        Value::String(text) => {
            let list = follow(words(&text), members.remove(WORDS)?, copies)?;
            let list: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            Some(Value::String(list?.join(" ")))
        }
        _ => Some(Value::Object(members)),
    }
}

/// The parts of a text between its spaces.
fn words(text: &str) -> Vec<Value> {
    text.split(' ').map(Value::from).collect()
}

fn marked(mark: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(mark.to_owned(), value)]))
}

/// Characters of a value as it is written.
fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn of_objects(base: &Map<String, Value>, value: &Map<String, Value>) -> Map<String, Value> {
    let mut changes = Map::new();
    let gone: Vec<Value> = base
        .keys()
        .filter(|name| !value.contains_key(*name))
        .map(|name| name.as_str().into())
        .collect();
    if !gone.is_empty() {
        changes.insert(GONE.to_owned(), Value::Array(gone));
    }
    for (name, now) in value {
        match base.get(name) {
            Some(then) if then == now => {}
            Some(then) => drop(changes.insert(name.clone(), difference(then, now))),
            None => drop(changes.insert(name.clone(), now.clone())),
        }
    }
    changes
}

/// What happens to the next element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Keep,
    Skip,
    Put,
    Change,
}

/// Every step, in the order of its number.
const ALL: [Step; 4] = [Step::Keep, Step::Skip, Step::Put, Step::Change];

impl Step {
    /// Whether several of a kind are written as one.
    fn joins(self, before: Self) -> bool {
        self == before && self != Self::Change
    }
}

/// About the shortest way from one list to another, as it is written.
fn of_lists(base: &[Value], value: &[Value]) -> Vec<Value> {
    let head = base.iter().zip(value).take_while(|(then, now)| then == now).count();
    let (then, now) = (&base[head..], &value[head..]);
    let tail = then.iter().rev().zip(now.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = shortest(&then[..then.len() - tail], &now[..now.len() - tail]);
    let keep = |count| std::iter::repeat_n(Step::Keep, count);
    let steps: Vec<Step> = keep(head).chain(middle).chain(keep(tail)).collect();
    let (mut i, mut j) = (0, 0);
    let write = |run: &[Step]| -> Vec<Value> {
        let count = run.len();
        let (from, to) = (i, j);
        i += if run[0] == Step::Put { 0 } else { count };
        j += if run[0] == Step::Skip { 0 } else { count };
        match run[0] {
            Step::Keep => vec![count.into()],
            Step::Skip => vec![(-(count as i64)).into()],
            Step::Put => put_in(value, to, j),
            Step::Change => vec![difference(&base[from], &value[to])],
        }
    };
    steps.chunk_by(|before, step| step.joins(*before)).flat_map(write).collect()
}

/// The new elements from one place to another, each as it is or by its difference to the one before
/// it, whichever is shorter.
fn put_in(value: &[Value], from: usize, to: usize) -> Vec<Value> {
    let mut written: Vec<Value> = Vec::new();
    for (place, new) in value.iter().enumerate().take(to).skip(from) {
        if place > 0 && new.is_object() && value[place - 1].is_object() {
            let like = marked(LIKE, difference(&value[place - 1], new));
            if size(&like) < size(new) {
                written.push(like);
                continue;
            }
        }
        match written.last_mut() {
            Some(Value::Array(list)) => list.push(new.clone()),
            _ => written.push(Value::Array(vec![new.clone()])),
        }
    }
    written
}

/// A short way for lists of any length: where they differ, it goes on from the nearest place at which
/// [`RUN`] elements agree.
fn nearest(base: &[Value], value: &[Value]) -> Vec<Step> {
    let (mut steps, mut skipped, mut put) = (Vec::new(), 0, 0);
    let (mut i, mut j) = (0, 0);
    let agree = |i: usize, j: usize| {
        let run = |list: &[Value], at: usize| (list.len() - at).min(RUN);
        run(base, i) == run(value, j) && base[i..i + run(base, i)] == value[j..j + run(value, j)]
    };
    while i < base.len() && j < value.len() {
        if put + skipped == 0 && base[i] == value[j] || agree(i, j) {
            steps.extend(std::iter::repeat_n(Step::Skip, std::mem::take(&mut skipped)));
            steps.extend(std::iter::repeat_n(Step::Put, std::mem::take(&mut put)));
            steps.push(Step::Keep);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let ways = (1..=FARTHEST).flat_map(|sum| (0..=sum).map(move |skip| (skip, sum - skip)));
        let fits = |(skip, put): &(usize, usize)| {
            i + skip <= base.len() && j + put <= value.len() && agree(i + skip, j + put)
        };
        let (more, new) = ways.into_iter().find(fits).unwrap_or((1, 1));
        (i, j, skipped, put) = (i + more, j + new, skipped + more, put + new);
    }
    steps.extend(std::iter::repeat_n(Step::Skip, skipped + base.len() - i));
    steps.extend(std::iter::repeat_n(Step::Put, put + value.len() - j));
    steps
}

/// About how long the difference of two values is: members of objects that change count in full.
fn apart(base: &Value, value: &Value) -> usize {
    match (base, value) {
        _ if base == value => 0,
        (Value::Object(base), Value::Object(value)) => {
            let gone = base.keys().filter(|name| !value.contains_key(*name));
            let changed = value.iter().map(|(name, now)| match base.get(name) {
                Some(then) if then == now => 0,
                Some(then) => name.len() + apart(then, now),
                None => name.len() + size(now),
            });
            gone.map(String::len).chain(changed).sum()
        }
        _ => size(value),
    }
}

/// The steps of least length, by dynamic programming from the ends of both lists: for short lists.
fn shortest(base: &[Value], value: &[Value]) -> Vec<Step> {
    let (n, m) = (base.len(), value.len());
    if n.saturating_mul(m) > MOST_PAIRS {
        return nearest(base, value);
    }
    // For each number of elements left behind in both lists and each step before: the characters
    // that the rest needs, and its first step.
    let mut best = vec![[(0_usize, Step::Keep); 4]; (n + 1) * (m + 1)];
    let at = |i: usize, j: usize| i * (m + 1) + j;
    let put: Vec<usize> = value.iter().map(|value| size(value) + 1).collect();
    for i in (0..=n).rev() {
        for j in (0..=m).rev() {
            if (i, j) == (n, m) {
                continue;
            }
            let rest = |step: Step, best: &[[(usize, Step); 4]]| {
                let (i, j) = match step {
                    Step::Skip => (i + 1, j),
                    Step::Put => (i, j + 1),
                    Step::Keep | Step::Change => (i + 1, j + 1),
                };
                best[at(i, j)][step as usize].0
            };
            let both = i < n && j < m;
            let objects = both && base[i].is_object() && value[j].is_object();
            let costs = ALL.map(|step| {
                let own = match step {
                    Step::Keep if both && base[i] == value[j] => 0,
                    Step::Skip if i < n => 0,
                    Step::Put if j < m => put[j],
                    Step::Change if objects => apart(&base[i], &value[j]),
                    _ => return None,
                };
                Some((own + rest(step, &best), step))
            });
            // A step that joins no other of its kind costs its marks, too.
            let after = |before: Step| {
                let marks = |step: Step| if step.joins(before) { 0 } else { 4 };
                let all = costs.iter().flatten().map(|(cost, step)| (cost + marks(*step), *step));
                all.min_by_key(|(cost, _)| *cost).unwrap_or((0, Step::Keep))
            };
            best[at(i, j)] = ALL.map(after);
        }
    }
    let (mut i, mut j, mut before) = (0, 0, Step::Change);
    let mut steps = Vec::with_capacity(n + m);
    while (i, j) != (n, m) {
        before = best[at(i, j)][before as usize].1;
        steps.push(before);
        i += usize::from(before != Step::Put);
        j += usize::from(before != Step::Skip);
    }
    steps
}

/// Follows written steps.
fn follow(list: Vec<Value>, steps: Value, copies: &mut usize) -> Option<Vec<Value>> {
    let Value::Array(steps) = steps else { return None };
    let (mut result, mut rest) = (Vec::new(), list.into_iter());
    for step in steps {
        match step {
            Value::Array(put) => result.extend(put),
            Value::Object(mut change) => match change.remove(LIKE) {
                Some(like) => {
                    let before = result.last()?;
                    *copies = copies.checked_sub(size(before))?;
                    result.push(applied(before.clone(), like, copies)?);
                }
                None => result.push(applied(rest.next()?, Value::Object(change), copies)?),
            },
            Value::Number(count) => {
                let count = count.as_i64()?;
                let passed = usize::try_from(count.unsigned_abs()).ok()?;
                if passed > rest.len() {
                    return None;
                }
                let passed = rest.by_ref().take(passed);
                if count > 0 { result.extend(passed) } else { passed.for_each(drop) }
            }
            _ => return None,
        }
    }
    (rest.len() == 0).then_some(result)
}

/// The columns of a list of objects that all have the same members, each a whole number or null;
/// none for other lists. A column of whole numbers alone is counted from the element before.
fn columns(list: &[Value]) -> Option<Map<String, Value>> {
    let first = list.first()?.as_object()?;
    let column = |name: &String| {
        let values = list.iter().map(|row| match row.as_object()?.get(name)? {
            Value::Null => Some(None),
            value => value.as_i64().map(Some),
        });
        let values: Vec<Option<i64>> = values.collect::<Option<_>>()?;
        let whole: Option<Vec<i64>> = values.iter().copied().collect();
        let written: Vec<Value> = match whole {
            Some(whole) => {
                let before = std::iter::once(&0).chain(&whole);
                let steps = whole.iter().zip(before).map(|(now, then)| now.checked_sub(*then));
                steps.map(|step| step.map(Value::from)).collect::<Option<_>>()?
            }
            None => values.into_iter().map(Value::from).collect(),
        };
        Some((name.clone(), Value::Array(written)))
    };
    let same = list.iter().all(|row| row.as_object().is_some_and(|row| row.len() == first.len()));
    if same && !first.is_empty() { first.keys().map(column).collect() } else { None }
}

/// The difference of two such lists, column by column.
fn of_tables(base: &[Value], value: &[Value]) -> Option<Value> {
    let (then, now) = (columns(base)?, columns(value)?);
    let mut changes = Map::new();
    for (name, column) in &now {
        let (before, column) = (then.get(name)?.as_array()?, column.as_array()?);
        if before != column {
            changes.insert(name.clone(), Value::Array(of_lists(before, column)));
        }
    }
    (then.len() == now.len()).then_some(Value::Object(changes))
}

/// The list that changed columns lead to.
fn table(base: &[Value], changes: Value, copies: &mut usize) -> Option<Vec<Value>> {
    let Value::Object(mut changes) = changes else { return None };
    let mut rows: Option<Vec<Map<String, Value>>> = None;
    for (name, column) in columns(base)? {
        let Value::Array(mut column) = column else { return None };
        if let Some(steps) = changes.remove(&name) {
            column = follow(column, steps, copies)?;
        }
        if !column.iter().any(Value::is_null) {
            let mut sum = 0_i64;
            for value in &mut column {
                sum = sum.checked_add(value.as_i64()?)?;
                *value = sum.into();
            }
        }
        let rows = rows.get_or_insert_with(|| vec![Map::new(); column.len()]);
        if rows.len() != column.len() {
            return None;
        }
        rows.iter_mut().zip(column).for_each(|(row, value)| drop(row.insert(name.clone(), value)));
    }
    changes.is_empty().then_some(rows?.into_iter().map(Value::Object).collect())
}

#[cfg(test)]
mod tests;

//! Reads, counts and splits days and times.

use serde::{Deserialize, Serialize};

/// Microseconds of a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// The unit that times count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Days.
    Day,
    /// Seconds.
    Second,
    /// Thousandths of a second.
    Millisecond,
    /// Millionths of a second.
    Microsecond,
    /// Billionths of a second, rounded down to whole microseconds.
    Nanosecond,
}

impl TimeUnit {
    /// Converts to microseconds, saturating for years beyond 290,000.
    pub(crate) fn micros(self, value: i64) -> i64 {
        match self {
            Self::Day => value.saturating_mul(DAY),
            Self::Second => value.saturating_mul(1_000_000),
            Self::Millisecond => value.saturating_mul(1000),
            Self::Microsecond => value,
            Self::Nanosecond => value.div_euclid(1000),
        }
    }
}

/// How times are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// They are stored as times, and no text is one.
    Stored,
    /// `2024-01-31`, `2024-01` and dates with the name of a month: nothing in them could change places,
    /// so that they have all three orders.
    YearFirst,
    /// `31.01.2024`, `31/01/24`, `31-01-2024`.
    DayFirst,
    /// `01/31/2024`, `1/31/24`, `01-31-2024`.
    MonthFirst,
}

impl Order {
    /// The orders that texts may have.
    const SPELLED: [Self; 3] = [Self::YearFirst, Self::DayFirst, Self::MonthFirst];
}

/// The beginnings of months' names in order, which all their forms share.
pub(crate) const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// The beginnings of weekdays' names in order, which all their forms share.
pub(crate) const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// What follows in the long forms.
const MONTHS_ON: [&str; 12] =
    ["uary", "ruary", "ch", "il", "", "e", "y", "ust", "tember", "ober", "ember", "ember"];
const WEEKDAYS_ON: [&str; 7] = ["day", "sday", "nesday", "rsday", "day", "urday", "day"];

/// Reads a time that is spelled in one order: microseconds since 1970-01-01 00:00 UTC.
pub(crate) fn spelled(text: &str, order: Order) -> Option<i64> {
    let (day, clock) = split(text)?;
    let days = days(day, order)?;
    let (clock, offset) = clock.map_or(Some((0, 0)), clock_of)?;
    Some(days * DAY + clock - offset)
}

/// Returns the time that is stored for a text: of one that begins with a whole day in the order of ISO 8601.
pub(crate) fn stored(text: &str) -> Option<i64> {
    let begins = matches!(text.as_bytes(), [_, _, _, _, b'-', _, _, b'-', _, _, ..]);
    begins.then(|| spelled(text, Order::YearFirst)).flatten()
}

/// Returns whether a text spells a time with the year, the day and the month first.
pub(crate) fn orders(text: &str) -> [bool; 3] {
    match split(text) {
        Some((day, clock)) if clock.is_none_or(|clock| clock_of(clock).is_some()) => {
            Order::SPELLED.map(|order| days(day, order).is_some())
        }
        _ => [false; 3],
    }
}

/// Returns whether a text spells a time in some order.
pub(crate) fn is_spelled(text: &str) -> bool {
    orders(text) != [false; 3]
}

/// Returns the order in which a text spells a time; `None` if day and month could change places.
pub(crate) fn settled(orders: [bool; 3]) -> Option<Order> {
    match orders {
        [true, ..] => Some(Order::YearFirst),
        [_, true, false] => Some(Order::DayFirst),
        [_, false, true] => Some(Order::MonthFirst),
        [_, true, true] | [_, false, false] => None,
    }
}

/// Returns the day, and the time of day behind it.
fn split(text: &str) -> Option<(&str, Option<&str>)> {
    let text = without_utc(text);
    let first = *text.as_bytes().first()?;
    if text.len() > 40 || !first.is_ascii_alphanumeric() {
        return None;
    }
    if !first.is_ascii_digit() && named(text, &MONTHS).or(named(text, &WEEKDAYS)).is_none() {
        return None;
    }
    if has_word(text) {
        let Some(colon) = text.find(':') else { return Some((text, None)) };
        let space = text[..colon].rfind(' ')?;
        return Some((&text[..space], Some(&text[space + 1..])));
    }
    Some(match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_start_matches(' '))),
        None => (text, None),
    })
}

/// Returns a time of day without the name of universal time behind it.
fn without_utc(text: &str) -> &str {
    let end =
        text.len().checked_sub(3).filter(|at| text.is_char_boundary(*at) && text.contains(':'));
    let (time, name) = end.map_or((text, ""), |end| text.split_at(end));
    let is_utc = ["UTC", "GMT"].iter().any(|utc| utc.eq_ignore_ascii_case(name));
    if is_utc { time.trim_end() } else { text }
}

/// Returns whether a text spells a time or has the look of a day, in whatever order and form: three groups of
/// digits, or a number next to the name of a month.
pub(crate) fn looks_like(text: &str) -> bool {
    if is_spelled(text) {
        return true;
    }
    let groups: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).take(4).collect();
    let number = |text: &str, least, most| digits(text, least, most).is_some();
    let is_day = |text: &str| number(text, 1, 2);
    let is_month = |text: &str| name_of(text, &MONTHS, &MONTHS_ON).is_some();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match groups[..] {
        [first, second, third, ..] if is_month(first) || is_month(second) || is_month(third) => {
            [first, second, third].into_iter().any(is_day)
        }
        [first, second, third, ..] => {
            let numbers = number(first, 4, 4) && is_day(third)
                || is_day(first) && (number(third, 4, 4) || number(third, 2, 2));
            numbers && is_day(second) && rest.starts_with(['-', '/', '.'])
        }
        _ => false,
    }
}

/// Returns whether three letters follow each other.
fn has_word(text: &str) -> bool {
    text.as_bytes().windows(3).any(|three| three.iter().all(u8::is_ascii_alphabetic))
}

/// Returns the place of the name that a text begins with, whatever the case.
fn named(text: &str, names: &[&str]) -> Option<usize> {
    let start = text.get(..3)?;
    names.iter().position(|name| name.eq_ignore_ascii_case(start))
}

/// Returns the place of the name, long or short, that a text is.
fn name_of(text: &str, names: &[&str], longer: &[&str]) -> Option<usize> {
    let at = named(text, names)?;
    let rest = &text[3..];
    let is_whole = rest.is_empty()
        || longer.get(at).is_some_and(|longer| longer.eq_ignore_ascii_case(rest))
        || names.get(at) == Some(&"sep") && rest.eq_ignore_ascii_case("t");
    is_whole.then_some(at)
}

/// Reads a day, as days since 1970-01-01.
fn days(text: &str, order: Order) -> Option<i64> {
    if has_word(text) {
        return days_in_words(text);
    }
    let sign = text.bytes().find(|byte| !byte.is_ascii_digit())?;
    let mut groups = text.split(char::from(sign));
    let (first, second, third) = (groups.next()?, groups.next()?, groups.next());
    // A year in front cannot be taken for anything else.
    let order = if first.len() == 4 { Order::YearFirst } else { order };
    let signs: &[u8] = match order {
        Order::YearFirst => b"-/.",
        Order::DayFirst => b"./-",
        Order::MonthFirst => b"/-",
        Order::Stored => b"",
    };
    if groups.next().is_some() || !signs.contains(&sign) {
        return None;
    }
    let (year, month, day) = match (order, third) {
        (Order::YearFirst, Some(third)) => (first, second, third),
        // `2024-01`; a point would make it a number.
        (Order::YearFirst, None) if sign != b'.' && second.len() == 2 => (first, second, "1"),
        (Order::DayFirst, Some(third)) => (third, second, first),
        (Order::MonthFirst, Some(third)) => (third, first, second),
        _ => return None,
    };
    let short = || short_year(year).filter(|_| order != Order::YearFirst && sign != b'-');
    date(digits(year, 4, 4).or_else(short)?, digits(month, 1, 2)?, digits(day, 1, 2)?)
}

/// Reads `Jan 31, 2024`, `31 January 2024`, `31-Jan-24`, `2024-Jan-31`, `Jan 2024`, with a weekday in front
/// or not.
fn days_in_words(text: &str) -> Option<i64> {
    let mut groups = text.split([' ', ',', '-', '/', '.']).filter(|group| !group.is_empty());
    let mut first = groups.next()?;
    if name_of(first, &WEEKDAYS, &WEEKDAYS_ON).is_some() {
        first = groups.next()?;
    }
    let (second, third) = (groups.next()?, groups.next());
    if groups.next().is_some() {
        return None;
    }
    let month = |text| name_of(text, &MONTHS, &MONTHS_ON).map(|at| at as i64 + 1);
    let year = |text| digits(text, 4, 4);
    match (month(first), month(second), third) {
        (Some(month), None, Some(third)) => date(year(third)?, month, ordinal(second)?),
        (Some(month), None, None) => date(year(second)?, month, 1),
        (None, Some(month), None) => date(year(first)?, month, 1),
        (None, Some(month), Some(third)) if first.len() == 4 => {
            date(year(first)?, month, ordinal(third)?)
        }
        (None, Some(month), Some(third)) => {
            date(year(third).or_else(|| short_year(third))?, month, ordinal(first)?)
        }
        _ => None,
    }
}

/// Returns a year of two digits, from 1969 to 2068, as POSIX reads them.
fn short_year(text: &str) -> Option<i64> {
    let year = digits(text, 2, 2)?;
    Some(if year < 69 { 2000 + year } else { 1900 + year })
}

/// Returns a day of a month: `1`, `01`, `1st`.
fn ordinal(text: &str) -> Option<i64> {
    let end = text.len().checked_sub(2).and_then(|at| text.get(at..));
    let is_ordinal = end.is_some_and(|end| {
        ["st", "nd", "rd", "th"].iter().any(|ending| ending.eq_ignore_ascii_case(end))
    });
    digits(if is_ordinal { &text[..text.len() - 2] } else { text }, 1, 2)
}

/// Returns days since 1970-01-01, if there is such a day.
fn date(year: i64, month: i64, day: i64) -> Option<i64> {
    let exists =
        year > 0 && (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day);
    exists.then(|| days_from_civil(year, month, day))
}

/// Microseconds since midnight of a time of day that names no zone: `9:30`, `23:59:59.5`, `1:05 pm`.
pub(crate) fn of_day(text: &str) -> Option<i64> {
    let is_plain = |byte: u8| byte.is_ascii_digit() || b":. apmAPM".contains(&byte);
    if !text.as_bytes().first()?.is_ascii_digit() || !text.bytes().all(is_plain) {
        return None;
    }
    clock_of(text).map(|(micros, _)| micros)
}

/// Microseconds since midnight, and those by which the clock is ahead of UTC.
fn clock_of(text: &str) -> Option<(i64, i64)> {
    let (text, offset) = zone(text)?;
    let (text, half) = match text.len().checked_sub(2).and_then(|at| text.split_at_checked(at)) {
        Some((rest, half)) if half.eq_ignore_ascii_case("am") => (rest.trim_end(), Some(0)),
        Some((rest, half)) if half.eq_ignore_ascii_case("pm") => (rest.trim_end(), Some(12)),
        _ => (text, None),
    };
    let mut groups = text.split(':');
    let (hour, minute) = (digits(groups.next()?, 1, 2)?, digits(groups.next()?, 2, 2)?);
    let (second, micros) = match groups.next() {
        None => (0, 0),
        Some(text) => {
            let (whole, part) =
                text.split_once(['.', ',']).map_or((text, None), |(a, b)| (a, Some(b)));
            (digits(whole, 2, 2)?, part.map_or(Some(0), fraction)?)
        }
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    // 60 is a leap second.
    if groups.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some((((hour * 60 + minute) * 60 + second) * 1_000_000 + micros, offset))
}

/// Returns the text before `Z`, `+01:00`, `+0100` or `+01`, and the microseconds that is ahead of UTC.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(rest) = text.strip_suffix(['Z', 'z']) {
        return Some((rest, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (rest, zone) = (&text[..at], &text[at + 1..]);
    let (hours, minutes) = match (zone.split_once(':'), zone.len()) {
        (Some((hours, minutes)), _) => (hours, minutes),
        (None, 4) => zone.split_at_checked(2)?,
        (None, _) => (zone, "00"),
    };
    let ahead = (digits(hours, 2, 2)? * 60 + digits(minutes, 2, 2)?) * 60_000_000;
    Some((rest.trim_end(), if text.as_bytes().get(at) == Some(&b'-') { -ahead } else { ahead }))
}

/// Returns a number of `least` to `most` digits.
fn digits(text: &str, least: usize, most: usize) -> Option<i64> {
    let fits = (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// Reads up to nine digits behind the point, as microseconds.
fn fraction(text: &str) -> Option<i64> {
    let nanos = digits(text, 1, 9)? * 10_i64.pow(9 - text.len() as u32);
    Some(nanos / 1000)
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns days since 1970-01-01 in the Gregorian calendar, extended to all years (Howard Hinnant,
/// "chrono-compatible low-level date algorithms", public domain).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns year, month and day of days since 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// A time taken apart, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) year: i64,
    /// Month, 0 for January.
    pub(crate) month: usize,
    /// Day of the week, 0 for Monday.
    pub(crate) weekday: usize,
    /// Hour of the day, 0 to 23.
    pub(crate) hour: usize,
    /// Whether it is a day and no time of day.
    pub(crate) is_midnight: bool,
}

/// Takes microseconds since 1970-01-01 apart.
pub(crate) fn apart(micros: i64) -> Moment {
    let (day, clock) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (year, month, _) = civil_from_days(day);
    Moment {
        year,
        month: (month - 1) as usize,
        weekday: (day + 3).rem_euclid(7) as usize,
        hour: (clock / (DAY / 24)) as usize,
        is_midnight: clock == 0,
    }
}

/// Returns the time as ISO 8601 text, without a clock at midnight.
pub(crate) fn text(micros: i64) -> String {
    let (year, month, day) = civil_from_days(micros.div_euclid(DAY));
    let clock = micros.rem_euclid(DAY);
    let day = format!("{year:04}-{month:02}-{day:02}");
    if clock == 0 {
        return day;
    }
    let (seconds, micros) = (clock / 1_000_000, clock % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let part = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{day}T{hour:02}:{minute:02}:{second:02}{part}")
}

#[cfg(test)]
mod tests {
    use super::Order::{DayFirst, MonthFirst, YearFirst};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_spell_times() {
        assert_eq!(spelled("1970-01-02", YearFirst), Some(DAY));
        assert_eq!(spelled("1970/1/1 00:00:01.5", YearFirst), Some(1_500_000));
        assert_eq!(spelled("1970-01-01T01:00+01:00", YearFirst), Some(0));
        assert_eq!(spelled("1970-01-01T00:00:00Z", YearFirst), Some(0));
        assert_eq!(spelled("02.01.1970", DayFirst), Some(DAY));
        assert_eq!(spelled("1/2/1970 12:30 AM", MonthFirst), Some(DAY + DAY / 48));
        assert_eq!(spelled("2024-02-29", YearFirst), Some(19_782 * DAY));
        let words = [
            "Jan 31 2000",
            "January 31, 2000",
            "31 jan 2000",
            "31-JAN-2000",
            "31-Jan-00",
            "2000-Jan-31",
            "Mon, 31 Jan 2000",
            "Monday, January 31st, 2000",
            "31. January 2000",
        ];
        for text in words {
            assert_eq!(spelled(text, YearFirst), Some(10_987 * DAY), "{text}");
            assert_eq!(orders(text), [true; 3], "{text}");
        }
        for text in ["31.1.00", "31/01/00", "31/01/2000 0:00 UTC"] {
            assert_eq!(spelled(text, DayFirst), Some(10_987 * DAY), "{text}");
        }
        assert_eq!(spelled("1/31/00", MonthFirst), Some(10_987 * DAY));
        for text in
            ["Mon, 31 Jan 2000 12:00:00 GMT", "2000-01-31 12:00 utc", "2000-01-31T12:00:00UTC"]
        {
            assert_eq!(spelled(text, YearFirst), Some(10_987 * DAY + DAY / 2), "{text}");
        }
        assert_eq!(spelled("Jan 31 2000 12:00 PM", YearFirst), Some(10_987 * DAY + DAY / 2));
        assert_eq!(spelled("Thu Jan 1 1970 01:00 +01:00", YearFirst), Some(0));
        for text in ["Jan 1970", "1970 January", "1970-01", "1970/01", "1 Sept 1970"] {
            assert!(spelled(text, YearFirst).is_some(), "{text}");
        }
        assert_eq!(spelled("Feb 1970", YearFirst), Some(31 * DAY));
        let no_words = [
            "Jan",
            "Jan 15",
            "Janus 1 2000",
            "Mar-15",
            "1 2000 Jan",
            "Feb 30 2000",
            "Monday",
            "May",
            "Jan 1 2000 x",
            "Jan Feb 2000",
            "2013-14",
            "2000.01",
            "2000-1",
            "31-01",
            "Jan 1, 2000T1",
        ];
        no_words.into_iter().for_each(|text| assert!(!is_spelled(text), "{text}"));
        let other = ["2023-02-29", "2024-13-01", "24-01-01", "1.2", "10:30", "2024", "2024-01-01x"];
        for text in
            other.into_iter().chain(["1-2-3-4", "", "9999999999999999999-1-1", "2024-01-01T"])
        {
            assert!(!is_spelled(text), "{text}");
        }
    }

    #[test]
    fn days_in_forms_that_are_not_read_look_like_days() {
        for text in [
            "2000-01-31 12:00:00 CET",
            "Mon Jan 31 12:00:00 2000",
            "31/Jan/2000:12:00:00 +0000",
            "31/01/2000",
            "31.1.00 noon",
            "1/2/2000 x",
        ] {
            assert!(looks_like(text), "{text}");
        }
        for text in
            ["", "a", "1.0.3", "10.0.0.204", "078-05-1120", "0171/555/12", "A-1-2", "May", "12.5"]
        {
            assert!(!looks_like(text), "{text}");
        }
    }

    #[test]
    fn day_and_month_are_told_apart_by_the_column() {
        for (text, order) in [
            ("01/02/2024", None),
            ("01/13/2024", Some(MonthFirst)),
            ("13/01/2024", Some(DayFirst)),
            ("2024-01-13", Some(YearFirst)),
            ("01.02.2024", Some(DayFirst)),
        ] {
            assert_eq!(settled(orders(text)), order, "{text}");
        }
    }

    #[test]
    fn known_days() {
        let thursday = apart(0);
        assert_eq!((thursday.month, thursday.weekday, thursday.hour), (0, 3, 0));
        assert_eq!(apart(-1).hour, 23);
        assert_eq!(apart(-1).weekday, 2);
        assert_eq!(text(-1), "1969-12-31T23:59:59.999999");
        assert_eq!(text(i64::MIN).get(..2), Some("-2"));
    }

    proptest! {
        #[test]
        fn texts_come_back(micros in -62_135_596_800_000_000_i64..253_402_300_800_000_000) {
            prop_assert_eq!(spelled(&text(micros), YearFirst), Some(micros));
        }

        #[test]
        fn any_time_can_be_taken_apart(micros in any::<i64>()) {
            let moment = apart(micros);
            prop_assert!(moment.month < 12 && moment.weekday < 7 && moment.hour < 24);
        }
    }
}

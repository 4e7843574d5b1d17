//! Days and times: how they are spelled, counted and taken apart.

/// Microseconds in a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// What times count.
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
    /// In microseconds; the nearest there is for years beyond 290,000.
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

/// In which order a text spells year, month and day.
pub(crate) const YEAR_FIRST: u8 = 1;
/// `31.01.2024`, `31/01/2024`, `31-01-2024`.
pub(crate) const DAY_FIRST: u8 = 2;
/// `01/31/2024`, `01-31-2024`.
pub(crate) const MONTH_FIRST: u8 = 4;

/// A time as it was spelled in one order: microseconds since 1970-01-01 00:00 UTC.
pub(crate) fn spelled(text: &str, order: u8) -> Option<i64> {
    let (day, clock) = split(text)?;
    let days = days(day, order)?;
    let (clock, offset) = clock.map_or(Some((0, 0)), clock_of)?;
    Some(days * DAY + clock - offset)
}

/// The orders in which a text spells a time, as a set of bits; 0 for other texts.
pub(crate) fn orders(text: &str) -> u8 {
    let Some((day, clock)) = split(text) else { return 0 };
    if clock.is_some_and(|clock| clock_of(clock).is_none()) {
        return 0;
    }
    let orders = [YEAR_FIRST, DAY_FIRST, MONTH_FIRST].into_iter();
    orders.filter(|order| days(day, *order).is_some()).sum()
}

/// The order in which all texts of a column spell times, from the orders they have in common; none
/// where day and month could change places.
pub(crate) fn settled(common: u8) -> Option<u8> {
    [YEAR_FIRST, DAY_FIRST, MONTH_FIRST].into_iter().find(|order| common == *order)
}

fn split(text: &str) -> Option<(&str, Option<&str>)> {
    if text.len() > 40 || !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    Some(match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_start_matches(' '))),
        None => (text, None),
    })
}

/// Days since 1970-01-01, of three groups of digits.
fn days(text: &str, order: u8) -> Option<i64> {
    let sign = text.bytes().find(|byte| !byte.is_ascii_digit())?;
    let mut groups = text.split(char::from(sign));
    let [first, second, third] = [groups.next()?, groups.next()?, groups.next()?];
    let signs: &[u8] = match order {
        YEAR_FIRST => b"-/.",
        DAY_FIRST => b"./-",
        _ => b"/-",
    };
    if groups.next().is_some() || !signs.contains(&sign) {
        return None;
    }
    let (year, month, day) = match order {
        YEAR_FIRST => (first, second, third),
        DAY_FIRST => (third, second, first),
        _ => (third, first, second),
    };
    let year = digits(year, 4, 4)?;
    let (month, day) = (digits(month, 1, 2)?, digits(day, 1, 2)?);
    if year == 0 || !(1..=12).contains(&month) || day < 1 || day > month_days(year, month) {
        return None;
    }
    Some(days_from_civil(year, month, day))
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

/// The text before `Z`, `+01:00`, `+0100` or `+01`, and the microseconds that is ahead of UTC.
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

/// A number of `least` to `most` digits.
fn digits(text: &str, least: usize, most: usize) -> Option<i64> {
    let fits = (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// Up to nine digits behind the point, as microseconds.
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

/// Days since 1970-01-01 in the Gregorian calendar, extended to all years (Howard Hinnant,
/// "chrono-compatible low-level date algorithms", public domain).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of days since 1970-01-01.
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
    /// 0 for January.
    pub(crate) month: usize,
    /// 0 for Monday.
    pub(crate) weekday: usize,
    /// 0 to 23.
    pub(crate) hour: usize,
    /// Whether it is a day and no time of day.
    pub(crate) is_midnight: bool,
}

/// Takes microseconds since 1970-01-01 apart.
pub(crate) fn apart(micros: i64) -> Moment {
    let (day, clock) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (_, month, _) = civil_from_days(day);
    Moment {
        month: (month - 1) as usize,
        weekday: (day + 3).rem_euclid(7) as usize,
        hour: (clock / (DAY / 24)) as usize,
        is_midnight: clock == 0,
    }
}

/// The time as ISO 8601 text, without a clock at midnight.
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
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_spell_times() {
        assert_eq!(spelled("1970-01-02", YEAR_FIRST), Some(DAY));
        assert_eq!(spelled("1970/1/1 00:00:01.5", YEAR_FIRST), Some(1_500_000));
        assert_eq!(spelled("1970-01-01T01:00+01:00", YEAR_FIRST), Some(0));
        assert_eq!(spelled("1970-01-01T00:00:00Z", YEAR_FIRST), Some(0));
        assert_eq!(spelled("02.01.1970", DAY_FIRST), Some(DAY));
        assert_eq!(spelled("1/2/1970 12:30 AM", MONTH_FIRST), Some(DAY + DAY / 48));
        assert_eq!(spelled("2024-02-29", YEAR_FIRST), Some(19_782 * DAY));
        let other = ["2023-02-29", "2024-13-01", "24-01-01", "1.2", "10:30", "2024", "2024-01-01x"];
        for text in
            other.into_iter().chain(["1-2-3-4", "", "9999999999999999999-1-1", "2024-01-01T"])
        {
            assert_eq!(orders(text), 0, "{text}");
        }
    }

    #[test]
    fn day_and_month_are_told_apart_by_the_column() {
        assert_eq!(settled(orders("01/02/2024")), None);
        assert_eq!(settled(orders("01/02/2024") & orders("01/13/2024")), Some(MONTH_FIRST));
        assert_eq!(settled(orders("01/02/2024") & orders("13/01/2024")), Some(DAY_FIRST));
        assert_eq!(settled(orders("13/01/2024") & orders("01/13/2024")), None);
        assert_eq!(settled(orders("01.02.2024")), Some(DAY_FIRST));
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
            prop_assert_eq!(spelled(&text(micros), YEAR_FIRST), Some(micros));
        }

        #[test]
        fn any_time_can_be_taken_apart(micros in any::<i64>()) {
            let moment = apart(micros);
            prop_assert!(moment.month < 12 && moment.weekday < 7 && moment.hour < 24);
        }
    }
}

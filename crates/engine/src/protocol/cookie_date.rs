//! Dates of cookies, in whatever shape servers write them (RFC 6265, 5.1.1).

const MONTHS: [&[u8]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// A date as seconds since 1970; None for what is none.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(|byte| is_delimiter(*byte)) {
        if time.is_none() && time_of(token).is_some() {
            time = time_of(token);
        } else if day.is_none() && number(token, 1, 2).is_some() {
            day = number(token, 1, 2);
        } else if month.is_none() && month_of(token).is_some() {
            month = month_of(token);
        } else if year.is_none() && number(token, 2, 4).is_some() {
            year = number(token, 2, 4);
        }
    }
    let year = match year? {
        short @ 70..=99 => short + 1900,
        short @ 0..=69 => short + 2000,
        long => long,
    };
    let (day, month, time) = (day?, month?, time?);
    ((1..=31).contains(&day) && year >= 1601).then(|| days(year, month, day) * 86_400 + time)
}

/// RFC 6265, 5.1.1: what lies between the parts.
fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// The number that a token begins with, where it has so many digits.
fn number(token: &[u8], least: usize, most: usize) -> Option<i64> {
    let count = token
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let text = std::str::from_utf8(&token[..count]).ok()?;
    (least..=most).contains(&count).then(|| text.parse().ok())?
}

/// `hh:mm:ss` as seconds.
fn time_of(token: &[u8]) -> Option<i64> {
    let mut parts = token.splitn(3, |byte| *byte == b':');
    let hours = whole(parts.next()?)?;
    let minutes = whole(parts.next()?)?;
    let seconds = number(parts.next()?, 1, 2)?;
    (hours < 24 && minutes < 60 && seconds < 60).then_some(hours * 3600 + minutes * 60 + seconds)
}

fn whole(token: &[u8]) -> Option<i64> {
    number(token, 1, 2).filter(|_| token.iter().all(u8::is_ascii_digit))
}

fn month_of(token: &[u8]) -> Option<i64> {
    let name = token.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| *month == name)?;
    Some(at as i64 + 1)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have the leap day at their end.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

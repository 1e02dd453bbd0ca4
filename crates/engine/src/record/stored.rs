//! Histograms in their stored form: what they hold, several added up, and one made of counts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use super::measurement::Histogram;

const SIGNIFICANT_DIGITS: u8 = 3;

/// The parts do not belong together; the text says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotOneLoad(pub(super) String);

/// A text that is no stored histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("damaged histogram: {0}")]
pub struct Damaged(String);

type Counts = hdrhistogram::Histogram<u64>;

fn decoded(data: &str) -> Result<Counts, Damaged> {
    let bytes = STANDARD
        .decode(data)
        .map_err(|error| Damaged(error.to_string()))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| Damaged(error.to_string()))
}

fn encoded(counts: &Counts) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(counts, &mut bytes)
        .expect("writing to memory does not fail");
    STANDARD.encode(bytes)
}

/// What a stored histogram holds: each recorded value, in its units, and how often; ascending. As is usual for
/// HdrHistogram, all values of a slot are its highest.
///
/// # Errors
///
/// Where the text is no stored histogram.
pub fn counts(data: &str) -> Result<Vec<(u64, u64)>, Damaged> {
    let counts = decoded(data)?;
    let recorded = counts.iter_recorded();
    Ok(recorded
        .map(|item| (item.value_iterated_to(), item.count_at_value()))
        .collect())
}

/// The stored form of values, each with how often it occurred; a value is at least 1.
#[must_use]
pub fn from_counts(values: &[(u64, u64)]) -> String {
    let highest = values.iter().map(|(value, _)| *value).max().unwrap_or(2);
    let mut counts = Counts::new_with_bounds(1, highest.max(2), SIGNIFICANT_DIGITS)
        .expect("the highest value is at least twice the lowest");
    for (value, count) in values {
        counts
            .record_n((*value).max(1), *count)
            .expect("no value lies above the highest");
    }
    encoded(&counts)
}

/// The histogram of all times together.
///
/// # Errors
///
/// Where one is damaged, or they are in several units.
pub(super) fn added(parts: &[&Histogram]) -> Result<Histogram, NotOneLoad> {
    let units: std::collections::BTreeSet<u64> = parts.iter().map(|part| part.unit_ns).collect();
    if units.len() > 1 {
        let said: Vec<String> = units.iter().map(u64::to_string).collect();
        return Err(NotOneLoad(format!(
            "the generators' times are in several units: {} ns",
            said.join(", ")
        )));
    }
    let filled: Vec<&Histogram> = parts.iter().copied().filter(|one| one.count > 0).collect();
    let [first, _, ..] = filled[..] else {
        return Ok(filled.first().copied().unwrap_or(parts[0]).clone());
    };
    let mut all = decoded(&first.data).map_err(|damaged| NotOneLoad(damaged.to_string()))?;
    for one in &filled[1..] {
        let more = decoded(&one.data).map_err(|damaged| NotOneLoad(damaged.to_string()))?;
        all.auto(true);
        all.add(more)
            .map_err(|error| NotOneLoad(error.to_string()))?;
    }
    let count: u64 = filled.iter().map(|one| one.count).sum();
    let mean_ns = filled
        .iter()
        .map(|one| one.count as f64 * one.mean_ns)
        .sum::<f64>()
        / count as f64;
    let squares = |one: &Histogram| {
        let apart_ns = one.mean_ns - mean_ns;
        one.count as f64 * (one.stdev_ns * one.stdev_ns + apart_ns * apart_ns)
    };
    let variance = filled.iter().map(|one| squares(one)).sum::<f64>() / count as f64;
    Ok(Histogram {
        count,
        min_ns: filled.iter().map(|one| one.min_ns).min().unwrap_or(0),
        max_ns: filled.iter().map(|one| one.max_ns).max().unwrap_or(0),
        mean_ns,
        stdev_ns: variance.sqrt(),
        unit_ns: first.unit_ns,
        data: encoded(&all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_stored_is_read_again(
            values in prop::collection::btree_map(1_u64..=4_000_000_000, 1_u64..1_000, 1..50),
        ) {
            let values: Vec<(u64, u64)> = values.into_iter().collect();
            let read = counts(&from_counts(&values)).unwrap();
            let total = |of: &[(u64, u64)]| of.iter().map(|(_, count)| count).sum::<u64>();
            prop_assert_eq!(total(&read), total(&values));
            let (highest, _) = values[values.len() - 1];
            let (read_highest, _) = read[read.len() - 1];
            prop_assert!(read_highest >= highest && read_highest - highest <= highest / 1_000);
            prop_assert!(read.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }

        #[test]
        fn foreign_text_is_refused(text in ".{0,200}") {
            prop_assert!(counts(&text).is_err());
        }
    }
}

//! Histograms in their stored form: what they hold, several added up, and one made of counts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use serde::{Deserialize, Serialize};

use super::adding_up::{AddUp, NotOneLoad, Whole};

const SIGNIFICANT_DIGITS: u8 = 3;

/// Times in nanoseconds, with 3 significant digits. Count, extremes, mean and deviation are exact running sums; the
/// slots of `data` are within 0.1 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Number of times recorded.
    pub count: u64,
    /// The smallest; 0 when empty.
    pub min_ns: u64,
    /// The largest; 0 when empty.
    pub max_ns: u64,
    /// The arithmetic mean.
    pub mean_ns: f64,
    /// The standard deviation (of the population).
    pub stdev_ns: f64,
    /// Nanoseconds in one recorded unit.
    pub unit_ns: u64,
    /// The HdrHistogram V2 compressed encoding, in base64.
    pub data: String,
}

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

/// What a stored histogram holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Each recorded value, in the histogram's units, and how often; ascending. As is usual for HdrHistogram, all
    /// values of a slot are its highest.
    pub counts: Vec<(u64, u64)>,
    total: u64,
}

impl Stored {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// Where the text is no stored histogram.
    pub fn read(data: &str) -> Result<Self, Damaged> {
        let decoded = decoded(data)?;
        let recorded = decoded.iter_recorded();
        let counts: Vec<(u64, u64)> = recorded
            .map(|item| (item.value_iterated_to(), item.count_at_value()))
            .collect();
        let total = counts.iter().map(|(_, count)| count).sum();
        Ok(Self { counts, total })
    }

    /// Its quantiles, the largest value for 1; 0 where it is empty.
    #[must_use]
    pub fn quantiles(&self, qs: &[f64]) -> Vec<u64> {
        let at = |q: &f64| quantile(self.counts.iter().copied(), self.total, *q);
        qs.iter().map(at).collect()
    }

    /// The value at a rank, counted from 1; beyond the ends the least and the largest.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> u64 {
        let rank = rank.clamp(1, self.total.max(1));
        at_rank(self.counts.iter().copied(), rank)
    }
}

/// The value at a 1-based rank, of values that come ascending, each with how often it occurred; 0 where there are none.
pub(super) fn at_rank(slots: impl IntoIterator<Item = (u64, u64)>, rank: u64) -> u64 {
    let mut up_to = 0;
    let reaches = |(_, count): &(u64, u64)| {
        up_to += count;
        up_to >= rank
    };
    slots
        .into_iter()
        .find(reaches)
        .map_or(0, |(value, _)| value)
}

/// Their `q`-quantile, of `total` in all: the value up to which at least this share of them lies. Whoever reads a
/// quantile of times, live or stored, reads it here.
pub(super) fn quantile(slots: impl IntoIterator<Item = (u64, u64)>, total: u64, q: f64) -> u64 {
    let rank = (q * total as f64).ceil() as u64;
    at_rank(slots, rank.clamp(1, total.max(1)))
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

impl AddUp for Histogram {
    fn add_up(parts: &[&Self]) -> Whole<Self> {
        added(parts)
    }
}

/// Stored forms added up; an empty text is that of nothing.
pub(super) fn added_data(parts: &[&str]) -> Whole<String> {
    let mut filled = parts.iter().filter(|data| !data.is_empty());
    let Some(first) = filled.next() else {
        return Ok(String::new());
    };
    let damaged = |damaged: Damaged| NotOneLoad(damaged.to_string());
    let mut all = decoded(first).map_err(damaged)?;
    for more in filled {
        all.auto(true);
        all.add(decoded(more).map_err(damaged)?)
            .map_err(|error| NotOneLoad(error.to_string()))?;
    }
    Ok(encoded(&all))
}

/// The histogram of all times together; none where one is damaged, or they are in several units.
fn added(parts: &[&Histogram]) -> Whole<Histogram> {
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
    let datas: Vec<&str> = filled.iter().map(|one| one.data.as_str()).collect();
    let data = added_data(&datas)?;
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
        data,
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
            let read = Stored::read(&from_counts(&values)).unwrap().counts;
            let total = |of: &[(u64, u64)]| of.iter().map(|(_, count)| count).sum::<u64>();
            prop_assert_eq!(total(&read), total(&values));
            let (highest, _) = values[values.len() - 1];
            let (read_highest, _) = read[read.len() - 1];
            prop_assert!(read_highest >= highest && read_highest - highest <= highest / 1_000);
            prop_assert!(read.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }

        #[test]
        fn foreign_text_is_refused(text in ".{0,200}") {
            prop_assert!(Stored::read(&text).is_err());
        }
    }
}

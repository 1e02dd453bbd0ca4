//! Scripted delays: when each request is answered, as a pure function of its number and its arrival.

use std::time::Duration;

/// When requests are answered. Written as text in [`Script::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// Delays taken in turn, each for so many requests: `5ms`, or `5ms*9,50ms*1`.
    Round(Vec<(Duration, u64)>),
    /// Nothing is answered in the first `stall` of each `every`; otherwise the answer comes at once: `stall:1s/5s`.
    Stall {
        /// How long nothing is answered.
        stall: Duration,
        /// From the start of one stall to the start of the next.
        every: Duration,
    },
    /// The first `answered` requests are answered at once, no other ever: `hang:100`.
    Hang {
        /// Requests before the silence.
        answered: u64,
    },
}

impl Script {
    /// Reads the notation shown at each variant; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(count) = text.strip_prefix("hang:") {
            let answered = count
                .parse()
                .map_err(|_| format!("'{count}' is no number of requests"))?;
            return Ok(Self::Hang { answered });
        }
        if let Some(rest) = text.strip_prefix("stall:") {
            let (stall, every) = rest.split_once('/').ok_or("write a stall as stall:1s/5s")?;
            let (stall, every) = (duration(stall)?, duration(every)?);
            if stall.is_zero() || stall >= every {
                return Err("a stall is longer than nothing and shorter than its period".to_owned());
            }
            return Ok(Self::Stall { stall, every });
        }
        text.split(',')
            .map(times)
            .collect::<Result<_, _>>()
            .map(Self::Round)
    }

    /// How long request number `number` (from 0) is held, having arrived `arrived` after the server's start;
    /// None is for ever.
    pub fn hold(&self, number: u64, arrived: Duration) -> Option<Duration> {
        match self {
            Self::Round(delays) => {
                let length: u64 = delays.iter().map(|(_, count)| count).sum();
                let mut place = number % length;
                for &(delay, count) in delays {
                    if place < count {
                        return Some(delay);
                    }
                    place -= count;
                }
                None
            }
            Self::Stall { stall, every } => {
                let place = Duration::from_nanos((arrived.as_nanos() % every.as_nanos()) as u64);
                Some(stall.saturating_sub(place))
            }
            Self::Hang { answered } => (number < *answered).then_some(Duration::ZERO),
        }
    }
}

fn times(part: &str) -> Result<(Duration, u64), String> {
    let (delay, count) = part.split_once('*').unwrap_or((part, "1"));
    match count.parse() {
        Ok(count) if count > 0 => Ok((duration(delay)?, count)),
        _ => Err(format!("'{count}' is no number of requests")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit_ns = match &text[digits.len()..] {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => {
            return Err(format!(
                "'{text}' is no duration; write it as 250us, 5ms or 1s"
            ));
        }
    };
    let count: u64 = digits
        .parse()
        .map_err(|_| format!("'{text}' is no duration; write it as 250us, 5ms or 1s"))?;
    Ok(Duration::from_nanos(count.saturating_mul(unit_ns)))
}

//! The intended rate over time, and its inverse.

use crate::plan::RateStage;

const NS_PER_S: f64 = 1e9;

/// A piece of the profile with a rate that is a linear function of time.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start_ns: f64,
    /// Requests intended before it.
    before: f64,
    /// Requests intended before its end; infinite for the last.
    until: f64,
    /// Rate at its start, per nanosecond.
    rate: f64,
    /// Change of the rate, per nanosecond².
    slope: f64,
}

/// Intended rate λ(t), piecewise linear; after the last stage its last rate holds.
///
/// ```text
///   Λ(t) = ∫₀ᵗ λ        requests intended until t
///   within a piece:     Λ(t) = Λ₀ + λ₀ τ + s τ²/2,          τ = t − t₀
///   inverse:            τ = 2m / (λ₀ + √(λ₀² + 2 s m)),     m = n − Λ₀
/// ```
///
/// (This form of the quadratic's solution stays exact as s goes to 0.)
#[derive(Debug, Clone)]
pub struct Profile {
    pieces: Vec<Piece>,
}

impl Profile {
    /// The profile of a plan's stages.
    #[must_use]
    pub fn new(stages: &[RateStage]) -> Self {
        let mut pieces = Vec::with_capacity(stages.len() + 1);
        let (mut start_ns, mut before, mut last_rate) = (0.0, 0.0, 0.0);
        for stage in stages {
            let length_ns = stage.duration_ns as f64;
            let rate = stage.from_per_s / NS_PER_S;
            last_rate = stage.to_per_s / NS_PER_S;
            let until = before + (rate + last_rate) / 2.0 * length_ns;
            pieces.push(Piece {
                start_ns,
                before,
                until,
                rate,
                slope: (last_rate - rate) / length_ns,
            });
            start_ns += length_ns;
            before = until;
        }
        pieces.push(Piece {
            start_ns,
            before,
            until: f64::INFINITY,
            rate: last_rate,
            slope: 0.0,
        });
        Self { pieces }
    }

    /// A rate that never changes.
    #[must_use]
    pub fn steady(rate_per_s: f64) -> Self {
        Self {
            pieces: vec![Piece {
                start_ns: 0.0,
                before: 0.0,
                until: f64::INFINITY,
                rate: rate_per_s / NS_PER_S,
                slope: 0.0,
            }],
        }
    }

    /// When `count` requests have been intended: the t with Λ(t) = `count`. None when the rate
    /// falls to 0 for good before that.
    #[must_use]
    pub fn time_of(&self, count: f64) -> Option<u64> {
        let piece = self.pieces.iter().find(|piece| count < piece.until)?;
        let more = count - piece.before;
        let speed = piece.rate
            + (piece.rate * piece.rate + 2.0 * piece.slope * more)
                .max(0.0)
                .sqrt();
        if speed <= 0.0 {
            // A ramp from 0 has its first request at its start; a rate of 0 has none.
            return (piece.slope > 0.0).then_some(piece.start_ns as u64);
        }
        Some((piece.start_ns + 2.0 * more / speed).round() as u64)
    }
}

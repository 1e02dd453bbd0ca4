//! The order of the arms' slices: pure and seeded.
//!
//! ```text
//!   row r of a group:  z(p) + r mod n,   z = 0, 1, n−1, 2, n−2, …   (Williams 1949), arms dealt out by chance
//!   round 2r:     row r            round 2r + 1:  the same row backwards
//! ```
//!
//! In each pair of rounds every arm has the same mean place. In each group of 2n rounds every arm
//! follows every other one equally often within a round, twice: what one server leaves behind (a queue,
//! cold caches, a collector at work) meets all others alike. Which arm stands for which number, and the
//! order of the rows, is drawn anew for each group.

/// The order of so many arms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceOrder {
    arms: Vec<u32>,
    seed: u64,
}

impl SliceOrder {
    /// The slices of these arms.
    #[must_use]
    pub fn new(arms: Vec<u32>, seed: u64) -> Self {
        Self { arms, seed }
    }

    /// Whose they are.
    #[must_use]
    pub fn arms(&self) -> &[u32] {
        &self.arms
    }

    /// The arms in the order of their slices in one round, counted from 0.
    #[must_use]
    pub fn order(&self, round: u64) -> Vec<u32> {
        let n = self.arms.len();
        let group_rounds = 2 * n.max(1) as u64;
        let group = round / group_rounds;
        // Another stream of random numbers for each group.
        let seed = self.seed ^ group.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut arms = self.arms.clone();
        random.shuffle(&mut arms);
        let mut rows: Vec<usize> = (0..n).collect();
        random.shuffle(&mut rows);
        let row = rows[(round % group_rounds / 2) as usize];
        let number = |place: usize| match place % 2 {
            1 => place.div_ceil(2),
            _ => n - place / 2,
        };
        let mut order: Vec<u32> = (0..n)
            .map(|place| arms[(number(place) + row) % n])
            .collect();
        if round % 2 == 1 {
            order.reverse();
        }
        order
    }
}

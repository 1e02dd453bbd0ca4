//! What an arm has under way: for how long, and whether a place for more was to be had.

use super::Arm;
use crate::streams::SlotState;
use crate::transport::Transport;

impl<T: Transport> Arm<T> {
    /// Notes that an iteration ends without a place for another request.
    #[inline]
    pub(super) fn note_full(&mut self) {
        self.is_full = !self.has_room();
    }

    /// The iteration that began at that moment goes on to starting. Where the one before it left no place, there was none
    /// until then: places become free by what an iteration reads.
    #[inline]
    pub(super) fn note_room(&mut self, began_ns: u64) {
        if std::mem::take(&mut self.is_full) {
            self.full_until_ns = began_ns;
        }
    }

    /// Counts starts that came due while there was no place.
    #[inline]
    pub(super) fn note_waited(&self, count: u32, intended_ns: u64) {
        if let Some(times) = &self.context.recorder.open_loop
            && intended_ns < self.full_until_ns
        {
            times.waited.add(u64::from(count));
        }
    }

    /// How long each request that is under way at that moment has been so.
    pub(super) fn ages_ns(&self, at_ns: u64) -> impl Iterator<Item = u64> {
        let of_http1 = self.connections.iter().flat_map(move |connection| {
            let age_ns = connection.exchange.age_ns(at_ns);
            std::iter::repeat_n(age_ns, connection.outstanding as usize)
        });
        let slots = self.mux.iter().flat_map(|mux| &mux.slots);
        let of_streams = slots
            .filter(|slot| slot.state != SlotState::Free)
            .map(move |slot| slot.exchange.age_ns(at_ns));
        of_http1.chain(of_streams)
    }

    /// The same of all of them together.
    pub(super) fn under_way_ns(&self, at_ns: u64) -> u64 {
        self.ages_ns(at_ns).sum()
    }
}

//! The streams that are under way, found by their number at the cost of one look.

use std::sync::Arc;

/// A request whose answer has not ended.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u32,
    /// Whose it is, in the caller's words.
    pub(super) key: u32,
    /// What may still be sent on it; below 0 where SETTINGS took back more than was left.
    pub(super) send_window: i64,
    /// What may still come on it.
    pub(super) receive_window: i64,
    /// What came and was not yet given back to its window.
    pub(super) taken: u32,
    /// What of the request's body is not sent.
    pub(super) unsent: Option<(Arc<[u8]>, usize)>,
    pub(super) has_head: bool,
    pub(super) is_head_request: bool,
    /// Interim answers so far, in bytes of fields.
    pub(super) interim_bytes: usize,
    /// What is missing of the length that the answer announced.
    pub(super) length_left: Option<u64>,
}

const FREE: u32 = u32::MAX;

/// Streams in an array, and where each lies by its number.
///
/// Numbers go up by two, so half a number, cut to the size of `places`, hits a place of its own but where
/// an old stream is left behind; then the next free place is taken (linear probing, places moved up on
/// removal: Knuth, TAOCP 3, 6.4, algorithm R). What it takes grows with the streams under way only.
#[derive(Debug)]
pub(super) struct Streams {
    /// Index into `list`, or [`FREE`]. A power of two long, at most half full.
    places: Vec<u32>,
    list: Vec<Stream>,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self {
            places: vec![FREE; 4],
            list: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.list.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.list.iter_mut()
    }

    #[inline]
    fn home(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.places.len() - 1)
    }

    /// The place of a stream's index, or the free one where its search ends.
    #[inline]
    fn place(&self, id: u32) -> usize {
        let mut place = self.home(id);
        loop {
            let index = self.places[place];
            if index == FREE || self.list[index as usize].id == id {
                return place;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    #[inline]
    pub(super) fn get(&mut self, id: u32) -> Option<&mut Stream> {
        match self.places[self.place(id)] {
            FREE => None,
            index => Some(&mut self.list[index as usize]),
        }
    }

    pub(super) fn add(&mut self, stream: Stream) {
        if self.list.len() * 2 >= self.places.len() {
            self.places = vec![FREE; self.places.len() * 2];
            for index in 0..self.list.len() {
                let place = self.place(self.list[index].id);
                self.places[place] = index as u32;
            }
        }
        let place = self.place(stream.id);
        self.places[place] = self.list.len() as u32;
        self.list.push(stream);
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Stream> {
        let mut hole = self.place(id);
        let index = self.places[hole];
        if index == FREE {
            return None;
        }
        self.places[hole] = FREE;
        let last = self.places.len() - 1;
        let mut place = hole;
        loop {
            place = (place + 1) & last;
            let moved = self.places[place];
            if moved == FREE {
                break;
            }
            // It may go into the hole unless its home lies behind that.
            let home = self.home(self.list[moved as usize].id);
            if place.wrapping_sub(home) & last >= place.wrapping_sub(hole) & last {
                self.places[hole] = moved;
                self.places[place] = FREE;
                hole = place;
            }
        }
        if let Some(latest) = self.list.last().map(|stream| stream.id)
            && latest != id
        {
            let place = self.place(latest);
            self.places[place] = index;
        }
        Some(self.list.swap_remove(index as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::{Stream, Streams};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn stream(id: u32, key: u32) -> Stream {
        Stream {
            id,
            key,
            send_window: 0,
            receive_window: 0,
            taken: 0,
            unsent: None,
            has_head: false,
            is_head_request: false,
            interim_bytes: 0,
            length_left: None,
        }
    }

    proptest! {
        /// Like a map, whichever streams end first.
        #[test]
        fn every_stream_is_found(steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..400)) {
            let (mut streams, mut map, mut id) = (Streams::new(), BTreeMap::new(), 1);
            for (is_new, which) in steps {
                if is_new || map.is_empty() {
                    streams.add(stream(id, id * 3));
                    map.insert(id, id * 3);
                    id += 2;
                } else {
                    let ids: Vec<u32> = map.keys().copied().collect();
                    let gone = ids[which.index(ids.len())];
                    prop_assert_eq!(streams.remove(gone).map(|stream| stream.key), map.remove(&gone));
                    prop_assert!(streams.remove(gone).is_none());
                }
                prop_assert_eq!(streams.len(), map.len());
                for id in (1..id).step_by(2) {
                    prop_assert_eq!(streams.get(id).map(|stream| stream.key), map.get(&id).copied());
                }
            }
        }
    }
}

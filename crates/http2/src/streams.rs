//! The streams that are under way, found by their number at the cost of one look.

/// What has a stream's number.
pub(crate) trait Numbered {
    fn number(&self) -> u32;
}

const FREE: u32 = u32::MAX;

/// Streams in an array, and where each lies by its number.
///
/// Numbers go up by two, so half a number, cut to the size of `places`, hits a place of its own but where
/// an old stream is left behind; then the next free place is taken (linear probing, places moved up on
/// removal: Knuth, TAOCP 3, 6.4, algorithm R). What it takes grows with the streams under way only.
#[derive(Debug)]
pub(crate) struct Streams<T> {
    /// Index into `list`, or [`FREE`]. A power of two long, at most half full.
    places: Vec<u32>,
    list: Vec<T>,
}

impl<T: Numbered> Streams<T> {
    pub(crate) fn new() -> Self {
        Self {
            places: vec![FREE; 4],
            list: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
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
            if index == FREE || self.list[index as usize].number() == id {
                return place;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    #[inline]
    pub(crate) fn get(&mut self, id: u32) -> Option<&mut T> {
        match self.places[self.place(id)] {
            FREE => None,
            index => Some(&mut self.list[index as usize]),
        }
    }

    pub(crate) fn add(&mut self, stream: T) {
        if self.list.len() * 2 >= self.places.len() {
            self.places = vec![FREE; self.places.len() * 2];
            for index in 0..self.list.len() {
                let place = self.place(self.list[index].number());
                self.places[place] = index as u32;
            }
        }
        let place = self.place(stream.number());
        self.places[place] = self.list.len() as u32;
        self.list.push(stream);
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
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
            let home = self.home(self.list[moved as usize].number());
            if place.wrapping_sub(home) & last >= place.wrapping_sub(hole) & last {
                self.places[hole] = moved;
                self.places[place] = FREE;
                hole = place;
            }
        }
        if let Some(latest) = self.list.last().map(Numbered::number)
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
    use super::{Numbered, Streams};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    impl Numbered for (u32, u32) {
        fn number(&self) -> u32 {
            self.0
        }
    }

    proptest! {
        /// Like a map, whichever streams end first.
        #[test]
        fn every_stream_is_found(steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..400)) {
            let (mut streams, mut map, mut id) = (Streams::new(), BTreeMap::new(), 1);
            for (is_new, which) in steps {
                if is_new || map.is_empty() {
                    streams.add((id, id * 3));
                    map.insert(id, id * 3);
                    id += 2;
                } else {
                    let ids: Vec<u32> = map.keys().copied().collect();
                    let gone = ids[which.index(ids.len())];
                    prop_assert_eq!(streams.remove(gone).map(|stream| stream.1), map.remove(&gone));
                    prop_assert!(streams.remove(gone).is_none());
                }
                prop_assert_eq!(streams.len(), map.len());
                for id in (1..id).step_by(2) {
                    prop_assert_eq!(streams.get(id).map(|stream| stream.1), map.get(&id).copied());
                }
            }
        }
    }
}

//! The streams that are under way, found by their number at the cost of one look.

/// What has a stream's number.
pub(crate) trait Numbered {
    fn number(&self) -> u32;
}

const FREE: u32 = u32::MAX;

/// Streams in an array, and where each lies by its number.
///
/// Numbers go up by two, so half a number, cut to the size of `places`, hits a place of its own but where
/// an old stream is left behind. Then the next places are taken, in the order of the places that were hit (linear
/// probing with the Robin Hood rule: Celis, 1986), so that a removal moves up no more than those that a stream pushed
/// aside: streams that are answered in the order of their numbers lie side by side, and none of them is looked at.
/// What it takes grows with the streams under way only.
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
    fn last(&self) -> usize {
        self.places.len() - 1
    }

    /// How far a place lies behind the one that the stream's number hits.
    #[inline]
    fn aside(&self, index: u32, place: usize) -> usize {
        let id = self.list[index as usize].number();
        place.wrapping_sub((id >> 1) as usize) & self.last()
    }

    /// The place of a stream's index; that of a free one, where there is no such stream.
    #[inline]
    fn place(&self, id: u32) -> usize {
        let mut place = (id >> 1) as usize & self.last();
        loop {
            let index = self.places[place];
            if index == FREE || self.list[index as usize].number() == id {
                return place;
            }
            place = (place + 1) & self.last();
        }
    }

    #[inline]
    pub(crate) fn get(&mut self, id: u32) -> Option<&mut T> {
        match self.places[self.place(id)] {
            FREE => None,
            index => Some(&mut self.list[index as usize]),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, stream: T) {
        self.list.push(stream);
        if self.list.len() * 2 > self.places.len() {
            self.places = vec![FREE; self.places.len() * 2];
            for index in 0..self.list.len() {
                self.put(index as u32);
            }
        } else {
            self.put(self.list.len() as u32 - 1);
        }
    }

    /// Gives a stream's index its place: before those that lie less far aside.
    #[inline]
    fn put(&mut self, mut index: u32) {
        let mut place = (self.list[index as usize].number() >> 1) as usize & self.last();
        while self.places[place] != FREE {
            if self.aside(self.places[place], place) < self.aside(index, place) {
                std::mem::swap(&mut self.places[place], &mut index);
            }
            place = (place + 1) & self.last();
        }
        self.places[place] = index;
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        let mut hole = self.place(id);
        let index = self.places[hole];
        if index == FREE {
            return None;
        }
        loop {
            let next = (hole + 1) & self.last();
            let moved = self.places[next];
            // Who lies where its number hits was pushed aside by nobody, nor was anyone behind it by this one.
            if moved == FREE || self.aside(moved, next) == 0 {
                break;
            }
            self.places[hole] = moved;
            hole = next;
        }
        self.places[hole] = FREE;
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

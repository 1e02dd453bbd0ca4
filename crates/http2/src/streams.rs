//! The streams that are under way, found by their number at the cost of one look.

/// What has a stream's number.
pub(crate) trait Numbered {
    fn number(&self) -> u32;
}

/// Where a stream lies in `list`, beside its number: looking for one passes over others without a look at them.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// 0, the connection's own: nobody's.
    number: u32,
    index: u32,
}

/// Streams in an array, and where each lies by its number.
///
/// Numbers go up by two, so half a number, cut to the size of `places`, hits a place of its own but where
/// an old stream is left behind. Then the next places are taken, in the order of the places that were hit (linear
/// probing with the Robin Hood rule: Celis, 1986), so that a removal moves up no more than those that a stream pushed
/// aside: streams that are answered in the order of their numbers lie side by side, and none of them is looked at.
/// What it takes grows with the streams under way only.
#[derive(Debug)]
pub(crate) struct Streams<T> {
    /// A power of two long, at most half full.
    places: Vec<Place>,
    list: Vec<Option<T>>,
    /// Which of the list are empty: the next stream has the memory of the one that ended last.
    free: Vec<u32>,
}

impl<T: Numbered> Streams<T> {
    pub(crate) fn new() -> Self {
        Self {
            places: vec![Place::default(); 4],
            list: Vec::new(),
            free: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.list.len() - self.free.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.list.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.list.iter_mut().flatten()
    }

    #[inline]
    fn last(&self) -> usize {
        self.places.len() - 1
    }

    /// How far a place lies behind the one that a stream's number hits.
    #[inline]
    fn aside(&self, number: u32, place: usize) -> usize {
        place.wrapping_sub((number >> 1) as usize) & self.last()
    }

    /// The place of a stream; a free one, where there is no such stream.
    #[inline]
    fn place(&self, id: u32) -> usize {
        let mut place = (id >> 1) as usize & self.last();
        loop {
            let number = self.places[place].number;
            if number == id || number == 0 {
                return place;
            }
            place = (place + 1) & self.last();
        }
    }

    #[inline]
    pub(crate) fn get(&mut self, id: u32) -> Option<&mut T> {
        match self.places[self.place(id)] {
            Place { number: 0, .. } => None,
            Place { index, .. } => self.list[index as usize].as_mut(),
        }
    }

    /// Inlined, so that a stream is made where it lies: a copy would wait for the stores of its parts.
    #[inline(always)]
    pub(crate) fn add(&mut self, stream: T) {
        let number = stream.number();
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.list.push(None);
                self.list.len() as u32 - 1
            }
        };
        self.list[index as usize] = Some(stream);
        if self.len() * 2 > self.places.len() {
            self.grow();
        }
        self.put(Place { number, index });
    }

    #[cold]
    fn grow(&mut self) {
        let twice = vec![Place::default(); self.places.len() * 2];
        for place in std::mem::replace(&mut self.places, twice) {
            if place.number != 0 {
                self.put(place);
            }
        }
    }

    /// Finds a stream its place: before those that lie less far aside.
    #[inline]
    fn put(&mut self, mut stream: Place) {
        let mut place = (stream.number >> 1) as usize & self.last();
        while self.places[place].number != 0 {
            if self.aside(self.places[place].number, place) < self.aside(stream.number, place) {
                std::mem::swap(&mut self.places[place], &mut stream);
            }
            place = (place + 1) & self.last();
        }
        self.places[place] = stream;
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        let mut hole = self.place(id);
        let Place { number, index } = self.places[hole];
        if number == 0 {
            return None;
        }
        loop {
            let next = (hole + 1) & self.last();
            let moved = self.places[next];
            // Who lies where its number hits was pushed aside by nobody, nor was anyone behind it by this one.
            if moved.number == 0 || self.aside(moved.number, next) == 0 {
                break;
            }
            self.places[hole] = moved;
            hole = next;
        }
        self.places[hole] = Place::default();
        self.free.push(index);
        self.list[index as usize].take()
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

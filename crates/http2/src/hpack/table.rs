//! The entries that an index stands for: 61 that never change, then those sent lately.

use std::collections::VecDeque;

/// What a table may hold until its reader says otherwise (RFC 9113, 6.5.2).
pub const DEFAULT_TABLE_BYTES: usize = 4096;
/// What an entry counts beside its name and value (RFC 7541, 4.1).
pub(super) const ENTRY_BYTES: usize = 32;

/// RFC 7541, appendix A; the first has index 1.
#[rustfmt::skip]
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""),
    ("cache-control", ""), ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""),
    ("content-length", ""), ("content-location", ""), ("content-range", ""), ("content-type", ""),
    ("cookie", ""), ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
    ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""),
    ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""),
    ("retry-after", ""), ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""),
    ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
];

#[derive(Debug)]
struct Entry {
    /// Name, then value.
    text: Box<[u8]>,
    name_bytes: usize,
}

impl Entry {
    fn field(&self) -> (&[u8], &[u8]) {
        self.text.split_at(self.name_bytes)
    }

    fn bytes(&self) -> usize {
        self.text.len() + ENTRY_BYTES
    }
}

/// The entries sent lately, the newest first; the oldest go where there is no more room.
#[derive(Debug)]
pub(super) struct Table {
    entries: VecDeque<Entry>,
    bytes: usize,
    most_bytes: usize,
}

impl Table {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            most_bytes,
        }
    }

    pub(super) fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// The field that an index stands for, of either table.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        match STATIC.get(index.checked_sub(1)?) {
            Some((name, value)) => Some((name.as_bytes(), value.as_bytes())),
            None => self.entries.get(index - STATIC.len() - 1).map(Entry::field),
        }
    }

    /// Adds a field as the newest. One that is larger than the table only empties it.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        let entry = Entry {
            text: [name, value].concat().into(),
            name_bytes: name.len(),
        };
        self.make_room(entry.bytes());
        if entry.bytes() <= self.most_bytes {
            self.bytes += entry.bytes();
            self.entries.push_front(entry);
        }
    }

    /// Changes what the table may hold.
    pub(super) fn resize(&mut self, most_bytes: usize) {
        self.most_bytes = most_bytes;
        self.make_room(0);
    }

    /// The index of a field, and whether its value is meant too and not its name alone. Names of
    /// the static table come before those of the other, for they need fewer bytes.
    pub(super) fn find(&self, name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
        let fixed = STATIC
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let mut named = None;
        for (place, field) in fixed
            .chain(self.entries.iter().map(Entry::field))
            .enumerate()
        {
            if field == (name, value) {
                return Some((place + 1, true));
            }
            if named.is_none() && field.0 == name {
                named = Some((place + 1, false));
            }
        }
        named
    }

    fn make_room(&mut self, bytes: usize) {
        while self.bytes + bytes > self.most_bytes {
            let Some(oldest) = self.entries.pop_back() else {
                return;
            };
            self.bytes -= oldest.bytes();
        }
    }
}

//! What a recorder keeps of each request of a mix. Where there is one alone, there is none of this.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::counter::{Counter, STATUSES};
use super::failure::Failure;
use super::histogram::SparseHistogram;

/// So many names have figures of their own; all others share theirs.
pub(crate) const MOST_NAMED: usize = 64;
/// What is behind those.
pub(crate) const OTHERS: &str = "others";

/// One worker's figures of the requests of a mix, by their names.
#[derive(Debug)]
pub(crate) struct ByRequest {
    /// Those of each name, then those of all others; made when the first of them ends.
    records: Box<[OnceLock<RequestRecord>]>,
    names: Mutex<Vec<String>>,
    is_open_loop: bool,
}

/// One worker's figures of the requests of one name, of the current phase.
#[derive(Debug)]
pub(crate) struct RequestRecord {
    pub(crate) completed: Counter,
    pub(crate) failed: Counter,
    pub(crate) statuses: Box<[Counter]>,
    pub(crate) failures: Box<[Counter]>,
    pub(crate) service_time: SparseHistogram,
    pub(crate) response_time: Option<SparseHistogram>,
}

/// How a request was answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) failure: Option<Failure>,
    pub(crate) service_time_ns: u64,
    pub(crate) response_time_ns: u64,
}

impl ByRequest {
    pub(crate) fn new(names: &[String], is_open_loop: bool) -> Self {
        Self {
            records: (0..=MOST_NAMED).map(|_| OnceLock::new()).collect(),
            names: Mutex::new(names.to_vec()),
            is_open_loop,
        }
    }

    fn names(&self) -> MutexGuard<'_, Vec<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, number: u32) -> &RequestRecord {
        self.records[number as usize].get_or_init(|| RequestRecord::new(self.is_open_loop))
    }

    /// Counts an answer to a request of that number.
    pub(crate) fn note_answer(&self, number: u32, answered: Answered) {
        let record = self.record(number);
        if answered.status > 0 {
            record.statuses[usize::from(answered.status)].add(1);
        }
        if let Some(failure) = answered.failure {
            return record.fail(failure, 1);
        }
        record.completed.add(1);
        record.service_time.record(answered.service_time_ns);
        if let Some(times) = &record.response_time {
            times.record(answered.response_time_ns);
        }
    }

    /// Counts `n` requests that failed without an answer.
    #[cold]
    pub(crate) fn fail(&self, number: u32, failure: Failure, n: u64) {
        self.record(number).fail(failure, n);
    }

    /// Counts an answer that is followed by another request.
    #[cold]
    pub(crate) fn note_followed(&self, number: u32, status: u16) {
        if status > 0 {
            self.record(number).statuses[usize::from(status)].add(1);
        }
    }

    /// The name and the figures, where there are any, of each, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<(String, Option<&RequestRecord>)> {
        let names = self.names().clone();
        let named = names.into_iter().zip(&self.records);
        let mut all: Vec<_> = named.map(|(name, one)| (name, one.get())).collect();
        if let Some(others) = self.records[MOST_NAMED].get() {
            all.push((OTHERS.to_owned(), Some(others)));
        }
        all
    }

    /// Forgets everything but names.
    pub(super) fn clear(&self) {
        self.records
            .iter()
            .filter_map(OnceLock::get)
            .for_each(RequestRecord::clear);
    }
}

impl RequestRecord {
    fn new(is_open_loop: bool) -> Self {
        let counters = |n: usize| (0..n).map(|_| Counter::default()).collect();
        Self {
            completed: Counter::default(),
            failed: Counter::default(),
            statuses: counters(STATUSES),
            failures: counters(Failure::ALL.len()),
            service_time: SparseHistogram::new(),
            response_time: is_open_loop.then(SparseHistogram::new),
        }
    }

    fn fail(&self, failure: Failure, n: u64) {
        self.failed.add(n);
        self.failures[failure as usize].add(n);
    }

    fn clear(&self) {
        let Self {
            completed,
            failed,
            statuses,
            failures,
            service_time,
            response_time,
        } = self;
        completed.set(0);
        failed.set(0);
        for table in [statuses, failures] {
            table.iter().for_each(|count| count.set(0));
        }
        service_time.clear();
        if let Some(times) = response_time {
            times.clear();
        }
    }
}

/// The numbers of names, as far as there are numbers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Vec<u8>, u32>,
}

impl Names {
    /// That of a name; `is_new` is told of one that was not known before and gets a number of its own.
    pub(crate) fn number_of(&mut self, name: &[u8], is_new: impl FnOnce(String)) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.numbers.len() == MOST_NAMED {
            return MOST_NAMED as u32;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_vec(), number);
        is_new(String::from_utf8_lossy(name).into_owned());
        number
    }

    /// The same of a request that a supply made: its method and path.
    pub(crate) fn number_of_request(&mut self, request: &[u8], record: &ByRequest) -> u32 {
        self.number_of(name_of(request), |name| record.names().push(name))
    }
}

/// The longest name that is read from a request.
const MOST_NAME_BYTES: usize = 200;

/// Method and path, without a query, of a request as HTTP/1 writes it.
pub(crate) fn name_of(request: &[u8]) -> &[u8] {
    let mut spaces = 0;
    let ends = |byte: &u8| {
        spaces += u8::from(*byte == b' ');
        spaces == 2 || matches!(byte, b'?' | b'\r' | b'\n')
    };
    let length = request.iter().position(ends).unwrap_or(request.len());
    &request[..length.min(MOST_NAME_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_method_and_path() {
        for (request, name) in [
            ("GET /a?b=c HTTP/1.1\r\n\r\n", "GET /a"),
            ("POST /a/b HTTP/1.1\r\n\r\n", "POST /a/b"),
            ("GET /", "GET /"),
            ("", ""),
        ] {
            assert_eq!(name_of(request.as_bytes()), name.as_bytes());
        }
        assert_eq!(name_of(&[b'x'; 10_000]).len(), MOST_NAME_BYTES);
    }
}

//! What a recorder writes down where its connections carry several requests at once.

use super::http3::Http3Counts;
use super::recorder::Recorder;
use super::streams::{StreamCounts, count_named};

impl Recorder {
    /// The same for connections that carry several requests at once.
    pub(crate) fn of_streams(mut self) -> Self {
        self.streams = Some(StreamCounts::default());
        self
    }

    /// The same where QUIC carries them, whose handshake is TLS's too: connecting takes as long as both.
    pub(crate) fn of_http3(self) -> Self {
        let mut recorder = self.of_streams();
        recorder.http3 = Some(Http3Counts::default());
        recorder.handshake_time = None;
        recorder
    }

    /// Counts datagrams that were sent or received, and their bytes.
    #[inline]
    pub(crate) fn note_datagrams(&self, is_sent: bool, datagrams: u64, bytes: u64) {
        let Some(counts) = &self.http3 else { return };
        match is_sent {
            true => {
                counts.udp_sent.add(datagrams);
                self.totals.bytes_written.add(bytes);
            }
            false => {
                counts.udp_received.add(datagrams);
                self.totals.bytes_read.add(bytes);
            }
        }
    }

    #[cold]
    pub(crate) fn note_fault(&self, stage_and_code: &str) {
        count_named(&mut self.notes().streams.faults, stage_and_code);
    }

    #[cold]
    pub(crate) fn note_reset(&self, code: &str) {
        count_named(&mut self.notes().streams.resets, code);
    }

    #[cold]
    pub(crate) fn note_going_away(&self, code: &str) {
        count_named(&mut self.notes().streams.going_away, code);
    }

    #[cold]
    pub(crate) fn note_allowed(&self, streams: Option<u32>) {
        let fewest = &mut self.notes().streams.fewest_allowed;
        *fewest = [*fewest, streams].into_iter().flatten().min();
    }
}

//! The answer codec: no bytes panic, loop or allocate without bound, and it means the same however they are cut.
#![no_main]

use assay_engine::protocol::{Decoder, Event, Heads, ResponseHead};
use libfuzzer_sys::fuzz_target;

/// A complete answer: its head, its body, and whether the connection can go on.
#[derive(Debug, PartialEq)]
struct Answer {
    head: Option<ResponseHead>,
    body: Vec<u8>,
    reusable: bool,
    /// Bytes before it that belong to no answer.
    stray: usize,
}

/// Feeds the bytes piece by piece, and then the close. All answers that are complete.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, answers_head: bool) -> Vec<Answer> {
    let (mut decoder, mut heads) = (Decoder::new(), Heads::new());
    let (mut answers, mut head, mut body) = (Vec::new(), None, Vec::new());
    let mut stray = 0;
    for mut input in pieces {
        loop {
            let before = input.len();
            match decoder.next(&mut input, &mut heads, answers_head) {
                Err(_) => return answers,
                Ok(None) => {
                    assert!(input.is_empty(), "it wants more and leaves what it has");
                    break;
                }
                Ok(Some(Event::Head(found))) => head = Some(found),
                Ok(Some(Event::Body(data))) => {
                    assert!(
                        !data.is_empty() && input.len() < before,
                        "it does not go on"
                    );
                    body.extend_from_slice(data);
                }
                Ok(Some(Event::Stray(bytes))) => {
                    assert!(bytes > 0 && body.is_empty(), "stray bytes inside an answer");
                    stray += bytes;
                }
                Ok(Some(Event::End { reusable })) => {
                    let body = std::mem::take(&mut body);
                    answers.push(Answer {
                        head: head.take(),
                        body,
                        reusable,
                        stray: std::mem::take(&mut stray),
                    });
                }
            }
        }
    }
    if let Ok(Some(Event::End { reusable })) = decoder.close() {
        answers.push(Answer {
            head,
            body,
            reusable,
            stray,
        });
    }
    answers
}

fuzz_target!(|data: &[u8]| {
    let Some((&control, bytes)) = data.split_first() else {
        return;
    };
    let answers_head = control & 1 == 1;
    let cut = usize::from(control >> 1).min(bytes.len());
    let whole = read(std::iter::once(bytes), answers_head);
    let (front, back) = bytes.split_at(cut);
    assert_eq!(read([front, back].into_iter(), answers_head), whole);
    assert_eq!(read(bytes.chunks(1), answers_head), whole);
});

//! A body is in memory once, however large it is.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use serde_json::json;
use support::{HELLO, Server, run};

const BODY_BYTES: usize = 64 << 20;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn taken(bytes: usize) {
    let held = HELD.fetch_add(bytes, SeqCst) + bytes;
    MOST.fetch_max(held, SeqCst);
}

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), SeqCst);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Large memory is moved by its pages, not copied.
        HELD.fetch_sub(layout.size(), SeqCst);
        taken(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Takes bodies without keeping them.
fn taking() -> Server {
    Server::start(|peer| {
        let mut buffer = vec![0; 64 * 1024];
        let (mut head, mut left) = (Vec::new(), 0);
        while let Ok(read @ 1..) = peer.stream.read(&mut buffer) {
            if left == 0 {
                head.extend_from_slice(&buffer[..read]);
                let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") else {
                    continue;
                };
                left = BODY_BYTES - (head.len() - end - 4);
                head.clear();
            } else {
                left -= read;
            }
            if left == 0 && peer.stream.write_all(HELLO).is_err() {
                return;
            }
        }
    })
}

#[test]
fn an_upload_takes_its_own_size() {
    let path = std::env::temp_dir().join(format!("assay-body-{}", std::process::id()));
    File::create(&path)
        .unwrap()
        .set_len(BODY_BYTES as u64)
        .unwrap();
    let server = taking();
    let more = json!({
        "requests": [{"method": "POST", "body_file": path}], "threads": 2,
    });
    let plan = support::plan(&server, 2, 4, more);
    let before = HELD.load(SeqCst);
    MOST.store(before, SeqCst);
    let measurement = run(&plan);
    let most = MOST.load(SeqCst) - before;
    std::fs::remove_file(path).unwrap();
    assert_eq!(measurement.completed, 4);
    assert!(
        most < BODY_BYTES + BODY_BYTES / 4,
        "{most} bytes for {BODY_BYTES}"
    );
}

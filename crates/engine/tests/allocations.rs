//! No allocation on the request path; memory that does not grow with the requests, and little
//! of it per connection. Allocations of the worker threads are counted by the allocator itself.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use assay_engine::Run;
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use support::http3::plan_of;
use support::{HELLO, Server, plan, run};

/// Counts what threads named "assay-worker-…" allocate, and what the process holds.
struct Counting;

static WORKER_ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static HELD_BYTES: AtomicI64 = AtomicI64::new(0);
/// What workers have allocated and not freed themselves.
static WORKER_BYTES: AtomicI64 = AtomicI64::new(0);

thread_local! {
    /// 0: not known yet, 1: no worker, 2: a worker.
    static KIND: Cell<u8> = const { Cell::new(0) };
}

fn is_worker() -> bool {
    KIND.try_with(|kind| {
        if kind.get() == 0 {
            // Asking for the name may allocate; meanwhile this thread is none.
            kind.set(1);
            let thread = std::thread::current();
            let is_worker = thread
                .name()
                .is_some_and(|name| name.starts_with("assay-worker"));
            kind.set(1 + u8::from(is_worker));
        }
        kind.get() == 2
    })
    .unwrap_or(false)
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_worker() {
            WORKER_ALLOCATIONS.fetch_add(1, Relaxed);
            WORKER_BYTES.fetch_add(layout.size() as i64, Relaxed);
        }
        HELD_BYTES.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: the caller's promises are the system allocator's conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD_BYTES.fetch_sub(layout.size() as i64, Relaxed);
        if is_worker() {
            WORKER_BYTES.fetch_sub(layout.size() as i64, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of the workers in a run of `count` requests.
fn allocations(server: &Server, count: u64, more: &Value) -> u64 {
    let before = WORKER_ALLOCATIONS.load(Relaxed);
    assert_eq!(run(&plan(server, 8, count, more.clone())).completed, count);
    WORKER_ALLOCATIONS.load(Relaxed) - before
}

/// One test, because what is counted is the whole process's.
#[test]
fn requests_allocate_nothing_and_connections_little() {
    let hello = Server::answering(HELLO);
    let chunked = Server::start(|peer| {
        while peer.request().is_some() {
            // In pieces, so that heads and bodies are split.
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Enco");
            peer.send(b"ding: chunked\r\n\r\n5\r\nhel");
            peer.send(b"lo\r\n0\r\n\r\n");
        }
    });
    let checked = json!({"requests": [
        {"expect": {"status": [200], "body": {"kind": "equals", "text": "hello"}}},
    ]});
    let mixed =
        json!({"requests": [{"target": "/a"}, {"target": "/b"}], "request_order": "random"});
    let streams = support::http2::answering(100, |_| {});
    let http2 = json!({"http": "2", "streams": 10});
    let templated = json!({"http": "2", "streams": 10, "requests": [{
        "target": "/{random:100000-999999}", "method": "POST", "body": "{counter} {uuid}",
        "headers": [["X-Id", "{uuid}"], ["Accept", "x/y"]], "templated": true,
    }]});
    let cases = [
        ("plain", &hello, json!({})),
        ("of HTTP/2", &streams, http2),
        ("of HTTP/2, templated", &streams, templated),
        ("checked", &hello, checked.clone()),
        ("a mix", &hello, mixed),
        ("pipelined", &hello, json!({"pipeline": 4})),
        ("chunked, split, checked", &chunked, checked),
    ];
    for (name, server, more) in cases {
        // Longer windows than the run, so that the time series does not count.
        let mut more = more;
        more["window_ns"] = json!(3_600_000_000_000_u64);
        let few = allocations(server, 400, &more);
        let many = allocations(server, 8_000, &more);
        // Start-up allocates, and a connection's first split head; nothing else may.
        assert!(
            many < few + 100,
            "{name}: {few} allocations for 400, {many} for 8,000 requests"
        );
    }
    for (name, http, most_bytes) in [("HTTP/1.1", "1", 1_000), ("HTTP/2", "2", 4_000)] {
        let each = bytes_per_connection(&hello, &json!({"http": http}));
        assert!(each < most_bytes, "{each} bytes a connection of {name}");
    }
    let each = bytes_per_connection_of_http3();
    assert!(each < 19_000, "{each} bytes a connection of HTTP/3");
}

/// What the worker holds for a connection that had one answer and rests: the server is a thread of this process. A
/// sweep, ten times a second, lets go of what the request needed.
fn bytes_per_connection_of_http3() -> i64 {
    let (_server, url) = support::http3::null(b"hello");
    let held_with = |connections: u32| {
        let never_ns = 3_600_000_000_000_u64;
        let more = json!({
            "load": {"kind": "closed", "connections": connections, "think_time_ns": never_ns},
            "stop": {"kind": "duration", "ns": never_ns},
        });
        let before = WORKER_BYTES.load(Relaxed);
        let run = Run::start(&plan_of(&url, connections, 1, 1, &more)).unwrap();
        while run.snapshot().completed < u64::from(connections) {
            run.wait(Duration::from_millis(1));
        }
        let held_now = || WORKER_BYTES.load(Relaxed) - before;
        let mut held = held_now();
        for _ in 0..100 {
            run.wait(Duration::from_millis(10));
            held = held.min(held_now());
        }
        drop(run);
        held
    };
    (held_with(250) - held_with(50)) / 200
}

/// What a connection holds on which a request was sent: nothing of the server's is counted, as it is this test
/// that accepts them.
fn bytes_per_connection(any: &Server, more: &Value) -> i64 {
    let held_with = |connections: u32| {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener
            .bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into())
            .unwrap();
        listener.listen(4_096).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        let mut more = more.clone();
        more["url"] = json!(format!("http://{address}"));
        more["stop"] = json!({"kind": "duration", "ns": 3_600_000_000_000_u64});
        let mut accepted = Vec::with_capacity(connections as usize);
        let before = HELD_BYTES.load(Relaxed);
        let run = Run::start(&plan(any, connections, 1, more)).unwrap();
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            // All that it begins with is written at once.
            stream.read_exact(&mut [0]).unwrap();
            accepted.push(stream);
        }
        let held = HELD_BYTES.load(Relaxed) - before;
        drop(run);
        held
    };
    (held_with(1_100) - held_with(100)) / 1_000
}

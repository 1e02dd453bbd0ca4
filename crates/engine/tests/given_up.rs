//! What is said of an answer that is given up: what had come of it.

use crate::support::{Server, outcomes, plan, run};
use serde_json::json;

#[test]
fn it_says_what_had_come() {
    let cases: [(&str, &str); 7] = [
        ("", "after 900 ms, without a byte of the answer"),
        (
            "HTTP/1.1 200",
            "after 900 ms, inside the head of the answer",
        ),
        (
            "HTTP/1.1 100 C\r\n\r\n",
            "after 900 ms, inside the head of the answer",
        ),
        (
            "HTTP/1.1 200 OK\r\n\r\nhello",
            "after 900 ms, with 5 bytes of a body that only a close ends: its head says no length",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
            "after 900 ms, with 5 of the body's 9 bytes",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "after 900 ms, with 5 bytes of a body and no end",
        ),
        ("hello", "malformed head: the version is not HTTP/1.x"),
    ];
    for (answer, said) in cases {
        let server = Server::start(move |peer| {
            while peer.request().is_some() {
                peer.send(answer);
            }
        });
        let more = json!({"timeout_ns": 900_000_000});
        let measurement = run(&plan(&server, 1, 1, more));
        assert_eq!(measurement.failed, 1, "{:?}", outcomes(&measurement));
        assert_eq!(measurement.outcomes[0].example, said);
    }
}

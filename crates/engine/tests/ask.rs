//! One request asked by itself, over each HTTP.

use std::sync::{Arc, Mutex};

use crate::support::{HELLO, Server, http2, plan};
use assay_engine::{Asked, LoadPlan, ask};
use serde_json::json;

fn asked(plan: &LoadPlan) -> Asked {
    ask(plan).unwrap()
}

/// Whatever the plan asks for, one request is sent.
fn over(server: &Server, http: &str) -> LoadPlan {
    let streams = if http == "1" { 1 } else { 10 };
    plan(
        server,
        4,
        1000,
        json!({"http": http, "streams": streams, "requests": [{"target": "/a", "expect": {"status": [404]}}]}),
    )
}

#[test]
fn the_whole_answer_comes_back_over_http1() {
    let server = Server::answering(HELLO);
    let Asked::Answered(reply) = asked(&over(&server, "1")) else {
        panic!("no answer");
    };
    assert_eq!(reply.status, 200);
    assert!(reply.head.starts_with(b"HTTP/1.1 200"));
    assert!(HELLO.ends_with(&reply.body) && !reply.body.is_empty());
}

#[test]
fn the_whole_answer_comes_back_over_http2_by_prior_knowledge() {
    let paths = Arc::new(Mutex::new(Vec::new()));
    let server = {
        let paths = Arc::clone(&paths);
        http2::answering(100, move |fields| paths.lock().unwrap().push(fields))
    };
    let Asked::Answered(reply) = asked(&over(&server, "2")) else {
        panic!("no answer");
    };
    assert_eq!((reply.status, &reply.body[..]), (200, http2::BODY));
    let seen = paths.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].contains(":path=/a"), "{seen:?}");
}

#[test]
fn a_server_of_another_http_is_said_to_be_one() {
    let server = http2::answering(100, |_| {});
    let Asked::Failed { kind, .. } = asked(&over(&server, "1")) else {
        panic!("an answer");
    };
    assert_eq!(kind, "bad_answer");
}

#[test]
fn nobody_there_is_told_as_that() {
    let gone = {
        let server = Server::start(|_| {});
        over(&server, "2")
    };
    let nobody = LoadPlan {
        url: "http://127.0.0.1:9/".into(),
        ..gone
    };
    let Asked::Failed { kind, .. } = asked(&nobody) else {
        panic!("an answer");
    };
    assert_eq!(kind, "connect_refused");
}

#[test]
fn a_request_that_differs_each_time_is_refused() {
    let server = Server::start(|_| {});
    let differing = plan(
        &server,
        1,
        1,
        json!({"requests": [{"target": "/{counter}", "templated": true}]}),
    );
    let said = ask(&differing).unwrap_err().to_string();
    assert_eq!(
        said,
        "requests: must be the same each time to be asked once"
    );
}

//! What a plan must be: one line, naming the field.

use assay_engine::{LoadPlan, Run};
use serde_json::{Value, json};

fn plan(more: Value) -> Value {
    let mut plan = json!({
        "url": "http://127.0.0.1:1",
        "load": {"kind": "closed", "connections": 4},
        "stop": {"kind": "requests", "count": 1},
    });
    for (key, value) in more.as_object().unwrap() {
        plan[key] = value.clone();
    }
    plan
}

fn refused(more: Value) -> String {
    let text = plan(more).to_string();
    let error = LoadPlan::from_json(text.as_bytes())
        .expect_err(&text)
        .to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// Each case: what a plan has besides, and how the line about it begins.
fn are_named(cases: &[(Value, &str)]) {
    for (more, expected) in cases {
        let error = refused(more.clone());
        assert!(error.starts_with(expected), "{more}: {error}");
    }
}

fn request(request: Value) -> Value {
    json!({ "requests": [request] })
}

fn expect(expect: Value) -> Value {
    request(json!({ "expect": expect }))
}

fn open(stages: Value) -> Value {
    json!({"load": {"kind": "open", "stages": stages, "max_connections": 9}})
}

#[test]
fn a_wrong_url_or_address_is_named() {
    are_named(&[
        (json!({"url": "127.0.0.1:80"}), "url: no scheme"),
        (json!({"url": "ftp://x"}), "url: unknown scheme"),
        (json!({"url": "http://"}), "url: no host"),
        (json!({"url": "http://x:99999"}), "url: the port"),
        (json!({"url": "http://[::1"}), "url: an IPv6 address lacks"),
        (json!({"url": "http://[::1/"}), "url: an IPv6 address lacks"),
        (json!({"url": "http://[::1]8080/"}), "url: only a port"),
        (json!({"url": "http://[::1]x:80/"}), "url: only a port"),
        (json!({"url": "http://[]:80/"}), "url: no host"),
        (json!({"url": "http://[1.2.3.4]/"}), "url: no IPv6 address"),
        (json!({"url": "http://[fe80::1%]/"}), "url: no IPv6 address"),
        (json!({"url": "http://::1/"}), "url: no host"),
        (json!({"url": "http://x]/"}), "url: no host name"),
        (json!({"url": "http://x%2f/"}), "url: no host name"),
        (json!({"url": "http://x:+80/"}), "url: the port"),
        (json!({"url": "http://x:80:80/"}), "url: the port"),
        (json!({"url": "http://me:secret@x"}), "url: a user name"),
        (json!({"proxy": "http://[::1]8080"}), "proxy: only a port"),
        (json!({"addresses": ["[::1]80"]}), "addresses[0]:"),
        (json!({"addresses": ["[::1"]}), "addresses[0]:"),
        (json!({"addresses": ["::1]"]}), "addresses[0]:"),
        (json!({"addresses": ["localhost"]}), "addresses[0]:"),
        (json!({"addresses": ["unix:socket"]}), "addresses[0]:"),
        (
            json!({"source_addresses": ["unix:/s"]}),
            "source_addresses[0]:",
        ),
        (
            json!({"addresses": ["127.0.0.1"], "proxy": "http://127.0.0.1:1"}),
            "addresses:",
        ),
    ]);
}

#[test]
fn a_wrong_request_is_named() {
    are_named(&[
        (json!({"requests": []}), "requests: at least one"),
        (
            request(json!({"weight": 0})),
            "requests: at least one must have a weight",
        ),
        (request(json!({"method": "GE T"})), "requests[0].method:"),
        (request(json!({"target": "/a b"})), "requests[0].target:"),
        (request(json!({"target": ""})), "requests[0].target:"),
        (
            request(json!({"headers": [["A:", "b"]]})),
            "requests[0].headers[0]:",
        ),
        (
            request(json!({"headers": [["A", "b\r\nC: d"]]})),
            "requests[0].headers[0]:",
        ),
        (
            request(json!({"body": "", "body_file": "x"})),
            "requests[0].body_file:",
        ),
        (
            request(json!({"form": [{"name": "a", "text": "b"}], "body": "c"})),
            "requests[0].form:",
        ),
        (
            request(json!({"form": [{"name": "a"}]})),
            "requests[0].form[0]:",
        ),
        (
            request(json!({"form": [{"name": "a", "text": "b", "content_type": "x\r\ny"}]})),
            "requests[0].form[0]:",
        ),
        (
            request(json!({
                "form": [{"name": "a", "text": "b"}], "headers": [["content-type", "text/plain"]],
            })),
            "requests[0].headers:",
        ),
    ]);
}

/// A POST with these fields and what else it has.
fn posting(headers: Value, more: Value) -> Value {
    let mut asked = json!({"method": "POST", "body": "hello", "headers": headers});
    for (key, value) in more.as_object().unwrap() {
        asked[key] = value.clone();
    }
    request(asked)
}

/// The case of a field that a POST cannot keep.
fn unkept(headers: Value, more: Value, problem: &str) {
    let error = refused(posting(headers.clone(), more));
    let expected = format!("requests[0].headers: {problem}");
    assert!(error.starts_with(&expected), "{headers}: {error}");
}

#[test]
fn a_length_or_a_coding_that_cannot_be_kept_is_named() {
    let length = |value: &str| json!([["content-length", value]]);
    let none = || json!({});
    let says = "Content-Length says";
    unkept(
        length("4"),
        none(),
        &format!("{says} 4, but the body has 5 bytes"),
    );
    unkept(length("+5x"), none(), &format!("{says} +5x"));
    unkept(
        length("5"),
        json!({"body": null}),
        &format!("{says} 5, but the body has 0 bytes"),
    );
    let twice = json!([["content-length", "5"], ["Content-Length", "5"]]);
    unkept(twice, none(), "Content-Length must be there once");
    let chunks = "Content-Length and chunks";
    unkept(length("5"), json!({"chunk_bytes": 2}), chunks);
    let both = json!([["content-length", "5"], ["transfer-encoding", "chunked"]]);
    unkept(both, none(), chunks);
    unkept(
        length("5"),
        json!({"templated": true}),
        "Content-Length and a template",
    );
    let coding = |value: &str| json!([["Transfer-Encoding", value]]);
    unkept(
        coding("chunked"),
        json!({"body": null}),
        "Transfer-Encoding needs a body",
    );
    unkept(
        coding("gzip, chunked"),
        none(),
        "Transfer-Encoding must be chunked",
    );
    unkept(
        coding("chunked"),
        json!({"templated": true}),
        "Transfer-Encoding and a template",
    );
    let mut old = posting(coding("chunked"), none());
    old["http_version"] = json!("1.0");
    let error = refused(old);
    assert!(
        error.starts_with("requests[0].headers: Transfer-Encoding and HTTP/1.0"),
        "{error}"
    );
}

#[test]
fn fields_that_cannot_be_kept_are_named() {
    let mut piped = request(json!({"headers": [["Connection", "x, close"]]}));
    piped["pipeline"] = json!(2);
    are_named(&[
        (
            request(json!({"headers": [["Host", "a"], ["host", "a"]]})),
            "requests[0].headers: Host must",
        ),
        (
            request(json!({"headers": [["expect", "100-continue"]]})),
            "requests[0].headers: Expect must",
        ),
        (
            piped,
            "requests[0].headers: Connection: close and pipelining",
        ),
        (
            json!({"requests": [
                {"headers": [["Proxy-Authorization", "a"]]}, {"headers": [["proxy-authorization", "b"]]},
            ]}),
            "requests[1].headers: Proxy-Authorization must be the same",
        ),
        (
            request(json!({"method": "CONNECT"})),
            "requests[0].method: must not be CONNECT",
        ),
    ]);
}

#[test]
fn a_wrong_expectation_is_named() {
    are_named(&[
        (
            expect(json!({"status": [99]})),
            "requests[0].expect.status:",
        ),
        (
            expect(json!({"check_every": 0})),
            "requests[0].expect.check_every:",
        ),
        (
            expect(json!({"body": {"kind": "matches", "pattern": "("}})),
            "requests[0].expect.body.pattern:",
        ),
        (
            expect(json!({"body": {"kind": "one_of", "texts": []}})),
            "requests[0].expect.body.texts:",
        ),
        (
            expect(json!({"headers": [{"name": "x", "pattern": "["}]})),
            "requests[0].expect.headers[0].pattern:",
        ),
    ]);
}

#[test]
fn a_wrong_load_is_named() {
    are_named(&[
        (
            json!({"load": {"kind": "closed", "connections": 0}}),
            "load.connections:",
        ),
        (json!({"threads": 5}), "threads:"),
        (json!({"threads": 0}), "threads:"),
        (open(json!([])), "load.stages:"),
        (
            open(json!([{"duration_ns": 1, "from_per_s": -1.0, "to_per_s": 1.0}])),
            "load.stages[0]:",
        ),
        (
            open(json!([{"duration_ns": 1, "from_per_s": 1.0, "to_per_s": 4_294_967_295_u64}])),
            "load.stages[0]: rates must be at most 100000000",
        ),
        (
            open(json!([{"duration_ns": 0, "from_per_s": 1.0, "to_per_s": 1.0}])),
            "load.stages[0]:",
        ),
        (
            open(json!([{"duration_ns": 1, "from_per_s": 0.0, "to_per_s": 0.0}])),
            "load.stages:",
        ),
        (json!({"stop": {"kind": "duration", "ns": 0}}), "stop.ns:"),
        (
            json!({"stop": {"kind": "requests", "count": 0}}),
            "stop.count:",
        ),
        (
            json!({"stop": {"kind": "duration", "ns": u64::MAX}}),
            "stop:",
        ),
    ]);
}

#[test]
fn a_wrong_setting_is_named() {
    are_named(&[
        (json!({"timeout_ns": 0}), "timeout_ns:"),
        (json!({"retry_wait_max_ns": u64::MAX}), "retry_wait_max_ns:"),
        (json!({"window_ns": 10}), "window_ns:"),
        (json!({"pipeline": 0}), "pipeline:"),
        (json!({"pipeline": 2, "keep_alive": false}), "pipeline:"),
        (
            json!({"requests_per_connection": 0}),
            "requests_per_connection:",
        ),
        (json!({"redirects": 1, "pipeline": 2}), "redirects:"),
    ]);
}

/// Unknown fields, wrong types, numbers out of range: each line names the field.
#[test]
fn a_plan_of_another_shape_is_refused_by_the_name_of_its_field() {
    let no_number = "must be a whole number, 0 or more, not";
    are_named(&[
        (json!({"colour": "red"}), "colour: a plan has no such field"),
        (json!({"tls": {"s": 1}}), "tls.s: a plan has no such field"),
        (
            request(json!({"path": "/"})),
            "requests[0].path: a plan has no such field",
        ),
        (
            json!({"http_version": "2"}),
            "http_version: must be `1.1` or `1.0`, not `2`",
        ),
        (
            json!({"threads": "two"}),
            &format!("threads: {no_number} string \"two\""),
        ),
        (
            json!({"window_ns": -1}),
            &format!("window_ns: {no_number} integer `-1`"),
        ),
        (
            request(json!({"weight": 1.5})),
            &format!("requests[0].weight: {no_number} floating point `1.5`"),
        ),
        (
            expect(json!({"status": [200, 70_000]})),
            "requests[0].expect.status[1]: must be a whole number, 0 to 65535, not integer `70000`",
        ),
        (
            json!({"keep_alive": 1}),
            "keep_alive: must be true or false, not integer `1`",
        ),
        (
            json!({"load": {"kind": "closed"}}),
            "load.connections: must be there",
        ),
        (
            json!({"load": {"kind": "closed", "connections": 1, "rate": 5}}),
            "load.rate: a plan has no such field",
        ),
        (json!({"seed": null}), &format!("seed: {no_number} null")),
    ]);
    let more = LoadPlan::from_json(b"{} {}").unwrap_err().to_string();
    assert!(more.starts_with("url: must be there"), "{more}");
}

#[test]
fn what_is_not_json_is_refused_in_a_line() {
    let error = LoadPlan::from_json(b"{").unwrap_err().to_string();
    assert!(error.starts_with("plan: EOF"), "{error}");
}

#[test]
fn what_only_the_machine_knows_is_refused_at_the_start() {
    let start = |more: Value| {
        let plan = LoadPlan::from_json(plan(more).to_string().as_bytes()).unwrap();
        Run::start(&plan).unwrap_err().to_string()
    };
    assert!(
        start(json!({"url": "http://no-such-host.invalid"}))
            .starts_with("cannot resolve no-such-host.invalid")
    );
    assert!(
        start(json!({"url": "http://127.0.0.1:1", "address_family": "ipv6"}))
            .starts_with("cannot resolve 127.0.0.1: the name has no address of the kind")
    );
    let missing = json!({"requests": [{"body_file": "/no/such/file"}]});
    assert!(start(missing).starts_with("cannot read /no/such/file"));
    if cfg!(target_os = "linux") {
        assert!(
            start(json!({"cpus": [1_000_000]}))
                .starts_with("cpus[0]: this process may not run on core")
        );
    }
    let too_many = json!({"load": {"kind": "closed", "connections": 1_000_000}});
    let error = start(too_many);
    assert!(
        error.contains("file descriptors are needed") && error.contains("ulimit -Hn"),
        "{error}"
    );
}

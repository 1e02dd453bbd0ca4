//! HTTP/3: what is refused before a run.

use serde_json::{Value, json};

/// The field of a plan that is refused, and why.
fn refused(more: Value) -> (String, String) {
    let mut plan = json!({"url": "https://127.0.0.1:9", "http": "3", "load": {"kind": "closed", "connections": 1},
        "stop": {"kind": "requests", "count": 1}});
    for (key, value) in more.as_object().unwrap() {
        plan[key] = value.clone();
    }
    let plan = plan.to_string();
    let error = assay_engine::LoadPlan::from_json(plan.as_bytes()).unwrap_err();
    (error.field, error.problem)
}

#[test]
fn plans_that_http3_cannot_do_are_refused_in_a_line() {
    let cases = [
        (json!({"url": "http://127.0.0.1:9"}), "url", "must be https"),
        (json!({"pipeline": 2}), "pipeline", "must be 1"),
        (json!({"streams": 0}), "streams", "must be at least 1"),
        (
            json!({"http_version": "1.0"}),
            "http_version",
            "must be 1.1",
        ),
        (json!({"proxy": "http://a:1"}), "proxy", "must be none"),
        (
            json!({"addresses": ["unix:/a"]}),
            "addresses",
            "must be of IP",
        ),
        (
            json!({"tls": {"versions": ["1.2"]}}),
            "tls.versions",
            "must have 1.3",
        ),
    ];
    for (more, field, problem) in cases {
        let (of, why) = refused(more);
        assert_eq!(of, field);
        assert!(why.starts_with(problem), "{why}");
    }
}

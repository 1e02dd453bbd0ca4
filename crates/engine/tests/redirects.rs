//! Redirects: followed within the origin when asked, told apart from the answer they lead to.

use std::sync::Mutex;

use crate::support::http2::{BODY, serve_with};
use crate::support::{HELLO, Server, outcomes, plan, run};
use assay_http2::hpack::Encoder;
use serde_json::{Value, json};

fn moved(status: u16, location: &str, more: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\n{more}Content-Length: 0\r\n\r\n")
}

/// Answers `/start` with `answer`, everything else with HELLO; the requests go into `seen`.
fn serve(answer: String, seen: &'static Mutex<Vec<String>>) -> Server {
    Server::start(move |peer| {
        while let Some(request) = peer.request() {
            let is_start = request.split(' ').nth(1).unwrap().ends_with("/start");
            seen.lock().unwrap().push(request);
            match is_start {
                true => peer.send(&answer),
                false => peer.send(HELLO),
            }
        }
    })
}

fn following(most: u32, request: Value) -> Value {
    json!({"redirects": most, "requests": [request]})
}

#[test]
fn a_redirect_is_an_answer_like_others_unless_asked() {
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send(moved(302, "/there", ""));
        }
    });
    let measurement = run(&plan(&server, 1, 5, json!({})));
    assert_eq!((measurement.completed, server.requests()), (5, 5));
}

#[test]
fn a_followed_redirect_is_part_of_its_request() {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = serve(moved(302, "../b/./c?d#e", ""), &SEEN);
    let request = json!({"target": "/a/start", "expect": {"status": [200]}});
    let measurement = run(&plan(&server, 2, 10, following(1, request)));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!((measurement.completed, server.requests()), (10, 20));
    assert_eq!(measurement.statuses["200"], 10);
    assert_eq!(measurement.statuses["302"], 10);
    assert_eq!(measurement.service_time.count, 10);
    assert_eq!(measurement.connections.opened, 2);
    let there = format!("GET /b/c?d HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.iter().filter(|request| **request == there).count(), 10);
}

#[test]
fn the_service_time_begins_with_the_first_request() {
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            if request.starts_with("GET /start") {
                std::thread::sleep(std::time::Duration::from_millis(30));
                peer.send(moved(302, "/there", ""));
            } else {
                peer.send(HELLO);
            }
        }
    });
    let measurement = run(&plan(
        &server,
        1,
        3,
        following(1, json!({"target": "/start"})),
    ));
    assert_eq!(measurement.completed, 3);
    assert!(measurement.service_time.min_ns >= 30_000_000);
    assert_eq!(measurement.first_byte_time.count, 6);
}

#[test]
fn the_whole_url_of_the_same_origin_on_a_connection_that_closes() {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            let to = format!("http://{}/there", peer.stream.local_addr().unwrap());
            let is_start = request.starts_with("GET /start");
            SEEN.lock().unwrap().push(request);
            if is_start {
                peer.send(moved(307, &to, "Connection: close\r\n"));
                return;
            }
            peer.send(HELLO);
        }
    });
    let measurement = run(&plan(
        &server,
        2,
        20,
        following(3, json!({"target": "/start"})),
    ));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 20);
    assert_eq!(SEEN.lock().unwrap().len(), 40);
}

#[test]
fn a_post_becomes_a_get_or_keeps_its_body() {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let post = json!({
        "method": "POST", "target": "/start", "body": "x=1",
        "headers": [["Content-Type", "text/plain"], ["X-Mark", "yes"]],
    });
    for (status, there) in [
        (
            303,
            "GET /there HTTP/1.1\r\nHost: {}\r\nX-Mark: yes\r\n\r\n",
        ),
        (
            301,
            "GET /there HTTP/1.1\r\nHost: {}\r\nX-Mark: yes\r\n\r\n",
        ),
        (
            308,
            "POST /there HTTP/1.1\r\nHost: {}\r\nContent-Type: text/plain\r\nX-Mark: yes\r\n\
             Content-Length: 3\r\n\r\nx=1",
        ),
    ] {
        SEEN.lock().unwrap().clear();
        let server = serve(moved(status, "/there", ""), &SEEN);
        let measurement = run(&plan(&server, 1, 1, following(1, post.clone())));
        assert_eq!(measurement.completed, 1);
        let there = there.replace("{}", &server.address.to_string());
        assert_eq!(SEEN.lock().unwrap()[1], there);
    }
}

#[test]
fn cookies_given_on_the_way_are_sent_back() {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = serve(moved(302, "/there", "Set-Cookie: a=1; Path=/\r\n"), &SEEN);
    let mut more = following(1, json!({"target": "/start"}));
    more["cookies"] = json!(true);
    assert_eq!(run(&plan(&server, 1, 2, more)).completed, 2);
    let seen = SEEN.lock().unwrap();
    assert!(!seen[0].contains("Cookie"));
    for request in &seen[1..] {
        assert_eq!(request.matches("Cookie: a=1\r\n").count(), 1, "{request}");
    }
}

#[test]
fn a_redirect_that_leads_elsewhere_is_not_followed_and_fails() {
    let elsewhere = Server::answering(HELLO);
    let to = elsewhere.url();
    let server = Server::start(move |peer| {
        while peer.request().is_some() {
            peer.send(moved(302, &to, ""));
        }
    });
    let measurement = run(&plan(&server, 1, 3, following(5, json!({}))));
    assert_eq!(outcomes(&measurement), ["plan/redirect_elsewhere: 3"]);
    assert_eq!(measurement.outcomes[0].example, elsewhere.url());
    assert_eq!(elsewhere.connections(), 0);
    let other_scheme = Server::start(|peer| {
        while peer.request().is_some() {
            let to = format!("https://{}/", peer.stream.local_addr().unwrap());
            peer.send(moved(302, &to, ""));
        }
    });
    let measurement = run(&plan(&other_scheme, 1, 3, following(5, json!({}))));
    assert_eq!(outcomes(&measurement), ["plan/redirect_elsewhere: 3"]);
}

#[test]
fn no_location_makes_a_request_that_is_none() {
    const PIECES: &[&[u8]] = &[
        b"/",
        b"//",
        b"..",
        b".",
        b"?",
        b"#",
        b"%",
        b"%2",
        b":",
        b"http",
        b"http://",
        b"https:",
        b"@",
        b"[",
        b"]",
        b"[::1]",
        b"localhost",
        b" ",
        b"\t",
        b"\xff",
        b"\xc3\xa9",
        b"{counter}",
        b"a",
        b":0",
        b"http+unix://%2F",
        b"\\",
    ];
    const COUNT: u64 = 3_000;
    let server = Server::start(|peer| {
        let mut random = fastrand::Rng::with_seed(7);
        while let Some(request) = peer.request() {
            let line = request.lines().next().unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words.len(), 3, "{line:?}");
            assert!(words[1].starts_with('/'), "{line:?}");
            assert!(
                words[1].bytes().all(|byte| byte.is_ascii_graphic()),
                "{line:?}"
            );
            let location: Vec<u8> = (0..random.usize(..7))
                .flat_map(|_| random.choice(PIECES).unwrap().iter().copied())
                .collect();
            peer.send(b"HTTP/1.1 302 Moved\r\nContent-Length: 0\r\nLocation: ");
            peer.send(&location);
            peer.send(b"\r\n\r\n");
        }
    });
    let request = json!({"target": "/a/b/c?d=e", "expect": {"status": [302]}});
    let measurement = run(&plan(&server, 1, COUNT, following(3, request)));
    for outcome in outcomes(&measurement) {
        let kind = outcome.split(':').next().unwrap();
        assert!(
            ["plan/redirect_elsewhere", "peer/too_many_redirects"].contains(&kind),
            "{outcome}"
        );
    }
    // Those that lead elsewhere and those that go on for too long: each must have been met.
    assert_eq!(measurement.outcomes.len(), 2);
    assert_eq!(measurement.failed, COUNT);
}

#[test]
fn a_redirect_without_end_is_given_up() {
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send(moved(302, "/again", ""));
        }
    });
    let measurement = run(&plan(&server, 1, 3, following(4, json!({}))));
    assert_eq!(outcomes(&measurement), ["peer/too_many_redirects: 3"]);
    assert_eq!(server.requests(), 15);
    let failed = measurement.statuses["302"];
    assert_eq!(failed, 15);
}

#[test]
fn over_http2_what_follows_a_redirect_is_another_request() {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = Server::start(|peer| {
        let is_start = std::cell::Cell::new(false);
        let see = |request: String| {
            is_start.set(request.contains("|:path=/start"));
            SEEN.lock().unwrap().push(request);
        };
        serve_with(peer, 100, &see, |server, stream, out| {
            let moved: [(&[u8], &[u8], bool); 2] = [
                (b":status", b"302", false),
                (b"location", b"there?a=b", false),
            ];
            let mut block = Vec::new();
            match is_start.get() {
                true => Encoder::default().encode(moved, &mut block),
                false => block.push(0x88),
            }
            server.answer(stream, &block, &BODY.into(), out);
            true
        });
    });
    let request = json!({"target": "/start", "headers": [["x-mark", "yes"]]});
    let mut more = following(1, request);
    more["http"] = json!("2");
    let measurement = run(&plan(&server, 1, 10, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 10);
    assert_eq!(measurement.statuses["200"], 10);
    assert_eq!(measurement.statuses["302"], 10);
    let to = |path: &str| {
        let address = server.address;
        format!(":method=GET|:scheme=http|:authority={address}|:path={path}|x-mark=yes")
    };
    // One at a time: each request is followed by the one that it leads to.
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len(), 20);
    for pair in seen.chunks(2) {
        assert_eq!(pair, [to("/start"), to("/there?a=b")]);
    }
}

#[test]
fn bytes_above_127_are_escaped_as_they_came() {
    let cases: [(&[u8], &str); 3] = [
        (b"/caf\xe9?\xff", "/caf%E9?%FF"),
        ("/grüße".as_bytes(), "/gr%C3%BC%C3%9Fe"),
        (b"/a%20\x80b c", "/a%20%80b%20c"),
    ];
    for (location, target) in cases {
        let mut answer = b"HTTP/1.1 302 Moved\r\nContent-Length: 0\r\nLocation: ".to_vec();
        answer.extend_from_slice(location);
        answer.extend_from_slice(b"\r\n\r\n");
        let wanted = format!("GET {target} HTTP/1.1");
        let server = Server::start(move |peer| {
            while let Some(request) = peer.request() {
                match request.starts_with("GET /start ") {
                    true => peer.send(&answer),
                    false if request.starts_with(&wanted) => peer.send(HELLO),
                    false => peer.send(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"),
                }
            }
        });
        let measurement = run(&plan(
            &server,
            1,
            2,
            following(1, json!({"target": "/start"})),
        ));
        assert_eq!(
            measurement.statuses["200"], 2,
            "{target}: {:?}",
            measurement.statuses
        );
    }
}

/// The `Cookie` lines of the requests that follow an answer which sets `cookies`.
fn kept(cookies: &[&str]) -> String {
    let lines: String = cookies
        .iter()
        .map(|cookie| format!("Set-Cookie: {cookie}\r\n"))
        .collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n");
    let seen = std::sync::Arc::new(Mutex::new(String::new()));
    let sees = std::sync::Arc::clone(&seen);
    let server = Server::start(move |peer| {
        while let Some(request) = peer.request() {
            let cookie = request
                .lines()
                .find_map(|line| line.strip_prefix("Cookie: "));
            *sees.lock().unwrap() = cookie.unwrap_or_default().to_owned();
            peer.send(&answer);
        }
    });
    run(&plan(&server, 1, 3, json!({"cookies": true})));
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn a_cookie_that_has_expired_is_taken_away() {
    let over = [
        "a=; Max-Age=0",
        "a=; max-age = 00",
        "a=; Max-Age=-1",
        "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "a=; expires=Thu, 01-Jan-1970 00:00:01 GMT; path=/",
        "a=; Expires=Sunday, 06-Nov-94 08:49:37 GMT",
        "a=; Expires=Sun Nov  6 08:49:37 1994",
        "a=; Max-Age=0; Expires=Fri, 31 Dec 2999 00:00:00 GMT",
        "a=; Max-Age=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "a=; Max-Age=5; Max-Age=0",
    ];
    for cookie in over {
        assert_eq!(kept(&["a=1", cookie, "b=2"]), "b=2", "{cookie}");
    }
    let lasting = [
        "a=3",
        "a=3; Max-Age=60",
        "a=3; Max-Age=",
        "a=3; Max-Age=-",
        "a=3; Expires=Fri, 31 Dec 2999 23:59:59 GMT",
        "a=3; Expires=Fri, 31-Dec-69 23:59:59 GMT",
        "a=3; Expires=0",
        "a=3; Expires=Thu, 01 Jan 1970 25:00:00 GMT",
        "a=3; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "a=3; Comment=max-age=0",
    ];
    for cookie in lasting {
        assert_eq!(kept(&["b=2", "a=1", cookie]), "b=2; a=3", "{cookie}");
    }
}

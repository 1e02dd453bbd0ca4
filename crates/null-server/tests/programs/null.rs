//! `null-server`.

use crate::server::{Server, command, rest};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_null-server");

fn start(arguments: &[&str]) -> Server {
    Server::start(PROGRAM, arguments)
}

fn fails(arguments: &[&str]) -> (Output, String) {
    let output = command(PROGRAM).args(arguments).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

#[test]
fn the_answer_is_what_was_asked_for() {
    let server = start(&[
        "--status",
        "201",
        "--header",
        "X-Id: 7",
        "--content-type",
        "a/b",
        "--body",
        "hi",
    ]);
    let answer = server.exchange(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(
        answer,
        "HTTP/1.1 201 Created\r\ncontent-type: a/b\r\nx-id: 7\r\ncontent-length: 2\r\n\r\nhi"
    );
}

#[test]
fn chunks_are_for_those_who_understand_them() {
    let server = start(&["--body", "abcde", "--chunked", "--chunk-bytes", "3"]);
    let chunked = server.exchange(b"GET / HTTP/1.1\r\n\r\n");
    assert!(
        chunked.ends_with("transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        "{chunked}"
    );
    let plain = server.exchange(b"GET / HTTP/1.0\r\n\r\n");
    assert!(
        plain.ends_with("connection: close\r\ncontent-length: 5\r\n\r\nabcde"),
        "{plain}"
    );
}

#[test]
fn a_head_request_gets_no_body_and_the_connection_goes_on() {
    let server = start(&["--body", "abc"]);
    let both = server.exchange(b"HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    assert_eq!(both.matches("content-length: 3\r\n\r\n").count(), 2);
    assert_eq!(both.matches("abc").count(), 1);
    assert!(both.ends_with("abc"));
}

#[test]
fn a_thousand_pipelined_requests_get_a_thousand_answers() {
    let server = start(&["--content-type", "", "--body-bytes", "9000"]);
    let mut stream = server.connect();
    let mut writer = stream.try_clone().expect("a second handle");
    // The answers overflow the socket: the server has to wait for its reader, and go on.
    let sender = std::thread::spawn(move || {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
        writer
            .write_all(&request.repeat(1000))
            .expect("it reads on");
        writer
            .shutdown(Shutdown::Write)
            .expect("the sending side can be shut");
    });
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    sender.join().expect("the sender ends");
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 1000);
    assert_eq!(text.matches('x').count(), 1000 * 9000);
}

#[test]
fn a_connection_ends_when_its_request_says_so() {
    let server = start(&[]);
    for request in [
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).expect("it reads");
        assert!(rest(stream).contains("connection: close"), "{request}");
    }
    let answer =
        server.exchange(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.0\r\n\r\n");
    assert!(answer.contains("connection: keep-alive"));
    assert_eq!(answer.matches("200 OK").count(), 2);
}

#[test]
fn what_is_no_request_is_told_so() {
    let server = start(&[]);
    let mut stream = server.connect();
    stream
        .write_all(b"\x16\x03\x01hello\r\n\r\n")
        .expect("it reads");
    stream
        .shutdown(Shutdown::Write)
        .expect("the sending side can be shut");
    assert!(rest(stream).starts_with("HTTP/1.1 400 Bad Request\r\n"));
}

#[test]
fn every_thread_answers() {
    let server = start(&[
        "--threads",
        "3",
        "--content-type",
        "",
        "--body",
        "abc",
        "--cost-ns",
        "1000",
    ]);
    let expected = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc";
    let mut streams: Vec<_> = (0..7).map(|_| server.connect()).collect();
    for _ in 0..2 {
        for stream in &mut streams {
            stream
                .write_all(b"GET / HTTP/1.1\r\n\r\n")
                .expect("it reads");
        }
        for stream in &mut streams {
            let mut answer = vec![0; expected.len()];
            stream.read_exact(&mut answer).expect("it answers");
            assert_eq!(answer, expected);
        }
    }
}

#[test]
fn the_first_line_of_a_file_can_be_the_body() {
    let file = std::env::temp_dir().join(format!("assay-null-server-{}.txt", std::process::id()));
    std::fs::write(&file, "first\nsecond\n").expect("the folder is writable");
    let server = start(&["--body-line-of", file.to_str().expect("a plain path")]);
    let answer = server.exchange(b"GET / HTTP/1.1\r\n\r\n");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(answer.ends_with("\r\n\r\nfirst\n"), "{answer}");
}

#[cfg(unix)]
#[test]
fn it_ends_at_once_on_sigterm() {
    use std::os::unix::process::ExitStatusExt;
    let mut server = start(&["--threads", "2"]);
    let _open = server.connect();
    let pid = server.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill runs")
            .success()
    );
    assert_eq!(server.child.wait().expect("it ends").signal(), Some(15));
}

#[test]
fn a_busy_port_is_one_clear_line() {
    let server = start(&[]);
    let port = server.address.rsplit(':').next().expect("it has a port");
    let (output, text) = fails(&["--port", port]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.contains("in use") && text.contains("--port 0"),
        "{text}"
    );
}

#[test]
fn wrong_arguments_are_named() {
    let cases: [(&[&str], &str); 6] = [
        (&["--header", "no colon"], "Name: value"),
        (
            &["--port", "0", "--body-file", "/nowhere/at/all"],
            "/nowhere/at/all",
        ),
        (&["--body", "a", "--body-bytes", "3"], "cannot be used with"),
        (&["--status", "42"], "status"),
        (&["--host", "192.0.2.1"], "no address of this machine"),
        (&["--threads", "0"], "threads"),
    ];
    for (arguments, expected) in cases {
        let (output, text) = fails(arguments);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

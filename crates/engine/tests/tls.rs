//! TLS against a rustls server with certificates made for the test.

use std::fs;
use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::{HELLO, Peer, Server, outcomes, plan, run};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// An authority, and the files it is handed out in.
pub(crate) struct Authority {
    folder: PathBuf,
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("assay-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        fs::write(folder.join("ca.pem"), certificate.pem()).unwrap();
        Self {
            certificate: certificate.der().clone(),
            issuer: Issuer::new(params, key),
            folder,
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn issue(&self, name: &str) -> (CertificateDer<'static>, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.folder.join("cert.pem"), certificate.pem()).unwrap();
        fs::write(self.folder.join("key.pem"), key.serialize_pem()).unwrap();
        (certificate.der().clone(), key)
    }

    /// A server for "localhost" whose sessions are served by `script`.
    fn serve(&self, wants_client: bool, script: fn(&mut Session)) -> Server {
        let (certificate, key) = self.issue("localhost");
        self.serve_as(certificate, &key, wants_client, script)
    }

    pub(crate) fn serve_as(
        &self,
        certificate: CertificateDer<'static>,
        key: &KeyPair,
        wants_client: bool,
        script: fn(&mut Session),
    ) -> Server {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if wants_client {
            let mut roots = RootCertStore::empty();
            roots.add(self.certificate.clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.with_single_cert(vec![certificate], key).unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        Server::start(move |peer| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            script(&mut StreamOwned::new(
                connection,
                peer.stream.try_clone().unwrap(),
            ));
        })
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) type Session = StreamOwned<ServerConnection, TcpStream>;

fn request(session: &mut Session) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match session.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

pub(crate) fn answer(session: &mut Session) {
    while request(session) {
        let _ = session.write_all(HELLO).and_then(|()| session.flush());
    }
}

fn url(server: &Server) -> String {
    format!("https://localhost:{}", server.address.port())
}

fn with(server: &Server, tls: Value) -> Value {
    json!({"url": url(server), "addresses": ["127.0.0.1"], "tls": tls})
}

#[test]
fn a_server_of_an_authority_we_trust() {
    let authority = Authority::new("trusted");
    let server = authority.serve(false, answer);
    for (version, name) in [("1.3", "TLS 1.3, TLS13_"), ("1.2", "TLS 1.2, TLS_ECDHE_")] {
        let tls = json!({"ca_file": authority.path("ca.pem"), "versions": [version]});
        let measurement = run(&plan(&server, 4, 400, with(&server, tls)));
        assert_eq!(outcomes(&measurement), Vec::<String>::new());
        assert_eq!(measurement.completed, 400);
        assert_eq!(measurement.handshake_time.unwrap().count, 4);
        let (agreement, count) = measurement.handshakes.iter().next().unwrap();
        assert!(
            agreement.starts_with(name) && agreement.ends_with(", http/1.1"),
            "{agreement}"
        );
        assert_eq!(*count, 4);
    }
}

#[test]
fn a_server_of_nobody_we_trust() {
    let authority = Authority::new("ours");
    let other = Authority::new("theirs");
    let server = authority.serve(false, answer);
    let tls = json!({"ca_file": other.path("ca.pem")});
    let measurement = run(&plan(&server, 1, 3, with(&server, tls)));
    assert_eq!(outcomes(&measurement), ["peer/tls_error: 3"]);
    assert!(
        measurement.outcomes[0]
            .example
            .contains("invalid peer certificate")
    );
    let measurement = run(&plan(
        &server,
        1,
        3,
        with(&server, json!({"insecure": true})),
    ));
    assert_eq!(measurement.completed, 3);
}

#[test]
fn a_certificate_that_is_its_own_authority() {
    let authority = Authority::new("self-signed");
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    fs::write(authority.path("own.pem"), certificate.pem()).unwrap();
    let server = authority.serve_as(certificate.der().clone(), &key, false, answer);
    let trusting = |file: &str, name: &str| {
        let tls = json!({"ca_file": authority.path(file), "server_name": name});
        outcomes(&run(&plan(&server, 1, 3, with(&server, tls))))
    };
    assert_eq!(trusting("own.pem", "localhost"), Vec::<String>::new());
    assert_eq!(trusting("own.pem", "elsewhere.test"), ["peer/tls_error: 3"]);
    assert_eq!(trusting("ca.pem", "localhost"), ["peer/tls_error: 3"]);
}

#[test]
fn a_certificate_of_another_name() {
    let authority = Authority::new("name");
    let server = authority.serve(false, answer);
    let tls = json!({"ca_file": authority.path("ca.pem"), "server_name": "elsewhere.test"});
    let measurement = run(&plan(&server, 1, 3, with(&server, tls)));
    assert_eq!(outcomes(&measurement), ["peer/tls_error: 3"]);
}

#[test]
fn a_server_that_asks_who_we_are() {
    let authority = Authority::new("client");
    let server = authority.serve(true, answer);
    let ca = authority.path("ca.pem");
    let measurement = run(&plan(&server, 1, 2, with(&server, json!({"ca_file": ca}))));
    assert_eq!(measurement.completed, 0);
    authority.issue("client");
    let tls = json!({
        "ca_file": ca,
        "certificate_file": authority.path("cert.pem"), "key_file": authority.path("key.pem"),
    });
    let measurement = run(&plan(&server, 2, 20, with(&server, tls)));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 20);
}

#[test]
fn sessions_are_resumed_when_asked() {
    let authority = Authority::new("resume");
    let server = authority.serve(false, answer);
    let resumed_with = |resumption: bool| {
        let tls = json!({"ca_file": authority.path("ca.pem"), "resumption": resumption});
        let mut more = with(&server, tls);
        more["keep_alive"] = json!(false);
        let measurement = run(&plan(&server, 1, 10, more));
        assert_eq!(measurement.completed, 10);
        assert_eq!(measurement.handshake_time.unwrap().count, 10);
        let resumed = |(agreement, count): (&String, &u64)| {
            agreement.ends_with(", resumed").then_some(*count)
        };
        measurement
            .handshakes
            .iter()
            .filter_map(resumed)
            .sum::<u64>()
    };
    assert_eq!(resumed_with(true), 9);
    assert_eq!(resumed_with(false), 0);
}

#[test]
fn large_bodies_and_large_requests_pass_through() {
    let authority = Authority::new("large");
    let server = authority.serve(false, |session| {
        while request(session) {
            let mut body = vec![0; 2_000_000];
            if session.read_exact(&mut body).is_err() {
                return;
            }
            let _ = session.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n");
            let _ = session.write_all(&body).and_then(|()| session.flush());
        }
    });
    let body = "x".repeat(2_000_000);
    let expect = json!({"body": {"kind": "equals", "text": body}});
    let mut more = with(&server, json!({"ca_file": authority.path("ca.pem")}));
    more["requests"] = json!([{"method": "POST", "body": body, "expect": expect}]);
    let measurement = run(&plan(&server, 2, 6, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 6);
}

#[test]
fn a_session_cut_off_without_an_alert_is_closed_early() {
    let authority = Authority::new("cut");
    let server = authority.serve(false, |session| {
        request(session);
        let _ = session.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the close");
        let _ = session.flush();
        let _ = session.sock.shutdown(Shutdown::Both);
    });
    let tls = json!({"ca_file": authority.path("ca.pem")});
    let measurement = run(&plan(&server, 1, 4, with(&server, tls)));
    assert_eq!(outcomes(&measurement), ["peer/closed_early: 4"]);
}

/// How requests fail on a session that `breaks` after half an answer.
fn broken_after_half_an_answer(name: &str, breaks: fn(&mut Session)) -> Vec<String> {
    static BREAKS: Mutex<Option<fn(&mut Session)>> = Mutex::new(None);
    // One server at a time: its script can carry nothing with it.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    *BREAKS.lock().unwrap() = Some(breaks);
    let authority = Authority::new(name);
    let server = authority.serve(false, |session| {
        if !request(session) {
            return;
        }
        let _ = session.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
        let _ = session.flush();
        let breaks = *BREAKS.lock().unwrap();
        breaks.unwrap()(session);
        let mut rest = Vec::new();
        let _ = session.sock.shutdown(Shutdown::Write);
        let _ = session.sock.read_to_end(&mut rest);
    });
    let tls = json!({"ca_file": authority.path("ca.pem")});
    outcomes(&run(&plan(&server, 1, 4, with(&server, tls))))
}

#[test]
fn sessions_that_end_inside_an_answer() {
    let ended = broken_after_half_an_answer("notify", |session| {
        session.conn.send_close_notify();
        let _ = session.flush();
    });
    assert_eq!(ended, ["peer/closed_early: 4"]);
    let cut = broken_after_half_an_answer("record", |session| {
        // A record of 64 bytes, of which three arrive.
        let _ = session.sock.write_all(b"\x17\x03\x03\x00\x40abc");
    });
    assert_eq!(cut, ["peer/closed_early: 4"]);
}

#[test]
fn records_that_cannot_be_read() {
    let forged = broken_after_half_an_answer("forged", |session| {
        let _ = session
            .sock
            .write_all(b"\x17\x03\x03\x00\x14twenty bytes of chaff");
    });
    assert_eq!(forged, ["peer/tls_error: 4"]);
    let plain = broken_after_half_an_answer("plain", |session| {
        let _ = session.sock.write_all(HELLO);
    });
    assert_eq!(plain, ["peer/tls_error: 4"]);
}

#[test]
fn a_server_that_speaks_no_tls() {
    let server = Server::answering(HELLO);
    let plaintext = Server::start(|peer: &mut Peer| {
        peer.send(HELLO);
        peer.hang();
    });
    let measurement = run(&plan(
        &server,
        1,
        3,
        with(&plaintext, json!({"insecure": true})),
    ));
    assert_eq!(outcomes(&measurement), ["peer/tls_error: 3"]);
}

#[test]
fn over_a_unix_socket() {
    let authority = Authority::new("unix");
    let server = authority.serve(false, answer);
    let path = authority.path("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let to = server.address;
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut from, onward) = (stream.unwrap(), TcpStream::connect(to).unwrap());
            let (mut back, mut there) = (from.try_clone().unwrap(), onward.try_clone().unwrap());
            thread::spawn(move || copy(&mut from, &mut there));
            thread::spawn(move || copy(&mut &onward, &mut back));
        }
    });
    let mut more = with(&server, json!({"ca_file": authority.path("ca.pem")}));
    more["addresses"] = json!([format!("unix:{path}")]);
    let measurement = run(&plan(&server, 2, 50, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 50);
}

#[test]
fn through_the_tunnel_of_a_proxy() {
    let authority = Authority::new("tunnel");
    let server = authority.serve(false, answer);
    let to = server.address;
    let proxy = Server::start(move |peer| {
        assert!(peer.request().unwrap().starts_with("CONNECT localhost:"));
        peer.send(b"HTTP/1.1 200 Connection established\r\n\r\n");
        let onward = TcpStream::connect(to).unwrap();
        let (mut from, mut back) = (
            peer.stream.try_clone().unwrap(),
            onward.try_clone().unwrap(),
        );
        let there = thread::spawn(move || {
            let _ = copy(&mut from, &mut back);
            let _ = back.shutdown(Shutdown::Both);
        });
        let _ = copy(&mut &onward, &mut peer.stream);
        let _ = peer.stream.shutdown(Shutdown::Both);
        let _ = there.join();
    });
    let tls = json!({"ca_file": authority.path("ca.pem")});
    let more = json!({"url": url(&server), "proxy": proxy.url(), "tls": tls});
    let measurement = run(&plan(&server, 2, 50, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 50);
    assert_eq!(proxy.connections(), 2);
}

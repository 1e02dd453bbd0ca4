//! `scripted-server`: answers after scripted delays and counts exactly what it did.

use assay_null_server::answer::Answer;
use assay_null_server::listen::listen;
use assay_test_servers::script::Script;
use assay_test_servers::scripted::ScriptedServer;
use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const EXAMPLES: &str = "\
Delays:
  5ms                each answer 5 ms after its request (units: us, ms, s)
  5ms*9,50ms*1       nine answers after 5 ms, then one after 50 ms, and so on
  stall:1s/5s        nothing is answered in the first second of every five
  hang:100           100 answers at once, then none

Examples:
  scripted-server --delay 5ms
  scripted-server --port 0 --counts-port 0 --delay '5ms*9,50ms*1'";

/// Answers after scripted delays, to the microsecond, and counts exactly what it did.
///
/// Clients that begin with HTTP/2's preface are answered by that, each stream at its own time; HTTP/1.1 keeps the order of
/// its requests. The counts are printed as JSON when it ends (SIGTERM, Ctrl-C), and served on a port of their own if asked.
#[derive(Parser)]
#[command(name = "scripted-server", version, after_help = EXAMPLES)]
struct Arguments {
    /// Address to listen on.
    #[arg(long, env = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 lets the system choose.
    #[arg(long, env = "PORT", default_value_t = 8080)]
    port: u16,
    /// When to answer; see below.
    #[arg(long, value_name = "DELAY", default_value = "0ms", value_parser = Script::parse)]
    delay: Script,
    /// A body of so many bytes.
    #[arg(long, value_name = "N", default_value_t = 0)]
    body_bytes: usize,
    /// Also serve the counts, as JSON, on this port; 0 lets the system choose.
    #[arg(long, value_name = "PORT")]
    counts_port: Option<u16>,
}

fn run(arguments: Arguments) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot start: {error}");
    // Before the address is printed, so that a signal sent on reading it is not lost.
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(failed)?;
    let listener = listen(&arguments.host, arguments.port).map_err(|error| error.to_string())?;
    let counts_listener = arguments
        .counts_port
        .map(|port| listen(&arguments.host, port))
        .transpose();
    let counts_listener = counts_listener.map_err(|error| error.to_string())?;
    let answer = Answer {
        body: vec![b'x'; arguments.body_bytes],
        ..Answer::default()
    };
    // A limit that cannot be raised shows as refused connections, which the generator reports.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let server =
        Arc::new(ScriptedServer::start(listener, arguments.delay, &answer).map_err(failed)?);
    println!("listening on http://{}/", server.address());
    if let Some(listener) = counts_listener {
        println!(
            "counts on http://{}/",
            listener.local_addr().map_err(failed)?
        );
        let server = Arc::clone(&server);
        std::thread::spawn(move || serve_counts(&listener, &server));
    }
    signals.forever().next();
    println!("{}", counts_of(&server));
    Ok(())
}

fn counts_of(server: &ScriptedServer) -> String {
    serde_json::to_string(&server.counts()).expect("counts are plain numbers")
}

/// One answer a connection; a peer that is slow or gone only loses its own.
fn serve_counts(listener: &TcpListener, server: &ScriptedServer) {
    for mut stream in listener.incoming().flatten() {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        let (text, kind) = (counts_of(server), "application/json");
        let length = text.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let _ = stream.write_all(format!("{head}{text}").as_bytes());
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("scripted-server: {message}");
            ExitCode::from(2)
        }
    }
}

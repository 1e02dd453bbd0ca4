//! The command line of the null server: the program `null-server`, and the same from within Assay's extension.

use crate::answer::Answer;
use crate::http2::MOST_STREAMS;
use crate::http3::QuicServer;
use crate::listen::{listen, listen_udp};
use crate::responder::{NullServer, Settings};
use clap::{Args, Parser};
use http::{HeaderName, HeaderValue, StatusCode};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  null-server                                      an empty answer on 127.0.0.1:8080
  null-server --port 0 --body 'Hello, World!'      the system chooses a port; the first line of output says which
  null-server --body-bytes 10240 --chunked         10 kB, chunked
  null-server --threads 2 --header 'X-Id: 7' --content-type application/json --body-file answer.json
  null-server --http3 --body 'Hello, World!'       HTTP/3 on UDP beside HTTP/1.1 and HTTP/2 on TCP
  null-server --cost-ns 2000                       burns 2 µs of processor time for each request";

/// Answers every request at once with one prepared answer: the ceiling of any load generator on this machine.
///
/// It ends at once on SIGTERM. Requests may be pipelined, carry bodies (Content-Length or chunked), and ask for HEAD,
/// HTTP/1.0 or `Connection: close`.
#[derive(Parser)]
#[command(name = "null-server", version, after_help = EXAMPLES)]
struct Arguments {
    /// Address to listen on.
    #[arg(long, env = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 lets the system choose.
    #[arg(long, env = "PORT", default_value_t = 8080)]
    port: u16,
    /// Event loops, each on its own thread.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Status code of the answer.
    #[arg(long, value_name = "CODE", default_value = "200")]
    status: StatusCode,
    /// A header of the answer, 'Name: value'; may be repeated.
    #[arg(long = "header", value_name = "HEADER", value_parser = header)]
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The Content-Type of the answer; '' sends none.
    #[arg(long, value_name = "TYPE", default_value = "text/plain; charset=utf-8")]
    content_type: String,
    #[command(flatten)]
    body: Body,
    /// Send the body with chunked transfer coding.
    #[arg(long)]
    chunked: bool,
    /// Size of a chunk.
    #[arg(long, value_name = "BYTES", default_value_t = 4096, requires = "chunked", value_parser = clap::value_parser!(u32).range(1..))]
    chunk_bytes: u32,
    /// Answer HTTP/2 and nothing else on TCP: a client of HTTP/1.1 is told GOAWAY.
    #[arg(long)]
    http2_only: bool,
    /// Answer HTTP/3 as well: on the same port over QUIC, in a loop of its own, with a certificate made at the start.
    #[arg(long)]
    http3: bool,
    /// Streams that a client may have at once on a connection of HTTP/3.
    #[arg(long, value_name = "N", default_value_t = MOST_STREAMS, requires = "http3", value_parser = clap::value_parser!(u32).range(1..))]
    http3_streams: u32,
    /// Processor time to burn for each request, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = 0)]
    cost_ns: u64,
}

#[derive(Args)]
#[group(multiple = false)]
struct Body {
    /// The body, as text.
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// The body, from a file.
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// The body: the first line of a file, with its line end.
    #[arg(long, value_name = "FILE")]
    body_line_of: Option<PathBuf>,
    /// A body of so many bytes.
    #[arg(long, value_name = "N")]
    body_bytes: Option<usize>,
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'Name: value'")?;
    let name =
        HeaderName::try_from(name.trim()).map_err(|_| format!("'{name}' is no header name"))?;
    let value =
        HeaderValue::try_from(value.trim()).map_err(|_| format!("'{value}' is no header value"))?;
    Ok((name, value))
}

impl Body {
    fn bytes(self) -> Result<Vec<u8>, String> {
        if let Some(text) = self.body {
            return Ok(text.into_bytes());
        }
        if let Some(path) = self.body_file {
            return read(&path);
        }
        if let Some(path) = self.body_line_of {
            let bytes = read(&path)?;
            let line = bytes.split_inclusive(|&byte| byte == b'\n').next();
            return line
                .map(<[u8]>::to_vec)
                .ok_or_else(|| format!("{} has no line", path.display()));
        }
        Ok(vec![b'x'; self.body_bytes.unwrap_or(0)])
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn answer(arguments: Arguments) -> Result<Answer, String> {
    let mut headers = arguments.headers;
    if !arguments.content_type.is_empty() {
        headers.insert(
            0,
            header(&format!("content-type:{}", arguments.content_type))?,
        );
    }
    let chunk_bytes = arguments.chunked.then_some(arguments.chunk_bytes as usize);
    Ok(Answer {
        status: arguments.status,
        headers,
        body: arguments.body.bytes()?,
        chunk_bytes,
    })
}

fn run(arguments: Arguments) -> Result<(), String> {
    let (is_quic, http2_only) = (arguments.http3, arguments.http2_only);
    let http3_streams = arguments.http3_streams;
    let listener = listen(&arguments.host, arguments.port).map_err(|error| error.to_string())?;
    let (threads, cost_ns) = (usize::from(arguments.threads), arguments.cost_ns);
    let settings = Settings {
        answer: answer(arguments)?,
        threads,
        cost_ns,
        http2_only,
        http3_streams,
    };
    // A limit that cannot be raised shows as refused connections, which the generator reports.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let server =
        NullServer::start(listener, &settings).map_err(|error| format!("cannot start: {error}"))?;
    println!("listening on http://{}/", server.address());
    let _quic = match is_quic {
        true => Some(quic(server.address(), &settings)?),
        false => None,
    };
    server.wait();
    Ok(())
}

fn quic(address: SocketAddr, settings: &Settings) -> Result<QuicServer, String> {
    let socket = listen_udp(address).map_err(|error| error.to_string())?;
    let server = QuicServer::start(socket, settings)
        .map_err(|error| format!("cannot start HTTP/3: {error}"))?;
    println!("listening on https://{}/ by HTTP/3", server.address());
    Ok(server)
}

/// Parses the words of a command line (the program's name first) and serves until SIGTERM.
///
/// Gives the exit code: 0 at the end or where help was asked for, 2 for a wrong flag or where it cannot start.
pub fn null_server(words: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(said) => {
            // Where nobody reads what is said, there is nobody to tell that.
            let _ = said.print();
            return u8::try_from(said.exit_code()).unwrap_or(2);
        }
    };
    match run(arguments) {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("null-server: {message}");
            2
        }
    }
}

//! The distance to the limit: the same quotes from hyper, one single-threaded runtime a core.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use std::{env, fs, io, thread};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;

/// Connections that the kernel may hold before they are accepted.
const BACKLOG: i32 = 4096;
const ACCEPT_RETRY: Duration = Duration::from_millis(10);
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

fn main() -> io::Result<()> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("hyper {}, {}", env!("HYPER_VERSION"), env!("RUSTC_VERSION"));
        return Ok(());
    }
    let address = SocketAddr::new(
        setting("HOST")?.parse().map_err(io::Error::other)?,
        setting("PORT")?.parse().map_err(io::Error::other)?,
    );
    let workers: usize = setting("WORKERS")?.parse().map_err(io::Error::other)?;
    let quotes = read_quotes(&Path::new(&setting("CONTRACT_DIR")?).join("quotes.txt"))?;

    // Every worker listens by itself (SO_REUSEPORT) and keeps its connections: they share nothing.
    let sockets: Vec<Socket> = (0..workers)
        .map(|_| listen(address))
        .collect::<io::Result<_>>()?;
    for socket in sockets {
        thread::spawn(move || serve(socket, quotes).expect("the listening socket stays usable"));
    }
    wait_for_stop()
}

fn setting(name: &str) -> io::Result<String> {
    env::var(name).map_err(|_| io::Error::other(format!("{name} is not set")))
}

/// The quotes with their newlines; they live as long as the program, so answers borrow them.
fn read_quotes(path: &Path) -> io::Result<&'static [&'static [u8]]> {
    let text: &'static str = fs::read_to_string(path)?.leak();
    Ok(text
        .split_inclusive('\n')
        .map(str::as_bytes)
        .collect::<Vec<_>>()
        .leak())
}

fn listen(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

fn serve(socket: Socket, quotes: &'static [&'static [u8]]) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, async move {
        let listener = TcpListener::from_std(socket.into())?;
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Out of descriptors, or a peer that left early: both pass.
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            let _ = stream.set_nodelay(true); // fails only where the peer is gone already
            tokio::task::spawn_local(async move {
                let service =
                    service_fn(async |request| Ok::<_, Infallible>(answer(&request, quotes)));
                // An error here is the peer's (a reset, a garbled request): its connection ends.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    })
}

fn answer<B>(request: &Request<B>, quotes: &[&'static [u8]]) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    if request.uri().path() != "/franklin-says" {
        *response.status_mut() = StatusCode::NOT_FOUND;
    } else if matches!(*request.method(), Method::GET | Method::HEAD) {
        response.headers_mut().insert(CONTENT_TYPE, TEXT);
        *response.body_mut() =
            Full::new(Bytes::from_static(quotes[fastrand::usize(..quotes.len())]));
    } else {
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// Returns at SIGTERM; answers take microseconds, so none is waited for.
fn wait_for_stop() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        signal(SignalKind::terminate())?.recv().await;
        Ok(())
    })
}

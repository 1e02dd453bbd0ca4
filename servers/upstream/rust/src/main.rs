//! A slow upstream: answers after a fixed delay, on hyper, one single-threaded runtime a core, so
//! lean that the servers that ask it are measured and not this.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use std::{env, io, thread};

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

mod delay_line;
use delay_line::DelayLine;

/// Connections that the kernel may hold before they are accepted.
const BACKLOG: i32 = 4096;
const ACCEPT_RETRY: Duration = Duration::from_millis(10);
const DELAY: Duration = Duration::from_millis(3);
const TEXT: HeaderValue = HeaderValue::from_static("text/plain;charset=utf-8");

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

    // Every worker listens by itself (SO_REUSEPORT) and keeps its connections: they share nothing.
    let sockets: Vec<Socket> = (0..workers)
        .map(|_| listen(address))
        .collect::<io::Result<_>>()?;
    for socket in sockets {
        thread::spawn(move || serve(socket).expect("the listening socket stays usable"));
    }
    wait_for_stop()
}

fn setting(name: &str) -> io::Result<String> {
    env::var(name).map_err(|_| io::Error::other(format!("{name} is not set")))
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

fn serve(socket: Socket) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, async move {
        let listener = TcpListener::from_std(socket.into())?;
        let line = Rc::new(DelayLine::new(DELAY)?);
        let timekeeper = Rc::clone(&line);
        tokio::task::spawn_local(async move { timekeeper.keep_time().await });
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Out of descriptors, or a peer that left early: both pass.
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            let _ = stream.set_nodelay(true); // fails only where the peer is gone already
            let line = Rc::clone(&line);
            tokio::task::spawn_local(async move {
                let service =
                    service_fn(async |request| Ok::<_, Infallible>(answer(&request, &line).await));
                // An error here is the peer's (a reset, a garbled request): its connection ends.
                let _ = http1::Builder::new()
                    .auto_date_header(false) // nobody reads it here
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    })
}

async fn answer<B>(request: &Request<B>, line: &DelayLine) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    if request.uri().path() != "/delay" {
        *response.status_mut() = StatusCode::NOT_FOUND;
    } else if matches!(*request.method(), Method::GET | Method::HEAD) {
        line.wait().await;
        response.headers_mut().insert(CONTENT_TYPE, TEXT);
        *response.body_mut() = Full::new(Bytes::from_static(b"delay"));
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

//! The distance to the limit: the same clinic from axum, minijinja and SQLite, one single-threaded runtime a core.

mod answer;
mod clinic;
mod form;
mod owners;
mod pages;
mod pets;
mod records;
mod visits;

use std::env;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;

use axum::Router;
use axum::serve::ListenerExt;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use clinic::Clinic;
use records::Records;

type Failure = Box<dyn Error + Send + Sync>;

/// Connections that the kernel may hold before they are accepted.
const BACKLOG: i32 = 4096;

fn main() -> Result<(), Failure> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!(
            "axum {}, minijinja {}, SQLite {}, {}",
            env!("AXUM_VERSION"),
            env!("MINIJINJA_VERSION"),
            rusqlite::version(),
            env!("RUSTC_VERSION")
        );
        return Ok(());
    }
    let contract: PathBuf = setting("CONTRACT_DIR")?;
    let address = SocketAddr::new(setting::<IpAddr>("HOST")?, setting("PORT")?);
    let workers: usize = setting("WORKERS")?;

    // The records of this start, gone when it ends.
    let folder = tempfile::Builder::new().prefix("petclinic-").tempdir()?;
    let database = folder.path().join("clinic.db");
    records::create(&database, &contract)?;

    // Every worker has a listening socket (SO_REUSEPORT), an SQLite connection and its templates: they share nothing.
    let runtime = runtime()?;
    let mut terminate = {
        let _context = runtime.enter();
        signal(SignalKind::terminate())?
    };
    for _ in 0..workers {
        let socket = listen(address)?;
        let router = clinic::router(Clinic::new(Records::open(&database)?, &contract));
        thread::spawn(move || serve(socket, router).expect("the listening socket stays usable"));
    }
    // Answers take microseconds, so none is waited for.
    runtime.block_on(terminate.recv());
    Ok(())
}

/// The environment variable `name`, read as what the caller needs.
fn setting<T: FromStr<Err: Into<Failure>>>(name: &str) -> Result<T, Failure> {
    let text = env::var(name).map_err(|_| format!("{name} is not set"))?;
    text.parse().map_err(Into::into)
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

fn listen(address: SocketAddr) -> std::io::Result<Socket> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

fn serve(socket: Socket, router: Router) -> std::io::Result<()> {
    runtime()?.block_on(async move {
        let listener = TcpListener::from_std(socket.into())?
            // Fails only where the peer is gone already.
            .tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router).await
    })
}

//! The distance to the limit: the same heroes from axum and tokio-postgres.

mod connections;
mod hero;
mod problem;

use std::env;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};

use connections::Connections;
use hero::Hero;
use problem::Problem;

type Failure = Box<dyn Error + Send + Sync>;

/// Connections that the kernel may hold before they are accepted. Tokio's own 128 makes a crowd of
/// 250 wait a second for its handshakes to be tried again.
const BACKLOG: u32 = 4096;

/// The wait for requests in flight; whoever stops us allows five seconds.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);

/// What the handlers share.
struct Heroes {
    connections: Connections,
    /// Stands in for the level, so that no two answers are equal; it is never written back.
    answered: AtomicI64,
}

fn main() -> Result<(), Failure> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!(
            "axum {}, tokio-postgres {}, {}",
            env!("AXUM_VERSION"),
            env!("POSTGRES_VERSION"),
            env!("RUSTC_VERSION")
        );
        return Ok(());
    }
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(setting("WORKERS")?)
        .enable_all()
        .build()?
        .block_on(serve())
}

/// The environment variable `name`, read as what the caller needs.
fn setting<T: FromStr<Err: Into<Failure>>>(name: &str) -> Result<T, Failure> {
    let text = env::var(name).map_err(|_| format!("{name} is not set"))?;
    text.parse().map_err(Into::into)
}

/// Answers requests until SIGTERM.
async fn serve() -> Result<(), Failure> {
    let heroes = Arc::new(Heroes {
        connections: Connections::new(setting("POOL")?, hero::SELECT)?,
        answered: AtomicI64::new(0),
    });
    let router = Router::new()
        .route("/heroes/{id}", get(get_hero))
        .with_state(heroes);
    let address = SocketAddr::new(setting::<IpAddr>("HOST")?, setting("PORT")?);
    let listener = listen(address)?.tap_io(|stream| drop(stream.set_nodelay(true)));

    let mut terminate = signal(SignalKind::terminate())?;
    let (stop, mut stopped) = tokio::sync::watch::channel(());
    tokio::spawn(async move {
        terminate.recv().await;
        drop(stop);
        tokio::time::sleep(SHUTDOWN_GRACE).await;
        std::process::exit(0);
    });
    axum::serve(listener, router)
        .with_graceful_shutdown(async move {
            let _ = stopped.changed().await;
        })
        .await?;
    Ok(())
}

/// Listens for as many connections at once as the published loads open.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn get_hero(
    State(heroes): State<Arc<Heroes>>,
    uri: Uri,
    id: Result<Path<i32>, PathRejection>,
) -> Result<Json<Hero>, Problem> {
    let Ok(Path(id)) = id else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, &uri));
    };
    match hero::find(&heroes.connections, id).await {
        Ok(Some(mut hero)) => {
            hero.level = heroes.answered.fetch_add(1, Ordering::Relaxed) + 1;
            Ok(Json(hero))
        }
        Ok(None) => Err(Problem::new(StatusCode::NOT_FOUND, &uri)),
        Err(error) => {
            eprintln!("hero {id}: {error}");
            Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, &uri))
        }
    }
}

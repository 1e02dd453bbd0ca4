//! The distance to the limit: the same script on QuickJS, an interpreter in C, with OpenSSL behind its
//! host objects and axum in front.

mod exchange;
mod executor;
mod host;
mod workflow;

use std::env;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::post;
use axum::serve::ListenerExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};

use exchange::{Execution, Status};
use executor::{Executor, Refused};
use workflow::Workflows;

type Failure = Box<dyn Error + Send + Sync>;

/// Connections that the kernel may hold before they are accepted. Tokio's own 128 makes a crowd of
/// 250 wait a second for its handshakes to be tried again.
const BACKLOG: u32 = 4096;

/// The wait for requests in flight; whoever stops us allows five seconds.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);

/// What the handlers share.
struct Server {
    workflows: Workflows,
    executor: Executor,
}

fn main() -> Result<(), Failure> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!(
            "axum {}, rquickjs {}, {}, {}",
            env!("AXUM_VERSION"),
            env!("QUICKJS_VERSION"),
            openssl::version::version(),
            env!("RUSTC_VERSION")
        );
        return Ok(());
    }
    env_logger::Builder::new()
        .filter_level(log::LevelFilter::Info)
        .target(env_logger::Target::Stdout)
        .init();
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
    let server = Arc::new(Server {
        workflows: Workflows::open(
            &setting::<String>("REDIS_URL")?,
            &setting::<String>("CONTRACT_DIR")?,
        )
        .await?,
        executor: Executor::start(setting("EXECUTOR_THREADS")?, setting("EXECUTOR_QUEUE")?),
    });
    let router = Router::new()
        .route("/execute/internal/workflow", post(execute))
        .with_state(server);
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

/// A request that does not validate is answered with 400; how an execution ended stands in the body.
async fn execute(State(server): State<Arc<Server>>, body: Bytes) -> Response {
    let execution = match Execution::parse(&body) {
        Ok(execution) => execution,
        Err(problem) => return exchange::problem(StatusCode::BAD_REQUEST, &problem),
    };
    let workflow = match server.workflows.find(&execution.scenes_codes).await {
        Ok(Some(workflow)) => workflow,
        Ok(None) => return execution.answer(Status::NotFound, "no such workflow", None),
        Err(error) => {
            log::error!("workflow of execution {}: {error}", execution.request_id);
            return execution.answer(Status::Failed, "the workflow could not be looked up", None);
        }
    };
    let timeout = Duration::from_millis(execution.timeout);
    let name = workflow.name.clone();
    let run = server.executor.run(workflow, execution.input());
    match tokio::time::timeout(timeout, run).await {
        Ok(Ok(results)) => execution.answer_results(&name, results),
        Ok(Err(Refused)) => {
            execution.answer(Status::Rejected, "too many executions wait already", None)
        }
        Err(_) => execution.answer(
            Status::Timeout,
            "not done within the request's timeout",
            None,
        ),
    }
}

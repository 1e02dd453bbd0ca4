//! `fault-injection-server`: misbehaves by script.

use assay_test_servers::faults::{self, Fault, FaultInjectionServer, Settings};
use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  fault-injection-server --list                                 every fault, what it does, and what it should be booked as
  fault-injection-server                                        /fault/reset-in-body resets in the body; any other path is answered well
  fault-injection-server --fault hang-in-head --every 100       every 100th request gets no end of a head
  fault-injection-server --fault full-backlog --port 0          faults of the listening socket need --fault";

/// Misbehaves in one of many scripted ways, the same way every time.
///
/// What it did is printed as JSON when it ends (SIGTERM, Ctrl-C).
#[derive(Parser)]
#[command(name = "fault-injection-server", version, after_help = EXAMPLES)]
struct Arguments {
    /// Address to listen on.
    #[arg(long, env = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 lets the system choose.
    #[arg(long, env = "PORT", default_value_t = 8080)]
    port: u16,
    /// Play this fault whatever the path.
    #[arg(long, value_name = "NAME", value_parser = named)]
    fault: Option<&'static Fault>,
    /// Play it for every N-th request only (for every N-th connection, where it begins at the accept).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// List all faults and end.
    #[arg(long)]
    list: bool,
}

fn named(name: &str) -> Result<&'static Fault, String> {
    faults::find(name).ok_or_else(|| "no such fault; --list shows them".to_owned())
}

fn list() {
    for fault in faults::all() {
        println!(
            "{:<26} {:<76} {}",
            fault.name,
            fault.does,
            fault.expected.join(" or ")
        );
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    // Before the address is printed, so that a signal sent on reading it is not lost.
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|error| format!("cannot start: {error}"))?;
    let settings = Settings {
        fault: arguments.fault,
        every: arguments.every,
    };
    let server = FaultInjectionServer::start(&arguments.host, arguments.port, settings)
        .map_err(|error| error.to_string())?;
    println!("listening on http://{}/", server.address());
    signals.forever().next();
    println!(
        "{}",
        serde_json::to_string(&server.counts()).expect("counts are plain numbers")
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        list();
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("fault-injection-server: {message}");
            ExitCode::from(2)
        }
    }
}

//! The command line of the link's program, which is part of Assay's extension (`python -m assay.servers.link`).

use crate::carrier::carry;
use crate::line::Settings;
use clap::Parser;
use std::ffi::OsString;
use std::time::Duration;

/// Carries the packets of a TUN device back to it, as over a link with a delay and loss.
///
/// Standard input is the device, standard output a socket: for each byte that comes by it the counters since the last
/// one are told, in a line of JSON. It ends when the socket's other side is closed.
#[derive(Parser)]
#[command(name = "link", version)]
struct Arguments {
    /// The time there and back, in microseconds.
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(1..=60_000_000))]
    round_trip_us: u64,
    /// The share of packets that are lost each way.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    loss: f64,
    /// Seed of the chance by which packets are lost.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value| (0.0..=1.0).contains(value))
        .ok_or_else(|| "a share is between 0 and 1".to_owned())
}

/// Parses the words of a command line (the program's name first) and carries packets until it is left alone.
///
/// Gives the exit code: 0 at the end or where help was asked for, 2 for a wrong flag or where it cannot go on.
pub fn link(words: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(said) => {
            // Where nobody reads what is said, there is nobody to tell that.
            let _ = said.print();
            return u8::try_from(said.exit_code()).unwrap_or(2);
        }
    };
    let settings = Settings {
        round_trip: Duration::from_micros(arguments.round_trip_us),
        loss: arguments.loss,
        seed: arguments.seed,
    };
    match carry(std::io::stdin(), std::io::stdout(), &settings) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("link: {error}");
            2
        }
    }
}

//! `null-server`: the least an HTTP/1.1 server can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    assay_null_server::command::null_server(std::env::args_os()).into()
}

//! Hands the versions of hyper (from the lock file) and of the compiler to the program.

use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock is readable");
    let hyper = lock
        .split("[[package]]")
        .find(|package| package.contains("name = \"hyper\"\n"))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .expect("Cargo.lock names hyper");
    println!("cargo::rustc-env=HYPER_VERSION={hyper}");

    let rustc = env::var("RUSTC").expect("Cargo sets RUSTC");
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("rustc answers");
    println!(
        "cargo::rustc-env=RUSTC_VERSION={}",
        String::from_utf8_lossy(&version.stdout).trim()
    );
}

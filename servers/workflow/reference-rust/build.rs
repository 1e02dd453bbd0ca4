//! Hands the versions of axum and rquickjs (from the lock file) and of the compiler to the program.

use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock is readable");
    let version_of = |name: &str| {
        lock.split("[[package]]")
            .find(|package| package.contains(&format!("name = \"{name}\"\n")))
            .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
            .expect("Cargo.lock names the package")
    };
    println!("cargo::rustc-env=AXUM_VERSION={}", version_of("axum"));
    println!(
        "cargo::rustc-env=QUICKJS_VERSION={}",
        version_of("rquickjs")
    );

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

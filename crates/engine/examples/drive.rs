//! Runs the plan on standard input and writes the measurement to standard output.

use std::error::Error;
use std::io::{self, Read};

use assay_engine::{LoadPlan, Run};

fn main() -> Result<(), Box<dyn Error>> {
    let mut json = Vec::new();
    io::stdin().read_to_end(&mut json)?;
    let measurement = Run::start(&LoadPlan::from_json(&json)?)?.result()?;
    serde_json::to_writer(io::stdout(), &measurement)?;
    Ok(())
}

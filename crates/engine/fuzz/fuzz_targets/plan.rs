//! The plan, the only file the engine reads: no bytes panic, and a plan that is accepted survives being written.
#![no_main]

use assay_engine::LoadPlan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(plan) = LoadPlan::from_json(data) else {
        return;
    };
    let written = serde_json::to_vec(&plan).expect("a plan can be written");
    let again = LoadPlan::from_json(&written).expect("a written plan can be read");
    assert_eq!(again, plan);
});

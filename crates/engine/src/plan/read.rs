//! Reading plans: what is wrong in one is told in a line that names its field.

use serde::Deserialize;

use crate::error::PlanError;

/// Reads a plan of either kind.
pub(super) fn read<'a, P: Deserialize<'a>>(json: &'a [u8]) -> Result<P, PlanError> {
    let mut text = serde_json::Deserializer::from_slice(json);
    let plan: P = serde_path_to_error::deserialize(&mut text).map_err(|error| {
        let at = error.path().to_string();
        refused(&at, &error.inner().to_string())
    })?;
    let more = |_| PlanError::new("plan", "there is more behind it");
    text.end().map_err(more)?;
    Ok(plan)
}

/// What serde says at a place, in the words of the plan.
fn refused(at: &str, text: &str) -> PlanError {
    // Nobody has seen the text of which this would name a line and column.
    let problem = text
        .rsplit_once(" at line ")
        .map_or(text, |(problem, _)| problem);
    let quoted = problem.split('`').nth(1).unwrap_or_default();
    let is_there = at == quoted || at.ends_with(&format!(".{quoted}"));
    let inside = match at {
        "." => quoted.to_owned(),
        at if is_there => at.to_owned(),
        at => format!("{at}.{quoted}"),
    };
    let at = if matches!(at, "." | "?") { "plan" } else { at };
    if problem.starts_with("unknown field") {
        return PlanError::new(inside, "a plan has no such field");
    }
    if problem.starts_with("missing field") {
        return PlanError::new(inside, "must be there");
    }
    let mut wrong = ["invalid type: ", "invalid value: ", "unknown variant "].iter();
    let wrong = wrong.find_map(|kind| problem.strip_prefix(kind));
    match wrong.and_then(|wrong| wrong.split_once(", expected ")) {
        Some((found, wanted)) => {
            PlanError::new(at, format!("must be {}, not {found}", in_words(wanted)))
        }
        None => PlanError::new(at, problem),
    }
}

fn in_words(wanted: &str) -> &str {
    match wanted {
        "u16" => "a whole number, 0 to 65535",
        "u32" | "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text",
        "a sequence" => "a list",
        other => other,
    }
}

//! What ends a script, in wrk's words.

/// Why a script's run cannot go on. Its text is the whole line that wrk writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// An error in the script's own code, outside any `pcall`.
    #[error("PANIC: unprotected error in call to Lua API ({0})")]
    Uncaught(String),
    /// A name without an address.
    #[error("unable to resolve {0}")]
    Unresolved(String),
    /// No address accepts a connection.
    #[error("unable to connect to {0}")]
    Unreachable(String),
    /// `wrk.connect` to a machine of others that nobody was asked about.
    #[error(
        "wrk.connect leads to {0}, neither loopback nor private; \
         ASSAY_YES=1 says that its owner gives leave, and nothing was sent"
    )]
    NotAsked(String),
}

impl From<mlua::Error> for ScriptError {
    fn from(error: mlua::Error) -> Self {
        match own(&error) {
            Some(own) => own.clone(),
            None => Self::Uncaught(message(&error)),
        }
    }
}

impl From<ScriptError> for assay_engine::SourceError {
    fn from(error: ScriptError) -> Self {
        Self(error.to_string())
    }
}

/// The error of ours that a function of ours raised.
fn own(error: &mlua::Error) -> Option<&ScriptError> {
    match error {
        mlua::Error::CallbackError { cause, .. } => own(cause),
        other => other.downcast_ref(),
    }
}

/// The message of an error as Lua gave it, without the trace that mlua adds.
pub(crate) fn message(error: &mlua::Error) -> String {
    let text = match error {
        mlua::Error::RuntimeError(text) => text.clone(),
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::CallbackError { cause, .. } => return message(cause),
        other => other.to_string(),
    };
    match text.split_once("\nstack traceback:") {
        Some((message, _)) => message.into(),
        None => text,
    }
}

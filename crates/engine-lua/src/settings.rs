//! [`Settings`]: what a script is told of the command line.

use std::net::SocketAddr;

use serde::Deserialize;

/// What a script is told of the command line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The script.
    pub file: String,
    /// The URL's scheme.
    pub scheme: String,
    /// Its host, without brackets.
    pub host: String,
    /// Its port, where it has one.
    pub port: Option<String>,
    /// The addresses of this host and port. Nobody looks them up again: they are what was asked about.
    pub addresses: Vec<SocketAddr>,
    /// Its path and what follows.
    pub path: String,
    /// Header fields of the command line.
    pub headers: Vec<(String, String)>,
    /// How many threads there are.
    pub threads: u32,
    /// Whether the user answers for machines of others that the script connects to by itself.
    #[serde(default)]
    pub may_reach_others: bool,
    /// What `init` is given: the URL at index 0, then the words after it.
    pub arguments: Vec<String>,
}

impl Settings {
    /// What the resolver is asked for: the port, or the scheme's name.
    pub(crate) fn service(&self) -> &str {
        self.port.as_deref().unwrap_or(&self.scheme)
    }
}

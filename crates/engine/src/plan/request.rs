//! What is sent, and what a right answer to it is.

use serde::{Deserialize, Serialize};

use super::validate::{Checked, ensure};
use super::{LoadPlan, RequestOrder, Stop};

impl LoadPlan {
    pub(super) fn validate_order(&self) -> Checked {
        let is_dealt = self.request_order == RequestOrder::PerConnection
            && matches!(self.stop, Stop::AtCount { .. });
        ensure(
            !is_dealt || self.warmup_max_ns == 0,
            "request_order",
            "per_connection deals a count to connections without a warm-up before it",
        )
    }
}

/// What the decoded body of a right answer is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BodyExpected {
    /// Exactly this text.
    #[cfg_attr(test, schemars(title = "BodyEquals"))]
    Equals {
        /// The text.
        text: String,
    },
    /// Exactly one of these texts.
    #[cfg_attr(test, schemars(title = "BodyOneOf"))]
    OneOf {
        /// The texts.
        texts: Vec<String>,
    },
    /// This regular expression is found in it.
    #[cfg_attr(test, schemars(title = "BodyMatches"))]
    Matches {
        /// In the syntax of the `regex` crate.
        pattern: String,
    },
    /// It is exactly so long.
    #[cfg_attr(test, schemars(title = "BodyLength"))]
    Length {
        /// Length in bytes.
        bytes: u64,
    },
}

/// A header that a right answer carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeaderExpected {
    /// Its name, in any case.
    pub name: String,
    /// A regular expression found in its value; without one, being there is enough.
    #[serde(default)]
    pub pattern: Option<String>,
}

/// What a right answer is. The status is checked on every answer, headers and body on every
/// `check_every`-th of each worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Allowed status codes; empty allows all.
    pub status: Vec<u16>,
    /// Headers that must be there.
    pub headers: Vec<HeaderExpected>,
    /// What the body must be.
    pub body: Option<BodyExpected>,
    /// 1 checks headers and body of every answer, n those of every n-th.
    pub check_every: u64,
}

impl Default for Expect {
    fn default() -> Self {
        Self {
            status: Vec::new(),
            headers: Vec::new(),
            body: None,
            check_every: 1,
        }
    }
}

/// One field of a multipart form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FormPart {
    /// The field's name.
    pub name: String,
    /// Its value, where no file is sent.
    #[serde(default)]
    pub text: Option<String>,
    /// The file that is sent; read once, before the run.
    #[serde(default)]
    pub file: Option<String>,
    /// The name the file is sent under, instead of its own.
    #[serde(default)]
    pub file_name: Option<String>,
    /// The content type of this part; a file's is `application/octet-stream` otherwise.
    #[serde(default)]
    pub content_type: Option<String>,
}

/// One request of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// What its figures go by, where it is one of several; by default its method and path, between them the host where
    /// there are several. Those of one name are added up.
    pub name: Option<String>,
    /// Where it goes: 0 to the plan's URL, else to which of its hosts, from 1 on.
    pub host: u32,
    /// The method, as sent.
    pub method: String,
    /// The request target, as sent: path and query.
    pub target: String,
    /// Header fields, in order, as sent. `Host` and `Content-Length` are added where missing.
    pub headers: Vec<(String, String)>,
    /// The whole head, byte for byte, without its empty line: method, target and headers then do
    /// not go into it, and nothing is added.
    pub head: Option<String>,
    /// The body.
    pub body: Option<String>,
    /// The file that holds the body; read once, before the run.
    pub body_file: Option<String>,
    /// A multipart form (RFC 7578) instead of a body; its `Content-Type` is added where missing.
    pub form: Vec<FormPart>,
    /// Sends the body in chunks of this size, as a stream of unknown length is sent.
    pub chunk_bytes: Option<u32>,
    /// Replaces `{counter}` (different in every request of the run), `{random:1-100}` and `{uuid}` in
    /// target, header values and body, anew for each request.
    pub templated: bool,
    /// How often it is sent in relation to the others.
    pub weight: u32,
    /// What a right answer is; without it every well-formed answer is right.
    pub expect: Option<Expect>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            name: None,
            host: 0,
            method: "GET".into(),
            target: "/".into(),
            headers: Vec::new(),
            head: None,
            body: None,
            body_file: None,
            form: Vec::new(),
            chunk_bytes: None,
            templated: false,
            weight: 1,
            expect: None,
        }
    }
}

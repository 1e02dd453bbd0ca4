//! What a type cannot say about a plan. Each rule names its field and what would be right.

use super::{BodyExpected, Expect, Load, LoadPlan, Request, RequestLog, Stop, Tls};
use crate::error::PlanError;
use crate::protocol::is_token_byte;
use crate::record::Failure;
use crate::target::{Scheme, Target};

/// No run lasts longer: with it no time can exceed what a histogram holds.
const LONGEST_RUN_NS: u64 = 24 * 3_600 * 1_000_000_000;
const LONGEST_TIMEOUT_NS: u64 = 3_600 * 1_000_000_000;
/// Several times what any machine sends; with more, the schedule itself would be all the work.
const HIGHEST_RATE_PER_S: f64 = 1e8;
pub(super) const MOST_CONNECTIONS: u32 = 1_000_000;
const MOST_PIPELINED: u32 = 1_024;
/// 48 bytes each, set aside before the run.
const MOST_LOGGED: u64 = 50_000_000;

pub(super) type Checked = Result<(), PlanError>;

pub(super) fn ensure(right: bool, field: &str, problem: &str) -> Checked {
    if right {
        Ok(())
    } else {
        Err(PlanError::new(field, problem))
    }
}

impl LoadPlan {
    /// Checks everything that can be known without touching the network or a file.
    ///
    /// # Errors
    /// The first field that is wrong, in one line.
    pub fn validate(&self) -> Checked {
        self.targets()?;
        ensure(
            !self.requests.is_empty(),
            "requests",
            "at least one is needed",
        )?;
        for (index, request) in self.requests.iter().enumerate() {
            let at = format!("requests[{index}]");
            request.validate(&at)?;
            request.validate_meaning(self, &at)?;
        }
        ensure(
            self.requests.iter().any(|request| request.weight > 0),
            "requests",
            "at least one must have a weight above 0",
        )?;
        self.validate_hosts()?;
        self.validate_order()?;
        self.validate_load()?;
        self.validate_times()?;
        self.validate_connections()?;
        self.validate_http()?;
        self.validate_log()
    }

    fn validate_log(&self) -> Checked {
        let is_bounded = matches!(self.stop, Stop::AtCount { count, .. } if count <= MOST_LOGGED);
        ensure(
            self.request_log == RequestLog::Off || is_bounded,
            "request_log",
            "needs a stop at a count of at most 50000000 requests",
        )?;
        for kind in &self.ends_on {
            ensure(
                Failure::ALL.iter().any(|failure| failure.name() == kind),
                "ends_on",
                &format!("'{kind}' is no kind of failure"),
            )?;
        }
        ensure(
            self.held_body_bytes > 0,
            "held_body_bytes",
            "must be above 0",
        )?;
        ensure(
            self.socket_buffer_bytes
                .is_none_or(|bytes| (1..=i32::MAX as u32).contains(&bytes)),
            "socket_buffer_bytes",
            "must be between 1 and 2147483647",
        )
    }

    fn validate_load(&self) -> Checked {
        let connections = self.load.connections();
        let field = match &self.load {
            Load::Closed { think_time_ns, .. } => {
                ensure(
                    *think_time_ns <= LONGEST_TIMEOUT_NS,
                    "load.think_time_ns",
                    "must be at most one hour",
                )?;
                "load.connections"
            }
            Load::Open { stages, .. } => {
                ensure(!stages.is_empty(), "load.stages", "at least one is needed")?;
                for (index, stage) in stages.iter().enumerate() {
                    let field = format!("load.stages[{index}]");
                    let rates = [stage.from_per_s, stage.to_per_s];
                    ensure(
                        rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0),
                        &field,
                        "rates must be 0 or more requests per second",
                    )?;
                    ensure(
                        rates.iter().all(|rate| *rate <= HIGHEST_RATE_PER_S),
                        &field,
                        "rates must be at most 100000000 requests per second: no machine sends more",
                    )?;
                    ensure(stage.duration_ns > 0, &field, "duration_ns must be above 0")?;
                }
                ensure(
                    stages
                        .iter()
                        .any(|s| s.from_per_s > 0.0 || s.to_per_s > 0.0),
                    "load.stages",
                    "at least one rate must be above 0",
                )?;
                "load.max_connections"
            }
        };
        ensure(
            (1..=MOST_CONNECTIONS).contains(&connections),
            field,
            "must be between 1 and 1000000",
        )?;
        ensure(
            (1..=connections).contains(&self.threads),
            "threads",
            "must be at least 1 and at most the number of connections",
        )?;
        let part = self.shard_here();
        ensure(
            part.workers > 0
                && part.first_worker.saturating_add(part.workers) <= self.threads
                && (self.part.is_none() || self.request_log == RequestLog::Off),
            "part",
            "must be one or more of the plan's threads, and no request is logged",
        )
    }

    fn validate_times(&self) -> Checked {
        let measured_ns = match self.stop {
            Stop::After { ns } => {
                ensure(ns > 0, "stop.ns", "must be above 0")?;
                ns
            }
            Stop::AtCount { count, within_ns } => {
                ensure(count > 0, "stop.count", "must be above 0")?;
                ensure(within_ns != Some(0), "stop.within_ns", "must be above 0")?;
                within_ns.unwrap_or_default()
            }
        };
        ensure(
            self.warmup_max_ns.saturating_add(measured_ns) <= LONGEST_RUN_NS,
            "stop",
            "warm-up and measured phase together must be at most 24 hours",
        )?;
        ensure(
            (1_000..=LONGEST_TIMEOUT_NS).contains(&self.timeout_ns),
            "timeout_ns",
            "must be between 1 microsecond and one hour",
        )?;
        ensure(
            self.retry_wait_max_ns <= LONGEST_TIMEOUT_NS,
            "retry_wait_max_ns",
            "must be at most one hour",
        )?;
        ensure(
            self.window_ns >= 1_000_000,
            "window_ns",
            "must be at least 1 millisecond",
        )
    }

    fn validate_connections(&self) -> Checked {
        ensure(
            (1..=MOST_PIPELINED).contains(&self.pipeline),
            "pipeline",
            "must be between 1 and 1024",
        )?;
        ensure(
            self.pipeline == 1 || self.keep_alive,
            "pipeline",
            "needs keep_alive",
        )?;
        ensure(
            self.requests_per_connection != Some(0),
            "requests_per_connection",
            "must be above 0",
        )?;
        for (index, address) in self.addresses.iter().enumerate() {
            crate::target::parse_endpoint(address, 0)
                .map_err(|problem| PlanError::new(format!("addresses[{index}]"), problem))?;
        }
        for (index, address) in self.source_addresses.iter().enumerate() {
            crate::target::parse_address(address, 0)
                .map_err(|problem| PlanError::new(format!("source_addresses[{index}]"), problem))?;
        }
        ensure(
            self.redirects == 0 || self.pipeline == 1,
            "redirects",
            "cannot be followed on a connection that pipelines",
        )?;
        ensure(
            self.connections_per_s
                .is_none_or(|rate| rate.is_finite() && rate > 0.0),
            "connections_per_s",
            "must be above 0",
        )?;
        ensure(
            self.proxy.is_none() || self.addresses.is_empty(),
            "addresses",
            "cannot be used through a proxy, which looks the host up itself",
        )?;
        if let Some(proxy) = &self.proxy {
            let proxy = Target::parse(proxy).map_err(|e| PlanError::new("proxy", e.problem))?;
            ensure(
                proxy.scheme == Scheme::Http && proxy.unix_path.is_none(),
                "proxy",
                "must be http://host:port",
            )?;
        }
        self.tls.validate()
    }
}

impl Request {
    fn validate(&self, at: &str) -> Checked {
        ensure(
            !self.method.is_empty() && self.method.bytes().all(is_token_byte),
            &format!("{at}.method"),
            "must be a method such as GET",
        )?;
        ensure(
            !self.target.is_empty() && self.target.bytes().all(|byte| byte > b' ' && byte != 0x7f),
            &format!("{at}.target"),
            "must be a path such as /index.html, without spaces or control characters",
        )?;
        for (index, (name, value)) in self.headers.iter().enumerate() {
            let field = format!("{at}.headers[{index}]");
            ensure(
                !name.is_empty() && name.bytes().all(is_token_byte),
                &field,
                "the name must be a token such as Accept",
            )?;
            ensure(
                value
                    .bytes()
                    .all(|byte| byte >= b' ' && byte != 0x7f || byte == b'\t'),
                &field,
                "the value must not hold control characters",
            )?;
        }
        self.validate_head(at)?;
        ensure(
            self.body.is_none() || self.body_file.is_none(),
            &format!("{at}.body_file"),
            "give either body or body_file",
        )?;
        self.validate_form(at)?;
        ensure(
            self.chunk_bytes != Some(0),
            &format!("{at}.chunk_bytes"),
            "must be above 0",
        )?;
        if self.templated {
            crate::protocol::template::check(self)
                .map_err(|problem| PlanError::new(format!("{at}.templated"), problem))?;
        }
        match &self.expect {
            Some(expect) => expect.validate(&format!("{at}.expect")),
            None => Ok(()),
        }
    }
}

impl Request {
    fn validate_head(&self, at: &str) -> Checked {
        let Some(head) = &self.head else {
            return Ok(());
        };
        ensure(
            head.ends_with("\r\n") && !head.contains("\r\n\r\n"),
            &format!("{at}.head"),
            "must be lines that end with CR LF, without an empty one",
        )?;
        ensure(
            self.form.is_empty() && self.headers.is_empty() && !self.templated,
            &format!("{at}.head"),
            "leaves no room for headers, a form or a template",
        )
    }

    fn validate_form(&self, at: &str) -> Checked {
        if self.form.is_empty() {
            return Ok(());
        }
        ensure(
            self.body.is_none() && self.body_file.is_none(),
            &format!("{at}.form"),
            "give either a form or a body",
        )?;
        let mut names = self.headers.iter().map(|(name, _)| name);
        ensure(
            !names.any(|name| name.eq_ignore_ascii_case("content-type")),
            &format!("{at}.headers"),
            "a form makes its own Content-Type",
        )?;
        for (index, part) in self.form.iter().enumerate() {
            let field = format!("{at}.form[{index}]");
            ensure(
                part.text.is_some() != part.file.is_some(),
                &field,
                "give either text or file",
            )?;
            let kind = part.content_type.as_deref().unwrap_or("text/plain");
            ensure(
                !kind.bytes().any(|byte| byte.is_ascii_control()),
                &field,
                "content_type must not hold control characters",
            )?;
        }
        Ok(())
    }
}

impl Tls {
    fn validate(&self) -> Checked {
        ensure(
            !self.versions.is_empty(),
            "tls.versions",
            "at least one of 1.2 and 1.3 is needed",
        )?;
        ensure(
            self.alpn
                .iter()
                .all(|name| matches!(name.as_str(), "http/1.1" | "http/1.0")),
            "tls.alpn",
            "must be http/1.1 or http/1.0: no other protocol is spoken",
        )?;
        ensure(
            self.certificate_file.is_some() == self.key_file.is_some(),
            "tls.key_file",
            "a client certificate needs certificate_file and key_file",
        )
    }
}

impl Expect {
    fn validate(&self, at: &str) -> Checked {
        ensure(
            self.status
                .iter()
                .all(|status| (100..=999).contains(status)),
            &format!("{at}.status"),
            "must be three-digit status codes",
        )?;
        ensure(
            self.check_every > 0,
            &format!("{at}.check_every"),
            "must be 1 or more",
        )?;
        for (index, header) in self.headers.iter().enumerate() {
            if let Some(pattern) = &header.pattern {
                compiles(pattern, &format!("{at}.headers[{index}].pattern"))?;
            }
        }
        match &self.body {
            Some(BodyExpected::Matches { pattern }) => {
                compiles(pattern, &format!("{at}.body.pattern"))
            }
            Some(BodyExpected::OneOf { texts }) => ensure(
                !texts.is_empty(),
                &format!("{at}.body.texts"),
                "at least one is needed",
            ),
            _ => Ok(()),
        }
    }
}

fn compiles(pattern: &str, field: &str) -> Checked {
    match regex::bytes::Regex::new(pattern) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default();
            Err(PlanError::new(
                field,
                format!("is no regular expression: {}", reason.trim()),
            ))
        }
    }
}

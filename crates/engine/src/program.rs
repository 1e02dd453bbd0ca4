//! A plan, resolved: everything the loop needs, decided once before the run.

use crate::body::Body;
use crate::error::{PlanError, RunError};
use crate::expect::Check;
use crate::plan::{Http, Load, LoadPlan, Pacer, Request, RequestLog, RequestOrder};
use crate::protocol::http2;
use crate::protocol::redirect::Redirects;
use crate::protocol::request::{self, Context, EncodedRequest};
use crate::protocol::template::Varying;
use crate::record::Failure;
use crate::record::by_request::Names;
use crate::supply::Supply;
use crate::target::{Scheme, Target};

/// So many requests of a plan are written once for each connection of HTTP/2.
const NUMBERED: u16 = 256;

/// A request, ready to send.
#[derive(Debug)]
pub(crate) struct Template {
    bytes: Bytes,
    is_head: bool,
    /// Nothing is sent on its connection after it.
    pub(crate) closes: bool,
    /// The same as fields of HTTP/2 or HTTP/3, where one of them is spoken and they are always the same.
    pub(crate) fields: Option<http2::Request>,
    pub(crate) inspection: Inspection,
    /// The number of its host: it is sent only on connections of that.
    pub(crate) host: u32,
    /// The number of its name.
    pub(crate) name: u32,
    pub(crate) weight: u64,
}

#[derive(Debug)]
enum Bytes {
    /// Always the same, repeated as often as the plan pipelines.
    Fixed { repeated: Vec<u8>, length: usize },
    /// The same batch each time, from a supply.
    Batch(Vec<u8>),
    /// Made anew each time.
    Varying(Varying),
    /// Made anew each time, by a supply.
    Supplied,
}

/// What is done with an answer beside counting it.
#[derive(Debug)]
pub(crate) enum Inspection {
    Nothing,
    Check(Check),
    /// The supply is given it.
    HandOver,
}

impl Template {
    fn new(context: Context<'_>, request: &Request) -> Result<Self, RunError> {
        let body = Body::of(request)?;
        let inspection = match &request.expect {
            Some(expect) => Inspection::Check(
                Check::new(expect)
                    .map_err(|error| PlanError::new("requests.expect", error.to_string()))?,
            ),
            None => Inspection::Nothing,
        };
        let (bytes, fields) = match request::encode(context, request, body)? {
            EncodedRequest::Varying(varying) => (Bytes::Varying(varying), None),
            EncodedRequest::Fixed(text) => fixed(context, text),
        };
        Ok(Self {
            fields,
            bytes,
            is_head: match &request.head {
                Some(head) => asks_for_head(head.as_bytes()),
                None => request.method == "HEAD",
            },
            closes: request.closes(),
            inspection,
            host: request.host,
            name: 0,
            weight: u64::from(request.weight),
        })
    }

    fn of_supply(supply: &Supply) -> Self {
        Self {
            is_head: supply.fixed.as_deref().is_some_and(asks_for_head),
            closes: false,
            fields: None,
            bytes: match &supply.fixed {
                Some(bytes) => Bytes::Batch(bytes.clone()),
                None => Bytes::Supplied,
            },
            inspection: match supply.wants_answers {
                true => Inspection::HandOver,
                false => Inspection::Nothing,
            },
            host: 0,
            name: 0,
            weight: 1,
        }
    }

    /// HEAD: its answers have no body. `rendered` are the bytes of a request that differs each time.
    #[inline]
    pub(crate) fn is_head(&self, rendered: &[u8]) -> bool {
        match self.bytes {
            Bytes::Supplied => asks_for_head(rendered),
            _ => self.is_head,
        }
    }

    /// The bytes of `n` of these requests in a row, where they are always the same.
    #[inline]
    pub(crate) fn fixed(&self, n: u32) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Fixed { repeated, length } => Some(&repeated[..length * n as usize]),
            Bytes::Batch(bytes) => Some(bytes),
            Bytes::Varying(_) | Bytes::Supplied => None,
        }
    }

    /// Whether the bytes of several of them can be told apart.
    pub(crate) fn is_divisible(&self) -> bool {
        matches!(self.bytes, Bytes::Fixed { .. } | Bytes::Varying(_))
    }

    /// How to make them, where they are not.
    #[inline]
    pub(crate) fn making(&self) -> Making<'_> {
        match &self.bytes {
            Bytes::Fixed { .. } | Bytes::Batch(_) => Making::Ready,
            Bytes::Varying(varying) => Making::Fill(varying),
            Bytes::Supplied => Making::Ask,
        }
    }
}

/// A request that is always the same. A body may be most of the memory that there is, so it is there once.
fn fixed(context: Context<'_>, text: Vec<u8>) -> (Bytes, Option<http2::Request>) {
    let repeated = |text: Vec<u8>| Bytes::Fixed {
        length: text.len(),
        repeated: match context.plan.pipeline {
            1 => text,
            several => text.repeat(several as usize),
        },
    };
    if !has_streams(context.plan) {
        return (repeated(text), None);
    }
    // Only redirects are made from the text.
    let kept = match context.plan.redirects {
        0 => Vec::new(),
        _ => text.clone(),
    };
    (repeated(kept), Some(http2::request(text, context.scheme)))
}

/// How the bytes of the next requests come to be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Making<'a> {
    /// They are there.
    Ready,
    /// By filling in a template.
    Fill(&'a Varying),
    /// By asking the supply.
    Ask,
}

fn asks_for_head(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HEAD ")
}

/// How a worker waits when nothing is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// In the selector, to the millisecond: for loads driven by answers alone.
    Coarse,
    /// In the selector while the next start is far, then polling.
    Spin,
    /// In the selector while the next switch is far, then asleep to the timer's precision: for closed
    /// loops whose arms are interleaved, or whose connections have timers of their own (QUIC).
    Switching,
    /// Asleep to the timer's precision.
    Precise,
}

/// Everything the loop needs to know, the same for all workers.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) templates: Vec<Template>,
    /// The names of the requests, where figures are kept by them: there are several, or a supply makes them.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) order: RequestOrder,
    pub(crate) http: Http,
    /// HTTP/2 and HTTP/3: requests at once on a connection.
    pub(crate) streams: Option<u32>,
    pub(crate) scheme: &'static str,
    /// Whether heads are read for more than how they end.
    pub(crate) reads_heads: bool,
    pub(crate) pipeline: u32,
    pub(crate) timeout_ns: u64,
    pub(crate) window_ns: u64,
    pub(crate) think_time_ns: u64,
    /// A connection is closed after so many requests.
    pub(crate) requests_per_connection: u32,
    /// The longest wait after failures in a row.
    pub(crate) retry_wait_max_ns: u64,
    /// Whether the run ends where nothing can be reached.
    pub(crate) ends_unreached: bool,
    /// Over how many addresses the connections are spread.
    pub(crate) addresses: usize,
    /// The most memory for one worker's bodies that come in pieces and are checked.
    pub(crate) held_body_bytes: usize,
    /// Failures that end the run.
    pub(crate) ends_on: Vec<Failure>,
    pub(crate) waiting: Waiting,
    pub(crate) is_open_loop: bool,
    /// Whether requests that the server says it did not process are sent again.
    pub(crate) resends: bool,
    /// How redirects are followed, where they are.
    pub(crate) redirects: Option<Redirects>,
    /// Whether connections keep the cookies they are given.
    pub(crate) cookies: bool,
    /// The pause between the first connections that are opened.
    pub(crate) opening_gap_ns: u64,
}

impl Program {
    /// What one worker, or all of them, have to do. A supply's requests take the place of the plan's.
    pub(crate) fn new(
        plan: &LoadPlan,
        targets: &[Target],
        supply: Option<&Supply>,
    ) -> Result<Self, RunError> {
        let prefixes = targets.iter().map(|target| target_prefix(plan, target));
        let prefixes: Vec<String> = prefixes.collect();
        let contexts: Vec<Context<'_>> = (targets.iter().zip(&prefixes))
            .map(|(target, target_prefix)| Context {
                plan,
                authority: &target.authority,
                target_prefix,
                scheme: target.scheme_name(),
            })
            .collect();
        let (templates, names) = templates(&contexts, supply)?;
        let (think_time_ns, waiting) = pauses(plan, supply);
        let requests_per_connection = match plan.keep_alive {
            false => 1,
            true => plan.requests_per_connection.unwrap_or(u32::MAX),
        };
        let inspects = |template: &Template| !matches!(template.inspection, Inspection::Nothing);
        Ok(Self {
            streams: has_streams(plan).then_some(plan.streams),
            http: plan.http,
            scheme: targets[0].scheme_name(),
            reads_heads: templates.iter().any(inspects)
                || plan.cookies
                || plan.redirects > 0
                || plan.request_log != RequestLog::Off,
            templates,
            names,
            order: plan.request_order,
            // A connection that may carry only so many requests is sent no more at once.
            pipeline: plan.pipeline.min(requests_per_connection),
            timeout_ns: plan.timeout_ns,
            window_ns: plan.window_ns,
            think_time_ns,
            requests_per_connection,
            retry_wait_max_ns: plan.retry_wait_max_ns,
            ends_unreached: plan.ends_unreached,
            addresses: plan.addresses.len().max(1) + plan.hosts.len(),
            held_body_bytes: usize::try_from(plan.held_body_bytes / u64::from(plan.threads))
                .unwrap_or(usize::MAX),
            ends_on: Failure::ALL
                .iter()
                .filter(|failure| plan.ends_on.iter().any(|kind| kind == failure.name()))
                .copied()
                .collect(),
            waiting,
            is_open_loop: matches!(plan.load, Load::Open { .. }),
            resends: plan.resend,
            redirects: (plan.redirects > 0)
                .then(|| Redirects::new(plan, &targets[0], &prefixes[0])),
            cookies: plan.cookies,
            opening_gap_ns: plan
                .connections_per_s
                .map_or(0, |rate_per_s| (1e9 / rate_per_s) as u64),
        })
    }
}

/// The templates, and the names of their requests where figures are kept by them; a context for each host.
fn templates(contexts: &[Context<'_>], supply: Option<&Supply>) -> Result<Named, RunError> {
    if let Some(supply) = supply {
        let names = supply.fixed.is_none().then(Vec::new);
        return Ok((vec![Template::of_supply(supply)], names));
    }
    let requests = &contexts[0].plan.requests;
    let made =
        (requests.iter()).map(|request| Template::new(contexts[request.host as usize], request));
    let mut templates = made.collect::<Result<Vec<_>, _>>()?;
    for (number, template) in (0..NUMBERED).zip(&mut templates) {
        if let Some(fields) = &mut template.fields {
            fields.number = Some(number);
        }
    }
    let names = number_names(contexts, &mut templates);
    Ok((templates, names))
}

type Named = (Vec<Template>, Option<Vec<String>>);

/// Numbers the names of requests in their templates; the names, where there are several.
fn number_names(contexts: &[Context<'_>], templates: &mut [Template]) -> Option<Vec<String>> {
    let mut numbers = Names::default();
    let mut names = Vec::new();
    for (request, template) in contexts[0].plan.requests.iter().zip(templates) {
        let name = request.name(match contexts.len() {
            1 => "",
            _ => contexts[request.host as usize].authority,
        });
        template.name = numbers.number_of(name.as_bytes(), |name| names.push(name));
    }
    (names.len() > 1).then_some(names)
}

/// Through a plain proxy the target is the whole URL (RFC 9112, 3.2.2).
fn target_prefix(plan: &LoadPlan, target: &Target) -> String {
    match (&plan.proxy, target.scheme) {
        (Some(_), Scheme::Http) => format!("http://{}", target.authority),
        _ => String::new(),
    }
}

/// The first request of a plan as HTTP/1 writes it, if it is the same each time.
pub(crate) fn fixed_request(plan: &LoadPlan, target: &Target) -> Result<Vec<u8>, RunError> {
    let context = Context {
        plan,
        authority: &target.authority,
        target_prefix: &target_prefix(plan, target),
        scheme: target.scheme_name(),
    };
    let asked = &plan.requests[0];
    match request::encode(context, asked, Body::of(asked)?)? {
        EncodedRequest::Fixed(bytes) => Ok(bytes),
        EncodedRequest::Varying(_) => {
            Err(PlanError::new("requests", "must be the same each time to be asked once").into())
        }
    }
}

/// Whether a plan's connections carry several requests at once.
fn has_streams(plan: &LoadPlan) -> bool {
    matches!(plan.http, Http::Two | Http::Three)
}

/// The think time of a plan, and how exactly its worker has to wait.
fn pauses(plan: &LoadPlan, supply: Option<&Supply>) -> (u64, Waiting) {
    match plan.load {
        Load::Closed { think_time_ns, .. } if supply.is_some_and(|s| s.has_delays) => {
            (think_time_ns, Waiting::Precise)
        }
        Load::Closed {
            think_time_ns: 0, ..
        } if plan.http == Http::Three => (0, Waiting::Switching),
        Load::Closed {
            think_time_ns: 0, ..
        } => (0, Waiting::Coarse),
        Load::Closed { think_time_ns, .. } => (think_time_ns, Waiting::Precise),
        Load::Open { pacer, .. } => match pacer {
            Pacer::Spin => (0, Waiting::Spin),
            Pacer::Sleep => (0, Waiting::Precise),
        },
    }
}

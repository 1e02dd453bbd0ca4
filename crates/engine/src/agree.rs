//! What `auto` comes to. A server behind TLS is asked once, before the run, so that each arm speaks one HTTP and
//! its loop never has to ask.

use std::borrow::Cow;
use std::io;
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use crate::error::RunError;
use crate::launch;
use crate::plan::{Http, LoadPlan};
use crate::target::{Scheme, Target};
use crate::transport::{HTTP2, Progress, TlsStream, Transport};
use crate::waiter::ignore_interrupt;

/// The plan, with the HTTP that will be spoken. Without TLS nobody can be asked, and it is HTTP/1.1.
pub(crate) fn settled(plan: &LoadPlan) -> Result<Cow<'_, LoadPlan>, RunError> {
    if plan.http != Http::Auto {
        return Ok(Cow::Borrowed(plan));
    }
    let target = Target::parse(&plan.url)?;
    let picks_http2 = match target.scheme {
        Scheme::Http => false,
        Scheme::Https => picks_http2(plan, &target)?,
    };
    Ok(Cow::Owned(match picks_http2 {
        true => LoadPlan {
            http: Http::Two,
            ..plan.clone()
        },
        false => LoadPlan {
            http: Http::One,
            streams: 1,
            ..plan.clone()
        },
    }))
}

/// Whether the server picks HTTP/2. One that cannot be reached picks nothing; the run will say why.
fn picks_http2(plan: &LoadPlan, target: &Target) -> Result<bool, RunError> {
    let mut connector = launch::tls(plan, std::slice::from_ref(target))?(0, None);
    let limit = Duration::from_nanos(plan.timeout_ns);
    let asked = TlsStream::open(&mut connector, 0)
        .and_then(|stream| shaken(stream, limit))
        .ok();
    Ok(asked.is_some_and(|stream| stream.protocol() == Some(HTTP2)))
}

/// A connection whose handshake is done.
fn shaken(mut stream: TlsStream, limit: Duration) -> io::Result<TlsStream> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1);
    poll.registry().register(
        &mut SourceFd(&stream.descriptor()),
        Token(0),
        Interest::READABLE | Interest::WRITABLE,
    )?;
    let until = Instant::now() + limit;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        ignore_interrupt(poll.poll(&mut events, Some(left)))?;
        if !events.is_empty() && stream.establish()? == Progress::Ready {
            return Ok(stream);
        }
    }
}

//! `wrk.lookup` and `wrk.connect`, and the addresses they deal in.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use dns_lookup::{AddrInfoHints, SockType, getaddrinfo};
use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, UserDataRef};

use crate::error::ScriptError;
use crate::settings::Settings;

/// What getaddrinfo's errors begin with in `dns_lookup`, and not in wrk.
const LOOKUP_PREFIX: &str = "failed to lookup address information: ";

/// An address as scripts hold it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address(pub(crate) SocketAddr);

impl UserData for Address {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        // IPv6 without brackets, as wrk writes it.
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
            Ok(format!("{}:{}", this.0.ip(), this.0.port()))
        });
    }
}

/// Why the last connection was refused, for the line that says that none was accepted.
pub(crate) type Refusal = Arc<Mutex<String>>;

/// Puts the two functions into the table `wrk`. The host of the test has the addresses of the settings.
pub(crate) fn offer(
    lua: &Lua,
    wrk: &Table,
    settings: &Settings,
    refusal: &Refusal,
) -> mlua::Result<()> {
    let (own_host, own_service) = (settings.host.clone(), settings.service().to_owned());
    let own: Vec<_> = settings.addresses.iter().copied().map(Address).collect();
    let lookup = move |_: &Lua, (host, service): (String, Option<String>)| {
        if host == own_host && service.as_deref() == Some(&own_service) {
            return Ok(own.clone());
        }
        look_up(&host, service.as_deref())
            .map_err(|problem| mlua::Error::external(ScriptError::Unresolved(problem)))
    };
    let refusal = Arc::clone(refusal);
    let (asked, may_reach_others) = (settings.addresses.clone(), settings.may_reach_others);
    let connect = move |_: &Lua, address: UserDataRef<Address>| {
        if !(may_reach_others || asked.contains(&address.0) || is_ours(address.0.ip())) {
            let refused = ScriptError::NotAsked(address.0.ip().to_string());
            return Err(mlua::Error::external(refused));
        }
        match TcpStream::connect(address.0) {
            Ok(_) => Ok(true),
            Err(error) => {
                *refusal.lock().unwrap_or_else(PoisonError::into_inner) = reason(&error);
                Ok(false)
            }
        }
    };
    wrk.set("lookup", lua.create_function(lookup)?)?;
    wrk.set("connect", lua.create_function(connect)?)
}

/// Whether it is of this machine or of its own network: as `assay.engine.target_policy` has it.
fn is_ours(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            let is_shared = first == 100 && second & 0b1100_0000 == 64; // RFC 6598
            ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_unspecified()
                || is_shared
        }
        IpAddr::V6(ip) => {
            ip.is_loopback()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
                || ip.is_unspecified()
        }
    }
}

fn look_up(host: &str, service: Option<&str>) -> Result<Vec<Address>, String> {
    let hints = AddrInfoHints {
        socktype: SockType::Stream.into(),
        ..AddrInfoHints::default()
    };
    let failed = |error: io::Error| {
        let text = error.to_string();
        let text = text.strip_prefix(LOOKUP_PREFIX).unwrap_or(&text);
        format!("{host}:{} {text}", service.unwrap_or_default())
    };
    getaddrinfo(Some(host), service, Some(hints))
        .map_err(|error| failed(error.into()))?
        .map(|found| found.map(|info| Address(info.sockaddr)).map_err(failed))
        .collect()
}

/// The system's words without the number that Rust adds.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.into(),
        None => text,
    }
}

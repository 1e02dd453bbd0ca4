//! Hosts that no resolver is needed for: names of this machine, and addresses of one link.

use std::net::UdpSocket;

use crate::support::{HELLO, Server, outcomes, plan, run};
use serde_json::json;

/// An address of one link of this machine, the link's number and its name, where there is one.
fn of_one_link() -> Option<(String, u32, String)> {
    let known = std::fs::read_to_string("/proc/net/if_inet6").ok()?;
    let line = known.lines().find(|line| line.starts_with("fe80"))?;
    let groups: Vec<&str> = (0..8).map(|n| &line[4 * n..4 * n + 4]).collect();
    let mut words = line.split_whitespace().skip(1);
    let number = u32::from_str_radix(words.next()?, 16).ok()?;
    let link = words.last()?.to_owned();
    let address = groups.join(":");
    // One that is tentative cannot be used yet.
    UdpSocket::bind(format!("[{address}%{number}]:0")).ok()?;
    Some((address, number, link))
}

#[test]
fn names_below_localhost_are_this_machine() {
    let server = Server::answering(HELLO);
    let port = server.address.port();
    for host in ["app.localhost", "a.b.LOCALHOST", "app.localhost."] {
        let more = json!({"url": format!("http://{host}:{port}"), "address_family": "ipv4"});
        let measurement = run(&plan(&server, 1, 3, more));
        assert_eq!(outcomes(&measurement), Vec::<String>::new(), "{host}");
        assert_eq!(measurement.completed, 3);
    }
}

#[test]
fn an_address_of_one_link_is_reached_by_the_name_of_its_link() {
    let Some((address, number, link)) = of_one_link() else {
        return;
    };
    let server = Server::start_at(&format!("[{address}%{number}]:0"), |peer| {
        while let Some(request) = peer.request() {
            let host = request.lines().find(|line| line.starts_with("Host: "));
            let is_bare = host.is_some_and(|host| !host.contains('%'));
            peer.send(if is_bare {
                HELLO
            } else {
                b"HTTP/1.1 400 No\r\n\r\n"
            });
        }
    });
    let port = server.address.port();
    let written = [
        json!({"url": format!("http://[{address}%25{link}]:{port}")}),
        json!({"url": format!("http://[{address}%{link}]:{port}")}),
        json!({"url": format!("http://[{address}%{number}]:{port}")}),
        json!({"url": "http://app.test", "addresses": [format!("[{address}%{link}]:{port}")]}),
        json!({"url": format!("http://app.test:{port}"), "addresses": [format!("{address}%{link}")]}),
    ];
    for more in written {
        let measurement = run(&plan(&server, 1, 3, more.clone()));
        assert_eq!(
            measurement.statuses["200"],
            3,
            "{more}: {:?}",
            outcomes(&measurement)
        );
    }
}

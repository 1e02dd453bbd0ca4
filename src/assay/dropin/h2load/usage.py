"""h2load's help: its flags in its order; descriptions are ours."""

from __future__ import annotations

_FLAGS = (
    ("-n, --requests=<N>", "Requests, of all clients together. Default: 1"),
    ("-c, --clients=<N>", "Clients, each with a connection. Default: 1"),
    ("-t, --threads=<N>", "Threads that share them. Default: 1"),
    ("-i, --input-file=<PATH>", "URIs, a line each, in the place of the words'; '-' is standard input"),
    ("-m, --max-concurrent-streams=<N>", "Requests under way on a connection. Default: 1"),
    ("-f, --max-frame-size=<SIZE>", "Longest frame to be sent (HTTP/2). Default: 16K"),
    ("-w, --window-bits=<N>", "Window of a stream, 2**N-1 bytes (HTTP/2). Default: 30"),
    ("-W, --connection-window-bits=<N>", "Window of a connection, 2**N-1 bytes (HTTP/2). Default: 30"),
    ("-H, --header=<HEADER>", "Send this header field, too"),
    ("--ciphers=<SUITE>", "Refused: cipher suites cannot be chosen here"),
    ("--tls13-ciphers=<SUITE>", "Refused: cipher suites cannot be chosen here"),
    ("-p, --no-tls-proto=<PROTOID>", "Protocol without TLS: h2c or http/1.1. Default: h2c"),
    ("-d, --data=<PATH>", "Post this file"),
    ("-r, --rate=<N>", "Refused: connections at a rate, each with its share of the requests"),
    ("--rate-period=<DURATION>", "Time in which so many connections would be opened. Default: 1s"),
    ("-D, --duration=<DURATION>", "How long to measure, in the place of -n"),
    ("--warm-up-time=<DURATION>", "How long to warm up before that"),
    ("-T, --connection-active-timeout=<DURATION>", "Refused: -N bounds the wait for an answer"),
    ("-N, --connection-inactivity-timeout=<DURATION>", "Longest wait for an answer"),
    ("--timing-script-file=<PATH>", "Refused: an instant for each request"),
    ("-B, --base-uri=(<URI>|unix:<PATH>)", "Where requests go, whatever their URIs say"),
    (
        "--npn-list=<LIST>, --alpn-list=<LIST>",
        "Protocols over TLS (ALPN), the best first; h3 first is HTTP/3. Default: h2,h2-16,h2-14,http/1.1",
    ),
    ("--h1", "HTTP/1.1, with and without TLS"),
    ("--header-table-size=<SIZE>", "Table for the server's header fields (HTTP/2). Default: 4K"),
    ("--encoder-header-table-size=<SIZE>", "Table for our header fields (HTTP/2). Default: 4K"),
    ("--log-file=<PATH>", "Append a line a request: start, status, time"),
    ("--qlog-file-base=<PATH>", "Nothing, without HTTP/3; refused with it"),
    ("--connect-to=<HOST>[:<PORT>]", "Connect to this in the place of the URI's host"),
    ("--rps=<N>", "Requests a second of each client"),
    ("--groups=<GROUPS>", "Refused: groups of key exchange cannot be chosen here"),
    ("--no-udp-gso", "Nothing, without HTTP/3; refused with it"),
    ("--max-udp-payload-size=<SIZE>", "Nothing, without HTTP/3; refused with it"),
    ("--ktls", "Refused: TLS is spoken by the program here"),
    ("-v, --verbose", "Refused: answers are not printed here"),
    ("--version", "Print the version"),
    ("-h, --help", "Print this"),
)
USAGE = "\n".join(
    (
        "Usage: h2load [OPTIONS]... [URI]...",
        "Options:",
        *(f"  {flag}\n              {text}" for flag, text in _FLAGS),
        "  <SIZE> is a number and K, M or G of 1024; <DURATION> a number and h, m, s (the default) or ms.",
    )
)

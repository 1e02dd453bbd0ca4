"""The TLS flags of `assay load` against real servers: authorities, certificates, protocols, sessions."""

from __future__ import annotations

import re
import ssl
import subprocess
from pathlib import Path

import pytest
from loading import Load
from wire import Wire, recording

pytestmark = pytest.mark.beside


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and certificates of it for a server "app.test" and for a client."""
    folder = tmp_path_factory.mktemp("pki")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new = (
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    )
    openssl(*new, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    for name in ("app.test", "client"):
        names = ("-addext", f"subjectAltName=DNS:{name}", "-addext", "basicConstraints=CA:FALSE")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-subj", f"/CN={name}")
        openssl(*new, *signed, *names, "-keyout", f"{name}.key", "-out", f"{name}.pem")
    return folder


def server(pki: Path, *, client: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki / "app.test.pem", pki / "app.test.key")
    if client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(pki / "ca.pem")
    return context


def at_app_test(wire: Wire) -> tuple[str, ...]:
    return (f"https://app.test:{wire.port}/", "--resolve", f"app.test:{wire.port}:127.0.0.1")


def test_an_authority_of_ones_own(load: Load, pki: Path) -> None:
    with recording(tls=server(pki)) as wire:
        told = load.clean(*at_app_test(wire), "--cacert", str(pki / "ca.pem"), count=6, connections=2)
        assert load.outcomes(*at_app_test(wire), count=1) == {"peer/tls_error": 1}
        load.clean(*at_app_test(wire), "--insecure")
    assert told["measurement"]["handshake_time"]["count"] == 2
    assert told["handshake_time_ns"]["max"] > 0
    assert told["connect_time_ns"]["max"] > 0


def test_a_client_certificate(load: Load, pki: Path) -> None:
    with recording(tls=server(pki, client=True)) as wire:
        trust = (*at_app_test(wire), "--cacert", str(pki / "ca.pem"))
        own = ("--cert", str(pki / "client.pem"), "--key", str(pki / "client.key"))
        load.clean(*trust, *own)
        assert load(*trust, count=1)["completed"] == 0


def test_names_protocols_and_versions(load: Load, pki: Path) -> None:
    context, asked = server(pki), []

    def note(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        asked.append(name)

    context.sni_callback = note
    context.set_alpn_protocols(["http/1.1"])
    trust = ("--cacert", str(pki / "ca.pem"))
    with recording(tls=context) as wire:
        url = wire.url(scheme="https")
        named = load.clean(url, *trust, "--sni", "app.test", "--tls-max", "1.2", count=1)
        plain = load.clean(url, *trust, "--sni", "app.test", "--tls-min", "1.3", "--alpn", "none", count=1)
    assert asked == ["app.test", "app.test"]
    (first,), (second,) = named["measurement"]["handshakes"], plain["measurement"]["handshakes"]
    assert re.fullmatch(r"TLS 1\.2, .*, http/1\.1", first)
    assert re.fullmatch(r"TLS 1\.3, .*, no ALPN", second)


def test_sessions_are_resumed_unless_told_not_to(load: Load, pki: Path) -> None:
    with recording(tls=server(pki)) as wire:
        where = (*at_app_test(wire), "--cacert", str(pki / "ca.pem"), "--no-keep-alive")
        again = load.clean(*where)["measurement"]["handshakes"]
        never = load.clean(*where, "--no-resumption")["measurement"]["handshakes"]
    assert any(name.endswith("resumed") for name in again)
    assert not any(name.endswith("resumed") for name in never)

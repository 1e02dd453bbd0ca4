"""Certificates of any kind: `--insecure` takes what `curl -k` does, and one's own are held to no rules."""

from __future__ import annotations

import json
import ssl
import subprocess
from pathlib import Path

import pytest
from wire import recording

from assay.cli.main import main

pytestmark = pytest.mark.beside

KINDS = {
    "v1": ("ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "rsa-1024": ("rsa:1024",),
    "rsa-2048": ("rsa:2048",),
    "p-521": ("ec", "-pkeyopt", "ec_paramgen_curve:P-521"),
    "p-256": ("ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "v1-rsa-1024": ("rsa:1024",),
}
"""A name and how openssl makes the key; "v1" has the certificate be one of X.509 v1."""


def made(folder: Path, kind: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    key, asked, certificate = folder / "key.pem", folder / "asked.pem", folder / "cert.pem"
    words = ("-nodes", "-keyout", str(key), "-subj", "/CN=localhost")
    _openssl("req", "-new", "-newkey", *KINDS[kind], *words, "-out", str(asked))
    extensions: tuple[str, ...] = ()
    if not kind.startswith("v1"):
        (folder / "v3.cnf").write_text("subjectAltName = DNS:localhost\n")
        extensions = ("-extfile", str(folder / "v3.cnf"))
    signed = ("-in", str(asked), "-signkey", str(key), "-days", "2", "-out", str(certificate))
    _openssl("x509", "-req", *signed, *extensions)
    return certificate, key


def _openssl(*words: str) -> None:
    subprocess.run(("openssl", *words), check=True, capture_output=True, timeout=60)


def serving(certificate: Path, key: Path, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = context.maximum_version = version
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.load_cert_chain(certificate, key)
    return context


def load(url: str, capfd: pytest.CaptureFixture[str], *flags: str) -> dict[str, object]:
    main(["load", url, "-n", "5", "-c", "1", "-q", "--json", *flags])
    said = capfd.readouterr()
    assert said.out, said.err
    result: dict[str, object] = json.loads(said.out)["measurement"]
    return result


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("kind", KINDS)
def test_insecure_takes_any(
    kind: str, version: ssl.TLSVersion, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with recording(tls=serving(*made(tmp_path, kind), version)) as wire:
        found = load(wire.url(scheme="https"), capfd, "--insecure")
    if (kind, version) == ("p-521", ssl.TLSVersion.TLSv1_2):
        # There the curves that keys are agreed on are those of certificates, too, and ours has no P-521.
        assert found["failed"] == 5
    else:
        assert (found["completed"], found["outcomes"]) == (5, [])


def test_one_that_signs_itself_is_trusted_by_its_file_though_it_is_v1(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    certificate, key = made(tmp_path, "v1")
    with recording(tls=serving(certificate, key, ssl.TLSVersion.TLSv1_3)) as wire:
        url = wire.url(scheme="https").replace("127.0.0.1", "localhost")
        found = load(url, capfd, "-4", "--cacert", str(certificate))
    assert (found["completed"], found["outcomes"]) == (5, [])


@pytest.mark.parametrize("kind", ["v1", "p-256", "rsa-2048"])
def test_ones_own_is_shown_to_the_server_as_it_is(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "server").mkdir()
    context = serving(*made(tmp_path / "server", "p-256"), ssl.TLSVersion.TLSv1_3)
    certificate, key = made(tmp_path, kind)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(certificate)
    with recording(tls=context) as wire:
        own = ("--cert", str(certificate), "--key", str(key))
        found = load(wire.url(scheme="https"), capfd, "--insecure", *own)
    assert (found["completed"], found["outcomes"]) == (5, [])


def test_a_key_that_cannot_sign_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    certificate, key = made(tmp_path, "rsa-1024")
    assert main(["load", "https://127.0.0.1:1/", "-k", "--cert", str(certificate), "--key", str(key)]) == 2
    assert "--key: holds no key that can sign here: RSA of 2048 bits or more" in capfd.readouterr().err


def test_a_key_of_another_certificate_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").mkdir()
    certificate, _ = made(tmp_path, "v1")
    _, key = made(tmp_path / "other", "v1")
    words = ["load", "https://127.0.0.1:1/", "-k", "--cert", str(certificate), "--key", str(key)]
    assert main(words) == 2
    assert "--cert: is not the certificate of the key in" in capfd.readouterr().err

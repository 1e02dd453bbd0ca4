"""What OpenSSL calls the suites of TLS: the words of ab's and h2load's reports."""

from __future__ import annotations

import re


def cipher(suite: str) -> str:
    """The registry's name of a suite in OpenSSL's spelling."""
    if suite.startswith("TLS13_"):
        return suite.replace("TLS13_", "TLS_")
    text = suite.removeprefix("TLS_").replace("_WITH_", "-")
    text = re.sub(r"AES_(\d+)_", r"AES\1-", text).replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305")
    return text.replace("_", "-")

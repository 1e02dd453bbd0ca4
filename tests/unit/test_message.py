"""What a failing program says of itself, found among all that it prints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ServerFailed, last_words, message

PYTHON = """starting
Traceback (most recent call last):
  File "app.py", line 1, in <module>
    raise ValueError("error")
ModuleNotFoundError: No module named 'flask'
"""
NODE = """node:internal/modules/cjs/loader:1080
  throw err;
  ^

Error: Cannot find module './app.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)
  code: 'MODULE_NOT_FOUND',
}

Node.js v18.19.0
"""
JAVA = """Exception in thread "main" java.lang.RuntimeException: start failed
\tat Main.main(Main.java:4)
Caused by: java.net.BindException: Address already in use
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
\t... 7 more
"""
GO = "panic: cannot open config.toml\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2\n"
MAVEN = """[INFO] Scanning for projects...
[ERROR] COMPILATION ERROR :
[ERROR] /src/Main.java:[3,1] cannot find symbol
[INFO] 1 error
[ERROR] -> [Help 1]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
[ERROR] Re-run Maven using the -X switch to enable full debug logging.
"""
MAKE = "main.c:3:5: error: 'x' undeclared\nmake: *** [Makefile:2: all] Error 1\n"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (PYTHON, "ModuleNotFoundError: No module named 'flask'"),
        (NODE, "Error: Cannot find module './app.js'"),
        (JAVA, "Caused by: java.net.BindException: Address already in use"),
        (GO, "panic: cannot open config.toml"),
        (MAKE, "main.c:3:5: error: 'x' undeclared"),
        (MAVEN, "[ERROR] /src/Main.java:[3,1] cannot find symbol"),
    ],
)
def test_the_reason_is_found_among_what_follows_it(output: str, said: str) -> None:
    assert message(output) == said


def test_a_program_that_names_no_error_has_its_last_line() -> None:
    assert last_words("one\ntwo\n\n") == "two"
    assert message("one\ntwo\n") == "" == last_words("")


def test_a_failed_server_says_why_but_a_wrong_answer_is_not_blamed_on_its_last_line() -> None:
    assert ServerFailed("start", "it ended", PYTHON).reason.endswith("No module named 'flask'")
    assert ServerFailed("contract", "wrong answer", "listening on 80").reason == "wrong answer"


@given(st.text())
def test_any_output_has_one_line_of_it_or_none(output: str) -> None:
    assert len(message(output).splitlines()) <= 1

"""What all tests share."""

from __future__ import annotations

import signal

# A suite started in the background of a shell inherits an ignored Ctrl-C, and so would every program
# that the tests interrupt: they would wait for its end in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

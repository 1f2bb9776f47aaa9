"""The whole command line: ``python -m pgn`` and ``pgn`` are the program."""

from __future__ import annotations

import signal
import sys

from pgn import _native


def main() -> int:
    """Runs the program with the arguments of this process; its exit code."""
    # As in any program: Python's own handler would wait for the end of native code.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["pgn", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

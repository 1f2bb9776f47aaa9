"""The whole command line: ``python -m pgn`` and ``pgn`` are the program.

``--structure module:Class`` gives any command a data structure of your own, or the program of a
machine: ``pgn train --structure my_module:MyClass --out runs/mine``. The module is imported from
the current directory or from wherever Python finds modules.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from pgn import _files, _native
from pgn.machines._code import Code, Inferred
from pgn.machines._declared import Declared, registered


def main() -> int:
    """Runs the program with the arguments of this process; its exit code."""
    # As in any program: Python's own handler would wait for the end of native code.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    programs: list[_native.Registered | None] = []

    def find(name: str) -> tuple[str, bool, str, str]:
        found = _named(name)
        says = (_files.class_name(found), _files.note(found))
        if isinstance(found, Code):
            programs.append(registered(found))
            return found.name, True, *says
        if callable(getattr(found, "step", None)):
            declared = Declared(found)
            programs.append(_native.Registered(declared))
            return declared.name, True, *says
        return _native.register_task(found), False, *says

    if sys.argv[1:2] == ["learn"]:
        code = _learn(sys.argv[2:], find)
    else:
        code = _native.main(["pgn", *sys.argv[1:]], find)
    for program in programs:
        if program is not None:
            program.check()
    return code


def _learn(arguments: list[str], find: Callable[[str], Any]) -> int:
    """``pgn learn module:function``: ordinary code is inferred, trained and proved."""
    parser = argparse.ArgumentParser(
        prog="pgn learn",
        description="Infer a program from ordinary Python code, train a machine on it and prove it. "
        "Other options are those of `pgn train`.",
    )
    parser.add_argument("code", metavar="MODULE:NAME", help="what pgn.machines.code was put on")
    parser.add_argument("--out", metavar="DIR", required=True, help="the run directory")
    given, more = parser.parse_known_args(arguments)
    try:
        found = _named(given.code)
        if not isinstance(found, Code):
            raise ValueError(
                f"{given.code} is {found!r}; expected code with the decorator pgn.machines.code"
            )
        found.progress = lambda text: print(text, file=sys.stderr, flush=True)
        inferred = Inferred(found, registered(found))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{inferred}\n\n{inferred.picture}", flush=True)
    own = ["--structure", given.code]
    trained = _native.main(["pgn", "train", *own, "--out", given.out, *more], find)
    certify = [sys.executable, "-m", "pgn", "certify", given.out, *own]
    return trained or subprocess.run(certify).returncode


def _named(name: str) -> Any:
    """The class that ``module:Class`` names."""
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        raise ValueError(f"--structure is {name}; expected module:Class")
    # As with `python -m pgn`; the script's own directory has nothing to import.
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        where = os.getcwd()
        raise ValueError(
            f"--structure {name}: there is no module {module}, in {where} or installed"
        ) from None
    for attribute in path.split("."):
        if not hasattr(found, attribute):
            raise ValueError(f"--structure {name}: the module {module} has no {path}")
        found = getattr(found, attribute)
    return found


if __name__ == "__main__":
    sys.exit(main())

"""Plant faults, and print which tests notice them.

A fault is named by its name, or by its package for all of its faults.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from difftile.arguments import Parser
from tests.faults.entries import Fault, FaultError, changed, chosen, load, sizes


def main(argv: Sequence[str] | None = None) -> int:
    parser = Parser("python -m tests.faults", __doc__)
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="a fault or a package; all of them"
    )
    parser.add_argument("--list", action="store_true", help="print the faults and their number")
    parser.add_argument("--check", action="store_true", help="only check that the faults apply")
    options = parser.parse_args(argv)
    try:
        faults = chosen(load(), options.names)
        texts = {fault.name: changed(fault) for fault in faults}
    except FaultError as error:
        parser.error(str(error))
    if options.list:
        _list(faults)
    elif options.check:
        print(f"{len(texts)} faults apply")
    return 0


def _list(faults: list[Fault]) -> None:
    for fault in faults:
        print(f"{fault.package:15} {fault.name}")
        print(f"{'':15} {fault.sentence}")
    counted = Counter(fault.package for fault in faults if fault.counts)
    lines = sizes()
    print(f"\n{'package':15} faults  lines")
    for package, count in lines.items():
        print(f"{package:15} {counted[package]:6} {count:6}")
    equivalent = len(faults) - counted.total()
    print(f"{'all':15} {counted.total():6} {sum(lines.values()):6}   and {equivalent} equivalent")


if __name__ == "__main__":
    sys.exit(main())

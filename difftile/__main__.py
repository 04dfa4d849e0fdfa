"""``python -m difftile``."""

from difftile.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

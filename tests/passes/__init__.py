"""What each pass makes of small programs, as texts; see `CONTRIBUTING.md` for how to add one."""

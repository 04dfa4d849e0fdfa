"""The lock of everything that backends and the memory of kernels allow one thread at a time.

Taichi compiles one kernel at a time, with options that are put back afterwards, and a restart ends
its compiled code. A launch holds Python's own lock from its beginning to its end, so launches never
overlap and take no other.

The thread that forks holds the lock, so that a child never inherits a half-finished change.
"""

import os
import threading

LOCK = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )

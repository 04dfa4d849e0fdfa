"""Memory of devices, which fields have on a GPU, tested without one."""

from tests.process.running import check


def test_programs_run_on_memory_that_the_host_does_not_see() -> None:
    check("device_memory")

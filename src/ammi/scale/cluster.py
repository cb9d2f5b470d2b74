"""Connect to a Ray cluster, or start one on this machine, for as long as a command runs."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_SECONDS = 5.0  # to wait for an answer; Ray itself would try for minutes
QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns of a future change
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # else nodes report retried workers on standard output
}


@contextmanager
def on_ray(address: str | None = None, workers: int | None = None) -> Iterator[int]:
    """Connect to a cluster; yield the number of workers to use, by default one for each of its cores.

    Args:
        address: HOST:PORT of a running cluster, or "auto" for the one of this machine. By default the address in
            RAY_ADDRESS, or else a cluster that is started on this machine and ends with the block.
        workers: number of workers.
    """
    ray = import_ray()
    address = address or os.environ.get("RAY_ADDRESS") or None
    if address and address not in ("auto", "local"):
        check_address(address)
    if ray.is_initialized():
        yield workers or cores()
        return
    where: dict[str, object] = {"address": address}
    if address in (None, "local"):
        where = {"address": "local", "num_cpus": max(workers or 0, os.cpu_count() or 1), "include_dashboard": False}
    if allowed := os.environ.get("AMMI_EMBEDDERS"):  # other nodes have an environment of their own
        where["runtime_env"] = {"env_vars": {"AMMI_EMBEDDERS": allowed}}
    try:
        ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # Ray raises errors of many kinds here
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ConnectionError(
            f"cannot use Ray at {address or 'this machine'} ({reason}): check the address, that Ray and Python have "
            "the same versions there, and that the machine is not overloaded"
        ) from error
    try:
        yield workers or cores()
    finally:
        ray.shutdown()


def import_ray() -> ModuleType:
    """Import Ray, with its messages turned off."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise ImportError("Ray is not installed: run pip install 'ammi[ray]'") from error
    return ray


def cores() -> int:
    """Return the number of cores of the cluster."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def check_address(address: str) -> None:
    """Refuse an address where no cluster answers, without waiting for Ray's own time limit."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in address:
        raise ValueError(f"the address {address} is not HOST:PORT of Ray's head node, such as 10.0.0.1:6379")
    try:
        with socket.create_connection((host, int(port)), timeout=_SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0" and not _speaks_http2(connection):
                raise ConnectionError("the server there is not a Ray cluster")
    except (OSError, OverflowError) as error:
        raise ConnectionError(
            f"no Ray cluster answers at {address} ({getattr(error, 'strerror', None) or error}): start one with ray "
            "start --head, or leave out the address to use this machine"
        ) from error


def _speaks_http2(connection: socket.socket) -> bool:
    """Tell whether a server answers HTTP/2 settings with its own (a frame of type 4), as Ray's gRPC server does."""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
    try:
        return connection.recv(9)[3:4] == b"\4"
    except TimeoutError:
        return False

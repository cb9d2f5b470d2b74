"""A Ray cluster for as long as a command runs: one that is there, or one of this machine's cores."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SECONDS = 5.0  # to answer; Ray itself would try for minutes
QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns of what it will do some day
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # what nodes say of workers that are tried again goes to standard output
}


@contextmanager
def on_ray(address: str | None = None, workers: int | None = None) -> Iterator[int]:
    """A cluster to work on, and how many workers to have on it: one for each of its cores, unless they are given.

    Args:
        address: HOST:PORT of a cluster that runs, or "auto" for the one of this machine; by default what RAY_ADDRESS
            names, or else one that is started on this machine and ends with the block.
    """
    ray = import_ray()
    address = address or os.environ.get("RAY_ADDRESS") or None
    if address and address not in ("auto", "local"):
        check_address(address)
    if ray.is_initialized():
        yield workers or cores()
        return
    if address and address != "local":
        where: dict[str, Any] = {"address": address}
    else:
        where = {"address": "local", "num_cpus": max(workers or 0, os.cpu_count() or 1), "include_dashboard": False}
    try:
        ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # of its own kinds, and plain ones
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ConnectionError(
            f"Ray could not be used at {address or 'this machine'} ({reason}): check the address, that Ray and Python "
            "have the same versions there, and that the machine is not overloaded"
        ) from error
    try:
        yield workers or cores()
    finally:
        ray.shutdown()


def import_ray() -> Any:
    """Ray, made quiet."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise ImportError("Ray is not installed: run pip install 'ammi[ray]'") from error
    return ray


def cores() -> int:
    """How many cores the cluster has."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _speaks_http2(connection: socket.socket) -> bool:
    """Whether a server greets as gRPC's do, Ray's among them: with settings (a frame of type 4) for settings."""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
    try:
        return connection.recv(9)[3:4] == b"\4"
    except TimeoutError:
        return False


def check_address(address: str) -> None:
    """Refuse an address where nothing answers, at once."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in address:
        raise ValueError(
            f"the address {address} is not HOST:PORT, such as 10.0.0.1:6379, where Ray's head node answers"
        )
    try:
        with socket.create_connection((host, int(port)), timeout=_SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0" and not _speaks_http2(connection):
                raise ConnectionError("what answers is no Ray cluster")
    except (OSError, OverflowError) as error:
        raise ConnectionError(
            f"no Ray cluster answers at {address} ({getattr(error, 'strerror', None) or error}): start one with ray "
            "start --head, or leave out the address to use this machine"
        ) from error

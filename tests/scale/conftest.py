"""A Ray cluster of two nodes on this machine, started once; a test may lose the second one and gets a new one."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ammi.scale.cluster import import_ray

_NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_log_monitor": False}
# Seconds until a node is known to be lost: few, but not so few that a busy machine loses one by itself.
_HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 3}


class Nodes:
    """The cluster, with a node that can be lost."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {**_NODE, "include_dashboard": False, "no_monitor": True, "_system_config": _HEALTH}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self._second: Any = None

    @property
    def address(self) -> str:
        return self._cluster.address

    def make_two(self) -> None:
        if self._second is None:
            self._second = self._cluster.add_node(**_NODE)
            self._cluster.wait_for_nodes()

    def lose_one(self) -> None:
        """Kill all processes of the second node."""
        self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = None

    def lose_one_when(self, it_is_time: Callable[[], bool]) -> threading.Thread:
        """Kill the second node in the middle of what the caller does next."""

        def wait() -> None:
            while not it_is_time():
                time.sleep(0.02)
            self.lose_one()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="session")
def _nodes() -> Iterator[Nodes]:
    ray = import_ray()
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  # else all that runs beside the tests comes first
    nodes = Nodes()
    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    yield nodes
    ray.shutdown()
    nodes.close()


@pytest.fixture
def two_nodes(_nodes: Nodes) -> Nodes:
    _nodes.make_two()
    return _nodes

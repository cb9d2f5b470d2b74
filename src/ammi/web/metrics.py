"""Counts and times of requests, in the format of Prometheus."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ammi.web.guard import App, Message, Receive, Scope, Send

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30)


class Metrics:
    """An ASGI application around another one that counts and times its answers."""

    def __init__(self, app: App):
        self._app = app
        self._registry = CollectorRegistry()
        labels = ["method", "address", "status"]
        self._requests = Counter("ammi_requests", "Requests that were answered.", labels, registry=self._registry)
        self._seconds = Histogram(
            "ammi_request_seconds",
            "Time until an answer was sent.",
            ["address"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._under_way = Gauge("ammi_requests_under_way", "Requests being answered.", registry=self._registry)
        self.documents = Gauge("ammi_documents", "Documents of the collection.", registry=self._registry)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._under_way.track_inprogress():
            try:
                await self._app(scope, receive, sending)
            finally:
                # The route's pattern, since the number of addresses that clients ask for has no bound.
                address = getattr(scope.get("route"), "path", "other")
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._requests.labels(method, address, str(status)).inc()
                self._seconds.labels(address).observe(time.perf_counter() - start)


_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"}

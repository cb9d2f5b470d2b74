"""A Hub of this machine: the endpoints of the Hugging Face Hub that ammi needs, by HTTP, with repositories in memory.

Large files go by LFS, as on the Hub: they are uploaded to an address of their own, and a commit names their digest.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

TOKEN, READ_TOKEN = "hf_writes", "hf_reads"
_LARGE = 20_000  # bytes


@dataclass
class Repository:
    """The files of each commit; `main` is the last."""

    private: bool = False
    gated: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes]) -> str:
        name = hashlib.sha1(f"{len(self.commits)}{sorted(files)}{id(self)}".encode()).hexdigest()
        self.commits[name] = files
        return name

    @property
    def main(self) -> str:
        return [*self.commits][-1]

    def at(self, revision: str) -> str | None:
        name = self.main if revision == "main" else self.tags.get(revision, revision)
        return name if name in self.commits else None


class Hub:
    """The repositories by "models/owner/name" or "datasets/owner/name", and every request."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.uploaded: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.endpoint = ""

    def files(self, name: str) -> dict[str, bytes]:
        repository = self.repositories[name]
        return repository.commits[repository.main]


@contextmanager
def hub_server() -> Iterator[Hub]:
    hub = Hub()

    class Handler(_Handler):
        pass

    Handler.hub = hub
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        pass

    def _answer(self, status: int, content: Any = b"", **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, {"error": code}, X_Error_Code=code, X_Error_Message=code)

    @property
    def _token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _path(self) -> list[str]:
        path = urlsplit(self.path).path
        self.hub.requests.append(f"{self.command} {path}")
        return [unquote(part) for part in path.strip("/").split("/")]

    def do_POST(self) -> None:
        body, path = self._body(), self._path()
        if path == ["api", "validate-yaml"]:
            self._answer(200, {"errors": [], "warnings": []})
        elif self._token != TOKEN:
            self._refuse(403 if self._token else 401, "Forbidden")
        elif path == ["api", "repos", "create"]:
            self._create(json.loads(body))
        elif path[-1] == "batch":
            objects = json.loads(body)["objects"]
            self._answer(200, {"transfer": "basic", "objects": [self._wanted(one) for one in objects]})
        elif path[-1] == "verify":
            self._answer(200 if json.loads(body)["oid"] in self.hub.uploaded else 404)
        else:
            name, what = "/".join(path[1:4]), path[4]
            if name not in self.hub.repositories:
                self._refuse(404, "RepoNotFound")
            elif what == "preupload":
                files = [
                    {
                        "path": file["path"],
                        "uploadMode": "lfs" if file["size"] > _LARGE else "regular",
                        "shouldIgnore": False,
                    }
                    for file in json.loads(body)["files"]
                ]
                self._answer(200, {"files": files})
            else:
                self._commit(name, [json.loads(line) for line in body.splitlines()])

    def _create(self, wanted: dict[str, Any]) -> None:
        kind = wanted.get("type", "model")
        owner = wanted.get("organization") or "me"
        name = f"{kind}s/{owner}/{wanted['name']}"
        prefix = "" if kind == "model" else f"{kind}s/"
        address = f"{self.hub.endpoint}/{prefix}{owner}/{wanted['name']}"
        if name in self.hub.repositories:
            self._answer(409, {"error": "You already created this model repo", "url": address})
            return
        private = wanted.get("visibility") == "private" or wanted.get("private", False)  # of clients before 2.0
        repository = self.hub.repositories[name] = Repository(private=private)
        repository.commit({".gitattributes": b"*.safetensors filter=lfs\n"})
        self._answer(200, {"url": address})

    def _wanted(self, one: dict[str, Any]) -> dict[str, Any]:
        at = f"{self.hub.endpoint}/lfs/{one['oid']}"
        actions = {"upload": {"href": at}, "verify": {"href": f"{at}/verify"}}
        return {"oid": one["oid"], "size": one["size"], "actions": actions}

    def _commit(self, name: str, lines: list[dict[str, Any]]) -> None:
        repository = self.hub.repositories[name]
        files = dict(self.hub.files(name))
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.uploaded[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        commit = repository.commit(files)
        self._answer(200, {"commitUrl": f"{self.hub.endpoint}/{name}/commit/{commit}", "commitOid": commit})

    def do_PUT(self) -> None:
        body, (_, oid) = self._body(), self._path()
        if hashlib.sha256(body).hexdigest() != oid:
            self._refuse(400, "BadDigest")
            return
        self.hub.uploaded[oid] = body
        self._answer(200)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self._path()
        if path[0] == "api":
            name, revision = "/".join(path[1:4]), path[5] if len(path) > 5 else "main"
            if repository := self._readable(name, revision):
                self._answer(200, self._about(repository, "/".join(path[2:4]), revision))
            return
        if path[0] != "datasets":
            path = ["models", *path]
        name, revision, file = "/".join(path[:3]), path[4], "/".join(path[5:])
        if not (repository := self._readable(name, revision)):
            return
        commit = repository.at(revision) or ""
        content = repository.commits[commit].get(file)
        if content is None:
            self._answer(404, b"", X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
            return
        self._answer(200, content, ETag=f'"{hashlib.sha256(content).hexdigest()}"', X_Repo_Commit=commit)

    def _readable(self, name: str, revision: str) -> Repository | None:
        """The repository, or None after a refusal."""
        repository = self.hub.repositories.get(name)
        if repository is None or (repository.private and self._token not in (TOKEN, READ_TOKEN)):
            self._refuse(404 if self._token else 401, "RepoNotFound")
        elif repository.gated:
            self._refuse(403, "GatedRepo")
        elif repository.at(revision) is None:
            self._refuse(404, "RevisionNotFound")
        else:
            return repository
        return None

    def _about(self, repository: Repository, name: str, revision: str) -> dict[str, Any]:
        commit = repository.at(revision) or ""
        siblings = [{"rfilename": file} for file in repository.commits[commit]]
        return {"id": name, "sha": commit, "private": repository.private, "siblings": siblings, "tags": []}


@pytest.fixture(scope="module")
def running_hub() -> Iterator[Hub]:
    with hub_server() as hub:
        yield hub


@pytest.fixture
def hub(running_hub, tmp_path, monkeypatch) -> Hub:
    """The Hub without repositories, and a user who may write there."""
    running_hub.repositories.clear()
    running_hub.requests.clear()
    from huggingface_hub import constants

    settings = {
        "ENDPOINT": running_hub.endpoint,
        "HUGGINGFACE_CO_URL_TEMPLATE": running_hub.endpoint + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "HF_TOKEN_PATH": str(tmp_path / "no-token"),
        "HF_HUB_DISABLE_XET": True,
        "HF_HUB_DISABLE_PROGRESS_BARS": True,
    }
    for name, value in settings.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return running_hub

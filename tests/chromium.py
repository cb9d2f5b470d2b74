"""The browser of the page's tests: found where there is one, installed where that can be done.

`python -m tests.chromium`, as `make test` runs it, says which one it is, or what is missing.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MISSING = (
    "there is no Chromium for the tests of the page: install one (Debian: apt-get install chromium), or name one in "
    "the environment variable CHROMIUM"
)
# As root it has no sandbox, it shall not look for updates, and WebGL is computed where there is no graphics card; what
# surrounds it is drawn without one, which is several times faster then.
FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--disable-gpu-compositing",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]


def chromium() -> str | None:
    """The program, or None where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


def install() -> bool:
    """Install Debian's, where that is possible; whether it was."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    print("installing chromium for the tests of the page", file=sys.stderr)
    commands = (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
    )
    return all(subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0 for command in commands)


def main() -> None:
    if chromium() is None and not (install() and chromium()):
        print(f"{MISSING}. Its tests are skipped, or fail where CI is set.", file=sys.stderr)
    else:
        print(f"the page is tested in {chromium()}", file=sys.stderr)


if __name__ == "__main__":
    main()

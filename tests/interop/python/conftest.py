"""Which servers are tested, and what their processes did."""

import json
import os
from pathlib import Path

import pytest
from mcp.client import stdio

ROOT = Path(__file__).resolve().parents[3]
KNOWN = ("rust", "c", "python", "node")
CATALOGUE = json.loads((ROOT / "tests/everything/catalogue.json").read_text("utf-8"))


def pytest_addoption(parser):
    parser.addoption(
        "--servers",
        default=os.environ.get("TOCSIN_SERVERS", ",".join(KNOWN)),
        help="languages to test, separated by commas (or TOCSIN_SERVERS)",
    )


def launcher(language: str) -> str:
    """A launcher that is missing is an error: silently testing less would be worse."""
    # TOCSIN_LAUNCHERS lets the scripts be tried against servers that are built elsewhere.
    path = ROOT / os.environ.get("TOCSIN_LAUNCHERS", "build") / f"everything-{language}"
    if not path.exists():
        raise pytest.UsageError(f"{path} is missing; make everything builds it")
    return str(path)


def pytest_generate_tests(metafunc):
    if "language" in metafunc.fixturenames:
        languages = [name.strip() for name in metafunc.config.getoption("--servers").split(",") if name.strip()]
        unknown = set(languages) - set(KNOWN)
        if unknown or not languages:
            raise pytest.UsageError(f"--servers takes some of {', '.join(KNOWN)}, not {sorted(unknown) or 'nothing'}")
        metafunc.parametrize("language", languages, scope="session")


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Processes:
    """The server processes that a client started, and whether it had to kill one."""

    def __init__(self):
        self.started = []
        self.killed = []

    def check(self):
        assert self.started, "no server was started"
        assert self.killed == [], "a server left only when it was killed"
        assert [process.returncode for process in self.started] == [0] * len(self.started)


@pytest.fixture
def processes(monkeypatch):
    """Both clients start servers through this one module, which keeps the process to itself."""
    seen = Processes()
    start, kill = stdio._create_platform_compatible_process, stdio._terminate_process_tree

    async def recorded_start(*args, **kwargs):
        process = await start(*args, **kwargs)
        seen.started.append(process)
        return process

    async def recorded_kill(process):
        seen.killed.append(process)
        await kill(process)

    monkeypatch.setattr(stdio, "_create_platform_compatible_process", recorded_start)
    monkeypatch.setattr(stdio, "_terminate_process_tree", recorded_kill)
    return seen

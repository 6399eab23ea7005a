"""Every test runs once for each server and transport; `connect` opens connections and checks them at its end."""

import pytest

from driver import Stdio, launcher, run

SERVERS = ["rust", "c", "python", "node"]
# A transport: function(server, *options, …) -> Connection. HTTP goes here.
TRANSPORTS = {"stdio": Stdio}


def pytest_addoption(parser):
    parser.addoption("--servers", default=",".join(SERVERS), help="which servers, e.g. rust,c")
    parser.addoption("--transports", default=",".join(TRANSPORTS), help="which transports, e.g. stdio")


def _chosen(config, option, known):
    chosen = config.getoption(option).split(",")
    unknown = set(chosen) - set(known)
    if unknown:
        raise pytest.UsageError(f"{option}: there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return chosen


def pytest_configure(config):
    config.addinivalue_line("markers", "transports(name, …): the transports that can carry this test; default all")


def pytest_generate_tests(metafunc):
    if "server" in metafunc.fixturenames:
        metafunc.parametrize("server", _chosen(metafunc.config, "--servers", SERVERS), scope="session")
    if "transport" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("transports")
        chosen = _chosen(metafunc.config, "--transports", TRANSPORTS)
        carried = [name for name in chosen if marker is None or name in marker.args]
        metafunc.parametrize("transport", carried, scope="session")


def built(server):
    if not launcher(server).exists():
        pytest.fail(f"{launcher(server)} is missing; `make everything` builds it", pytrace=False)
    return server


@pytest.fixture
def connect(server, transport):
    """connect(*options, …) starts a server and returns a connection to it."""
    built(server)
    opened = []

    def start(*options, **how):
        opened.append(TRANSPORTS[transport](server, *options, **how))
        return opened[-1]

    yield start
    problems = []
    for connection in opened:
        try:
            connection.finish()
        except Exception as problem:  # the other servers must not be left running
            problems.append(problem)
    if problems:
        raise problems[0]


@pytest.fixture
def wire(connect):
    """One connection without options, for the many tests that need no more."""
    return connect()


@pytest.fixture
def launch(server):
    """launch(*options) runs a launcher to its end: (status, stdout, stderr)."""
    built(server)
    return lambda *options, **how: run(server, *options, **how)

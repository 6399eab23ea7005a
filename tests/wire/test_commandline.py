"""The command line of everything.md, as far as stdio goes."""

import pytest

BAD = [
    (["--nonsense"], "--nonsense"),
    (["-x"], "-x"),
    (["serve"], "serve"),
    (["--stdio", "--http", "127.0.0.1:0"], "--http"),
    (["--http", "127.0.0.1:0", "--stdio"], "--http"),
    (["--page-size", "0"], "--page-size"),
    (["--page-size", "-1"], "--page-size"),
    (["--page-size", "x"], "--page-size"),
    (["--page-size", "1.5"], "--page-size"),
    (["--page-size"], "--page-size"),
    (["--max-subscriptions", "-1"], "--max-subscriptions"),
    (["--max-subscriptions", "many"], "--max-subscriptions"),
    (["--keepalive-ms", "soon"], "--keepalive-ms"),
    (["--max-message-bytes", "4MiB"], "--max-message-bytes"),
    (["--max-message-bytes", ""], "--max-message-bytes"),
    (["--no-listen-capability", "tasks"], "tasks"),
    (["--no-listen-capability"], "--no-listen-capability"),
    (["--protocol-versions"], "--protocol-versions"),
    (["--protocol-versions", "2025-11-25,"], ""),
    (["--modern-only", "--protocol-versions", "2026-07-28,2025-11-25"], "2025-11-25"),
]


@pytest.mark.parametrize(("options", "name"), BAD, ids=[" ".join(options) for options, _ in BAD])
def test_C01_bad_options(launch, options, name):
    status, stdout, stderr = launch(*options)
    assert status == 2, stderr
    assert stdout == b""
    assert stderr.endswith("\n") and len(stderr.splitlines()) == 1, stderr
    assert name in stderr


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--stdio"],
        ["--stdio", "--keepalive-ms", "0", "--max-subscriptions", "0", "--page-size", "1"],
        ["--allow-origin", "http://a", "--allow-origin", "http://b", "--allow-host", "a"],
        ["--no-listen-capability", "tools", "--no-listen-capability", "prompts", "--no-listen-capability", "resources"],
        ["--protocol-versions", "2024-11-05"],
        ["--modern-only", "--protocol-versions", "2026-07-28"],
    ],
    ids=" ".join,
)
def test_C02_end_of_input_before_anything(launch, options):
    assert launch(*options)[:2] == (0, b"")


@pytest.mark.transports("stdio")
def test_C03_one_line_of_input(launch, transport):
    status, stdout, _ = launch(input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert (status, stdout) == (0, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')

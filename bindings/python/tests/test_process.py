"""Whole processes: how they start, serve, print and end."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import pytest
import tocsin

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def request(id, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": META, **params}}) + "\n"


SERVER = """
    import asyncio, os, subprocess, sys, threading, time
    from tocsin import Context, Server
    server = Server("test", shutdown_grace_ms=200)

    @server.tool
    async def wait() -> str:
        await asyncio.sleep(60)
        return "waited"

    @server.tool
    def block() -> str:
        time.sleep(0.05)
        return "blocked"

    @server.tool
    def noisy() -> str:
        print("★ printed", flush=True)
        os.write(1, b"raw\\n")
        subprocess.run(["sh", "-c", "echo child; cat"], check=True)
        return "★🎉ж✓"
"""


def start(body="    server.serve()", **options):
    code = textwrap.dedent(SERVER + "\n" + body)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], **pipes, **options)


def test_prints_and_children_cannot_reach_the_stream():
    env = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "cp1252:replace"}
    process = start(env=env)
    out, err = process.communicate(request(1, "tools/call", name="noisy").encode(), timeout=30)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in lines] == [1] and lines[0]["result"]["content"][0]["text"] == "★🎉ж✓"
    assert b"raw" in err and b"child" in err and b"printed" in err
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_listens_and_the_process(number):
    process = start()
    process.stdin.write(request("L", "subscriptions/listen", notifications={"toolsListChanged": True}).encode())
    process.stdin.write(request(1, "tools/call", name="wait").encode())
    process.stdin.flush()
    assert b"acknowledged" in process.stdout.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    last = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in last] == ["L"] and last[0]["result"]["resultType"] == "complete"
    assert process.returncode == 0 and b"Traceback" not in err, err


def test_a_second_signal_ends_at_once():
    process = start()
    process.stdin.write(request(1, "tools/call", name="block").encode())
    process.stdin.flush()
    process.stdout.readline()
    for _ in range(2):
        process.send_signal(signal.SIGINT)
    assert process.wait(30) in (0, -signal.SIGINT)


@pytest.mark.timeout(300)
def test_two_hundred_of_two_hundred_exit_cleanly():
    text = request("L", "subscriptions/listen", notifications={"toolsListChanged": True})
    text += "".join(request(n, "tools/call", name="wait" if n % 2 else "block") for n in range(6))

    def one(number):
        process = start()
        process.stdin.write(text.encode())
        process.stdin.flush()
        process.stdout.readline()
        if number % 3 == 0:
            process.send_signal(signal.SIGTERM)
        if number % 3 == 1:
            process.stdout.close()
        process.stdin.close()
        err = process.stderr.read()
        process.stderr.close()
        if not process.stdout.closed:
            process.stdout.close()
        return process.wait(60), err

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(one, range(200)))
    bad = [(status, err[-500:]) for status, err in ends if status != 0 or b"Traceback" in err or b"Fatal" in err]
    assert not bad, bad[:3]


def test_a_server_that_serves_nothing_does_not_hold_the_process():
    process = start("    server.tools.names()")
    assert process.communicate(timeout=30)[1] == b"" and process.returncode == 0


def test_a_forked_child_is_refused_not_hung():
    body = """
    pid = os.fork()
    if pid == 0:
        try:
            Server("child")
        except RuntimeError as error:
            os._exit(7 if "fork" in str(error) else 1)
        os._exit(2)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    process = start(textwrap.indent(textwrap.dedent(body), "    "))
    process.communicate(timeout=30)
    assert process.returncode == 7


def test_serve_async_shares_the_loop_and_leaves_it_as_it_was():
    body = """
    async def main():
        task = asyncio.create_task(server.serve_async())
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.001)
            ticks += 1
        await task
        assert ticks > 0
        print("after", flush=True)

    asyncio.run(main())
    """
    process = start(textwrap.indent(textwrap.dedent(body), "    "))
    out, err = process.communicate(request(1, "tools/call", name="block").encode(), timeout=30)
    assert process.returncode == 0, err
    assert json.loads(out.splitlines()[0])["id"] == 1 and out.splitlines()[1] == b"after"


def test_serving_in_the_background():
    body = """
    thread = server.serve_in_background()
    try:
        server.serve_in_background()
    except OSError as error:
        os.write(2, f"second: {error}\\n".encode())
    thread.join()
    print("after")
    """
    process = start(textwrap.indent(textwrap.dedent(body), "    "))
    out, err = process.communicate(request(1, "tools/call", name="noisy").encode(), timeout=30)
    assert process.returncode == 0, err
    assert json.loads(out.splitlines()[0])["id"] == 1 and out.splitlines()[1:] == [b"after"]
    assert b"second: " in err and b"raw" in err


def test_the_end_of_the_process_ends_what_is_served_in_the_background():
    body = """
    server.serve_in_background()
    time.sleep(0.2)
    """
    process = start(textwrap.indent(textwrap.dedent(body), "    "))
    process.stdin.write((request(1, "tools/call", name="wait") + request(2, "tools/call", name="block")).encode())
    process.stdin.flush()
    assert process.wait(30) == 0
    assert b"Fatal" not in process.stderr.read()


def test_a_handler_that_never_returns_does_not_hold_the_process():
    body = """
    @server.tool
    def forever() -> str:
        threading.Event().wait()

    server.serve()
    """
    process = start(textwrap.indent(textwrap.dedent(body), "    "))
    out, err = process.communicate(request(1, "tools/call", name="forever").encode(), timeout=30)
    assert process.returncode == 0 and out == b"" and b"Fatal" not in err


def test_a_held_stdout_and_a_late_print_stay_off_the_stream():
    body = """
    held = sys.stdout

    @server.tool
    def shout() -> str:
        held.write("held\\n")
        print("printed")
        return "ok"

    server.serve()
    """
    process = start(textwrap.indent(textwrap.dedent(body), "    "))
    out, err = process.communicate(request(1, "tools/call", name="shout").encode(), timeout=30)
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]
    assert b"held" in err and b"printed" in err


def test_servers_and_their_handlers_are_collected():
    body = """
    import gc, weakref
    class Token: pass
    tokens = []
    for _ in range(20):
        own, token = Server("x"), Token()
        tokens.append(weakref.ref(token))
        async def handle(own=None): return "x"
        handle.server, handle.token = own, token
        own.tools.add(handle, "a", input_schema={"type": "object"})

        del own, token, handle
    gc.collect()
    sys.exit(sum(token() is not None for token in tokens))
    """
    process = start(textwrap.indent(textwrap.dedent(body), "    "))
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, (process.returncode, err)


def test_versions_agree():
    root = Path(__file__).parents[3]
    cargo = re.search(r'^version = "(.*)"', (root / "Cargo.toml").read_text(), re.MULTILINE)[1]
    node = json.loads((root / "bindings/node/package.json").read_text())["version"]
    header = (root / "include/tocsin.h").read_text()
    parts = re.findall(r"^#define TOCSIN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)\b", header, re.MULTILINE)
    assert tocsin.__version__ == version("tocsin") == cargo == node == ".".join(parts)


def test_bad_options_are_refused_with_their_name():
    from tocsin import BuildError, Server

    with pytest.raises(BuildError, match=r"1999.*2025-11-25"):
        Server("x", protocol_versions=["1999"])
    with pytest.raises(BuildError, match="modern_only"):
        Server("x", protocol_versions=["2026-07-28"])
    with pytest.raises(BuildError, match="page_size"):
        Server("x", page_size=0)
    with pytest.raises(BuildError, match="colour"):
        Server("x", colour="red")

"""The README's first servers: the snippets are the files, and the files work.

Run from anywhere, after `make everything`; argument: the cargo profile. Each server is built, started, and asked by a
client that listens, makes the storm come up, is told, and calls the new tool.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROFILE = sys.argv[1] if len(sys.argv) > 1 else "quick"
BUILD = ROOT / "build" / "readme"
LIBRARY = ROOT / "target" / PROFILE
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "readme", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
FILES = {
    "python": "examples/first/weather.py",
    "js": "examples/first/weather.mjs",
    "c": "examples/first/weather.c",
    "rust": "core/examples/weather.rs",
}


def run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


def commands() -> dict[str, list[str]]:
    """Builds each server; returns how to start it."""
    modules = BUILD / "node_modules"
    modules.mkdir(parents=True, exist_ok=True)
    if not (modules / "tocsin").exists():
        (modules / "tocsin").symlink_to(os.path.relpath(ROOT / "bindings/node", modules))
    script = BUILD / "weather.mjs"
    script.write_text((ROOT / FILES["js"]).read_text())
    run("cargo", "build", "--quiet", "--profile", PROFILE, "-p", "tocsin", "--example", "weather")
    program = BUILD / "weather-c"
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    link = [f"-L{LIBRARY}", "-ltocsin", f"-Wl,-rpath,{LIBRARY}"]
    run("gcc", *warnings, "-Iinclude", FILES["c"], "-o", str(program), *link)
    return {
        "python": [str(ROOT / "build/venv-python/bin/python"), FILES["python"]],
        "js": ["node", str(script)],
        "c": [str(program)],
        "rust": [str(LIBRARY / "examples" / "weather")],
    }


class Client:
    """A client that writes lines and reads them."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)

    def send(self, id: int, method: str, **params: object) -> None:
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": META, **params}}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def next(self) -> dict:
        return json.loads(self.process.stdout.readline())


def visit(command: list[str]) -> None:
    """One server's story."""
    client = Client(command)
    client.send(1, "subscriptions/listen", notifications={"toolsListChanged": True})
    assert client.next()["method"] == "notifications/subscriptions/acknowledged"
    client.send(2, "tools/call", name="forecast", arguments={"city": "Oslo"})
    assert client.next()["result"]["content"] == [{"type": "text", "text": "Rain in Oslo."}]
    client.send(3, "tools/call", name="storm", arguments={})
    assert client.next()["method"] == "notifications/tools/list_changed", "told before the result"
    assert client.next()["result"]["content"][0]["text"] == "A storm comes up."
    client.send(4, "tools/list")
    assert [tool["name"] for tool in client.next()["result"]["tools"]] == ["forecast", "storm", "warning"]
    client.send(5, "tools/call", name="warning", arguments={})
    assert client.next()["result"]["content"][0]["text"] == "Stay at home!"
    client.process.stdin.close()
    assert client.next()["id"] == 1, "the subscription ends with its result"
    assert client.process.wait(30) == 0


def main() -> int:
    readme = (ROOT / "README.md").read_text()
    passed = failed = 0
    for language, command in commands().items():
        try:
            snippets = re.findall(rf"^```{language}\n(.*?)^```$", readme, re.M | re.S)
            assert snippets == [(ROOT / FILES[language]).read_text()], f"README.md and {FILES[language]} differ"
            visit(command)
            passed += 1
        except Exception as error:
            failed += 1
            print(f"{language}: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The guide's examples run, and what it and docs/options.md say is what there is."""

import asyncio
import re
from pathlib import Path

import pytest
from tocsin.options import ServerOptions

DOCS = Path(__file__).parents[3] / "docs"
SNIPPETS = re.findall(r"^```python\n(.*?)^```", (DOCS / "python.md").read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", SNIPPETS, ids=[snippet.strip().splitlines()[0][:40] for snippet in SNIPPETS])
def test_snippets(code, monkeypatch):
    monkeypatch.setattr("tocsin.Server.serve", lambda server: None)
    names = {}
    exec(compile(code, "docs/python.md", "exec"), names)
    for name, function in names.items():
        if name.startswith("test_"):
            asyncio.run(asyncio.wait_for(function(), 30))


def test_every_option_of_the_core_has_a_type():
    rows = re.findall(r"^\| (`[^|]*?) \|", (DOCS / "options.md").read_text(), re.MULTILINE)
    known = {name for row in rows for name in re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row))}
    assert known - {"option"} == set(ServerOptions.__annotations__)

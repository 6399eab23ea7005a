"""The guide's snippets run."""

import re
import runpy
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[3] / "docs/python.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.M | re.S)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_runs(number, tmp_path):
    script = tmp_path / "snippet.py"
    script.write_text(SNIPPETS[number])
    names = runpy.run_path(str(script))
    assert names["server"].tools.names() or names["server"].resources.names()

"""The everything server in Python: one of everything that MCP offers, with tocsin's public API alone.

own.py has the tools of tests and benchmarks, suite.py what the public conformance suite asks for, asks.py the handlers
that ask the client something.
"""

import sys

import asks
import cli
import own
import suite
import tocsin


def build(options):
    server = tocsin.Server(
        "everything-python",
        tocsin.__version__,
        instructions="Everything that MCP offers, on one server.",
        **options,
    )
    own.add(server)
    suite.add_content(server)
    suite.add_reports(server)
    asks.add_forms(server)
    suite.add_schemas(server)
    asks.add_streams(server)
    suite.add_changes(server)
    asks.add_rounds(server)
    suite.add_prompts(server)
    asks.add_prompt(server)
    suite.add_resources(server)
    return server


try:
    build(cli.parse(sys.argv[1:])).serve()
except (cli.UsageError, tocsin.BuildError, OSError) as error:
    print(f"everything-python: {error}", file=sys.stderr)
    sys.exit(2)

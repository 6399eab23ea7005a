"""The command line, which is the same in all four languages."""

import re


class UsageError(Exception):
    """One line that says what was wrong and what would be right."""


def parse(arguments):
    """The server's options."""
    options = {"withhold": []}
    stdio, http, upstreams = False, False, []
    rest = iter(arguments)
    for option in rest:

        def value(option=option):
            given = next(rest, None)
            if given is None:
                raise UsageError(f"{option} needs a value")
            return given

        match option:
            case "--stdio":
                stdio = True
            case "--http":
                http = bool(value())
            case "--protocol-versions":
                options["protocol_versions"] = [name.strip() for name in value().split(",")]
            case "--modern-only":
                options["modern_only"] = True
            case "--max-subscriptions":
                options["max_subscriptions"] = integer(option, value(), 0)
            case "--max-message-bytes":
                options["max_message_bytes"] = integer(option, value(), 1)
            case "--page-size":
                options["page_size"] = integer(option, value(), 1)
            case "--keepalive-ms":
                integer(option, value(), 0)
            case "--allow-origin" | "--allow-host":
                value()
            case "--no-listen-capability":
                name = value()
                if name not in ("tools", "prompts", "resources"):
                    raise UsageError(f"{option} takes tools, prompts or resources, not '{name}'")
                options["withhold"].append(name)
            case "--upstream":
                upstreams.append(upstream(value()))
            case _:
                raise UsageError(f"unknown option '{option}'; see tests/everything in the sources")
    if stdio and http:
        raise UsageError("--stdio and --http exclude each other; choose one")
    for name in upstreams:
        if upstreams.count(name) > 1:
            raise UsageError(f"two upstreams are named '{name}'; give each a name of its own")
    if http:
        raise UsageError("--http is not built yet; use --stdio")
    if upstreams:
        raise UsageError("--upstream is not built yet")
    return options


def upstream(text):
    """The name in `NAME=URL` or `NAME=command`."""
    name, _, target = text.partition("=")
    if not name or not target:
        raise UsageError(f"--upstream takes NAME=URL or 'NAME=command', not '{text}'")
    return name


def integer(option, text, least):
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
        raise UsageError(f"{option} takes an integer of at least {least}, not '{text}'")
    return int(text)

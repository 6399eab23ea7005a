"""An MCP server engine that tells every client the moment its tools, prompts or resources change."""

from ._native import VERSION as __version__
from .content import Audio, Embedded, Image, Message, ResourceLink, Text, ToolResult
from .context import BaseContext, Context, SyncContext, current_context, elicit, list_roots, sample
from .errors import BuildError, McpError, RegistryError, ToolError
from .lists import Prompts, Resources, Templates, Tools
from .server import Server

__all__ = [
    "Audio",
    "BaseContext",
    "BuildError",
    "Context",
    "Embedded",
    "Image",
    "McpError",
    "Message",
    "Prompts",
    "RegistryError",
    "ResourceLink",
    "Resources",
    "Server",
    "SyncContext",
    "Templates",
    "Text",
    "ToolError",
    "ToolResult",
    "Tools",
    "__version__",
    "current_context",
    "elicit",
    "list_roots",
    "sample",
]

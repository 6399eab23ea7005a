from tocsin import Server

server = Server("weather", version="1.0")


@server.tool
async def forecast(city: str) -> str:
    """The weather of a city."""
    return f"Rain in {city}."


@server.tool
def storm() -> str:
    """A storm comes up: adds a tool, and every client hears of it."""

    def warning() -> str:
        """The storm warning."""
        return "Stay at home!"

    server.tools.add(warning)
    return "A storm comes up."


server.serve()

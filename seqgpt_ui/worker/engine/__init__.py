"""The engine: a synchronous core, and the bridge that lets asyncio use it."""

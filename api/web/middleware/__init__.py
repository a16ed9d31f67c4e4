"""ASGI middleware around every request: Host header and body size, request metrics. Authentication is in `auth`."""

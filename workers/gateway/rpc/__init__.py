"""gRPC services: games that call in, policies, parameters and replay buffers.

See docs/decisions/gateway.md.
"""

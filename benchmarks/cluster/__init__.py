"""Leagues on several hosts, made of namespaces: `python -m benchmarks.cluster`."""

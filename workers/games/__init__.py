"""Games played on many tables at once: the protocol, the built-ins and the adapters."""

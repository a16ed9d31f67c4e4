"""All workflows: the only code that runs inside Temporal's sandbox."""

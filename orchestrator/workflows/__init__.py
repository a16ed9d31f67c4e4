"""All workflows: the only code that enters Temporal's sandbox."""

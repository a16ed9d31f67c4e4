"""Orders: changes that a workflow carries out. One class per order: what it checks, sends, and finds when retried."""

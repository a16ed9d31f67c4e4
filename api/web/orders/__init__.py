"""Orders: changes that a workflow carries out. One class an order: what it checks, sends, and finds when retried."""

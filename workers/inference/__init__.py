"""Policy inference: one policy, many policies in one batch, and a server of policies by name."""

"""Slime volleyball beside slimevolleygym: equal physics, and leagues that meet its policy after training."""

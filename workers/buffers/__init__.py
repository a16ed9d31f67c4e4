"""Buffers: what stands between the games and a learner."""

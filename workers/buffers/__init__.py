"""Buffers: they hold the experience of games until a learner draws from it."""

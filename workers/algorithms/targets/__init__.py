"""What learners aim at, computed from rewards, values and log-probabilities: pure functions."""

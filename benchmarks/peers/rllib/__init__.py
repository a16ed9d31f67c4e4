"""RLlib's PPO in self-play on connect four: the rival of benchmarks.selfplay, in a virtual environment of its own."""

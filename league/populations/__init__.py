"""Population-based training: whose weights a member takes over, and which hyperparameters it gets then.

Jaderberg et al., Population Based Training of Neural Networks, 2017. See docs/guides/populations.md.
"""

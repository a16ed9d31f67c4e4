"""Off-policy algorithms for Box actions: a policy and critics of its actions, trained from replay."""

"""What the train worker knows of Ray's nodes: which may run users' work, which are lost, and who else waits."""

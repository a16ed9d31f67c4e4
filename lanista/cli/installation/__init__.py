"""Commands about the installation: the local stack, the processes of a cluster, tokens, audit and measurements."""

"""One trial in one process: the league's rules in memory, and generations without Temporal, Postgres and Ray."""

"""Whether faults and malformed input do harm: parts killed at random, requests that no client would send."""

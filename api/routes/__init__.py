"""HTTP routes, one file a subject. They translate between HTTP and the store, and do nothing else."""

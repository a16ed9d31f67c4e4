"""Live data: the event feed, progress of generations, cluster status, health checks."""

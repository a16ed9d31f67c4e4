"""What changes by the second: the event feed, progress of generations, cluster status, health checks."""

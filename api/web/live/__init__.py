"""What changes by the second: the event feed, progress of generations, workers and queues, readiness."""

"""Activities of the train worker, for the queues train, play and interactive."""

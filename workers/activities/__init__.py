"""Activities of the train worker, one file a subject: the queues train, play and interactive."""

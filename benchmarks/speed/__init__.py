"""What takes how long and how much: sampling and training, reads of the API, pages, memory."""

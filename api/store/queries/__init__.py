"""Reading for the API: one file a subject. Nothing here changes a row."""

"""Code that users name or send: archives of it, how it is imported, and which names and folders are allowed."""

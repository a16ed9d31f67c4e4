"""Files of an installation: content-addressed artifacts, games as files, atomic writes, marks of installations."""

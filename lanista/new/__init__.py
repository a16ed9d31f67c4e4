"""`lanista new`: projects from templates."""

"""The processes of a stack: started and restarted, their environment and user, and what a dead supervisor leaves."""

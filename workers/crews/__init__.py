"""Crews: the Ray actors that run generations, and the function that runs one."""

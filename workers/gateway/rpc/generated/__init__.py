"""Code that protos/generate.py wrote from protos/lanista/v1: do not edit."""

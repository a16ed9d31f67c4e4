"""Rivals side by side: Lanista, RLlib, and how rates and strength of both are measured."""

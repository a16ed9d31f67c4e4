"""Kinds of faults, one file each: a function that makes the fault, and returns when it is over.

`table.py` names them and says on which ground each can be made.
"""

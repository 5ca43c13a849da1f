"""The trial of the quarantine rules: wrong prices that they must catch, ordinary ones that they must not.

Every real price list of a folder is read as ingest reads it. Then errors of known kinds are made in it, by
chance from a seed, and written down as a list before any rule sees them. `manage.py gate_eval` runs both.
"""

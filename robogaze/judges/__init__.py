"""Judges: is this prediction that reference?"""

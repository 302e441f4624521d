"""Backends that wrap other backends: cache, retry, rate limits, budget, outages, load balancing, checks."""

"""What is done around a request, whatever backend answers it: cache, retries, limits, budget, outages, balance."""

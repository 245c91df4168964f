"""For engines elsewhere: requests to prompt tokens, and sampled tokens to answers."""

"""The stages of GLIDE."""

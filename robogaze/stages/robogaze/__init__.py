"""The stages of RoboGaze (the method of the paper)."""

"""The data everything else is about: pure, frozen, and without I/O."""

"""Floor 0: what every app stands on. Imports nothing of ours."""

"""What this machine has, who gets it, and what running steps use of it."""

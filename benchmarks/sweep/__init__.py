"""What searches find, beside trials at random."""

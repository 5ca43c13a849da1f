"""What the spot page is made of."""

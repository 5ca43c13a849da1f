"""What the prices page is made of."""

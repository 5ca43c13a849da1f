"""What the page of one GPU is made of."""

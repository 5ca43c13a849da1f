"""Memory fit: what a model needs on each GPU, which GPUs and counts hold it, and why the others do not."""

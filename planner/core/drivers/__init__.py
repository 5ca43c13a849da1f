"""What turns work (runs, tokens, requests) into GPU-hours."""

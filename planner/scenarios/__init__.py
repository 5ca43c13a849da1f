"""What people planned: saved revisions, the plans made of them, and what pages say about one."""

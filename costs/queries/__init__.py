"""Every read of the fact tables that is more than a get; one module for each kind of fact."""

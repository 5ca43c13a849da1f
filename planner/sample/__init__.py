"""A made-up fleet and four plans to look around with."""

"""What may go wrong with supply: outages together, few suppliers, the loss of one, the cost of leaving."""

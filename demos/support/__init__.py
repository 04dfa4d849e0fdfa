"""What demos share: their arguments and their pictures."""

"""Values: small networks, compiled with the rules, that estimate who wins a position."""

"""Vierer-, Revers- and Score-Dominari: games of turns of several steps on the 6x6 board."""

"""What Vierer-, Revers- and Score-Dominari share: turns of several steps on the 6x6 board."""

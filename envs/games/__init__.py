"""The games: a folder for each family, with a record that names its kernels and words."""

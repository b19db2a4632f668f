"""What the scripts beside this folder are made of and nobody runs by itself."""

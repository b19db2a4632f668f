"""What makes the documentation: the pages of help, the notebooks and the site."""

"""HTML as a browser reads it: one pass over what lxml's parser hands out, with the tables of its elements."""

"""A page that shows what is going on, served by a small HTTP server that only answers, and only those who may ask."""

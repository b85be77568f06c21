"""A simulator of recrawling: how fresh the copies of a population of pages are under each policy and a budget."""

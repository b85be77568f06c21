"""The forms in which a crawl is handed on: one module each writes pages, links or an index of them."""

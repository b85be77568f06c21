"""Lists of URLs that sites publish: sitemaps in all their forms, RSS and Atom feeds."""

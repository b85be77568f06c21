"""robots.txt by RFC 9309: its lines, its groups, and which rule decides on a URL."""

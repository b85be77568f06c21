"""What the elements of HTML are to the pass over a page."""

FOLLOWED_RELS = frozenset(("alternate", "canonical", "next", "prev"))
"""Of link elements and of the header field Link, these lead to pages."""
ICON_RELS = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"})
SOURCES = {
    "img": ("src",),
    "source": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "script": ("src",),
    "object": ("data",),
    "embed": ("src",),
}
HIDDEN = ("noembed", "noframes", "plaintext", "script", "style")
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "br", "button", "caption", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head",
    "header", "hgroup", "hr", "legend", "li", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "section",
    "select", "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul", "xmp",
))  # fmt: skip

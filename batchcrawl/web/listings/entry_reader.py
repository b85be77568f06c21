"""What sitemaps and feeds have in common: entries, each an element with an address and a date among its children."""

from typing import ClassVar, NamedTuple

FIELD_CHARACTERS_MAX = 65_536
"""A longer address or date is none."""


class RawEntry(NamedTuple):
    """An entry as written."""

    location: str
    date: str = ""
    base: str | None = None
    """What the location is resolved against, itself as written; None: the document's URL."""


class EntryReader:
    """Target of xml_scan that collects entries. What names mean is for the subclasses to say.

    Names count without their prefix where that is the root's, or stands for the root's namespace. Children of an entry
    that are not known are read past with all that is in them.
    """

    ENTRIES: ClassVar[frozenset[str]]
    FIELDS: ClassVar[frozenset[str]]
    """Children of an entry whose text counts; the empty name stands for the entry's own text."""

    def __init__(self, own_prefixes: frozenset[str], *, entries_max: int) -> None:
        self.entries: list[RawEntry] = []
        self.cut = False
        """There are more than `entries_max`."""
        self.full = False
        self.text_wanted = False
        self._own_prefixes = own_prefixes
        self._entries_max = entries_max
        self._found: dict[str, str] | None = None
        """The fields of the entry that is open."""
        self._field: str | None = None
        self._pieces: list[str] = []
        self._characters = 0
        self._inner = 0
        """Elements of an entry's name that are open within a field."""
        self._passing: str | None = None
        """The unknown child that is open."""
        self._passing_depth = 0

    def start(self, name: str, attributes: str) -> None:
        """Take a start tag."""
        local = self._local(name)
        if self._passing is not None:
            self._passing_depth += name == self._passing
        elif self._field and local not in self.FIELDS:
            self._inner += local in self.ENTRIES
        elif local in self.ENTRIES:
            self._finish_entry()
            self._found = {}
            self.see_attributes(self._found, local, attributes)
            self._open_field("")
        elif self._found is not None:
            self._open_child(self._found, name, local, attributes)

    def end(self, name: str) -> None:
        """Take an end tag."""
        local = self._local(name)
        ends_entry = local in self.ENTRIES
        if self._passing is not None:
            self._passing_depth -= name == self._passing
            if self._passing_depth and not ends_entry:
                return
            self._passing = None
            self._open_field("")
        elif ends_entry and self._inner:
            self._inner -= 1
            return
        elif self._field and local == self._field:
            self._close_field()
            self._open_field("")
        if ends_entry:
            self._close_field()
            self._finish_entry()

    def data(self, text: str) -> None:
        """Take a piece of text."""
        self._characters += len(text)
        self.text_wanted = self._characters <= FIELD_CHARACTERS_MAX
        self._pieces.append(text)

    def close(self) -> None:
        """Take the end of the document. A field that is open is cut; its entry counts without it."""
        self._finish_entry()

    def see_attributes(self, found: dict[str, str], name: str, attributes: str) -> None:
        """Take fields from the attributes of an entry or of a child of one."""

    def entry_of(self, found: dict[str, str]) -> RawEntry | None:
        """Return what the fields of an entry mean, or None where they have no address."""
        raise NotImplementedError

    def begins_entry(self, found: dict[str, str], name: str) -> bool:
        """Tell whether a child that is opened begins an entry of its own: by default none does."""
        return False

    def _local(self, name: str) -> str:
        if ":" not in name:
            return name
        prefix, _, local = name.partition(":")
        return local if prefix in self._own_prefixes else name

    def _open_child(self, found: dict[str, str], name: str, local: str, attributes: str) -> None:
        self._close_field()
        if self.begins_entry(found, local):
            self._finish_entry()
            found = self._found = {}
        self.see_attributes(found, local, attributes)
        if local in self.FIELDS:
            self._open_field(local)
        else:
            self._passing, self._passing_depth = name, 1
            self.text_wanted = False

    def _open_field(self, name: str) -> None:
        """Begin to collect text; under the empty name the entry's own."""
        self._field, self._pieces, self._characters, self._inner = name, [], 0, 0
        self.text_wanted = name in self.FIELDS

    def _close_field(self) -> None:
        if self._field is None or self._found is None or self._field not in self.FIELDS:
            return
        text = "".join(self._pieces).strip() if self._characters <= FIELD_CHARACTERS_MAX else ""
        if text:
            self._found.setdefault(self._field, text)
        self._pieces = []

    def _finish_entry(self) -> None:
        entry = self.entry_of(self._found) if self._found is not None else None
        self._found, self._field, self._inner, self.text_wanted = None, None, 0, False
        if entry is None:
            return
        if len(self.entries) >= self._entries_max:
            self.cut = self.full = True
        else:
            self.entries.append(entry)

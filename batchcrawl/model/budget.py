"""How a crawl stands that may take so many refetches a day."""

import msgspec


class BudgetState(msgspec.Struct, frozen=True, kw_only=True):
    """The price that keeps refetches within the budget, and what of it is used; changed once a segment."""

    budget: float
    """Refetches a day for which the price was begun."""
    price: float
    """What the last refetch that is taken is worth, in weighted days."""
    floor: float
    """What is worth less is not ready."""
    at: float
    """When this was so."""
    saved: float
    """Refetches that have come together since and were not taken; at most those of a day."""
    day: int
    """Days since 1970, UTC."""
    used: int
    """Refetches that were leased on that day."""

"""Names for search in your own code: `from lanista.search import Search, SearchRules`."""

from workers.search.networks import network, uniform_network
from workers.search.rules import SearchRules
from workers.search.search import Search, SearchResult

__all__ = ["Search", "SearchResult", "SearchRules", "network", "uniform_network"]

"""The network: the only outgoing sockets of the crawler."""

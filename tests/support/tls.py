"""The certificate of the tests' servers, made for them alone; tests/data/README.md says how."""

import ssl
from pathlib import Path

DIRECTORY = Path(__file__).parents[1] / "data" / "tls"
CERTIFICATE = str(DIRECTORY / "certificate.pem")


def server_context(*, asks_for_certificate: bool = False) -> ssl.SSLContext:
    """Return the context of a server that shows the certificate, and may ask the client for the same."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, DIRECTORY / "key.pem")
    if asks_for_certificate:
        context.load_verify_locations(CERTIFICATE)
        context.verify_mode = ssl.CERT_REQUIRED
    return context

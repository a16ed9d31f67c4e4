"""The web application: REST API, Server-Sent Events and the page."""

"""Request and answer models, enums and event kinds: one file a resource, shared by routes, store and Python client.

Pydantic and the standard library only (besides the trial file's own models, which are the same): `lanista.Client` loads
these modules, and must load neither SQLAlchemy nor FastAPI. A field is declared here, once, with its description; the
OpenAPI document, the routes, CSV files and the client all take it from here.
"""

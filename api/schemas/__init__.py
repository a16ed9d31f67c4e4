"""Request and answer models, enums and event kinds: one file per resource, shared by routes, store and Python client.

They import Pydantic, the standard library, and the models and enums of `orchestrator.spec` and `league.types`, but
neither SQLAlchemy nor FastAPI, since `lanista.Client` loads these modules. A field is declared here, once, with its
description; the OpenAPI document, the routes, CSV files and the client all take it from here.
"""

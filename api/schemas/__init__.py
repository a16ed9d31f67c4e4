"""What the API says and hears, as pydantic models shared by routes, client, store and page. Pydantic only."""

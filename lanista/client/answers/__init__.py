"""What the API answers, typed. Field names and meanings are those of its OpenAPI document."""

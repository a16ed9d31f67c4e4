"""How answers are written: JSON from records, pages of lists, ETags, CSV files.

How a row becomes an answer:

1. `api/schemas/<resource>.py` declares the fields of the answer, with their descriptions.
2. A read of the store (`api/store/<subject>/reads.py`: `read_player`, `list_players`) selects them with
   `fields_of(Schema, table, ...)` and returns records: dictionaries whose keys are the schema's fields.
3. A route that only reads writes the records as they are: `record_response(read_player(...), Player)` or
   `records_page(list_players(...), limit, Player)`. No model is made (see docs/decisions/api-load.md). A change
   makes a model, `Player.model_validate(read_player(...))`, since its answer is kept under the idempotency key.

To add a field to an answer, say to the ratings: declare it in the schema (`api/schemas/ratings.py`). If it is a column
of the read's table, that is all: JSON, CSV, the OpenAPI document and the Python client have it. Otherwise add the
labelled column to the read's select (`api/store/ratings/reads.py`), which refuses to be imported without it. The table
on the page and on the command line show the fields that they name; `tests/integration/api/test_written_answers.py`
compares every answer with its schema.
"""

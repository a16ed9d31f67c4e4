"""The Postgres store: typed models, the engine, migrations, and the queries that change the league."""

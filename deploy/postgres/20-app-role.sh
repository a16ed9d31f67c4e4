#!/bin/sh
# Run by the Postgres image after the databases are made, and by hand in an installation of an earlier release
# (docs/guides/cluster.md): the role of the API and the store worker. It owns nothing; `lanista migrate` grants it the rows
# of Lanista's tables. Safe to repeat, which also sets the password anew.
set -eu

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 \
  --set app_password="$LANISTA_DATABASE_APP_PASSWORD" \
  --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
SELECT 'CREATE ROLE lanista_app' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'lanista_app') \gexec
ALTER ROLE lanista_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'app_password';
GRANT CONNECT ON DATABASE lanista TO lanista_app;
SQL

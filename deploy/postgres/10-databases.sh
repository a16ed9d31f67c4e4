#!/bin/sh
# Run once by the Postgres image, when its volume is empty: one role and database for Lanista, one role and two
# databases for Temporal. Neither role is a superuser, and neither may look into the other's databases.
set -eu

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 \
  --set lanista_password="$LANISTA_DATABASE_PASSWORD" \
  --set temporal_password="$LANISTA_TEMPORAL_PASSWORD" \
  --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE lanista LOGIN PASSWORD :'lanista_password';
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE lanista OWNER lanista;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE ALL ON DATABASE lanista, temporal, temporal_visibility FROM PUBLIC;
SQL

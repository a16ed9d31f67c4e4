#!/bin/sh
# Brings Temporal's two databases to the schema of this release; what is there already stays as it is.
# The password comes from SQL_PASSWORD, which the tool reads itself.
set -eu

tool() {
  database=$1
  shift
  temporal-sql-tool --plugin postgres12 --endpoint postgres --port 5432 --user temporal --database "$database" "$@"
}

for database in temporal temporal_visibility; do
  folder=/etc/temporal/schema/postgresql/v12/temporal/versioned
  [ "$database" = temporal ] || folder=/etc/temporal/schema/postgresql/v12/visibility/versioned
  tool "$database" setup-schema --version 0.0
  tool "$database" update-schema --schema-dir "$folder"
done

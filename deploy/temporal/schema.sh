#!/bin/sh
# Creates Temporal's two databases and brings their schemas to the version of these tools. Runs whenever the
# composition starts, and changes nothing if the schemas are current. Reads SQL_PLUGIN, SQL_HOST, SQL_PORT,
# SQL_USER, SQL_PASSWORD.
set -eu

schema() {
    temporal-sql-tool --database "$1" create-database
    temporal-sql-tool --database "$1" setup-schema --version 0.0
    temporal-sql-tool --database "$1" update-schema --schema-name "$2"
}

schema temporal postgresql/v12/temporal
schema temporal_visibility postgresql/v12/visibility

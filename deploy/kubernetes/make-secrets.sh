#!/bin/sh
# Makes the Secrets of deploy/kubernetes with random values, in the namespace lanista or the one that is named:
#
#   LANISTA_DATABASE_PASSWORD=... LANISTA_DATABASE_APP_PASSWORD=... ./make-secrets.sh [NAMESPACE]
#
# The passwords are those of the roles in database-owner-url and in database-url. AWS_ACCESS_KEY_ID with
# AWS_SECRET_ACCESS_KEY is optional: without them pods use what their machine or account gives them. So is
# LANISTA_TRACE_HEADERS, what a collector of traces asks for. Secrets that exist stay as they are: kubectl refuses to make
# them again. KUBECTL is the command to use, "kubectl --dry-run=client -o yaml" to look first. Values never appear in
# arguments of a process.
set -eu

namespace=${1:-lanista}
kubectl=${KUBECTL:-kubectl}
: "${LANISTA_DATABASE_PASSWORD:?set LANISTA_DATABASE_PASSWORD to the password of the role in database-owner-url}"
: "${LANISTA_DATABASE_APP_PASSWORD:?set LANISTA_DATABASE_APP_PASSWORD to the password of the role in database-url}"

random() {
    openssl rand -hex 24
}

# make NAME: a Secret of the lines key=value on the standard input
make() {
    # shellcheck disable=SC2086  # KUBECTL may be a command with options
    $kubectl create secret generic "$1" --namespace "$namespace" --from-env-file=/dev/stdin
}

make lanista-migrate <<SECRETS
database-password=$LANISTA_DATABASE_PASSWORD
SECRETS

make lanista-store <<SECRETS
database-password=$LANISTA_DATABASE_APP_PASSWORD
temporal-key=$(random)
session-secret=$(random)
SECRETS

make lanista-train <<SECRETS
temporal-train-key=$(random)
SECRETS

make lanista-gateway <<SECRETS
control-key=$(random)
token=$(random)
SECRETS

make lanista-ray <<SECRETS
auth_token=$(random)
SECRETS

if [ -n "${AWS_ACCESS_KEY_ID:-}" ]; then
    make lanista-s3 <<SECRETS
access-key-id=$AWS_ACCESS_KEY_ID
secret-access-key=${AWS_SECRET_ACCESS_KEY:?set AWS_SECRET_ACCESS_KEY beside AWS_ACCESS_KEY_ID}
SECRETS
fi

if [ -n "${LANISTA_TRACE_HEADERS:-}" ]; then
    make lanista-tracing <<SECRETS
headers=$LANISTA_TRACE_HEADERS
SECRETS
fi

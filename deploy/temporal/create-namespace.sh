#!/bin/sh
# Makes sure that the namespace Lanista works in exists. TEMPORAL_ADDRESS says where the server is.
set -eu

operate() {
  verb=$1
  shift
  temporal operator namespace "$verb" --address "$TEMPORAL_ADDRESS" --namespace "$NAMESPACE" "$@"
}

if operate describe >/dev/null 2>&1; then
  echo "namespace $NAMESPACE exists"
else
  operate create --retention "$RETENTION"
fi

#!/bin/sh
# Creates the namespace that Lanista works in, and registers Lanista's search attributes, unless they exist.
# TEMPORAL_ADDRESS is the server's address.
set -eu

operate() {
  group=$1
  verb=$2
  shift 2
  temporal operator "$group" "$verb" --address "$TEMPORAL_ADDRESS" --namespace "$NAMESPACE" "$@"
}

if operate namespace describe >/dev/null 2>&1; then
  echo "namespace $NAMESPACE exists"
else
  operate namespace create --retention "$RETENTION"
fi

register() {
  registered=$(operate search-attribute list 2>/dev/null) || return 1
  for name in LanistaProject LanistaTrial LanistaPlayer LanistaRole LanistaStatus; do
    case "$registered" in
      *"$name"*) ;;
      *) operate search-attribute create --name "$name" --type Keyword || return 1 ;;
    esac
  done
}

# A server may need some seconds until it knows a new namespace. Lanista works without the attributes, with memos only.
for pause in 1 2 4 8 0; do
  if register; then
    echo "search attributes are registered"
    exit 0
  fi
  sleep "$pause"
done
echo "search attributes could not be registered; Temporal's Web UI will not find leagues by name" >&2

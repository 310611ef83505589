#!/bin/sh
# Waits until the Kubernetes API is ready and accepts the administrator's
# certificate. Runs where the Pulumi program runs. Certificates arrive in the
# environment; curl needs files, which only this user can read and which are
# deleted at exit.
set -eu
umask 077

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
printf '%s\n' "$SERVER_CA" >"$work/ca.crt"
printf '%s\n' "$CLIENT_CERTIFICATE" >"$work/client.crt"
printf '%s\n' "$CLIENT_KEY" >"$work/client.key"

started=$(date +%s)
last=
while :; do
  status=0
  code=$(curl --silent --show-error --connect-timeout 5 --max-time 15 --noproxy '*' \
    --cacert "$work/ca.crt" --cert "$work/client.crt" --key "$work/client.key" \
    --output /dev/null --write-out '%{http_code}' "$API_SERVER/readyz" 2>"$work/error") || status=$?
  elapsed=$(($(date +%s) - started))
  if [ "$status" -eq 0 ] && [ "$code" = 200 ]; then
    # No durations: this text is a resource output and must not vary between runs.
    echo "ready"
    exit 0
  fi
  case "$status:$code" in
    0:401 | 0:403) reason="HTTP $code: it rejects the administrator's certificate. K3s trusts another client CA than this stack's; see boot.sh in the instance's console output" ;;
    0:*) reason="HTTP $code: K3s is still starting" ;;
    60:*) reason="its certificate is not signed by this stack's CA: $(cat "$work/error"). K3s generated its own CAs, or the data volume belongs to another stack; see the instance's console output" ;;
    7:* | 28:*) reason="no connection: $(cat "$work/error"). It still boots, $HINT" ;;
    *) reason="curl ended with $status: $(cat "$work/error")" ;;
  esac
  if [ "$elapsed" -ge "$DEADLINE_SECONDS" ]; then
    echo "the Kubernetes API at $API_SERVER was not ready after $elapsed s: $reason" >&2
    exit 1
  fi
  if [ "$reason" != "$last" ]; then
    echo "waiting for $API_SERVER ($elapsed s): $reason" >&2
    last=$reason
  fi
  sleep "$PAUSE_SECONDS"
done

#!/usr/bin/env bash
# Draws the README's pictures from a running local cloud, in headless Chromium.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v chromium >/dev/null || { echo "missing: chromium; install it with: apt-get install chromium" >&2; exit 1; }
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
addresses=$(bin/observatory status --json)
address() { python3 -c 'import json, sys; print(json.load(sys.stdin)["cloud"]["addresses"][sys.argv[1]])' "$1" <<<"$addresses"; }
# draw NAME WIDTH HEIGHT URL: the time budget lets scripts draw their plots.
draw() {
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=15000 --user-data-dir="$profile" \
    --window-size="$2,$3" --screenshot="$PWD/docs/images/$1.png" "$4" 2>/dev/null
  echo "docs/images/$1.png"
}
last=$(curl -fsS "http://$(address status)/status/applications" |
  python3 -c 'import json, sys; print(next(a["applicationId"] for a in json.load(sys.stdin)["applications"] if a["ended"]))')
draw status 900 1180 "http://$(address status)/status"
draw metrics 1400 1836 "http://$(address victoria-metrics)/vmui/#/dashboards?g0.range_input=5m&g0.relative_time=none"
draw application 900 1420 "http://$(address status)/status/applications/$last"

# Usage: machine.sh DIR INSTALL_DIR PAIRS PORT…, in its own namespaces.
# DIR/without and DIR/with are command lines whose words each end with NUL.
# Prints a line for each run: "without" or "with" the launcher, user and system
# seconds, and milliseconds from the start of java to the application's main.
set -eu
dir=$1 install=$2 pairs=$3
shift 3
ip link set lo up
mount -t tmpfs none "$(dirname "$install")"
mkdir "$install"
mount --bind "$dir/node" "$install"
java -cp "$dir/classes" Receiver "$@" >"$dir/received" 2>&1 &
until grep -q ready "$dir/received"; do read -rt 0.05 <> <(:) || :; done
TIMEFORMAT='%3U %3S'
run() {
  local command start
  mapfile -d '' -t command <"$dir/$1"
  start=${EPOCHREALTIME/./}
  { time "${command[@]}" >"$dir/out" 2>"$dir/err"; } 2>"$dir/time" || { tail -n 20 "$dir/err" >&2; exit 1; }
  echo "$1 $(cat "$dir/time") $(($(grep -m 1 -x '[0-9]*' "$dir/out") - start / 1000))"
  if grep '^observatory: ' "$dir/err" >&2; then return "$interrupted"; fi
}
interrupted=75 # EX_TEMPFAIL: the launcher reported something
pair() { if (($1 % 2)); then run with && run without; else run without && run with; fi; }
for ((i = 0; i < pairs; i++)); do
  # On a busy machine the receiver may be too slow for the launcher. Such a pair
  # measures something else and is repeated.
  for _ in 1 2 3; do
    code=0
    lines=$(pair "$i") || code=$?
    [ "$code" = "$interrupted" ] || break
  done
  [ "$code" = 0 ] || exit "$code"
  echo "$lines"
done
cat "$dir/received"

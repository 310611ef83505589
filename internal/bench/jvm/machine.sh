# Usage: machine.sh DIR INSTALL_DIR PAIRS PORT…, in its own namespaces.
# DIR/without, DIR/unplugged, DIR/with and DIR/busy are command lines whose words
# each end with NUL. The last is run once, at the end; the others by turns.
# Prints a line for each run: the command's name, user and system seconds, and
# milliseconds from the start of java to the application's main. Then what busy says
# of its threads.
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
  grep '^threads ' "$dir/out" || :
  if grep '^observatory: ' "$dir/err" >&2; then return "$interrupted"; fi
}
interrupted=75 # EX_TEMPFAIL: the launcher reported something
names=(without unplugged with without unplugged)
turn() { run "${names[$1 % 3]}" && run "${names[$1 % 3 + 1]}" && run "${names[$1 % 3 + 2]}"; }
# On a busy machine the receiver may be too slow for the launcher. Such a turn
# measures something else and is repeated.
repeat() {
  local code lines
  for _ in {1..6}; do
    code=0
    lines=$("$@") || code=$?
    [ "$code" = "$interrupted" ] || break
  done
  [ "$code" = 0 ] || exit "$code"
  echo "$lines"
}
for ((i = 0; i < pairs; i++)); do repeat turn "$i"; done
repeat run busy
cat "$dir/received"

# Runs in namespaces of its own: machine.sh DIR INSTALL_DIR PAIRS MILLIS PORT…
# Prints a line for each run: "without" or "with", user and system seconds, and
# the milliseconds from the start of java to the start of main.
set -eu
dir=$1 install=$2 pairs=$3 millis=$4
shift 4
ip link set lo up
mount -t tmpfs none "$(dirname "$install")"
mkdir "$install"
mount --bind "$dir/node" "$install"
java -cp "$dir/classes" Receiver "$@" >"$dir/received" 2>&1 &
until grep -q ready "$dir/received"; do read -rt 0.05 <> <(:) || :; done
TIMEFORMAT='%3U %3S'
run() {
  local name=$1 start=${EPOCHREALTIME/./}
  shift
  { time java -Xshare:auto "$@" "-Dbench.millis=$millis" -cp "$dir/classes" \
    org.apache.spark.executor.YarnCoarseGrainedExecutorBackend --executor-id 1 --app-id application_1_0001 \
    >"$dir/out" 2>"$dir/err"; } 2>"$dir/time"
  echo "$name $(cat "$dir/time") $(($(grep -m 1 -x '[0-9]*' "$dir/out") - start / 1000))"
  if grep '^observatory: ' "$dir/err" >&2; then exit 1; fi
}
for ((i = 0; i < pairs; i++)); do
  run without
  run with "-javaagent:$install/launcher.jar"
done
cat "$dir/received"

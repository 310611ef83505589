#!/usr/bin/env bash
# EMR bootstrap action of emr-observatory. Rendered; do not edit on a node.
#
# Arguments: the control node's private IP, the s3:// folder of artifacts, the
# hash of this script (so that an edit of it replaces the cluster), and perhaps
# {{.HostsOnly}}: the collector alone, since nothing on this cluster loads the rest.
# Runs as hadoop with sudo, before Hadoop and Spark are installed, and does not
# modify their files. A telemetry failure must never fail the node: a part that
# fails is reported, and the script always exits 0.
set -u
umask 022
export TZ=UTC LC_ALL=C

readonly control=${1:-} artifacts=${2:-} content=${3:-} observed=${4:-}
readonly tries=3 download_seconds=60 info={{.EMRInfoDir}}
work=$(mktemp -d) || exit 0
trap 'rm -rf "$work"' EXIT

# say MESSAGE [LEVEL]: one line in the bootstrap action's log.
say() { printf '%(%Y-%m-%dT%H:%M:%S)T.000Z %s observatory: %s\n' -1 "${2:-INFO}" "$1"; }

# json KEY FILE: a string, number or boolean of flat JSON.
json() {
  tr ',{}' '\n' <"$2" 2>/dev/null |
    sed -n "s/^[[:space:]]*\"$1\"[[:space:]]*:[[:space:]]*\"\{0,1\}\([^\"]*[^\"[:space:]]\)\"\{0,1\}[[:space:]]*\$/\1/p" |
    head -n 1
}

# hosts_only: whether this cluster reports its hosts and nothing of applications.
hosts_only() { [ "$observed" = {{.HostsOnly}} ]; }

# plain: filters stdin to what is safe in a properties file, in YAML and in a URL.
plain() { tr -cd 'A-Za-z0-9._-'; }

# metadata PATH: from the instance metadata service, version 2.
metadata() {
  local token
  token=$(curl -sf -m 2 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' \
    http://169.254.169.254/latest/api/token) || return 1
  curl -sf -m 2 -H "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"
}

# place FILE MODE TARGET: replaces TARGET in one step.
place() {
  sudo install -D -m "$2" "$1" "$3.new" && sudo mv -f "$3.new" "$3"
}

# verify FILE SHA256
verify() { printf '%s  %s\n' "$2" "$1" | sha256sum -c --status - 2>/dev/null; }

# result COMPONENT UP SHA256 REASON: in a file, since parts are installed concurrently.
result() {
  local reason
  reason=$(printf '%s' "$4" | tr -d '\\"' | tr -c '[:print:]' ' ' | cut -c1-300)
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$SECONDS" "$reason" >"$work/result.$1"
  if [ "$2" = 1 ]; then say "$1 installed"; else say "$1 not installed: $reason" WARN; fi
}

# fetch SHA256 NAME FILE: downloads an artifact, or prints why it cannot.
fetch() {
  local try fault=''
  [ -n "$artifacts" ] || { echo 'no artifacts URI was given'; return 1; }
  for ((try = 1; try <= tries; try++)); do
    if ! fault=$(timeout "$download_seconds" aws s3 cp --only-show-errors "$artifacts$1/$2" "$3" \
      ${region:+--region "$region"} 2>&1); then
      fault="download of $artifacts$1/$2 failed: ${fault:-timed out after ${download_seconds}s}"
    elif ! verify "$3" "$1"; then
      fault="sha256 of $artifacts$1/$2 is $(sha256sum "$3" 2>/dev/null | cut -d' ' -f1), wanted $1"
    else
      return 0
    fi
    if ((try < tries)); then sleep $((try * try)); fi
  done
  echo "$fault ($tries tries)"
  return 1
}

# is_current SHA256 TARGET: whether an earlier run installed this very file.
is_current() { [ -e "$2" ] && [ "$(cat "$2.sha256" 2>/dev/null)" = "$1" ]; }

# install_artifact COMPONENT SHA256 NAME MODE TARGET
install_artifact() {
  local file="$work/$3" fault
  if [ -z "$2" ]; then result "$1" 0 "$2" "no artifact for this machine ($(uname -m))"; return; fi
  if is_current "$2" "$5"; then result "$1" 1 "$2" ''; return; fi
  if ! fault=$(fetch "$2" "$3" "$file"); then result "$1" 0 "$2" "$fault"; return; fi
  case $file in *.gz)
    if ! gunzip -f "$file" 2>/dev/null; then result "$1" 0 "$2" "cannot gunzip $3"; return; fi
    file=${file%.gz} ;;
  esac
  if ! place "$file" "$4" "$5"; then result "$1" 0 "$2" "cannot write $5"; return; fi
  printf '%s\n' "$2" >"$work/$1.sha256" && place "$work/$1.sha256" 0644 "$5.sha256"
  result "$1" 1 "$2" ''
}

# The launcher is installed first, and from this script itself: a JVM does not
# start without its -javaagent, so it must not depend on a download.
install_launcher() {
  base64 -d >"$work/launcher.jar" <<'LAUNCHER'
{{.LauncherBase64}}LAUNCHER
  if verify "$work/launcher.jar" {{.LauncherSHA256}} && place "$work/launcher.jar" 0644 {{.NodeLauncherJar}}; then
    result {{.ComponentLauncher}} 1 {{.LauncherSHA256}} ''
  else
    result {{.ComponentLauncher}} 0 {{.LauncherSHA256}} 'cannot write {{.NodeLauncherJar}}'
  fi
}

# read_facts: identifies this node. EMR's files exist when bootstrap actions run,
# but extraInstanceData.json may appear a few seconds later.
read_facts() {
  local pause
  for pause in 0.5 1 2 3 0; do
    cluster=$(json jobFlowId "$info/job-flow.json" | plain)
    role=$(json instanceRole "$info/extraInstanceData.json" | plain | tr '[:upper:]' '[:lower:]')
    if [ -n "$cluster" ] && [ -n "$role" ]; then break; fi
    sleep "$pause"
  done
  [ -n "$cluster" ] || cluster=$(json jobFlowId "$info/extraInstanceData.json" | plain)
  nodes=$(json instanceCount "$info/job-flow.json" | plain)
  if [ "$(json isMaster "$info/instance.json")" = true ]; then role={{.RoleMaster}}; fi
  case $role in {{.RoleMaster}} | {{.RoleCore}} | {{.RoleTask}}) ;; *) role={{.RoleCore}} ;; esac
  host=$(metadata local-hostname | cut -d. -f1 | plain)
  [ -n "$host" ] || host=$(hostname | cut -d. -f1 | plain)
  address=$(metadata local-ipv4 | plain)
  [ -n "$address" ] || address=$(hostname -I 2>/dev/null | cut -d' ' -f1 | plain)
  [ -n "$cluster" ] || { cluster=unknown; say "no cluster id in $info" WARN; }
}

write_files() {
  local yarn=$address:{{.NodeManagerUI}} hdfs=$address:{{.DataNodeUI}}
  case $role in
    {{.RoleMaster}})
      # In a cluster of one node the primary runs the daemons of a core node too.
      if [ "$nodes" != 1 ]; then yarn='' hdfs=''; fi
      yarn+=${yarn:+,}$address:{{.ResourceManagerUI}} hdfs+=${hdfs:+,}$address:{{.NameNodeUI}}
      ;;
    {{.RoleTask}}) hdfs='' ;;
  esac
  if hosts_only; then yarn='' hdfs=''; fi
{{- range .Script.Settings}}
  printf '%s\n' {{.Args}} >"$work/{{.Staged}}"
{{- end}}
{{- range .Script.Files}}
  cat >"$work/{{.Staged}}" <<'{{.Marker}}'
{{.Text}}{{.Marker}}
{{- end}}
  {{.Script.Placements}}
}
{{range .Script.Services}}
# {{.Component}}_up: whether its result is up.
{{.Component}}_up() { grep -q $'^{{.Component}}\t1\t' "$work/result.{{.Component}}" 2>/dev/null; }

# start_{{.Component}}: starts it; if it does not answer, its result becomes down.
start_{{.Component}}() {
  local try deadline=$((SECONDS + 30))
  if ! {{.Component}}_up; then return; fi
  sudo systemctl daemon-reload
  sudo systemctl enable {{.Unit}} >/dev/null 2>&1
  sudo systemctl restart {{.Unit}}
  for ((try = 0; try < 120 && SECONDS < deadline; try++)); do
    if curl -sf -m 1 -o /dev/null http://127.0.0.1:{{.Health}}/; then return; fi
    sleep 0.25
  done
  result {{.Component}} 0 {{.SHA256}} 'does not answer on port {{.Health}}, see journalctl -u {{.Unit}}'
}
{{end}}
# report: writes the results as JSON for people and as an OTLP metric for the
# collector. A part without a result was interrupted and counts as down.
report() {
  local component up sha seconds reason rows='' points='' comma='' lines='' now resource
  now=$(date +%s%N)
  for component in $components; do
    [ -s "$work/result.$component" ] || result "$component" 0 '' 'was not reached'
    IFS=$'\t' read -r component up sha seconds reason < <(sed 's/\t\t/\t-\t/' "$work/result.$component")
    rows+="$comma{\"component\":\"$component\",\"up\":$up,\"reason\":\"$reason\",\"sha256\":\"${sha#-}\",\"seconds\":$seconds}"
    points+="$comma{\"asInt\":\"$up\",\"timeUnixNano\":\"$now\",\"attributes\":[{\"key\":\"{{.BootstrapComponent}}\",\"value\":{\"stringValue\":\"$component\"}}]}"
    comma=','
    if [ "$up" = 0 ]; then
      lines+="${lines:+,}{\"timeUnixNano\":\"$now\",\"severityNumber\":13,\"severityText\":\"WARN\",\"body\":{\"stringValue\":\"$component not installed: $reason\"}}"
    fi
  done
  printf '{"cluster":"%s","role":"%s","host":"%s","content":"%s","seconds":%s,"components":[%s]}\n' \
    "$cluster" "$role" "$host" "$(printf '%s' "$content" | plain)" "$SECONDS" "$rows" >"$work/report"
  printf -v resource '{"key":"%s","value":{"stringValue":"%s"}},' {{.Cluster}} "$cluster" {{.NodeRole}} "$role" {{.HostName}} "$host" {{.ServiceName}} {{.ServiceBootstrap}}
  resource="{\"attributes\":[${resource%,}]}"
  printf '{"resourceMetrics":[{"resource":%s,"scopeMetrics":[{"metrics":[{"name":"{{.MetricBootstrapUp}}","gauge":{"dataPoints":[%s]}}]}]}]}\n' \
    "$resource" "$points" >"$work/metrics"
  place "$work/report" 0644 {{.NodeReportFile}}
  place "$work/metrics" 0644 {{.NodeReportMetrics}}
  if {{.ComponentCollector}}_up; then return; fi
  printf '{"resourceLogs":[{"resource":%s,"scopeLogs":[{"logRecords":[%s]}]}]}\n' "$resource" "$lines" >"$work/logs"
  post metrics &
  post logs &
  wait
}

# post SIGNAL: sends the failures straight to the control node, since no collector
# runs here. If that fails too, only this log and the report have them.
post() {
  curl -sf -m 5 --retry 2 --retry-connrefused -o /dev/null -H 'Content-Type: application/json' \
    --data-binary "@$work/$1" "http://$control:{{.OTLPHTTP}}/v1/$1" || say "cannot send $1 to the control node" WARN
}

# Without a region the AWS CLI asks S3 in us-east-1, which other partitions lack.
region=$(metadata placement/region | plain)
cluster='' role='' nodes='' host='' address=''{{.Script.Sums}}
components='{{.Script.Components}}'
if hosts_only; then components='{{.Script.HostComponents}}'; else install_launcher; fi
case $(uname -m) in
{{- range .Script.Machines}}
  {{.Name}}) {{.Assignments}};;
{{- end}}
  *) {{.Script.Names}};;
esac
{{- range .Script.Downloads}}
{{if .OfSpark}}hosts_only || {{end}}install_artifact {{.Component}} {{.SHA256}} {{.File}} {{.Mode}} {{.Path}} &
{{- end}}
read_facts
write_files || say 'cannot write the files of the node' ERROR
wait
{{- range .Script.Services}}
start_{{.Component}}
{{- end}}
report
say "done in ${SECONDS}s on $host ($role of $cluster)"
exit 0

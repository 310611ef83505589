# Writes the headers for the second destination of traces, a part of the collector's
# configuration. The environment has the names of the parameter, the exporter and the
# file, and an endpoint at which nothing listens. The headers are in no argument and in
# no message.
# External programs: aws, sed, cut, tr, sort, uniq.
set -eu
umask 077

# Keeps the copy in the exporter's queue. The collector must start all the same: it
# serves all other telemetry.
hold() {
  echo "trace-headers: $*; the copy of the traces waits in the collector's queue until the pod restarts" >&2
  printf 'exporters: {%s: {endpoint: "%s"}}\n' "$EXPORTER" "$NOWHERE" >"$FILE"
  exit 0
}

attempt=1
until answer=$(aws ssm get-parameter --region "$AWS_REGION" --name "$PARAMETER" --with-decryption \
  --query 'Parameter.[Type,Value]' --output text --cli-connect-timeout 5 --cli-read-timeout 10); do
  if [ "$attempt" = 3 ]; then hold "SSM parameter $PARAMETER cannot be read"; fi
  sleep "$attempt"
  attempt=$((attempt + 1))
done
tab=$(printf '\t')
case $answer in
  "SecureString$tab"*) headers=${answer#*"$tab"} ;;
  *) hold "SSM parameter $PARAMETER is no SecureString" ;;
esac

form='[A-Za-z0-9_-]+: *[!-~]([ -~]*[!-~])?'
if [ -n "$(printf '%s\n' "$headers" | LC_ALL=C sed -E "/^$form\$/d")" ]; then
  hold "SSM parameter $PARAMETER has a line that is not 'name: value'"
fi
if [ -n "$(printf '%s\n' "$headers" | cut -d: -f1 | tr '[:upper:]' '[:lower:]' | sort | uniq -d)" ]; then
  hold "SSM parameter $PARAMETER has a header twice"
fi
# Quoted for YAML, and against the collector's expansion of variables.
{
  printf 'exporters:\n  %s:\n    headers:\n' "$EXPORTER"
  printf '%s\n' "$headers" | sed -E "s/'/''/g; s/\\$/\$\$/g; s/^([^:]+): *(.*)\$/      '\1': '\2'/"
} >"$FILE"

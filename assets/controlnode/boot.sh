#!/usr/bin/env bash
# Turns a bare Amazon Linux 2023 into a running K3s node. The argument is the file
# of facts that the program rendered. Every stage is idempotent: it keeps what
# exists and adds what is missing.
# External programs: coreutils, aws, curl, systemctl, blkid, mkfs.xfs, mount,
# mountpoint.
set -euo pipefail

# shellcheck source=/dev/null
. "${1:?usage: boot.sh FACTS}"

log() { printf 'boot: %s\n' "$*"; }

# Ends this attempt; the console output and cloud-init's log show the reason.
fail() {
  printf 'boot: FAILED in %s: %s\n' "${FUNCNAME[1]}" "$*" >&2
  exit 1
}

# retry ATTEMPTS COMMAND...: pauses 1, 2, ... up to 15 seconds between attempts.
retry() {
  local attempts=$1 attempt
  shift
  for ((attempt = 1; ; attempt++)); do
    if "$@"; then return 0; fi
    if ((attempt == attempts)); then return 1; fi
    sleep "$((attempt < 15 ? attempt : 15))"
  done
}

data_volume() {
  if mountpoint -q "$DATA_DIR"; then
    log "$DATA_DIR is mounted already"
    return
  fi
  # The volume is attached only after the instance runs.
  retry 45 test -e "$DEVICE" ||
    fail "$DEVICE did not appear; check that the data volume is attached to this instance"

  local signature=0 uuid entry
  blkid -p "$DEVICE" >/dev/null || signature=$?
  case $signature in
    0) log "$DEVICE holds data, which is kept" ;;
    # 2 is "nothing recognized". Without -f, mkfs.xfs checks again and refuses to
    # overwrite a file system.
    2) mkfs.xfs -q "$DEVICE" || fail "mkfs.xfs $DEVICE" ;;
    *) fail "blkid cannot tell what is on $DEVICE (status $signature); it is left as it is" ;;
  esac
  uuid=$(blkid -p -s UUID -o value "$DEVICE") || uuid=
  if [[ -z $uuid ]]; then
    fail "$DEVICE holds something other than a file system; it is left as it is"
  fi

  install -d -m 0755 "$DATA_DIR"
  entry="UUID=$uuid $DATA_DIR xfs defaults,nofail,x-systemd.growfs 0 2"
  if [[ $'\n'$(<"$FSTAB")$'\n' != *$'\n'"$entry"$'\n'* ]]; then
    printf '%s\n' "$entry" >>"$FSTAB"
  fi
  mount "$DATA_DIR" || fail "mount $DATA_DIR"
  log "mounted $DEVICE at $DATA_DIR"
}

parameter() {
  aws ssm get-parameter --region "$REGION" --name "$1" --with-decryption \
    --query Parameter.Value --output text
}

# K3s silently generates its own authorities if one file of the set is missing,
# and then rejects the stack's kubeconfig. So before K3s first starts, all files
# are written or none; until then their contents stay in memory.
authorities() {
  local file name
  local -A content=()
  local -a missing=() foreign=()
  for file in $CA_FILES; do
    name=$PARAMETER_PREFIX$file
    if content[$file]=$(retry 12 parameter "$name") &&
      [[ ${content[$file]} == "-----BEGIN "*"-----END "*"-----" ]]; then
      continue
    fi
    missing+=("$name")
  done
  if ((${#missing[@]})); then
    fail "no PEM in SSM parameter ${missing[*]}; K3s is not started. Check the parameters, the instance role and the key policy"
  fi

  for file in $CA_FILES; do
    if [[ -e $TLS_DIR/$file && $(<"$TLS_DIR/$file") != "${content[$file]}" ]]; then
      foreign+=("$TLS_DIR/$file")
    fi
  done
  if ((${#foreign[@]})); then
    fail "${foreign[*]} differ from the stack's authorities and are left as they are. Restore the stack's state, or rotate with 'k3s certificate rotate-ca'"
  fi

  install -d -m 0755 "$K3S_DIR"
  (umask 077 && mkdir -p "$TLS_DIR")
  for file in $CA_FILES; do
    if [[ -e $TLS_DIR/$file ]]; then continue; fi
    (umask 077 && printf '%s\n' "${content[$file]}" >"$TLS_DIR/.$file")
    mv "$TLS_DIR/.$file" "$TLS_DIR/$file"
    log "installed $TLS_DIR/$file"
  done
}

# fetch URL SHA256 FILE
fetch() {
  curl --fail --location --silent --show-error --proto '=https' --connect-timeout 10 --max-time 300 --output "$3" "$1" &&
    printf '%s  %s\n' "$2" "$3" | sha256sum --check --status
}

# install_file URL SHA256 FILE MODE: the file appears whole and verified, or not at all.
install_file() {
  if [[ -e $3 ]]; then
    log "$3 already installed"
    return
  fi
  mkdir -p "$(dirname "$3")"
  retry 8 fetch "$1" "$2" "$3.part" || fail "no file of sha256 $2 from $1"
  chmod "$4" "$3.part"
  mv "$3.part" "$3"
  log "installed $3"
}

kubernetes() {
  install_file "$K3S_URL" "$K3S_SHA256" "$K3S_BINARY" 0755
  # K3s rejects a node whose name it knows but whose password differs, so the
  # password is stored beside the datastore, not on the instance.
  install -d -m 0700 "$IDENTITY_DIR"
  mkdir -p "$(dirname "$NODE_DIR")"
  if [[ ! -e $NODE_DIR ]]; then ln -s "$IDENTITY_DIR" "$NODE_DIR"; fi

  systemctl daemon-reload
  # protect-kernel-defaults requires the kubelet's sysctls to be set already.
  systemctl restart systemd-sysctl.service
  systemctl enable --now "$K3S_UNIT" || fail "systemctl enable --now $K3S_UNIT; see journalctl -u $K3S_UNIT"
}

mark_done() {
  mkdir -p "$(dirname "$DONE_FILE")"
  printf '%s\n' "$K3S_VERSION" >"$DONE_FILE"
  log "done"
}

data_volume
authorities
kubernetes
mark_done

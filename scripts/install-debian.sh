#!/usr/bin/env bash
# Installs Debian packages by name if they are not there yet, and says so. Tests and benches call it for the tools that
# they compare with; nothing that a user runs needs it.
#
#   scripts/install-debian.sh libarchive-tools wget
#
# Safe to run again: packages that are installed cost one query and no network. The package lists are fetched only when
# they do not know a name. Without root, without apt, or with SKEIN_NO_INSTALL=1 in the environment it prints what is
# missing and exits with 0, so that the caller can go on and skip what needs the tools; exit 1 means that apt tried and
# failed.
set -u

if [ $# -eq 0 ]; then
  echo "usage: $0 package..." >&2
  exit 2
fi

missing=()
for name in "$@"; do
  status=$(dpkg-query --show --showformat='${Status}' "$name" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$name")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "${SKEIN_NO_INSTALL:-}" = 1 ]; then
  echo "notice: SKEIN_NO_INSTALL=1, so these are not installed: ${missing[*]}" >&2
  exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
  echo "notice: not a Debian system, so these are not installed: ${missing[*]}" >&2
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "notice: not root, so these are not installed: ${missing[*]}" >&2
  exit 0
fi

echo "installing Debian packages that tests and benches use: ${missing[*]}" >&2
echo "(this may take some minutes; SKEIN_NO_INSTALL=1 goes on without them)" >&2
export DEBIAN_FRONTEND=noninteractive
# Another run of this script, or of apt, may hold the lock.
# Nothing of this machine may go: nodejs-doc, for one, takes the place of another maker's nodejs.
apt=(apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --no-remove)

unknown() {
  for name in "${missing[@]}"; do
    apt-cache show --no-all-versions "$name" >/dev/null 2>&1 || return 0
  done
  return 1
}

install() {
  # --no-remove: a package that conflicts with one that is here must not take it away.
  "${apt[@]}" install -y --no-install-recommends --no-remove "${missing[@]}" >/dev/null
}

if unknown; then "${apt[@]}" update >/dev/null || true; fi
# Lists that are too old name versions that the mirror no longer has: update once and try again.
install 2>/dev/null || { "${apt[@]}" update >/dev/null; install; } || {
  echo "notice: could not install ${missing[*]}" >&2
  exit 1
}

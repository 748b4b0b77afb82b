#!/usr/bin/env bash
# Prints the path of a nats-server that a cluster may use (2.10.23 or newer), and gets one from Debian if there is none.
# Tests and benches call it; a user with Debian 13 or newer installs the package nats-server instead.
#
#   scripts/install-nats.sh          prints for example /…/.cache/nats/usr/sbin/nats-server
#
# It looks at $NATS_SERVER_BIN, then at nats-server on the path, then at the project's own cache (.cache/nats). Only if
# none of them is new enough does it download the package nats-server of Debian 13 (about 5 MB, and 40 MB of package
# lists) from the mirror that this machine's apt uses, and unpack it into the cache. Nothing is installed: the system's
# packages, sources and lists stay as they are, and root is not needed. With SKEIN_NO_INSTALL=1 in the environment, or
# without apt, it says so and exits with 1.
set -euo pipefail
umask 022

least=2.10.23
suite=trixie
root=$(cd "$(dirname "$0")/.." && pwd)
cache=${SKEIN_NATS_CACHE:-$root/.cache/nats}
unpacked=$cache/usr/sbin/nats-server

new_enough() {
  [ -n "$1" ] && [ -x "$1" ] || return 1
  local version
  version=$("$1" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1) || return 1
  [ "$(printf '%s\n%s\n' "$least" "$version" | sort -V | head -n 1)" = "$least" ]
}

find_one() {
  local candidate
  for candidate in "${NATS_SERVER_BIN:-}" "$(command -v nats-server || true)" /usr/sbin/nats-server "$unpacked"; do
    if new_enough "$candidate"; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

find_one && exit 0

for tool in apt-get dpkg flock; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "notice: no nats-server $least or newer here, and no $tool to get one with" >&2
    exit 1
  fi
done
if [ "${SKEIN_NO_INSTALL:-}" = 1 ]; then
  echo "notice: SKEIN_NO_INSTALL=1, so nats-server is not fetched" >&2
  exit 1
fi

mkdir -p "$cache/lists/partial" "$cache/packages/partial"
# Two test files may ask at the same time; the second one finds what the first one unpacked.
exec 9>"$cache/lock"
flock 9
find_one && exit 0

mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  grep -v '^ *#' | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
if [ -z "$mirror" ]; then
  echo "notice: this machine's apt names no mirror of Debian, so nats-server is not fetched" >&2
  exit 1
fi
echo "fetching nats-server of Debian $suite into $cache (nothing is installed)" >&2

cat >"$cache/sources.list" <<LIST
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror%/} $suite main
LIST
cat >"$cache/apt.conf" <<CONF
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::sourcelist "$cache/sources.list";
Dir::State "$cache";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "$cache";
Dir::Cache::archives "$cache/packages";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
CONF
# The machine's own apt settings (a proxy, for example) are kept where they say how to reach the mirror.
apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https)::' >>"$cache/apt.conf" || true
export APT_CONFIG=$cache/apt.conf

if ! apt-get -qq update >&2 || ! (cd "$cache/packages" && apt-get -qq download nats-server >&2); then
  echo "notice: could not fetch nats-server from ${mirror%/}" >&2
  exit 1
fi
for package in "$cache"/packages/nats-server_*.deb; do dpkg -x "$package" "$cache"; done
rm -rf "$cache/packages" "$cache/lists" "$cache"/*.bin
find_one || {
  echo "notice: the nats-server of Debian $suite is older than $least" >&2
  exit 1
}

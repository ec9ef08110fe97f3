#!/bin/sh
# Install the packages of debian-packages.txt that are missing: quick where none is, and never a failure, because the
# tests that need one skip without it. Services are not started.
cd "$(dirname "$0")" || exit 0
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0
missing=
for package in $(sed 's/#.*//' debian-packages.txt); do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "tests that need$missing will be skipped; to run them, as root: apt-get install --no-install-recommends$missing" >&2
  exit 0
fi
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' > $policy && chmod 755 $policy
fi
quietly() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Acquire::Retries=0 \
    -o Acquire::http::Timeout=20 -o Dpkg::Use-Pty=0 "$@" >/dev/null 2>&1
}
# shellcheck disable=SC2086 # the names are words
quietly install --yes --no-install-recommends $missing ||
  { quietly update && quietly install --yes --no-install-recommends $missing; } ||
  echo "apt-get could not install$missing: the tests that need it will be skipped" >&2
exit 0

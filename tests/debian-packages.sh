#!/bin/sh
# Install the packages of debian-packages.txt that are missing, and name them first. Usage: debian-packages.sh [yes | no];
# by default yes as root, and no as anyone else. This never fails: the tests that need a package skip without it.
cd "$(dirname "$0")" || exit 0
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0
missing=
for package in $(sed 's/#.*//' debian-packages.txt); do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "${1:-yes}" != yes ] || [ "$(id -u)" -ne 0 ]; then
  echo "== Debian packages: not installed, so tests that need them skip:$missing"
  echo "   To run these tests: sudo apt-get install --no-install-recommends$missing"
  exit 0
fi
echo "== Debian packages: installing$missing on this machine, with what they depend on; no service is started."
echo "   make test DEBIAN=no leaves this out, and the tests that need them skip. apt-get remove$missing undoes it."
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' > $policy && chmod 755 $policy
fi
# Without a word while it works; where it fails, what it said last.
said=$(mktemp)
quietly() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Acquire::Retries=0 \
    -o Acquire::http::Timeout=20 -o Dpkg::Use-Pty=0 "$@" >"$said" 2>&1
}
# shellcheck disable=SC2086 # the names are words
quietly install --yes --no-install-recommends $missing ||
  { quietly update && quietly install --yes --no-install-recommends $missing; } ||
  { tail -n 3 "$said"; echo "== apt-get could not install$missing: the tests that need them skip"; } >&2
rm -f "$said"
exit 0

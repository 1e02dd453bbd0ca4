#!/bin/sh
# apt-install.sh PACKAGE…: install Debian packages without starting the services that they bring:
# the machine's own ports and daemons stay as they are, and what is put in the way is taken away again.
# Ends with 3 and names them last where this Debian knows some of the packages not; it installs the others.
set -e
guard=/usr/sbin/policy-rc.d # asked by every package's scripts before they start a service (Debian policy 9.3.3)
if [ ! -e "$guard" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$guard"
    chmod 755 "$guard"
    trap 'rm -f "$guard"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update
unknown=
for package in "$@"; do
    shift
    if apt-cache show "$package" >/dev/null 2>&1; then set -- "$@" "$package"; else unknown="$unknown $package"; fi
done
[ $# -eq 0 ] || apt-get install -y --no-install-recommends "$@"
[ -z "$unknown" ] || { echo "unknown here:$unknown"; exit 3; }

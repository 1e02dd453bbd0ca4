#!/bin/sh
# apt-install.sh PACKAGE…: install Debian packages without starting the services that they bring:
# the machine's own ports and daemons stay as they are, and what is put in the way is taken away again.
set -e
guard=/usr/sbin/policy-rc.d # asked by every package's scripts before they start a service (Debian policy 9.3.3)
if [ ! -e "$guard" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$guard"
    chmod 755 "$guard"
    trap 'rm -f "$guard"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends "$@"

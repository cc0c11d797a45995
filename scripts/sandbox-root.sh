#!/usr/bin/env bash
# Writes a root file system with Python and a shell to standard output, as a tar archive made of packages that are
# installed on this Debian or Ubuntu machine. It needs neither network nor privileges. To get an image from it:
#   scripts/sandbox-root.sh | docker import - weakincentives-sandbox
#   scripts/sandbox-root.sh | podman import - weakincentives-sandbox
set -euo pipefail
packages=(base-files bash coreutils dash diffutils findutils gawk grep gzip procps python3 sed tar util-linux "$@")
needed=(--recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances)
list=$(mktemp)
trap 'rm -f "$list"' EXIT

apt-cache depends "${needed[@]}" "${packages[@]}" | grep '^[a-z0-9]' | sort -u |
  while read -r package; do dpkg-query --listfiles "$package" 2>/dev/null || true; done |
  grep -v -E '^/usr/share/(doc|info|lintian|locale|man|perl)/|^/(\.|package diverts .*|diverted by .*)$' |
  # Where /bin is a link to /usr/bin, packages still name files below /bin.
  if [ -L /bin ]; then sed -E 's#^/(s?bin|lib(32|64|x32)?)/#/usr/\1/#'; else cat; fi > "$list"
find /bin /sbin /lib* /usr/bin/awk /usr/bin/python3* /usr/lib/ssl /etc/alternatives /etc/ld.so.c* -prune >> "$list"
find /etc/alternatives /etc/ld.so.conf.d -type l -o -type f >> "$list"
sort -u "$list" -o "$list"
while read -r path; do if [ -e "$path" ] || [ -L "$path" ]; then printf '%s\n' "${path#/}"; fi; done < "$list" |
  tar --create --directory / --no-recursion --numeric-owner --files-from -

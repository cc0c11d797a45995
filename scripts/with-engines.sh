#!/usr/bin/env bash
# Runs a command with a Docker daemon and a Podman that exist only for it, and an image for sandboxes on both:
#   scripts/with-engines.sh npx vitest run --mode all tests/attacks/docker
# The command finds them in WINK_DOCKER and WINK_PODMAN (clients) and WINK_SANDBOX_IMAGE. An engine that cannot be
# started is left out, with a printed reason. Needs root, and docker.io or podman. Nothing is left afterwards.
set -euo pipefail
here=$(dirname "$0")
image=weakincentives-sandbox
folder=$(mktemp -d)
chmod 755 "$folder"
daemon=
maps=()

end() {
  if [ -n "$daemon" ]; then
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
  fi
  awk -v folder="$folder/" 'index($2, folder) == 1 { print $2 }' /proc/self/mounts | sort -r | xargs -r umount -l
  for map in "${maps[@]}"; do sed -i '/^nobody:400000:/d' "$map"; done
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 143' INT TERM

start_docker() {
  if ! [ -x /usr/sbin/dockerd ]; then echo "Docker is not tested: install docker.io" >&2; return; fi
  mkdir "$folder/docker"
  # No network: containers have none, and the machine's own firewall stays as it is.
  /usr/sbin/dockerd --iptables=false --ip6tables=false --bridge=none --data-root "$folder/docker/data" \
    --exec-root "$folder/docker/exec" --pidfile "$folder/docker/pid" -H "unix://$folder/docker/socket" \
    > "$folder/docker/log" 2>&1 &
  daemon=$!
  printf '#!/bin/sh\nDOCKER_HOST=unix://%s exec docker "$@"\n' "$folder/docker/socket" > "$folder/docker.sh"
  chmod 755 "$folder/docker.sh"
  for _ in $(seq 100); do
    if "$folder/docker.sh" info > /dev/null 2>&1; then
      chmod 666 "$folder/docker/socket" # for tests as an ordinary user, who would be in the group docker
      "$folder/docker.sh" import "$folder/root.tar" "$image" > /dev/null
      export WINK_DOCKER=$folder/docker.sh
      return
    fi
    sleep 0.2
  done
  echo "Docker is not tested, because dockerd did not start: $(tail -n 1 "$folder/docker/log")" >&2
}

start_podman() {
  if ! [ -x /usr/bin/podman ]; then echo "Podman is not tested: install podman" >&2; return; fi
  # crun refuses machines with both versions of control groups; runc comes with docker.io.
  touch "$folder/containers.conf"
  if [ -x /usr/sbin/runc ]; then printf '[engine]\nruntime = "runc"\n' > "$folder/containers.conf"; fi
  for user in root nobody; do
    mkdir -p "$folder/podman-$(id -u "$user")/run"
    chown -R "$user" "$folder/podman-$(id -u "$user")"
  done
  for driver in overlay vfs; do # where overlays cannot be stacked, only the slower one works
    write_podman "$driver"
    if "$folder/podman.sh" import "$folder/root.tar" "$image" > "$folder/log" 2>&1; then
      export WINK_PODMAN=$folder/podman.sh
      break
    fi
  done
  if [ -z "${WINK_PODMAN:-}" ]; then
    echo "Podman is not tested: $(tail -n 1 "$folder/log")" >&2
    return
  fi
  # Rootless Podman needs users that an ordinary user may map.
  for map in /etc/subuid /etc/subgid; do
    if ! grep -q '^nobody:' "$map" 2>/dev/null; then
      echo 'nobody:400000:65536' >> "$map"
      maps+=("$map")
    fi
  done
  as_nobody "$WINK_PODMAN" import "$folder/root.tar" "$image" > "$folder/log" 2>&1 ||
    echo "Podman is not tested as an ordinary user: $(tail -n 1 "$folder/log")" >&2
}

write_podman() {
  cat > "$folder/podman.sh" <<SCRIPT
#!/bin/sh
own=$folder/podman-\$(id -u)
export XDG_RUNTIME_DIR=\$own/run CONTAINERS_CONF=$folder/containers.conf PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec podman --log-level error --storage-driver $1 --root "\$own/storage" --runroot "\$own/state" "\$@"
SCRIPT
  chmod 755 "$folder/podman.sh"
}

as_nobody() { HOME=$folder/podman-65534 setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }

"$here/sandbox-root.sh" > "$folder/root.tar"
start_docker
start_podman
export WINK_SANDBOX_IMAGE=$image
"$@"

#!/usr/bin/env bash
# Runs a command with a PostgreSQL server that exists only for it, in a temporary folder, on a socket there:
#   scripts/with-postgres.sh npx vitest run src/stores/postgres
# The command finds its address in WINK_POSTGRES. PostgreSQL refuses root, so root runs it as the user postgres, or
# nobody. Without PostgreSQL the command runs too, with a printed reason, except in CI. Nothing is left afterwards.
set -euo pipefail
folder=$(mktemp -d)
server=

end() {
  if [ -n "$server" ]; then
    kill -INT "$server" 2>/dev/null || true # ends open connections
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$folder" "$folder.log"
}
trap end EXIT
trap 'exit 143' INT TERM

user=$(id -un)
as_user=()
if [ "$(id -u)" = 0 ]; then
  user=$(id -un postgres 2>/dev/null || echo nobody)
  as_user=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups)
fi

# Prints why PostgreSQL is not tested. In CI that is a failure.
report_missing() {
  echo "PostgreSQL is not tested: $1" >&2
  [ "${CI:-}" != true ]
}

start_postgres() {
  local programs
  programs=$( (ls -d /usr/lib/postgresql/*/bin 2>/dev/null || true) | sort -V | tail -n 1)
  if [ -z "$programs" ]; then report_missing "install postgresql"; return; fi
  chown "$user" "$folder"
  cd "$folder"
  "${as_user[@]}" "$programs/initdb" -D "$folder/data" -A trust -U wink -E UTF8 --locale C > "$folder.log" 2>&1
  "${as_user[@]}" "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c max_connections=200 \
    >> "$folder.log" 2>&1 &
  server=$!
  cd "$OLDPWD"
  for _ in $(seq 150); do
    if "${as_user[@]}" "$programs/pg_isready" -q -h "$folder"; then
      export WINK_POSTGRES="postgres://wink@localhost/postgres?host=$folder"
      return
    fi
    sleep 0.2
  done
  report_missing "it did not start: $(tail -n 1 "$folder.log")"
}

start_postgres
"$@"

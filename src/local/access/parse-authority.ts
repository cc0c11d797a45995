/**
 * Returns the host of a `Host` header such as `"localhost:8484"` or `"[::1]"`, without brackets, or `null` if it is not
 * a plain host with an optional port: no user name, path, zone or space.
 */
export function parseAuthority(authority: string): string | null {
  const match = AUTHORITY.exec(authority);
  if (!match) return null;
  return match[1] ?? match[2] ?? null;
}

const AUTHORITY = /^(?:\[([\da-f:.]{2,45})\]|([a-z\d._-]{1,253}))(?::\d{1,5})?$/i;

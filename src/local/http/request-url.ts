import type { IncomingMessage } from "node:http";

/** Returns the URL of a request from a socket, or `null` if its target or its host is invalid. */
export function toRequestUrl({ url: target = "", headers }: IncomingMessage): string | null {
  const { host = "" } = headers;
  // The URL parser takes longer than the rest of a short request.
  if (PLAIN_HOST.test(host) && PLAIN_PATH.test(target) && !target.includes("/."))
    return `http://${host}${target}`;
  if (/^[^?]*\\/.test(target)) return null; // a parser would read the backslash as a slash
  if (/^https?:\/\//i.test(target)) return URL.parse(target)?.href ?? null;
  if (!target.startsWith("/") || host === "") return null;
  const url = URL.parse(`http://${host}${target}`);
  const hostname = host.replace(/:\d+$/, "").toLowerCase();
  return url?.hostname === hostname ? url.href : null; // otherwise the host is none, such as `a@b`
}

const PLAIN_HOST = /^[a-z0-9.-]+(?::(?:[1-5]?\d{1,4}|6[0-4]\d{3}))?$/;
const PLAIN_PATH = /^\/[\w!$&'()*+,;=:@~./?-]*$/;

import type { IncomingMessage } from "node:http";
import { quoteValue } from "../../base/quote-value.ts";
import { ApiProblem } from "../api-problem.ts";
import { isLoopback } from "./is-loopback.ts";
import { parseAuthority } from "./parse-authority.ts";

/** Options of {@link AccessPolicy}. */
export interface AccessPolicyOptions {
  /** Host names that clients may use in addition to loopback, in lower case and without a port. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may send requests, such as `"http://localhost:5173"`, in lower case. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Decides which requests a server without a key answers. A web page that the user has open can send requests to this
 * machine, and its host name can be made to resolve to it, so the server answers only requests that no foreign page can send:
 * their `Host` is this machine, their `Origin` is absent or the server's own, and their body is JSON or a form with files.
 */
export class AccessPolicy {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** The last accepted `Host`. Clients send the same one with each request. */
  #accepted: string | null = null;

  constructor({ allowedHosts, allowedOrigins }: AccessPolicyOptions) {
    this.#hosts = new Set(allowedHosts);
    this.#origins = new Set(allowedOrigins);
  }

  /** Returns why a request is refused, or `null`. */
  check(incoming: IncomingMessage): ApiProblem | null {
    const { headers } = incoming;
    const { host = "", origin } = headers;
    if (host !== this.#accepted) {
      if (!this.#isAllowedHost(host)) return createHostProblem(host);
      this.#accepted = host;
    }
    const problem = this.#checkTarget(incoming);
    if (problem) return problem;
    if (origin !== undefined && !this.#isAllowedOrigin(origin, host))
      return createOriginProblem(origin);
    const site = headers["sec-fetch-site"];
    if (origin === undefined && site !== undefined && site !== "none" && site !== "same-origin")
      return createSiteProblem(String(site));
    return hasBody(incoming) ? checkContentType(headers["content-type"]) : null;
  }

  /** Checks what few requests have: a second `Host`, or a target that contains a host. */
  #checkTarget({ rawHeaders, url = "/" }: IncomingMessage): ApiProblem | null {
    let hosts = 0;
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === "host") hosts += 1;
    if (hosts > 1) return createHostProblem("several Host headers");
    if (url.startsWith("/") || url === "*") return null;
    const [, authority = ""] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
    return this.#isAllowedHost(authority) ? null : createHostProblem(authority);
  }

  #isAllowedHost(authority: string): boolean {
    const host = parseAuthority(authority);
    return host !== null && (isLoopback(host) || this.#hosts.has(host.toLowerCase()));
  }

  #isAllowedOrigin(origin: string, host: string): boolean {
    const text = origin.toLowerCase();
    return text.replace(/^https?:\/\//, "") === host.toLowerCase() || this.#origins.has(text);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

function checkContentType(type: string | undefined): ApiProblem | null {
  return type !== undefined && BODY_TYPE.test(type) ? null : createTypeProblem(type);
}

/** JSON, or a form with files. */
const BODY_TYPE = /^\s*(?:application\/(?:[\w.!#$&^-]+\+)?json|multipart\/form-data)\s*(?:;|$)/i;

const USE_KEY = "start the provider with an apiKey (wink serve: WINK_API_KEY) and send that key";

function createHostProblem(host: string): ApiProblem {
  const message = `The Host header must be this machine (localhost, 127.0.0.1 or [::1]), got ${quoteValue(host)}. Use such a URL, add the host name to allowedHosts (wink serve: --allow-host), or ${USE_KEY}.`;
  return new ApiProblem(403, message, { code: "host_not_allowed", headers: CLOSE });
}

function createOriginProblem(origin: string): ApiProblem {
  const message = `Requests of web pages are not allowed, got the origin ${quoteValue(origin)}. Add it to allowedOrigins (wink serve: --allow-origin), or send the request from a program.`;
  return new ApiProblem(403, message, { code: "origin_not_allowed", headers: CLOSE });
}

function createSiteProblem(site: string): ApiProblem {
  const message = `Requests of other web sites are not allowed, got the header Sec-Fetch-Site: ${quoteValue(site)}. Send the request from a program, or open the address yourself.`;
  return new ApiProblem(403, message, { code: "origin_not_allowed", headers: CLOSE });
}

function createTypeProblem(type: string | undefined): ApiProblem {
  const got = type === undefined ? "none" : quoteValue(type);
  const message = `The Content-Type header of a request with a body must be application/json or multipart/form-data, got ${got}. Send it, for example with curl: -H 'content-type: application/json'.`;
  return new ApiProblem(415, message, { code: "unsupported_content_type", headers: CLOSE });
}

/** The body is not read, so the connection cannot be used again. */
const CLOSE = { connection: "close" };

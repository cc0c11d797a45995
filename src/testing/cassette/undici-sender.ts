import type { Agent } from "undici";

/** Sends requests with undici's `fetch`. */
export interface UndiciSender {
  readonly fetch: typeof globalThis.fetch;
  /** Closes its connections. */
  close(): Promise<void>;
}

/**
 * Creates a `fetch` without time limits. Node's gives up after five minutes without headers, and a turn
 * with hosted tools can take longer. Undici is loaded at the first request.
 */
export function createUndiciSender(): UndiciSender {
  let agent: Agent | null = null;
  return {
    async fetch(input, init) {
      const undici = await import("undici");
      agent ??= new undici.Agent({ headersTimeout: 0, bodyTimeout: 0, allowH2: false });
      const { method = "GET", redirect = "follow", body, headers, signal } = init ?? {};
      const answer = await undici.fetch(String(input), {
        method,
        redirect,
        headers: [...new Headers(headers)].map(
          ([name, value]) => [name, value] as [string, string],
        ),
        dispatcher: agent,
        ...(body instanceof Uint8Array && { body }),
        ...(signal && { signal }),
      });
      const { status, statusText } = answer;
      return new Response(isEmptyStatus(status) ? null : (answer.body as ReadableStream | null), {
        status,
        statusText,
        headers: [...answer.headers],
      });
    },
    async close() {
      await agent?.destroy();
    },
  };
}

/** Whether responses with this status have no body. */
export function isEmptyStatus(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

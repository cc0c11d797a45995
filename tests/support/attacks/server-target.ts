import { onTestFinished } from "vitest";
import { LocalProvider, type LocalProviderOptions } from "weakincentives/local";
import { hostSandbox } from "../host-sandbox.ts";

/** The header of a JSON body. */
export const JSON_TYPE = { "content-type": "application/json" };

/** The body of a plain turn. */
export const TURN = JSON.stringify({ model: "any", input: "Hi." });

/** Starts a provider on a socket that collects its faults and log entries. */
export async function startServerTarget(options: LocalProviderOptions = {}) {
  const faults: unknown[] = [];
  const entries: object[] = [];
  const provider = new LocalProvider({
    sandbox: hostSandbox(),
    onFault: (error) => void faults.push(error),
    onRequest: (entry) => void entries.push(entry),
    ...options,
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const port = Number(new URL(url).port);
  const post = async (path: string, body: BodyInit, headers: HeadersInit = JSON_TYPE) => {
    const response = await fetch(`${url}/${path}`, { method: "POST", headers, body });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const get = async (path: string) => {
    const response = await fetch(`${url}/${path}`);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { provider, url, port, faults, entries, post, get };
}

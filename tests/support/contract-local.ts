import OpenAI from "openai";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import type {
  ContractThrottle,
  ContractTurn,
  MakeSubject,
} from "../../src/testing/contract/subject.ts";
import { wireUsage } from "./contract-server.ts";
import { createFolder } from "./local/provider-fixture.ts";
import { testKey } from "./openai-clients.ts";
import { changeResponse } from "./wire-stream.ts";
import { workspaceSandbox } from "./workspace/workspace-fixture.ts";

/** How an adapter connects to a provider through this `fetch`. */
type Connect = (
  baseURL: string,
  fetch: typeof globalThis.fetch,
) => Pick<OpenAIAdapterOptions, "client" | "clientConfig">;

/** Connects with the library's own client. */
export const ourClient: Connect = (baseURL, fetch) => ({
  clientConfig: { apiKey: testKey, baseURL, fetch },
});

/** Connects with the official client. */
export const officialClient: Connect = (baseURL, fetch) => ({
  client: new OpenAI({ apiKey: testKey, baseURL, fetch }),
});

/**
 * OpenAI's adapter on the local provider, as a contract subject: containers, code and searches are
 * real. Only usage and Retry-After times, which a model does not control, are patched into the
 * responses.
 */
export function localSubject(reach: Connect): MakeSubject {
  return async (script, { clock, compactsOver }) => {
    const model = scriptedModel(script.map(toActions));
    let last: ContractTurn | undefined;
    const provider = new LocalProvider({
      model: {
        respond(request, options) {
          last = script[request.turn];
          return model.respond(request, options);
        },
      },
      sandbox: workspaceSandbox(),
      web: createFolder({ "owls.html": "<title>Owls</title><p>Owls.</p>" }),
    });
    const { url } = await provider.listen();
    const asked: string[] = [];
    const fetchPatched: typeof fetch = async (input, init) => {
      if (!String(input).endsWith("/responses")) return await fetch(input, init);
      asked.push(await new Response(init?.body).text());
      const response = await fetch(input, init);
      return last ? await patchResponse(response, last) : response;
    };
    const compaction = compactsOver === undefined ? null : { thresholdTokens: compactsOver };
    return {
      adapter: new OpenAIAdapter({
        model: "gpt-5.2",
        ...reach(url, fetchPatched),
        compaction,
        clock,
      }),
      asked: () => asked,
      close: () => provider[Symbol.asyncDispose](),
    };
  };
}

function toActions(turn: ContractTurn): readonly ModelAction[] {
  if ("stall" in turn) return [{ stall: 600_000 }];
  if ("throttle" in turn) return [refusals[turn.throttle.kind]];
  const { text, toolCalls = [], hostedCalls = [], code } = turn;
  return [
    ...(code === undefined ? [] : [{ code: `ROOT = "/mnt/data"\n${code}` }]),
    ...hostedCalls.map(() => ({ search: { web: "owls" } })),
    ...(text === undefined ? [] : [{ say: text }]),
    ...toolCalls.map(({ name, arguments: args = {}, callId }) => ({
      // The contract calls one tool that no prompt offers.
      call: { name, args, madeUp: name === "nought", ...(callId === undefined ? {} : { callId }) },
    })),
  ];
}

const refusals: Readonly<Record<ContractThrottle["throttle"]["kind"], ModelAction>> = {
  network: { drop: true },
  rate_limit: { fail: { status: 429, code: "rate_limit_exceeded" } },
  quota_exhausted: { fail: { status: 429, code: "insufficient_quota" } },
  server: { fail: { status: 500 } },
  timeout: { fail: { status: 408 } },
};

async function patchResponse(response: Response, turn: ContractTurn): Promise<Response> {
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  const { status } = response;
  if ("throttle" in turn && turn.throttle.retryAfterMs !== undefined) {
    headers.set("retry-after-ms", String(turn.throttle.retryAfterMs));
    return new Response(response.body, { status, headers });
  }
  if (!("usage" in turn) || turn.usage === undefined) return response;
  const usage = wireUsage(turn.usage);
  return await changeResponse(response, (value) => ({ ...value, usage }));
}

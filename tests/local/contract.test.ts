import { describe, test } from "vitest";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { adapterContract, type MakeSubject } from "weakincentives/testing";
import { usageOf } from "../../src/base/usage.ts";
import type { ContractThrottle, ContractTurn } from "../../src/testing/contract/subject.ts";
import { hostSandbox } from "../host-sandbox.ts";
import { testKey } from "../openai-clients.ts";
import { folderOf } from "./stage.ts";

describe("OpenAI's adapter on the local provider keeps the adapter contract:", () => {
  for (const { name, run } of adapterContract(localSubject())) test(name, run);
});

/** The adapter over a socket; only what a model cannot know is put into what passes by. */
function localSubject(): MakeSubject {
  return async (script, { clock }) => {
    const provider = new LocalProvider({
      model: scriptedModel(script.map(actionsOf)),
      sandbox: hostSandbox(),
      web: folderOf({ "owls.html": "<title>Owls</title><p>Owls.</p>" }),
    });
    const { url } = await provider.listen();
    const asked: string[] = [];
    const passing: typeof fetch = async (input, init) => {
      const isTurn = String(input).endsWith("/responses");
      const turn = isTurn ? script[asked.length] : undefined;
      if (isTurn) asked.push(await new Response(init?.body).text());
      const response = await fetch(input, init);
      return turn ? await changed(response, turn) : response;
    };
    const clientConfig = { apiKey: testKey, baseURL: url, fetch: passing };
    return {
      adapter: new OpenAIAdapter({ model: "gpt-5.2", clientConfig, clock }),
      asked: () => asked,
      close: () => provider[Symbol.asyncDispose](),
    };
  };
}

function actionsOf(turn: ContractTurn): readonly ModelAction[] {
  if ("stall" in turn) return [{ stall: 600_000 }];
  if ("throttle" in turn) return [refusals[turn.throttle.kind]];
  const { text, toolCalls = [], hostedCalls = [] } = turn;
  return [
    ...hostedCalls.map(() => ({ search: { web: "owls" } })),
    ...(text === undefined ? [] : [{ say: text }]),
    ...toolCalls.map(({ name, arguments: args = {}, callId }) => ({
      call: { name, args, ...(callId === undefined ? {} : { callId }) },
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

/** How long to wait, and what it cost, are the script's to say. */
async function changed(response: Response, turn: ContractTurn): Promise<Response> {
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  if ("throttle" in turn && turn.throttle.retryAfterMs !== undefined) {
    headers.set("retry-after-ms", String(turn.throttle.retryAfterMs));
    return new Response(response.body, { status: response.status, headers });
  }
  if (!("usage" in turn) || turn.usage === undefined) return response;
  const usage = usageOf(turn.usage);
  const body: unknown = await response.json();
  return Response.json(
    {
      ...Object(body),
      usage: {
        input_tokens: usage.inputTokens,
        input_tokens_details: { cached_tokens: usage.cachedTokens },
        output_tokens: usage.outputTokens,
        output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
        total_tokens: usage.totalTokens,
      },
    },
    { status: response.status, headers },
  );
}

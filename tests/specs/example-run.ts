import type { EvaluateOptions, Prompt, PromptResponse } from "weakincentives";
import { Session } from "weakincentives";
import { OpenAIAdapter, type OpenAIAdapterOptions, type WireItem } from "weakincentives/openai";
import { fakeClock, type RecordingBus, recordingBus } from "weakincentives/testing";
import type { clients } from "../openai-clients.ts";
import {
  type SeenRequest,
  type WireScript,
  type WireServerOptions,
  wireServer,
} from "../wire-server.ts";

/** One of the ways to reach a provider. */
export type Reach = (typeof clients)[number][1];

/** What an example is run with besides its prompt. */
export interface ExampleOptions {
  /** What the provider answers. @default nothing: it must not be asked */
  readonly script?: WireScript | undefined;
  readonly adapter?: Partial<OpenAIAdapterOptions> | undefined;
  readonly evaluate?: Partial<EvaluateOptions> | undefined;
  readonly server?: WireServerOptions | undefined;
}

/** What an example showed on the wire and on the bus. */
interface Shown {
  /** Of every `POST /responses`, in order. */
  readonly bodies: readonly WireItem[];
  readonly requests: readonly SeenRequest[];
  readonly bus: RecordingBus;
  readonly session: Session;
}

/** Evaluates an example's prompt on a real socket; it must be answered. */
export async function run<Output>(
  reach: Reach,
  prompt: Prompt<Output>,
  options: ExampleOptions = {},
): Promise<Shown & { readonly response: PromptResponse<Output> }> {
  const { outcome, ...shown } = await attempt(reach, prompt, options);
  if (outcome.status === "rejected") throw outcome.reason;
  return { ...shown, response: outcome.value };
}

/** The same for a prompt that must fail, and what it failed with. */
export async function failure(
  reach: Reach,
  prompt: Prompt<unknown>,
  options: ExampleOptions = {},
): Promise<Shown & { readonly error: unknown }> {
  const { outcome, ...shown } = await attempt(reach, prompt, options);
  if (outcome.status === "fulfilled") throw new Error("It was answered, and should have failed");
  return { ...shown, error: outcome.reason };
}

async function attempt<Output>(
  reach: Reach,
  prompt: Prompt<Output>,
  { script = [], adapter = {}, evaluate = {}, server = {} }: ExampleOptions,
): Promise<Shown & { readonly outcome: PromiseSettledResult<PromptResponse<Output>> }> {
  await using api = await wireServer(script, server);
  const bus = recordingBus();
  const session = evaluate.session ?? new Session({ bus });
  const openai = new OpenAIAdapter({
    model: "gpt-4.1",
    clock: fakeClock({ skipsSleep: true }),
    ...reach(api.url),
    ...adapter,
  });
  const evaluation = openai.evaluate(prompt, { ...evaluate, session });
  const [outcome] = await Promise.allSettled([evaluation]);
  const { requests } = api;
  const bodies = requests.filter(({ path }) => path === "/responses").map(({ body }) => body);
  return { outcome, bodies, requests, bus, session };
}

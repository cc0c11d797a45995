import type { EvaluateOptions, Prompt, PromptResponse } from "weakincentives";
import { Session } from "weakincentives";
import { OpenAIAdapter, type OpenAIAdapterOptions, type WireItem } from "weakincentives/openai";
import { fakeClock, type RecordingBus, recordingBus } from "weakincentives/testing";
import {
  type SeenRequest,
  startWireServer,
  type WireScript,
  type WireServerOptions,
} from "../wire-server.ts";
import type { Reach } from "./example-run.ts";

/**
 * For cases that the local provider, which really runs its tools, cannot answer: tools that it does
 * not have, and responses that only other servers send.
 */

/** Options of a run in addition to the prompt. */
export interface CannedOptions {
  readonly script: WireScript;
  readonly adapter?: Partial<OpenAIAdapterOptions> | undefined;
  readonly evaluate?: Partial<EvaluateOptions> | undefined;
  readonly server?: WireServerOptions | undefined;
}

/** The requests and events of a run. */
interface Shown {
  /** Bodies of every `POST /responses`, in order. */
  readonly bodies: readonly WireItem[];
  readonly requests: readonly SeenRequest[];
  readonly bus: RecordingBus;
  readonly session: Session;
}

/** Evaluates a prompt against prepared responses. The evaluation must succeed. */
export async function runCanned<Output>(
  reach: Reach,
  prompt: Prompt<Output>,
  options: CannedOptions,
): Promise<Shown & { readonly response: PromptResponse<Output> }> {
  const { outcome, ...shown } = await evaluateCanned(reach, prompt, options);
  if (outcome.status === "rejected") throw outcome.reason;
  return { ...shown, response: outcome.value };
}

/**
 * Evaluates a prompt against prepared responses. Returns the error of the evaluation, which must
 * fail.
 */
export async function runCannedFailure(
  reach: Reach,
  prompt: Prompt<unknown>,
  options: CannedOptions,
): Promise<Shown & { readonly error: unknown }> {
  const { outcome, ...shown } = await evaluateCanned(reach, prompt, options);
  if (outcome.status === "fulfilled") throw new Error("It was answered, and should have failed");
  return { ...shown, error: outcome.reason };
}

async function evaluateCanned<Output>(
  reach: Reach,
  prompt: Prompt<Output>,
  { script, adapter = {}, evaluate = {}, server = {} }: CannedOptions,
): Promise<Shown & { readonly outcome: PromiseSettledResult<PromptResponse<Output>> }> {
  await using api = await startWireServer(script, server);
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

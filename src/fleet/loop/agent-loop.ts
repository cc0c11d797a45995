import type { Approver } from "../../adapter/approvals/approval-request.ts";
import type { ProviderAdapter } from "../../adapter/provider-adapter.ts";
import { Budget } from "../../base/budget.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { findJsonProblem } from "../../base/json.ts";
import { checkSchema, type JsonSchema, validate } from "../../base/schema/schema.ts";
import type { Slice } from "../../session/slice.ts";
import type { AgentLoopOptions } from "./agent-loop-options.ts";
import { type ExecuteOptions, executeLoop } from "./execute-loop.ts";
import type { LoopLimits } from "./loop-limits.ts";
import type { LoopRun } from "./loop-run.ts";
import { runLoop } from "./run-loop.ts";
import { runRequest, type WorkerLoop } from "./worker-loop.ts";

const loopKeys: KnownKeys<AgentLoopOptions<unknown, unknown, unknown, unknown>> = {
  adapter: true,
  approve: true,
  finalize: true,
  limits: true,
  name: true,
  prepare: true,
  request: true,
  slices: true,
  version: true,
};

const limitKeys: KnownKeys<LoopLimits> = {
  attempts: true,
  budget: true,
  deadlineMs: true,
  maxTurns: true,
};

/**
 * An agent that answers requests: a schema for the request, a function that prepares its prompt, and an adapter. Run
 * one request with `execute`, or many on the workers of a `Fleet`.
 *
 * @example
 * ```ts
 * import { definePrompt } from "weakincentives";
 * import { AgentLoop } from "weakincentives/fleet";
 * import { OpenAIAdapter } from "weakincentives/openai";
 * import * as z from "zod";
 *
 * export const summarize = new AgentLoop({
 *   name: "summarize",
 *   request: z.object({ text: z.string() }),
 *   prepare: ({ text }) => ({
 *     prompt: definePrompt({ name: "summarize", instructions: "Summarize the text in one sentence." }),
 *     input: text,
 *   }),
 *   adapter: () => new OpenAIAdapter({ model: "gpt-5.2" }),
 * });
 * const summary = await summarize.execute({ text: "A long text." });
 * ```
 */
export class AgentLoop<Request = unknown, Output = unknown, Result = Output, Input = Request>
  implements WorkerLoop
{
  /** Name of the loop. */
  readonly name: string;
  /** Version of the loop. */
  readonly version: string;
  /** JSON Schema of the requests. */
  readonly requestSchema: JsonSchema;
  /** Limits of each run. */
  readonly limits: LoopLimits & { readonly attempts: number };
  /** Slices of the run's session. */
  readonly slices: readonly Slice[];
  /** Decides about calls that need approval; `undefined` for the default. */
  readonly approve: Approver | undefined;
  readonly #options: AgentLoopOptions<Request, Output, Result, Input>;
  #adapter: Promise<ProviderAdapter> | null = null;

  constructor(options: AgentLoopOptions<Request, Output, Result, Input>) {
    checkKnownKeys(options, "AgentLoop", loopKeys);
    const { name, version = "1", request, limits = {}, slices = [], approve } = options;
    if (typeof name !== "string" || !/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) {
      const rule = "must be 1-64 letters, digits, _ . and -, starting with a letter or digit";
      throw refuse("name", name, rule, 'use a name such as "review"');
    }
    if (typeof version !== "string" || !/^[A-Za-z0-9][\w.-]{0,31}$/.test(version)) {
      const rule = "must be 1-32 letters, digits, _ . and -, starting with a letter or digit";
      throw refuse("version", version, rule, 'omit it for "1"');
    }
    const requestSchema = checkSchema(request, "AgentLoop.request", ["any"]);
    checkFunctions({ ...options });
    checkLimits(limits);
    if (!Array.isArray(slices) || !slices.every(isSlice)) {
      throw refuse("slices", slices, "must be a list of slices", "use [defineSlice(…)]");
    }
    this.name = name;
    this.version = version;
    this.requestSchema = requestSchema;
    this.limits = Object.freeze({ ...limits, attempts: limits.attempts ?? 5 });
    this.slices = Object.freeze([...slices]);
    this.approve = approve;
    this.#options = Object.freeze({ ...options });
  }

  /**
   * Runs one request here, without a queue. With a stored session, the run continues where an earlier process stopped.
   * Rejects with the evaluation's error.
   */
  async execute(request: Input, options: ExecuteOptions = {}): Promise<Result> {
    return await executeLoop<Result>(this, request, options);
  }

  /** Validates a request. Throws `InvalidOptionError`. */
  async parseRequest(request: unknown): Promise<Request> {
    const problem = findJsonProblem(request);
    const parsed =
      problem === null
        ? await validate(this.#options.request, request)
        : { ok: false as const, problem };
    if (parsed.ok) return parsed.value;
    const rule = `must match the schema of the loop "${this.name}" (${parsed.problem})`;
    throw new InvalidOptionError({
      field: "request",
      value: request,
      rule,
      remedy: "fix the request",
    });
  }

  /** Runs a request that was stored. For workers. */
  async [runRequest](request: unknown, run: LoopRun): Promise<Result> {
    const parsed = await this.parseRequest(request);
    const { prepare, finalize } = this.#options;
    const { name, limits } = this;
    const openAdapter = () => this.#openAdapter();
    return await runLoop({ name, limits, prepare, finalize, openAdapter }, parsed, run);
  }

  /** Returns the adapter, which is created once. */
  async #openAdapter(): Promise<ProviderAdapter> {
    const { adapter } = this.#options;
    if (typeof adapter !== "function") return adapter;
    const opening = this.#adapter ?? createAdapter(adapter);
    this.#adapter = opening;
    try {
      return await opening;
    } catch (error) {
      if (this.#adapter === opening) this.#adapter = null; // the next run tries again
      throw error;
    }
  }
}

const refuse = InvalidOptionError.at("AgentLoop");

const ADAPTER_REMEDY = "use () => new OpenAIAdapter({ model })";

async function createAdapter(
  create: () => ProviderAdapter | Promise<ProviderAdapter>,
): Promise<ProviderAdapter> {
  const adapter = await create();
  if (isAdapter(adapter)) return adapter;
  throw refuse("adapter", adapter, "must return an adapter", ADAPTER_REMEDY, { secret: true });
}

function isAdapter(value: ProviderAdapter): boolean {
  return typeof value === "object" && typeof value?.evaluate === "function";
}

function isSlice(value: Slice): boolean {
  return typeof value?.id === "string" && typeof value.reduce === "function";
}

function checkFunctions({
  prepare,
  finalize,
  adapter,
  approve,
}: {
  readonly prepare: unknown;
  readonly finalize?: unknown;
  readonly adapter: ProviderAdapter | (() => unknown);
  readonly approve?: unknown;
}): void {
  if (typeof prepare !== "function") {
    const remedy = "use (request) => new Prompt(template).bind(request)";
    throw refuse("prepare", prepare, "must be a function", remedy);
  }
  if (typeof adapter !== "function" && !isAdapter(adapter)) {
    const rule = "must be an adapter or a function";
    throw refuse("adapter", adapter, rule, ADAPTER_REMEDY, { secret: true });
  }
  for (const [name, value] of Object.entries({ finalize, approve })) {
    if (value === undefined || typeof value === "function") continue;
    throw refuse(name, value, "must be a function", "omit it for the default");
  }
}

function checkLimits(limits: LoopLimits): void {
  checkKnownKeys(limits, "AgentLoop.limits", limitKeys);
  const { attempts, deadlineMs, budget, maxTurns } = limits;
  for (const [name, value] of Object.entries({ attempts, deadlineMs, maxTurns })) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw refuse(`limits.${name}`, value, "must be a positive integer", "omit it for the default");
  }
  if (budget === undefined || budget instanceof Budget) return;
  const remedy = "use new Budget({ maxTotalTokens: 2_000_000 })";
  throw refuse("limits.budget", budget, "must be a Budget", remedy);
}

import { expect } from "vitest";
import {
  type EvaluateOptions,
  type EventBus,
  type Prompt,
  type PromptResponse,
  Session,
} from "weakincentives";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import { standingSlice } from "../../../src/adapter/resume/standing.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { MemorySessionStore } from "../memory-session-store.ts";
import { testKey } from "../openai-clients.ts";
import {
  type SeenRequest,
  startWireServer,
  type WireAnswer,
  type WireServer,
  type WireServerOptions,
} from "../wire-server.ts";

/** A run that is killed after each of its stored records. */
export interface KilledRunOptions {
  /** The model's answers. */
  readonly script: readonly WireAnswer[];
  /** Creates the prompt of each process. */
  readonly createPrompt: () => Prompt<unknown>;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  readonly evaluate?: EvaluateOptions;
  /** Whether to use `adapter.stream`. @default false */
  readonly streams?: boolean;
  /** Answers of other routes. They must depend on the request only. */
  readonly routes?: NonNullable<WireServerOptions["routes"]>;
  /** Evaluations before the run, which are not killed. They use the first answers of the script. */
  readonly before?: (adapter: OpenAIAdapter, session: Session) => Promise<void>;
}

/** A run with its own session object, as in a separate process. */
export interface FinishedRun {
  readonly response: PromptResponse<unknown>;
  /** The text that was streamed; empty without `streams`. */
  readonly streamed: string;
  /** The bodies of the turns' requests. */
  readonly turns: readonly string[];
  /** All requests, as method, path and body. */
  readonly requests: readonly string[];
  readonly records: readonly string[];
  /** Requests of turns that the whole run has not sent. */
  readonly strange: readonly string[];
  readonly session: Session;
  readonly bus: ReturnType<typeof recordingBus> & EventBus;
}

const ID = "run";

/**
 * Evaluates a prompt on a stored session, and again from each prefix of its records, as after a kill. The
 * server answers only requests that the whole run has sent: a resumed run sends the same bytes.
 */
export class KilledRuns implements AsyncDisposable {
  readonly #options: KilledRunOptions;
  readonly #model: RememberingModel;
  readonly #server: WireServer;
  #earlierTurns = 0;
  #whole: FinishedRun | null = null;

  private constructor(options: KilledRunOptions, model: RememberingModel, server: WireServer) {
    this.#options = options;
    this.#model = model;
    this.#server = server;
  }

  static async start(options: KilledRunOptions): Promise<KilledRuns> {
    const { routes = {}, script } = options;
    const model = new RememberingModel(script);
    const server = await startWireServer((request) => model.answer(request), { routes });
    return new KilledRuns(options, model, server);
  }

  /** Runs without a kill. Returns the run and the number of records after which it can be killed. */
  async runWhole(): Promise<{ readonly whole: FinishedRun; readonly first: number }> {
    const store = new MemorySessionStore();
    const session = new Session({ id: ID, store, bus: recordingBus() });
    await this.#options.before?.(this.#createAdapter(), session);
    await session.flush();
    const earlier = store.records(ID).length;
    this.#earlierTurns = this.#model.turns;
    const whole = await this.#run(store, session, {});
    this.#model.isLearning = false;
    this.#whole = whole;
    // Before this record, an earlier evaluation of the same prompt is the last one.
    const started = whole.records.findIndex(
      (line, index) => index >= earlier && listEvents(line)[0]?.type === "EvaluationStarted",
    );
    return { whole, first: earlier === 0 ? 0 : started + 1 };
  }

  /** Resumes the run from its first `count` records, with other options if there are some. */
  async resumeAfter(
    records: readonly string[],
    count: number,
    changes: Partial<KilledRunOptions> = {},
  ): Promise<FinishedRun> {
    const { store, session } = await openAfter(records, count);
    this.#model.turns = this.#earlierTurns + countTurns(records.slice(0, count));
    this.#model.strange = [];
    return await this.#run(store, session, { resume: true }, changes);
  }

  /** Resumes the run from its first `count` records, and expects the requests and answer of the whole run. */
  async expectSame(records: readonly string[], count: number): Promise<FinishedRun> {
    if (!this.#whole) throw new Error("Call runWhole first.");
    const resumed = await this.resumeAfter(records, count);
    expectSameRun(resumed, this.#whole, records.slice(0, count));
    return resumed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }

  #createAdapter(changes: Partial<OpenAIAdapterOptions> = {}): OpenAIAdapter {
    const clientConfig = { apiKey: testKey, baseURL: this.#server.url };
    const throttle = { maxAttempts: 1 };
    return new OpenAIAdapter({
      ...{ model: "gpt-5.2", clientConfig, throttle },
      ...this.#options.adapter,
      ...changes,
    });
  }

  async #run(
    store: MemorySessionStore,
    session: Session,
    options: EvaluateOptions,
    changes: Partial<KilledRunOptions> = {},
  ): Promise<FinishedRun> {
    const sent = this.#server.requests.length;
    const { createPrompt, evaluate, streams } = { ...this.#options, ...changes };
    const given = { session, ...evaluate, ...options };
    const adapter = this.#createAdapter(changes.adapter);
    const stream = streams ? adapter.stream(createPrompt(), given) : null;
    let streamed = "";
    for await (const delta of stream?.text() ?? []) streamed += delta;
    const response = await (stream?.response ?? adapter.evaluate(createPrompt(), given));
    await session.flush();
    const requests = this.#server.requests.slice(sent);
    return {
      ...{ response, streamed, session, strange: this.#model.strange },
      turns: requests.filter(({ path }) => path === "/responses").map(({ text }) => text),
      requests: requests.map(({ method, path, text }) => `${method} ${path} ${text}`),
      records: store.lines.get(ID) ?? [],
      bus: session.bus as FinishedRun["bus"],
    };
  }
}

/** Opens the session as it is if the process is killed after its first `count` records. */
export async function openAfter(
  records: readonly string[],
  count: number,
): Promise<{ readonly store: MemorySessionStore; readonly session: Session }> {
  const store = new MemorySessionStore();
  store.lines.set(ID, records.slice(0, count));
  const session = await Session.openOrCreate(store, ID, [], { bus: recordingBus() });
  return { store, session };
}

/** Answers by the number of the turn, and remembers the requests of the first run. */
class RememberingModel {
  /** Requests that the first run has not sent. */
  strange: string[] = [];
  /** The number of turns that are answered. */
  turns = 0;
  readonly #script: readonly WireAnswer[];
  readonly #known = new Set<string>();
  isLearning = true;

  constructor(script: readonly WireAnswer[]) {
    this.#script = script.map(addIds);
  }

  answer({ text }: SeenRequest): WireAnswer {
    if (this.isLearning) this.#known.add(text);
    else if (!this.#known.has(text)) this.strange.push(text);
    const answer = this.#script[this.turns++];
    return answer ?? { status: 400, error: { message: "The script has no more answers." } };
  }
}

/** Adds ids to items without one: the server would create new ids for each response. */
function addIds(answer: WireAnswer, turn: number): WireAnswer {
  const output = Array.isArray(answer) ? answer : "output" in answer ? answer.output : null;
  if (!output) return answer;
  let call = 0;
  const items = output.map((item: WireItem, index: number) => {
    const type = String(item["type"]);
    const isCall = CALLS.has(type);
    if (isCall) call = index;
    const hasCallId = isCall || type === "shell_call_output";
    return {
      id: `item_${turn}_${index}`,
      ...(hasCallId && { call_id: `call_${turn}_${call}` }),
      ...item,
    };
  });
  return Array.isArray(answer) ? items : { ...answer, output: items };
}

const CALLS = new Set(["function_call", "shell_call", "apply_patch_call"]);

/** Kills a run after each of its records, resumes it, and expects the same requests and answer. */
export async function expectSameAfterKills(options: KilledRunOptions): Promise<FinishedRun> {
  await using runs = await KilledRuns.start(options);
  const { whole, first } = await runs.runWhole();
  for (let count = first; count <= whole.records.length; count++) {
    await runs.expectSame(whole.records, count);
  }
  return whole;
}

/** Expects that a resumed run sent only the turns that were not stored, and ended with the same answer. */
function expectSameRun(resumed: FinishedRun, whole: FinishedRun, records: readonly string[]): void {
  const answered = countTurns(records);
  const last = `killed after record ${records.length}: ${records.at(-1)}`;
  // The model reads that the outcome of a lost call is not known.
  if (hasLostCall(records)) expect(resumed.turns, last).toHaveLength(whole.turns.length - answered);
  else expect(resumed.turns, last).toEqual(whole.turns.slice(answered));
  const { text, output, hostedOutputs, finishReason, responseId } = resumed.response;
  const expected = whole.response;
  expect([text, output, finishReason]).toEqual([
    expected.text,
    expected.output,
    expected.finishReason,
  ]);
  expect(resumed.response.usage, last).toEqual(expected.usage);
  expect(responseId === null).toBe(expected.responseId === null);
  if (!hasLostCall(records)) {
    expect(JSON.stringify(hostedOutputs), last).toBe(JSON.stringify(expected.hostedOutputs));
  }
  expect(resumed.session.get(standingSlice).evaluation?.isDone).toBe(true);
}

/** Returns the number of records up to the first one with an event of this type. */
export function countUntil(records: readonly string[], type: string, nth = 1): number {
  let left = nth;
  const index = records.findIndex(
    (line) => listEvents(line).some((event) => event.type === type) && --left === 0,
  );
  if (index === -1) throw new Error(`The run has no ${type} number ${nth}.`);
  return index + 1;
}

/** Returns the number of turns of the last evaluation in the records that were answered or submitted. */
function countTurns(records: readonly string[]): number {
  let turns = 0;
  for (const { type, isResumed, turn = 0 } of records.flatMap(listEvents)) {
    if (type === "EvaluationStarted" && isResumed !== true) turns = 0;
    if (type === "TurnCompleted" || type === "TurnSubmitted") turns = turn;
  }
  return turns;
}

/** Whether a call of the last turn was started and has no result. */
function hasLostCall(records: readonly string[]): boolean {
  let open: readonly unknown[] = [];
  for (const { type, callId } of records.flatMap(listEvents)) {
    if (type === "TurnCompleted") open = [];
    if (type === "ToolStarted") open = [...open, callId];
    if (type === "ToolInvoked") open = open.filter((id) => id !== callId);
  }
  return open.length > 0;
}

/** The fields of a stored event that tests read. */
export interface StoredEvent {
  readonly type?: string;
  readonly isResumed?: boolean;
  readonly callId?: string;
  readonly turn?: number;
}

/** Lists the events of a record. */
export function listEvents(line: string): readonly StoredEvent[] {
  const record = JSON.parse(line);
  if (record.kind === "event") return [record.event];
  return record.kind === "events" ? record.events.map(({ event }: { event: object }) => event) : [];
}

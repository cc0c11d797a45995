import { raceAbort } from "../../base/clock.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { OpenAIAdapter } from "../../openai/adapter.ts";
import { openBrowser } from "../inspect.ts";
import { UsageFailure } from "../usage-failure.ts";
import { hasProvider, openAgentEnvironment } from "./agent-environment.ts";
import { checkAgentFlags } from "./check-agent-flags.ts";
import { createApprover } from "./create-approver.ts";
import {
  type AgentAnswer,
  type AgentEvaluation,
  evaluatePrompt,
  executeRequest,
} from "./evaluate-agent.ts";
import { type Agent, loadAgent } from "./load-agent.ts";
import { openRunSession, type RunSession } from "./open-run-session.ts";
import { PipedInput } from "./piped-input.ts";
import { printAnswer } from "./print-answer.ts";
import { printFailure } from "./print-failure.ts";
import { readParams } from "./read-params.ts";
import type { RunHost } from "./run-host.ts";
import type { AgentRunOptions } from "./run-options.ts";
import { RunPrinter } from "./run-printer.ts";
import { RunRecord } from "./run-record.ts";
import { SignalStop } from "./signal-stop.ts";
import type { LiveInspector } from "./start-live-inspector.ts";

/**
 * Runs the agent that a module exports, prints its answer on standard output or its error on standard error, and cleans
 * up. Returns the exit code.
 */
export async function runAgent(
  options: AgentRunOptions,
  host: RunHost = process,
  openPage: (url: string) => void = openBrowser,
): Promise<number> {
  const printer = new RunPrinter(host.stderr, options);
  using stop = new SignalStop(host);
  try {
    return await runWithProvider({ options, host, printer, stop, openPage });
  } catch (error) {
    return printFailure(error, { options, printer, stop });
  } finally {
    printer.clear();
  }
}

/** The parts that all steps of a run use. */
interface AgentRun {
  readonly options: AgentRunOptions;
  readonly host: RunHost;
  readonly printer: RunPrinter;
  readonly stop: SignalStop;
  readonly openPage: (url: string) => void;
}

/** Starts the provider, and loads the agent, its params and its session. */
async function runWithProvider(run: AgentRun): Promise<number> {
  const { options, host, printer, stop } = run;
  const { signal } = stop;
  using input = createInput(options, host);
  await checkUsage(() => checkAgentFlags(null, options, hasProvider(host.env)));
  await using environment = await openAgentEnvironment(options, host, printer);
  const loaded = await raceAbort(loadAgent(options.file), signal);
  await checkUsage(() => checkAgentFlags(loaded, options, environment.localModel === null));
  const { agent, params } = await checkUsage(async () => {
    const given = await raceAbort(readParams(options, loaded, { input, printer }), signal);
    return await bindAgent(loaded, given);
  });
  const subject = { agent, params, input: options.input };
  await using opened = await checkUsage(() => openRunSession(options, subject));
  return await runInSession({ ...run, agent, params, opened });
}

function createInput({ paramsFile }: AgentRunOptions, { stdin }: RunHost): PipedInput | null {
  if (paramsFile !== undefined && paramsFile !== "-") return null;
  return new PipedInput(stdin, { isExpected: paramsFile === "-" });
}

/** Turns errors about flags and params into errors of usage. */
async function checkUsage<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof InvalidOptionError ? new UsageFailure(error) : error;
  }
}

/** Binds the params of a prompt, or checks the request of a loop. */
async function bindAgent(
  agent: Agent,
  { params, isGiven }: { readonly params: unknown; readonly isGiven: boolean },
): Promise<{ readonly agent: Agent; readonly params: unknown }> {
  try {
    if (agent.kind === "loop") await agent.loop.parseRequest(params);
    else if (isPlainObject(params) && (isGiven || !agent.prompt.isBound)) {
      return { agent: { kind: "prompt", prompt: agent.prompt.bind(params) }, params };
    }
    return { agent, params };
  } catch (error) {
    throw error instanceof InvalidOptionError ? error.withField("--param") : error;
  }
}

/** An agent with its params and its session. */
interface SessionRun extends AgentRun {
  readonly agent: Agent;
  readonly params: unknown;
  readonly opened: RunSession;
}

/** Evaluates the agent and prints the outcome. Keeps the inspector open as long as a person may look at it. */
async function runInSession(run: SessionRun): Promise<number> {
  const { options, host, printer, stop, opened } = run;
  using record = new RunRecord(opened.session, { withEgress: options.json });
  await using inspector = options.inspect ? await startInspector(run) : null;
  let exitCode: number;
  try {
    using _watching = printer.watch(opened.session);
    const answer = await evaluate(run, inspector);
    exitCode = printAnswer(answer, { options, host, printer, record, opened });
  } catch (error) {
    exitCode = printFailure(error, { options, printer, stop, opened, record });
  }
  if (inspector && printer.isShown && !stop.signal.aborted) {
    printer.note(`The inspector stays open at ${inspector.url} until you press Ctrl-C.`);
    await stop.wait();
  }
  return exitCode;
}

async function evaluate(run: SessionRun, inspector: LiveInspector | null): Promise<AgentAnswer> {
  const { options, host, printer, stop, agent, params, opened } = run;
  const { session, isStored } = opened;
  const { signal } = stop;
  signal.throwIfAborted();
  const evaluation: AgentEvaluation = {
    session,
    signal,
    approve: createApprover({ host, printer, signal, isStored }),
    approvals: options.approvals,
    resume: isStored,
    feed: inspector?.feed,
  };
  if (agent.kind === "loop") return await executeRequest(agent.loop, params, evaluation);
  const { model = LOCAL_MODEL, input } = options;
  const createAdapter = () => new OpenAIAdapter({ model });
  return await evaluatePrompt(agent.prompt, { ...evaluation, createAdapter, input });
}

/** The local provider ignores the name of the model. */
const LOCAL_MODEL = "local";

async function startInspector(run: SessionRun): Promise<LiveInspector> {
  const { options, printer, opened, openPage } = run;
  const { startLiveInspector } = await import("./start-live-inspector.ts");
  const { file: label, port } = options;
  const inspector = await startLiveInspector(opened, { label, port });
  printer.print({ inspector: inspector.url }, `Inspector: ${inspector.url}`);
  if (options.open && printer.isShown) openPage(inspector.url);
  return inspector;
}

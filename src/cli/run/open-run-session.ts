import { createHash, randomUUID } from "node:crypto";
import { standingSlice } from "../../adapter/resume/standing.ts";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { stableStringify } from "../../base/json.ts";
import { MountedSection } from "../../prompt/sections/mounted-section.ts";
import { Session } from "../../session/session.ts";
import { type OpenedStore, openStore } from "../open-store.ts";
import type { Agent } from "./load-agent.ts";
import type { AgentRunOptions } from "./run-options.ts";

/** The session of a run, which is closed with its store. */
export interface RunSession extends AsyncDisposable {
  readonly session: Session;
  /** Whether an earlier process has already got the answer. */
  readonly isDone: boolean;
  /** Whether the command stores the session, so that it can continue the run. */
  readonly isStored: boolean;
  /** Reads the records of earlier processes; none without a store. */
  readEarlier(): Promise<readonly object[]>;
}

/** The subject of a run: the same agent, params and input in the same session continue it. */
export interface RunSubject {
  readonly agent: Agent;
  readonly params: unknown;
  readonly input: string | undefined;
}

/**
 * Opens the session of a run: in the store that the options name, the session of the agent's workspace, or a new one.
 * Throws if the session in the store has another subject.
 */
export async function openRunSession(
  options: Pick<AgentRunOptions, "schema" | "session" | "store">,
  subject: RunSubject,
): Promise<RunSession> {
  const own = findOwnSession(subject.agent);
  if (options.store === undefined) {
    const session = own ?? new Session();
    return {
      ...{ session, isDone: false, isStored: false },
      readEarlier: async () => [],
      [Symbol.asyncDispose]: () => session.close(),
    };
  }
  if (own) {
    const what = "--store cannot store the run: the agent's workspace has its own session";
    throw new WinkError(
      `${what}. Export an AgentLoop, and create the workspace in prepare, which receives the session.`,
    );
  }
  const { store: place, schema, session: id = randomUUID() } = options;
  const store = await openStore(place, { schema, create: true });
  try {
    return await openStored(store, id, subject);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    const isId = error instanceof InvalidOptionError && error.field === "Session.id";
    throw isId ? error.withField("--session") : error;
  }
}

/** A workspace that was created with the module belongs to a session. */
function findOwnSession(agent: Agent): Session | undefined {
  if (agent.kind === "loop") return undefined;
  const { outline } = agent.prompt.template;
  return outline.map(({ section }) => section).find((one) => one instanceof MountedSection)
    ?.session;
}

/** The tag that identifies the subject of a run. */
const SUBJECT = "wink.run";

async function openStored(
  store: OpenedStore,
  id: string,
  subject: RunSubject,
): Promise<RunSession> {
  const slices = subject.agent.kind === "loop" ? subject.agent.loop.slices : [];
  const digest = digestSubject(subject);
  const session = await Session.openOrCreate(store, id, slices, { tags: { [SUBJECT]: digest } });
  if (session.tags[SUBJECT] !== digest) {
    throw new InvalidOptionError({
      field: "--session",
      value: id,
      rule: "must be a session of the same agent with the same params and input",
      remedy: "use them again to continue the session, or another id for a new run",
    });
  }
  return {
    session,
    isDone: session.get(standingSlice).evaluation?.isDone ?? false,
    isStored: true,
    readEarlier: () => readRecords(store, id),
    async [Symbol.asyncDispose]() {
      try {
        await session.close();
      } finally {
        await store[Symbol.asyncDispose]();
      }
    },
  };
}

async function readRecords(store: OpenedStore, id: string): Promise<readonly object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}

function digestSubject({ agent, params, input }: RunSubject): string {
  const name = agent.kind === "loop" ? `loop ${agent.loop.name}` : `prompt ${agent.prompt.name}`;
  return createHash("sha256").update(stableStringify({ name, params, input })).digest("hex");
}

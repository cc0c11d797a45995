import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type BusEvent, type EvaluateOptions, type Prompt, Session } from "weakincentives";
import { LocalProvider, type ModelScript, scriptedModel } from "weakincentives/local";
import {
  type CompactionConfig,
  OpenAIAdapter,
  type OpenAIAdapterOptions,
} from "weakincentives/openai";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { readRecords, readString } from "../../../src/base/json.ts";
import { type FaultRelay, startFaultRelay } from "../workspace/fault-relay.ts";
import { workspaceSandbox } from "../workspace/workspace-fixture.ts";
import { findRetentionProblems } from "./retention-problems.ts";

/** An adapter with zero data retention, and a relay that records its requests. */
export interface ZeroRetentionRun {
  readonly relay: FaultRelay;
  readonly adapter: OpenAIAdapter;
  readonly session: Session;
  readonly events: readonly BusEvent[];
  /** Evaluates a prompt and returns the answer's text. */
  evaluate(prompt: Prompt<unknown>, options?: Partial<EvaluateOptions>): Promise<string>;
  /** Lists the containers that exist at the provider. */
  listContainers(): Promise<readonly string[]>;
  /** Checks all requests so far, and that every container was published and removed. */
  expectNothingRetained(): Promise<void>;
}

/** The options of a run. */
export interface ZeroRetentionRunOptions {
  readonly compaction?: CompactionConfig;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  readonly session?: Session;
  readonly web?: string;
}

/** Starts the provider, relay and adapter, which are closed when the test ends. */
export async function startZeroRetentionRun(
  script: ModelScript,
  setting: ZeroRetentionRunOptions = {},
): Promise<ZeroRetentionRun> {
  const { web } = setting;
  const provider = new LocalProvider({
    model: scriptedModel(script),
    sandbox: workspaceSandbox(),
    ...(web !== undefined && { web }),
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const relay = await startFaultRelay(url);
  onTestFinished(() => relay[Symbol.asyncDispose]());
  const session = setting.session ?? new Session();
  const events: BusEvent[] = [];
  session.bus.subscribe("*", (event) => events.push(event));
  const adapter = new OpenAIAdapter({
    model: "local",
    clientConfig: { baseURL: relay.url, apiKey: "local" },
    throttle: { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 4 },
    compaction: { zdrMode: true, ...setting.compaction },
    ...setting.adapter,
  });
  const listContainers = () => listContainersAt(url);
  return {
    ...{ relay, adapter, session, events, listContainers },
    evaluate: async (prompt, options) =>
      (await adapter.evaluate(prompt, { session, ...options })).text,
    async expectNothingRetained() {
      expect(relay.requests.length).toBeGreaterThan(0);
      expect(findRetentionProblems(relay.requests)).toEqual([]);
      expect(await listContainers()).toEqual([]);
      const held = events.filter((event) => event.type === "DataHeld");
      const used = new Set(relay.requests.flatMap(({ containerId }) => containerId ?? []));
      const published = held.map(({ containerId }) => containerId);
      expect([...used].filter((id) => !published.includes(id))).toEqual([]);
    },
  };
}

async function listContainersAt(url: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/containers`, { headers: { authorization: "Bearer local" } });
  const body: unknown = await answer.json();
  return readRecords(isPlainObject(body) ? body : {}, "data").map((one) => readString(one, "id"));
}

/** Creates a temporary folder with these files. It is removed when the test ends. */
export function createFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-zdr-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

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
import { recordsAt, textAt } from "../../../src/base/reading.ts";
import { type Relay, relayTo } from "../workspace/relay.ts";
import { workspaceSandbox } from "../workspace/stage.ts";
import { retentionProblems } from "./retention.ts";

/** An adapter whose provider is to keep nothing, and what stands between them and sees all. */
export interface ZdrStage {
  readonly relay: Relay;
  readonly adapter: OpenAIAdapter;
  readonly session: Session;
  readonly events: readonly BusEvent[];
  /** Gives the answer's text. */
  evaluate(prompt: Prompt<unknown>, options?: Partial<EvaluateOptions>): Promise<string>;
  /** The containers that the provider has now. */
  containers(): Promise<readonly string[]>;
  /** Holds every request so far against the rule, and finds all containers announced and gone. */
  expectNothingKept(): Promise<void>;
}

/** How one differs from the plainest. */
export interface ZdrSetting {
  readonly compaction?: CompactionConfig;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  readonly session?: Session;
  readonly web?: string;
}

/** Starts all of it, gone when the test is over. */
export async function zdrStage(script: ModelScript, setting: ZdrSetting = {}): Promise<ZdrStage> {
  const { web } = setting;
  const provider = new LocalProvider({
    model: scriptedModel(script),
    sandbox: workspaceSandbox(),
    ...(web !== undefined && { web }),
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const relay = await relayTo(url);
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
  const containers = () => containersAt(url);
  return {
    ...{ relay, adapter, session, events, containers },
    evaluate: async (prompt, options) =>
      (await adapter.evaluate(prompt, { session, ...options })).text ?? "",
    async expectNothingKept() {
      expect(relay.requests.length).toBeGreaterThan(0);
      expect(retentionProblems(relay.requests)).toEqual([]);
      expect(await containers()).toEqual([]);
      const held = events.filter((event) => event.type === "DataHeld");
      const named = new Set(relay.requests.flatMap(({ containerId }) => containerId ?? []));
      const announced = held.map(({ containerId }) => containerId);
      expect([...named].filter((id) => !announced.includes(id))).toEqual([]);
    },
  };
}

async function containersAt(url: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/containers`, { headers: { authorization: "Bearer local" } });
  const body: unknown = await answer.json();
  return recordsAt(isPlainObject(body) ? body : {}, "data").map((one) => textAt(one, "id"));
}

/** A folder with these files, gone when the test is over. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-zdr-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

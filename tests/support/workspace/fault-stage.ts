import { rm } from "node:fs/promises";
import { onTestFinished } from "vitest";
import {
  type BusEvent,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import type { ModelAction, ModelScript } from "weakincentives/local";
import {
  OpenAIAdapter,
  type OpenAIAdapterOptions,
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "weakincentives/openai";
import * as z from "zod";
import type { ContainerCalls } from "../../../src/openai/http/container-calls.ts";
import { type OwnAnswer, type Relay, type RelayedRequest, relayTo } from "./relay.ts";
import { workspaceStage } from "./stage.ts";

/** How a container may die: away, out of time, without an interpreter, or told in an answer of 200. */
export type Form = "deleted" | "expired" | "kernel" | "told";

/** What is tried: an adapter whose provider is behind a relay, and a prompt with a workspace. */
export interface FaultStage {
  readonly relay: Relay;
  /** Past the relay. */
  readonly calls: ContainerCalls;
  readonly section: OpenAIContainerWorkspaceSection;
  readonly events: readonly BusEvent[];
  kill(form: Form): (containerId: string) => Promise<void>;
  evaluate(task: string): Promise<string>;
  /** What came of that: events of one type. */
  told<Type extends BusEvent["type"]>(type: Type): readonly Extract<BusEvent, { type: Type }>[];
}

/** How a stage differs from the plainest. */
export interface FaultSetting {
  readonly section: Partial<OpenAIContainerWorkspaceSectionOptions>;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  /** What the tool `note` does. */
  readonly note?: () => Promise<void>;
}

/** Starts all of it, gone when the test is over. */
export async function faultStage(script: Script, setting: FaultSetting): Promise<FaultStage> {
  const { url, calls } = await workspaceStage(dyingOnRequest(script));
  const relay = await relayTo(url);
  onTestFinished(() => relay[Symbol.asyncDispose]());
  const session = new Session();
  const events: BusEvent[] = [];
  session.bus.subscribe("*", (event) => events.push(event));
  const section = new OpenAIContainerWorkspaceSection({
    session,
    allowedHostRoots: "any",
    ...setting.section,
  });
  onTestFinished(async () => {
    await section.cleanup();
    if (section.syncedDir !== null) await rm(section.syncedDir, { recursive: true, force: true });
  });
  const adapter = new OpenAIAdapter({
    model: "local",
    clientConfig: { baseURL: relay.url, apiKey: "local" },
    hostedTools: { codeInterpreter: true },
    throttle: { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 4 },
    ...setting.adapter,
  });
  const note = new Tool({
    name: "note",
    description: "Takes a note.",
    params: z.strictObject({}),
    async handler() {
      await setting.note?.();
      return ToolResult.ok(null, "Noted.");
    },
  });
  return {
    relay,
    calls,
    section,
    events,
    kill: killing({ url, relay, calls }),
    async evaluate(task) {
      const first = new MarkdownSection({
        key: "task",
        title: "Task",
        template: task,
        tools: [note],
      });
      const template = new PromptTemplate({
        ns: "tests",
        key: "fault",
        sections: [first, section],
      });
      return (await adapter.evaluate(new Prompt(template), { session })).text ?? "";
    },
    told: (type) => events.filter((event): event is never => event.type === type),
  };
}

/** Made from the task, and from the items that came after it. */
export type Script = (
  task: string,
  items: readonly Readonly<Record<string, unknown>>[],
) => readonly ModelAction[];

/** What the model lets a container expire for. */
export const EXPIRE = "Let the container expire.";

function dyingOnRequest(script: Script): ModelScript {
  return ({ items, text }) => {
    if (text === EXPIRE) return [{ expireContainer: true }, { say: "It has." }];
    const all = items.map((item) => ({ ...item }) as Readonly<Record<string, unknown>>);
    const task = String(all.find(({ role }) => role === "system")?.["content"]);
    return script(task, all);
  };
}

const DEAD_KERNEL = {
  message: "There was an issue with your request. Please check your inputs and try again",
  type: "invalid_request_error",
  param: null,
  code: null,
};

function killing({
  url,
  relay,
  calls,
}: {
  readonly url: string;
  readonly relay: Relay;
  readonly calls: ContainerCalls;
}): FaultStage["kill"] {
  const dead = new Map<string, OwnAnswer>();
  relay.answerBy(({ method, path, containerId }: RelayedRequest) =>
    method === "POST" && path === "/responses" ? (dead.get(containerId ?? "") ?? null) : null,
  );
  const failed = (id: string) => ({
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "local",
    status: "failed",
    error: { code: "server_error", message: `Container with id '${id}' not found.` },
    output: [],
    usage: null,
  });
  return (form) => async (id) => {
    if (form === "kernel") dead.set(id, { status: 400, json: { error: DEAD_KERNEL } });
    if (form === "told") dead.set(id, { status: 200, json: failed(id) });
    if (form === "deleted" || form === "told") await calls.remove(id);
    if (form === "expired") await expire(url, id);
  };
}

/** Lets a container expire, past the relay. */
export async function expire(url: string, container: string): Promise<void> {
  const answer = await fetch(`${url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer local" },
    body: JSON.stringify({
      model: "local",
      input: EXPIRE,
      tools: [{ type: "code_interpreter", container }],
    }),
  });
  if (!answer.ok) throw new Error(`It did not expire: ${await answer.text()}`);
  await answer.arrayBuffer();
}

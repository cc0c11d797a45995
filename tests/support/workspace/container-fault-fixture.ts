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
import {
  type CannedResponse,
  type FaultRelay,
  type RelayedRequest,
  startFaultRelay,
} from "./fault-relay.ts";
import { createWorkspaceFixture } from "./workspace-fixture.ts";

/** How a container fails: deleted, expired, without an interpreter, or reported as missing in a response with status 200. */
export type ContainerFault = "deleted" | "expired" | "kernel" | "reported";

/** An adapter whose provider is behind a relay, and a prompt with a workspace. */
export interface ContainerFaultFixture {
  readonly relay: FaultRelay;
  /** Calls that bypass the relay. */
  readonly calls: ContainerCalls;
  readonly section: OpenAIContainerWorkspaceSection;
  readonly events: readonly BusEvent[];
  kill(form: ContainerFault): (containerId: string) => Promise<void>;
  evaluate(task: string): Promise<string>;
  /** Returns the events of one type. */
  findEvents<Type extends BusEvent["type"]>(
    type: Type,
  ): readonly Extract<BusEvent, { type: Type }>[];
}

/** Options of the fixture. */
export interface ContainerFaultOptions {
  readonly section: Partial<OpenAIContainerWorkspaceSectionOptions>;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  /** The handler of the tool `note`. */
  readonly note?: () => Promise<void>;
}

/** Starts the fixture. It is disposed when the test ends. */
export async function createContainerFaultFixture(
  script: TaskScript,
  setting: ContainerFaultOptions,
): Promise<ContainerFaultFixture> {
  const { url, calls } = await createWorkspaceFixture(withExpiry(script));
  const relay = await startFaultRelay(url);
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
    kill: createKill({ url, relay, calls }),
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
      return (await adapter.evaluate(new Prompt(template), { session })).text;
    },
    findEvents: (type) => events.filter((event): event is never => event.type === type),
  };
}

/** Returns the model's actions for the task and the items so far. */
export type TaskScript = (
  task: string,
  items: readonly Readonly<Record<string, unknown>>[],
) => readonly ModelAction[];

/** The input that makes the scripted model expire the container. */
export const EXPIRE = "Let the container expire.";

function withExpiry(script: TaskScript): ModelScript {
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

function createKill({
  url,
  relay,
  calls,
}: {
  readonly url: string;
  readonly relay: FaultRelay;
  readonly calls: ContainerCalls;
}): ContainerFaultFixture["kill"] {
  const dead = new Map<string, CannedResponse>();
  relay.respondWith(({ method, path, containerId }: RelayedRequest) =>
    method === "POST" && path === "/responses" ? (dead.get(containerId ?? "") ?? null) : null,
  );
  const createFailedResponse = (id: string) => ({
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
    if (form === "reported") dead.set(id, { status: 200, json: createFailedResponse(id) });
    if (form === "deleted" || form === "reported") await calls.remove(id);
    if (form === "expired") await expireContainer(url, id);
  };
}

/** Expires a container, bypassing the relay. */
export async function expireContainer(url: string, container: string): Promise<void> {
  const answer = await fetch(`${url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer local" },
    body: JSON.stringify({
      model: "local",
      input: EXPIRE,
      tools: [{ type: "code_interpreter", container }],
    }),
  });
  if (!answer.ok) throw new Error(`The container did not expire: ${await answer.text()}`);
  await answer.arrayBuffer();
}

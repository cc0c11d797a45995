import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { silentLogger } from "../base/logger.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { ResourceRegistry, resource } from "../tools/resources.ts";
import { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { ToolResult } from "../tools/tool-result.ts";

type Handler = (context: ToolContext) => unknown;

const createTool = (handler: Handler) =>
  new Tool({
    name: "work",
    description: "Works.",
    params: null,
    handler: async (_, context) => {
      const value = await handler(context);
      return ToolResult.ok(value);
    },
  });

const createPrompt = (handler: Handler, resources?: ResourceRegistry) => {
  const tools = [createTool(handler)];
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools });
  return new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task], resources }));
};

const callWork = { toolCalls: [{ name: "work" }] };
const done = { text: "Done." };

describe("a handler's context", () => {
  test("has everything from the evaluation", async () => {
    let context: ToolContext | undefined;
    const prompt = createPrompt((given) => {
      context = given;
    });
    const session = new Session();
    const client = scriptedClient(callWork, done);
    await client.evaluate(prompt, { session });
    expect(context).toMatchObject({
      prompt,
      adapter: { name: "scripted" },
      filesystem: null,
      deadline: null,
      budgetTracker: null,
    });
    expect(context?.adapter).toBe(client);
    expect(context?.session).toBe(session);
    expect(context?.bus).toBe(session.bus);
    expect(context?.renderedPrompt).toBe(client.asked[0]?.rendered);
    expect(context?.signal).toBe(client.asked[0]?.signal);
    expect(context).not.toHaveProperty("providerOutput");
    expect(context).toSatisfy(Object.isFrozen);
  });

  test("has the files of the workspace", async () => {
    const filesystem = { readBytes() {} } as unknown as Filesystem;
    class Workspace extends MarkdownSection {
      readonly filesystem = filesystem;
    }
    const seen: unknown[] = [];
    const tools = [createTool((context) => seen.push(context.filesystem))];
    const workspace = new Workspace({ key: "files", title: "Files", template: "Files.", tools });
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [workspace] }));
    await scriptedClient(callWork, done).evaluate(prompt, { session: new Session() });
    expect(seen).toEqual([filesystem]);
  });
});

/** A resource that logs when it is created and closed. */
class Door {
  readonly #name: string;
  readonly #log: string[];

  constructor(name: string, log: string[]) {
    this.#name = name;
    this.#log = log;
    log.push(`${name} opened`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#log.push(`${this.#name} closed`);
  }
}

const door = resource<Door>("door");
const name = resource<string>("name");

describe("resources", () => {
  test("of an evaluation take precedence over its template's resources", async () => {
    const seen: string[] = [];
    const look: Handler = (context) => seen.push(context.resources.get(name));
    const prompt = createPrompt(look, new ResourceRegistry().bind(name, "template's"));
    const session = new Session();
    await scriptedClient(callWork, done).evaluate(prompt, { session });
    const resources = new ResourceRegistry().bind(name, "evaluation's");
    await scriptedClient(callWork, done).evaluate(prompt, { session, resources });
    expect(seen).toEqual(["template's", "evaluation's"]);
  });

  test("are created once, on first use, and closed after the evaluation", async () => {
    const log: string[] = [];
    const bus = recordingBus();
    const resources = new ResourceRegistry().bind(door, () => new Door("door", log));
    const prompt = createPrompt(({ resources: all }) => {
      log.push("used");
      const [one, other] = [all.get(door), all.find(door)];
      return one === other;
    });
    bus.subscribe("PromptExecuted", () => void log.push("executed"));
    const client = scriptedClient(callWork, callWork, done);
    await client.evaluate(prompt, { session: new Session({ bus }), resources });
    expect(log).toEqual(["used", "door opened", "used", "executed", "door closed"]);
  });

  test("are closed before the next evaluation on the session starts", async () => {
    const log: string[] = [];
    const resources = new ResourceRegistry().bind(door, () => new Door("door", log));
    const prompt = createPrompt((context) => context.resources.get(door) !== null);
    const session = new Session();
    const ask: ScriptStep = () => {
      log.push("asked");
      return done;
    };
    const first = scriptedClient(callWork, done).evaluate(prompt, { session, resources });
    const second = scriptedClient(ask).evaluate(prompt, { session });
    await Promise.all([first, second]);
    expect(log).toEqual(["door opened", "door closed", "asked"]);
  });

  test("are closed after a failed evaluation", async () => {
    const log: string[] = [];
    const resources = new ResourceRegistry().bind(door, () => new Door("door", log));
    const prompt = createPrompt((context) => context.resources.get(door) !== null);
    const client = scriptedClient(callWork, new Error("down"));
    const evaluation = client.evaluate(prompt, { session: new Session(), resources });
    await expect(evaluation).rejects.toThrow("down");
    expect(log).toEqual(["door opened", "door closed"]);
  });

  test("of a call are closed after that call", async () => {
    const log: string[] = [];
    const resources = new ResourceRegistry().bind(door, () => new Door("door", log), {
      scope: "tool",
    });
    const bus = recordingBus();
    bus.subscribe("ToolInvoked", () => void log.push("invoked"));
    const prompt = createPrompt(({ resources: all }) => [all.get(door), all.find(door)].length);
    const client = scriptedClient({ toolCalls: [{ name: "work" }, { name: "work" }] }, done);
    await client.evaluate(prompt, { session: new Session({ bus }), resources });
    const once = ["door opened", "door closed", "invoked"];
    expect(log).toEqual([...once, ...once]);
  });

  test("of a call are closed after a failed call", async () => {
    const log: string[] = [];
    const resources = new ResourceRegistry().bind(door, () => new Door("door", log), {
      scope: "tool",
    });
    const prompt = createPrompt((context) => {
      context.resources.get(door);
      throw new Error("broken");
    });
    await scriptedClient(callWork, done).evaluate(prompt, { session: new Session(), resources });
    expect(log).toEqual(["door opened", "door closed"]);
  });

  test("created by the caller are not closed", async () => {
    const log: string[] = [];
    const resources = new ResourceRegistry().bind(door, new Door("door", log));
    const prompt = createPrompt((context) => context.resources.get(door) !== null);
    await scriptedClient(callWork, done).evaluate(prompt, { session: new Session(), resources });
    expect(log).toEqual(["door opened"]);
  });

  test("that are not bound make the call fail with a clear message", async () => {
    const client = scriptedClient(callWork, done);
    const prompt = createPrompt((context) => context.resources.get(name));
    await client.evaluate(prompt, { session: new Session() });
    expect(client.asked[1]?.answers[0]?.text).toContain('No resource is bound as "name"');
  });
});

describe("a resource that fails to close", () => {
  const createFailing = () => ({
    [Symbol.dispose]() {
      throw new Error("stuck");
    },
  });
  const stuck = resource<object>("stuck");
  const warned = vi.spyOn(process, "emitWarning");
  beforeEach(() => void warned.mockReset().mockImplementation(() => {}));
  afterAll(() => warned.mockRestore());
  const prompt = createPrompt((context) => context.resources.get(stuck) !== null);

  test("after the evaluation is reported, and the answer is kept", async () => {
    const logged: unknown[] = [];
    const logger = { ...silentLogger, error: (...entry: unknown[]) => void logged.push(entry) };
    const resources = new ResourceRegistry().bind(stuck, createFailing);
    const client = scriptedClient(callWork, done).with({ logger });
    const response = await client.evaluate(prompt, { session: new Session(), resources });
    expect(response.text).toBe("Done.");
    const error = expect.objectContaining({ message: 'Resource "stuck" failed to close: stuck' });
    expect(logged).toEqual([["a resource failed to close", { error }]]);
    expect(warned).toHaveBeenCalledExactlyOnceWith(
      'A resource failed to close: Resource "stuck" failed to close: stuck',
      "WinkWarning",
    );
  });

  test("after a failed evaluation does not hide the error", async () => {
    const resources = new ResourceRegistry().bind(stuck, createFailing);
    const client = scriptedClient(callWork, new Error("down"));
    const evaluation = client.evaluate(prompt, { session: new Session(), resources });
    await expect(evaluation).rejects.toThrow("down");
    expect(warned).toHaveBeenCalledOnce();
  });

  test("after a call makes that call fail", async () => {
    const resources = new ResourceRegistry().bind(stuck, createFailing, { scope: "tool" });
    const client = scriptedClient(callWork, done);
    await client.evaluate(prompt, { session: new Session(), resources });
    expect(client.asked[1]?.answers[0]?.text).toBe(
      'Tool "work" failed: Resource "stuck" failed to close: stuck',
    );
  });
});

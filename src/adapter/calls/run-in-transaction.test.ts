import { describe, expect, test } from "vitest";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { ResourceRegistry, resource } from "../../tools/resources.ts";
import { Tool } from "../../tools/tool.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";

declare module "../../session/event-map.ts" {
  interface EventMap {
    NoteTaken: { readonly type: "NoteTaken"; readonly sessionId: string; readonly note: string };
  }
}

type Result = ToolResult<unknown> | Promise<ToolResult<unknown>>;

const reducers = {
  NoteTaken: (all: readonly string[], { note }: { readonly note: string }) => [...all, note],
};
const notes = defineSlice<readonly string[]>("notes", { initial: [], on: reducers });
const diary = defineSlice<readonly string[]>("diary", { initial: [], on: reducers, policy: "log" });

/** A value that can be restored, synchronously or asynchronously. */
class Cell {
  value = "before";
  readonly #later: boolean;

  constructor({ later = false } = {}) {
    this.#later = later;
  }

  snapshot(): string | Promise<string> {
    return this.#later ? Promise.resolve(this.value) : this.value;
  }

  restore(value: string): void | Promise<void> {
    if (!this.#later) this.value = value;
    else {
      return Promise.resolve().then(() => {
        this.value = value;
      });
    }
  }
}

const cell = resource<Cell>("cell");
const dispatchNote = (note: string, { session }: ToolContext) =>
  session.dispatch({ type: "NoteTaken", sessionId: session.id, note });

/** Runs handlers one after the other, each called once, on a new session. */
async function evaluateHandlers(
  handlers: readonly ((context: ToolContext) => Result)[],
  given: {
    readonly resources?: ResourceRegistry;
    readonly parallel?: boolean;
    readonly sections?: readonly Section[];
    readonly signal?: AbortSignal;
  } = {},
) {
  const left = [...handlers];
  const work = new Tool({
    name: "work",
    description: "Works.",
    params: null,
    parallel: given.parallel ?? false,
    handler: (_, context) => left.shift()?.(context) ?? ToolResult.error("no handler left"),
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Work.",
    tools: [work],
  });
  const sections = [task, ...(given.sections ?? [])];
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));
  const bus = recordingBus();
  const session = new Session({ bus }).register(notes).register(diary);
  const client = scriptedClient(
    { toolCalls: handlers.map(() => ({ name: "work" })) },
    { text: "Done." },
  );
  const { resources, signal } = given;
  const outcome: unknown = await client
    .evaluate(prompt, { session, resources, signal })
    .catch((error: unknown) => error);
  return { outcome, bus, session, state: session.get(notes), log: session.get(diary) };
}

const failures: readonly (readonly [string, () => Result])[] = [
  ["returns a failed result", () => ToolResult.error("failed")],
  [
    "throws",
    () => {
      throw new Error("failed");
    },
  ],
  ["rejects", () => Promise.reject(new Error("failed"))],
  ["returns no result", () => "failed" as never],
];

describe("a call that succeeds", () => {
  test("keeps its changes", async () => {
    const value = new Cell();
    const resources = new ResourceRegistry().bind(cell, value);
    const { state } = await evaluateHandlers(
      [
        (context) => {
          dispatchNote("a", context);
          context.resources.get(cell).value = "after";
          return ToolResult.ok(null);
        },
      ],
      { resources },
    );
    expect(state).toEqual(["a"]);
    expect(value.value).toBe("after");
  });
});

describe.each(failures)("a call whose handler %s", (_, fail) => {
  test("restores state slices", async () => {
    const { state } = await evaluateHandlers([
      (context) => {
        dispatchNote("kept", context);
        return ToolResult.ok(null);
      },
      (context) => {
        dispatchNote("lost", context);
        return fail();
      },
    ]);
    expect(state).toEqual(["kept"]);
  });

  test("keeps log slices and published events", async () => {
    const { log, bus } = await evaluateHandlers([
      (context) => {
        dispatchNote("written", context);
        return fail();
      },
    ]);
    expect(log).toEqual(["written"]);
    expect(bus.of("NoteTaken")).toHaveLength(1);
    expect(bus.of("ToolInvoked")).toMatchObject([{ result: { success: false } }]);
  });

  test.each([
    ["synchronously", false],
    ["asynchronously", true],
  ])("restores a resource that restores %s", async (_when, later) => {
    const value = new Cell({ later });
    const resources = new ResourceRegistry().bind(cell, value);
    const { state } = await evaluateHandlers(
      [
        (context) => {
          context.resources.get(cell).value = "after";
          dispatchNote("lost", context);
          return fail();
        },
      ],
      { resources },
    );
    expect(value.value).toBe("before");
    expect(state).toEqual([]);
  });
});

describe("a call that is aborted", () => {
  test("restores everything", async () => {
    const controller = new AbortController();
    const value = new Cell();
    const resources = new ResourceRegistry().bind(cell, value);
    const { outcome, state, log } = await evaluateHandlers(
      [
        (context) => {
          dispatchNote("lost", context);
          context.resources.get(cell).value = "after";
          controller.abort("stop");
          return new Promise(() => {});
        },
      ],
      { resources, signal: controller.signal },
    );
    expect(outcome).toBe("stop");
    expect(state).toEqual([]);
    expect(log).toEqual(["lost"]);
    expect(value.value).toBe("before");
  });
});

describe("a call's transaction", () => {
  test("includes resources that were created before the call", async () => {
    const resources = new ResourceRegistry().bind(cell, () => new Cell());
    const seen: string[] = [];
    await evaluateHandlers(
      [
        (context) => {
          context.resources.get(cell).value = "first";
          return ToolResult.ok(null);
        },
        (context) => {
          context.resources.get(cell).value = "second";
          return ToolResult.error("failed");
        },
        (context) => {
          seen.push(context.resources.get(cell).value);
          return ToolResult.ok(null);
        },
      ],
      { resources },
    );
    expect(seen).toEqual(["first"]);
  });

  test("excludes resources without snapshots", async () => {
    const plain = resource<{ value: string }>("plain");
    const value = { value: "before" };
    const resources = new ResourceRegistry().bind(plain, value);
    await evaluateHandlers(
      [
        (context) => {
          context.resources.get(plain).value = "after";
          return ToolResult.error("failed");
        },
      ],
      { resources },
    );
    expect(value.value).toBe("after");
  });

  test("includes the workspace's file system once, even if it is also a resource", async () => {
    let restored = 0;
    const filesystem = {
      readBytes() {},
      snapshot: async () => ({ id: "1" }),
      restore: async () => void restored++,
    };
    class Workspace extends MarkdownSection {
      readonly filesystem = filesystem as unknown as Filesystem;
    }
    const files = resource<object>("files");
    const resources = new ResourceRegistry().bind(files, filesystem);
    const sections = [new Workspace({ key: "files", title: "Files", template: "" })];
    const fail = () => ToolResult.error("failed");
    await evaluateHandlers([fail], { sections });
    expect(restored).toBe(1);
    await evaluateHandlers([fail], { sections, resources });
    expect(restored).toBe(2);
  });

  test("releases its snapshots after the call failed, succeeded or never ran", async () => {
    const marks: string[] = [];
    const createMarked = (name: string, snapshot: () => unknown = () => name) => ({
      snapshot,
      restore: () => void marks.push(`${name} restored`),
      release: (mark: string) => {
        marks.push(`${mark} released`);
        throw new Error("it costs room, not the result");
      },
    });
    const [one, other] = [resource<object>("one"), resource<object>("other")];
    const fine = new ResourceRegistry().bind(one, createMarked("one"));
    await evaluateHandlers([() => ToolResult.ok(1)], { resources: fine });
    await evaluateHandlers([() => ToolResult.error("failed")], { resources: fine });
    const rejectSnapshot = () => Promise.reject(new Error("disk full"));
    const half = new ResourceRegistry()
      .bind(one, createMarked("one"))
      .bind(other, createMarked("other", rejectSnapshot));
    const { outcome } = await evaluateHandlers([() => ToolResult.ok(1)], { resources: half });
    expect(outcome).toMatchObject({ phase: "tool", message: "disk full" });
    const restored = ["one restored", "one released"];
    expect(marks).toEqual(["one released", ...restored, ...restored]);
  });

  test("excludes everything for a parallel tool's call", async () => {
    const value = new Cell();
    const resources = new ResourceRegistry().bind(cell, value);
    const { state } = await evaluateHandlers(
      [
        (context) => {
          dispatchNote("stays", context);
          context.resources.get(cell).value = "after";
          return ToolResult.error("failed");
        },
      ],
      { resources, parallel: true },
    );
    expect(state).toEqual(["stays"]);
    expect(value.value).toBe("after");
  });
});

describe("an evaluation fails in phase tool", () => {
  const broken = resource<object>("broken");

  test.each([
    [
      "if a restore throws",
      () => {
        throw new Error("disk full");
      },
    ],
    ["if a restore rejects", () => Promise.reject(new Error("disk full"))],
  ])("%s", async (_, restore) => {
    const resources = new ResourceRegistry().bind(broken, { snapshot: () => 1, restore });
    const { outcome, bus } = await evaluateHandlers([() => ToolResult.error("failed")], {
      resources,
    });
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      phase: "tool",
      message: "A failed tool call could not be rolled back: disk full",
      cause: { message: "disk full" },
      partial: { turns: 1 },
    });
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("if several restores fail, after trying all of them", async () => {
    let restored = 0;
    const createFailing = (message: string) => ({
      snapshot: () => 1,
      restore: () => {
        throw new Error(message);
      },
    });
    const [other, fine] = [resource<object>("other"), resource<object>("fine")];
    const resources = new ResourceRegistry()
      .bind(broken, createFailing("disk full"))
      .bind(other, createFailing("disk gone"))
      .bind(fine, { snapshot: () => 1, restore: () => void restored++ });
    const { outcome } = await evaluateHandlers([() => ToolResult.error("failed")], { resources });
    expect(outcome).toMatchObject({ message: expect.stringContaining("disk full; disk gone") });
    expect(restored).toBe(1);
  });

  test("if a snapshot fails, before the handler runs", async () => {
    let ran = 0;
    const snapshot = () => Promise.reject(new Error("disk full"));
    const resources = new ResourceRegistry().bind(broken, { snapshot, restore() {} });
    const { outcome } = await evaluateHandlers([() => ToolResult.ok(ran++)], { resources });
    expect(outcome).toMatchObject({ phase: "tool", message: "disk full" });
    expect(ran).toBe(0);
  });
});

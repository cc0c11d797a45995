import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { VfsToolsSection } from "../../prompt/sections/vfs-tools-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { Tool } from "../../tools/tool.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";

declare module "../../session/event-map.ts" {
  interface EventMap {
    LateNote: { readonly type: "LateNote"; readonly sessionId: string };
  }
}

const count = defineSlice<number>("lateNotes", { initial: 0, on: { LateNote: (n) => n + 1 } });
const ended = "was refused because its tool call has ended and was rolled back";

/** Work that a handler does after its call has ended. */
type LateWork = (context: ToolContext, filesystem: Filesystem) => unknown;

interface Options {
  readonly filesystem?: Filesystem;
  readonly parallel?: boolean;
  /** How the call ends before the late work. */
  readonly ending: "abort" | "fail" | "succeed";
}

/** Runs one call that ends early, then its late work, and returns how that ended. */
async function runLate(
  late: LateWork,
  { filesystem = new InMemoryFilesystem(), ending, parallel }: Options,
) {
  const controller = new AbortController();
  const { promise: over, resolve: endEvaluation } = Promise.withResolvers<void>();
  const { promise: settled, resolve: settle } = Promise.withResolvers<unknown>();
  const work = new Tool({
    name: "work",
    description: "Works.",
    params: null,
    parallel,
    handler: async (_, context) => {
      await context.filesystem?.writeText("early.txt", "early");
      over.then(() => late(context, filesystem)).then(() => settle(null), settle);
      if (ending === "succeed") return ToolResult.ok(null);
      if (ending === "fail") return ToolResult.error("failed");
      controller.abort("stop");
      return await new Promise<never>(() => {});
    },
  });
  const task = new MarkdownSection({ key: "task", title: "T", template: "Go.", tools: [work] });
  const files = new VfsToolsSection({ filesystem });
  const template = new PromptTemplate({ ns: "demo", key: "late", sections: [task, files] });
  const bus = recordingBus();
  const session = new Session({ bus }).register(count);
  const client = scriptedClient({ toolCalls: [{ name: "work" }] }, { text: "Done." });
  await client
    .evaluate(new Prompt(template), { session, signal: controller.signal })
    .catch(() => {});
  endEvaluation();
  const error = await settled;
  return { error, session, paths: await filesystem.glob("*") };
}

const writes: readonly (readonly [string, LateWork])[] = [
  ["write through its context", (context) => context.filesystem?.writeText("late.txt", "late")],
  ["write through the file system itself", (_, files) => files.writeText("late.txt", "late")],
  ["create a folder", (_, files) => files.mkdir("late")],
];

const createHostFilesystem = async () =>
  new HostFilesystem(await mkdtemp(join(tmpdir(), "wink-late-")));

describe.each(["abort", "fail"] as const)("a handler whose call ended with %s", (ending) => {
  test.each(writes)("cannot %s in memory", async (_, late) => {
    const { error, paths } = await runLate(late, { ending });
    expect(error).toMatchObject({ name: "WinkError", message: expect.stringContaining(ended) });
    expect(paths).toEqual([]);
  });

  test.each(writes)("cannot %s on the host", async (_, late) => {
    const filesystem = await createHostFilesystem();
    const { error } = await runLate(late, { ending, filesystem });
    expect(error).toMatchObject({ message: expect.stringContaining(ended) });
    expect(await filesystem.listDir(".")).toEqual([]);
  });

  test("cannot delete a file that exists", async () => {
    const filesystem = new InMemoryFilesystem();
    await filesystem.writeText("old.txt", "old");
    const late: LateWork = (_, files) => files.delete("old.txt");
    const { error, paths } = await runLate(late, { ending, filesystem });
    expect(error).toMatchObject({ message: expect.stringContaining(ended) });
    expect(paths).toEqual(["old.txt"]);
  });

  test("cannot dispatch to the session", async () => {
    const { error, session } = await runLate(
      ({ session }) => session.dispatch({ type: "LateNote", sessionId: session.id }),
      { ending },
    );
    expect(error).toMatchObject({
      message: `Session.dispatch of LateNote ${ended}. Stop when context.signal aborts, and await all work before the handler returns.`,
    });
    expect(session.get(count)).toBe(0);
  });

  test("cannot change the session through its bus or an old snapshot", async () => {
    const { error, session } = await runLate(
      ({ session, bus }) => {
        bus.publish({ type: "LateNote", sessionId: session.id });
        session.restore(session.snapshot());
      },
      { ending },
    );
    expect(error).toMatchObject({ message: expect.stringContaining("Session.restore") });
    expect(session.get(count)).toBe(0);
  });

  test("cannot start an evaluation", async () => {
    const client = scriptedClient({ text: "Nested." });
    const { error } = await runLate(({ session, prompt }) => client.evaluate(prompt, { session }), {
      ending,
    });
    expect(error).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringContaining(ended),
    });
    expect(client.asked).toEqual([]);
  });

  test("can still read", async () => {
    const filesystem = new InMemoryFilesystem();
    await filesystem.writeText("old.txt", "old");
    const late: LateWork = async (_, files) => expect(await files.readText("old.txt")).toBe("old");
    expect((await runLate(late, { ending, filesystem })).error).toBeNull();
  });
});

test("a parallel call that was canceled can write nothing more", async () => {
  const late: LateWork = (_, files) => files.writeText("late.txt", "late");
  const { error, paths } = await runLate(late, { ending: "abort", parallel: true });
  expect(error).toMatchObject({ message: expect.stringContaining(ended) });
  expect(paths).toEqual(["early.txt"]);
});

test("a call that succeeded may finish its work later", async () => {
  const late: LateWork = (_, files) => files.writeText("late.txt", "late");
  const { error, paths } = await runLate(late, { ending: "succeed" });
  expect(error).toBeNull();
  expect(paths).toEqual(["early.txt", "late.txt"]);
});

test("an evaluation nested in a canceled call ends and changes nothing more", async () => {
  const folder = await mkdtemp(join(tmpdir(), "wink-late-"));
  const filesystem = new HostFilesystem(folder);
  const { promise: canceled, resolve: cancel } = Promise.withResolvers<void>();
  const { promise: inner, resolve: endInner } = Promise.withResolvers<unknown>();
  const controller = new AbortController();
  const slow = new Tool({
    name: "slow",
    description: "Writes late.",
    params: null,
    handler: async () => {
      controller.abort("stop");
      await canceled;
      await filesystem.writeText("late.txt", "late");
      return ToolResult.ok(null);
    },
  });
  const createPrompt = (tool: Tool) => {
    const task = new MarkdownSection({ key: "task", title: "T", template: "Go.", tools: [tool] });
    const files = new VfsToolsSection({ filesystem });
    return new Prompt(new PromptTemplate({ ns: "demo", key: tool.name, sections: [task, files] }));
  };
  const nested = scriptedClient({ toolCalls: [{ name: "slow" }] }, { text: "Nested." });
  const delegate = new Tool({
    name: "delegate",
    description: "Starts another evaluation, without the signal.",
    params: null,
    handler: async (_, { session }) => {
      const running = nested.evaluate(createPrompt(slow), { session });
      running.then(endInner, endInner);
      await running;
      return ToolResult.ok(null);
    },
  });
  const session = new Session({ bus: recordingBus() });
  const outer = scriptedClient({ toolCalls: [{ name: "delegate" }] }, { text: "Done." });
  const { signal } = controller;
  await expect(outer.evaluate(createPrompt(delegate), { session, signal })).rejects.toBe("stop");
  cancel();
  expect(await inner).toMatchObject({ message: expect.stringContaining(ended) });
  expect(await readdir(folder)).toEqual([]);
});

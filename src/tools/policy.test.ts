import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { callRecord } from "./call-record.ts";
import type { ToolPolicy } from "./policy.ts";
import { readBeforeWrite } from "./read-before-write.ts";
import { sequentialDependency } from "./sequential-dependency.ts";
import { Tool } from "./tool.ts";
import type { ToolHandler } from "./tool-context.ts";
import { ToolResult } from "./tool-result.ts";

const toolOf = (name: string, options: { policies?: ToolPolicy[]; handler?: () => unknown } = {}) =>
  new Tool({
    name,
    description: "Works.",
    params: z.object({ path: z.string().optional() }),
    handler: (options.handler ?? (() => ToolResult.ok(name))) as ToolHandler<unknown, unknown>,
    policies: options.policies,
  });

interface Guarded {
  readonly tools: readonly Tool[];
  readonly section?: readonly ToolPolicy[];
  readonly template?: readonly ToolPolicy[];
  readonly existing?: readonly string[];
}

/** What the model reads after each of these calls, made one a turn. */
async function called(guarded: Guarded, ...calls: readonly (readonly [string, object?])[]) {
  class Workspace extends MarkdownSection {
    readonly filesystem = {
      readBytes() {},
      exists: async (path: string) => (guarded.existing ?? []).includes(path),
    } as unknown as Filesystem;
  }
  const section = new Workspace({
    key: "task",
    title: "Task",
    template: "Work.",
    tools: guarded.tools,
    policies: guarded.section,
  });
  const template = new PromptTemplate({
    ns: "demo",
    key: "k",
    sections: [section],
    policies: guarded.template,
  });
  const turns = calls.map(([name, args = {}]) => ({ toolCalls: [{ name, arguments: args }] }));
  const model = scriptedClient(...turns, { text: "Done." });
  const bus = recordingBus();
  const session = new Session({ bus });
  await model.evaluate(new Prompt(template), { session });
  const read = model.asked.slice(1).map(({ answers }) => answers[0]?.result.message ?? "");
  return { read, session, bus };
}

const denying = (name: string): ToolPolicy => ({ name, check: () => `Denied by ${name}.` });

describe("a policy that denies a call", () => {
  test("keeps the handler from running and tells the model why", async () => {
    let ran = 0;
    const tool = toolOf("work", {
      policies: [denying("one")],
      handler: () => ToolResult.ok(ran++),
    });
    const { read, bus } = await called({ tools: [tool] }, ["work"]);
    expect(read).toEqual(['Denied by one. (policy "one")']);
    expect(ran).toBe(0);
    expect(bus.of("ToolInvoked")[0]?.result.success).toBe(false);
  });

  test("is asked in order: the tool's own, the section's, the template's; the first reason counts", async () => {
    const asked: string[] = [];
    const allowing = (name: string): ToolPolicy => ({
      name,
      check: ({ tool, params }) => {
        asked.push(`${name}: ${tool} ${JSON.stringify(params)}`);
        return null;
      },
    });
    const { read } = await called(
      {
        tools: [toolOf("work", { policies: [allowing("tool")] })],
        section: [allowing("section")],
        template: [allowing("template"), denying("last"), denying("never")],
      },
      ["work", { path: "a" }],
    );
    const call = 'work {"path":"a"}';
    expect(asked).toEqual([`tool: ${call}`, `section: ${call}`, `template: ${call}`]);
    expect(read).toEqual(['Denied by last. (policy "last")']);
  });

  test("is one that throws or rejects, too", async () => {
    const throwing: ToolPolicy = {
      name: "broken",
      check: async () => {
        throw new Error("no idea");
      },
    };
    let ran = 0;
    const tool = toolOf("work", { policies: [throwing], handler: () => ToolResult.ok(ran++) });
    const { read } = await called({ tools: [tool] }, ["work"]);
    expect(read).toEqual(['Tool "work" failed: no idea']);
    expect(ran).toBe(0);
  });

  test("may look at the session", async () => {
    const once: ToolPolicy = {
      name: "once",
      check: ({ tool }, { session }) =>
        session.get(callRecord).tools.includes(tool) ? "Once is enough." : null,
    };
    const { read } = await called(
      { tools: [toolOf("work")], template: [once] },
      ["work"],
      ["work"],
    );
    expect(read).toEqual(["OK", 'Once is enough. (policy "once")']);
  });
});

test.each([
  ["a tool", () => toolOf("work", { policies: [{}] as never })],
  [
    "a section",
    () => new MarkdownSection({ key: "k", title: "K", template: "", policies: 5 as never }),
  ],
  [
    "a template",
    () => new PromptTemplate({ ns: "a", key: "b", sections: [], policies: [null] as never }),
  ],
])("%s refuses what is no policy", (_, make) => {
  expect(make).toThrow(PromptValidationError);
  expect(make).toThrow("must be a list of policies");
});

describe("sequentialDependency", () => {
  const after = sequentialDependency({ tool: "ship", after: ["test", "review"] });
  const tools = [
    toolOf("test"),
    toolOf("review", { handler: () => ToolResult.error("not yet") }),
    toolOf("ship"),
  ];

  test("lets a tool run only after all the others have succeeded", async () => {
    const fine = [toolOf("test"), toolOf("review"), toolOf("ship")];
    const { read } = await called(
      { tools: fine, template: [after] },
      ["ship"],
      ["test"],
      ["ship"],
      ["review"],
      ["ship"],
    );
    expect(read).toEqual([
      'Call "test", "review" first, then "ship". (policy "ship after test, review")',
      "OK",
      'Call "review" first, then "ship". (policy "ship after test, review")',
      "OK",
      "OK",
    ]);
  });

  test("counts no failed call", async () => {
    const { read } = await called({ tools, template: [after] }, ["test"], ["review"], ["ship"]);
    expect(read[2]).toContain('Call "review" first');
  });

  test.each([
    [{ tool: "Ship", after: ["test"] }, "sequentialDependency(tool)"],
    [{ tool: "ship", after: [] }, "sequentialDependency(after)"],
    [{ tool: "ship", after: ["ship"] }, "sequentialDependency(after)"],
    [{ tool: "ship", after: "test" }, "sequentialDependency(after)"],
    [{ tool: "ship", after: ["no good"] }, "sequentialDependency(after)[0]"],
  ])("refuses %j", (options, field) => {
    expect(() => sequentialDependency(options as never)).toThrow(
      expect.objectContaining({ name: "PromptValidationError", field }),
    );
  });
});

describe("readBeforeWrite", () => {
  const tools = [toolOf("read"), toolOf("write"), toolOf("edit"), toolOf("ls")];
  const guarded = { tools, template: [readBeforeWrite()], existing: ["old.txt"] };

  test("lets an existing file be changed only once it was read", async () => {
    const old = { path: "old.txt" };
    const { read } = await called(guarded, ["write", old], ["read", old], ["edit", old], ["ls"]);
    const denial = 'Read "old.txt" with "read" before you change it. (policy "read before write")';
    expect(read).toEqual([denial, "OK", "OK", "OK"]);
  });

  test("lets new files be made, and changed by whoever made them", async () => {
    const { read } = await called(
      { ...guarded, existing: [] },
      ["write", { path: "new.txt" }],
      ["edit", { path: "new.txt" }],
    );
    expect(read).toEqual(["OK", "OK"]);
  });

  test("denies what it cannot look at", async () => {
    const { read } = await called(guarded, ["write", {}]);
    expect(read).toEqual(['"write" has no path to look at. (policy "read before write")']);
    const policy = readBeforeWrite();
    const context = { session: new Session(), filesystem: null } as never;
    expect(await policy.check({ tool: "rm", params: { path: "a" } }, context)).toBe(
      "There is no file system to look at.",
    );
  });

  test("takes other tools", async () => {
    const policy = readBeforeWrite({ readTools: ["look"], writeTools: ["put"] });
    const named = [toolOf("look"), toolOf("put"), toolOf("write")];
    const { read } = await called(
      { tools: named, template: [policy], existing: ["a"] },
      ["put", { path: "a" }],
      ["write", { path: "a" }],
    );
    expect(read[0]).toContain('Read "a" with "look"');
    expect(read[1]).toBe("OK");
    expect(() => readBeforeWrite({ readTools: ["Look!"] })).toThrow(PromptValidationError);
  });
});

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
import { webSearchTool } from "./hosted/web-search.ts";
import { NativeTool } from "./native-tool.ts";
import type { ToolPolicy } from "./policy.ts";
import { ProviderTool } from "./provider-tool.ts";
import { readBeforeWrite } from "./read-before-write.ts";
import { sequentialDependency } from "./sequential-dependency.ts";
import { Tool } from "./tool.ts";
import type { ToolHandler } from "./tool-context.ts";
import { ToolResult } from "./tool-result.ts";

const createTool = (
  name: string,
  options: { policies?: ToolPolicy[]; handler?: () => unknown } = {},
) =>
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

/** Runs these calls, one per turn, and returns the results that the model reads. */
async function runCalls(guarded: Guarded, ...calls: readonly (readonly [string, object?])[]) {
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

const denyWith = (name: string): ToolPolicy => ({ name, check: () => `Denied by ${name}.` });

describe("a policy that denies a call", () => {
  test("prevents the handler from running and tells the model the reason", async () => {
    let ran = 0;
    const tool = createTool("work", {
      policies: [denyWith("one")],
      handler: () => ToolResult.ok(ran++),
    });
    const { read, bus } = await runCalls({ tools: [tool] }, ["work"]);
    expect(read).toEqual(['Denied by one. (policy "one")']);
    expect(ran).toBe(0);
    expect(bus.of("ToolInvoked")[0]?.result.success).toBe(false);
  });

  test("is checked in order (tool, section, template), and the first reason wins", async () => {
    const asked: string[] = [];
    const allowAs = (name: string): ToolPolicy => ({
      name,
      check: ({ tool, params }) => {
        asked.push(`${name}: ${tool} ${JSON.stringify(params)}`);
        return null;
      },
    });
    const { read } = await runCalls(
      {
        tools: [createTool("work", { policies: [allowAs("tool")] })],
        section: [allowAs("section")],
        template: [allowAs("template"), denyWith("last"), denyWith("never")],
      },
      ["work", { path: "a" }],
    );
    const call = 'work {"path":"a"}';
    expect(asked).toEqual([`tool: ${call}`, `section: ${call}`, `template: ${call}`]);
    expect(read).toEqual(['Denied by last. (policy "last")']);
  });

  test("may also throw or reject", async () => {
    const throwing: ToolPolicy = {
      name: "broken",
      check: async () => {
        throw new Error("no idea");
      },
    };
    let ran = 0;
    const tool = createTool("work", { policies: [throwing], handler: () => ToolResult.ok(ran++) });
    const { read } = await runCalls({ tools: [tool] }, ["work"]);
    expect(read).toEqual(['Tool "work" failed: no idea']);
    expect(ran).toBe(0);
  });

  test("can read the session", async () => {
    const once: ToolPolicy = {
      name: "once",
      check: ({ tool }, { session }) =>
        session.get(callRecord).tools.includes(tool) ? "Once is enough." : null,
    };
    const { read } = await runCalls(
      { tools: [createTool("work")], template: [once] },
      ["work"],
      ["work"],
    );
    expect(read).toEqual(["OK", 'Once is enough. (policy "once")']);
  });
});

test.each([
  ["a tool", () => createTool("work", { policies: [{}] as never })],
  [
    "a section",
    () => new MarkdownSection({ key: "k", title: "K", template: "", policies: 5 as never }),
  ],
  [
    "a template",
    () => new PromptTemplate({ ns: "a", key: "b", sections: [], policies: [null] as never }),
  ],
])("%s rejects an invalid policy", (_, make) => {
  expect(make).toThrow(PromptValidationError);
  expect(make).toThrow("must be an array of policies");
});

describe("sequentialDependency()", () => {
  const after = sequentialDependency({ tool: "ship", after: ["test", "review"] });
  const tools = [
    createTool("test"),
    createTool("review", { handler: () => ToolResult.error("not yet") }),
    createTool("ship"),
  ];

  test("allows a tool only after all others have succeeded", async () => {
    const fine = [createTool("test"), createTool("review"), createTool("ship")];
    const { read } = await runCalls(
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

  test("compares names by exact spelling", async () => {
    const names = [createTool("Test"), createTool("test"), createTool("Ship")];
    const policy = sequentialDependency({ tool: "Ship", after: ["Test"] });
    const { read } = await runCalls(
      { tools: names, template: [policy] },
      ["test"],
      ["Ship"],
      ["Test"],
      ["Ship"],
    );
    expect(read[1]).toContain('Call "Test" first, then "Ship".');
    expect([read[0], read[2], read[3]]).toEqual(["OK", "OK", "OK"]);
  });

  test("does not count failed calls", async () => {
    const { read } = await runCalls({ tools, template: [after] }, ["test"], ["review"], ["ship"]);
    expect(read[2]).toContain('Call "review" first');
  });

  test.each([
    [{ tool: "Ship it", after: ["test"] }, "sequentialDependency(tool)"],
    [{ tool: "ship", after: [] }, "sequentialDependency(after)"],
    [{ tool: "ship", after: ["ship"] }, "sequentialDependency(after)"],
    [{ tool: "ship", after: "test" }, "sequentialDependency(after)"],
    [{ tool: "ship", after: ["no good"] }, "sequentialDependency(after)[0]"],
  ])("rejects %j", (options, field) => {
    expect(() => sequentialDependency(options as never)).toThrow(
      expect.objectContaining({ name: "PromptValidationError", field }),
    );
  });
});

describe("readBeforeWrite()", () => {
  const tools = [createTool("read"), createTool("write"), createTool("edit"), createTool("ls")];
  const guarded = { tools, template: [readBeforeWrite()], existing: ["old.txt"] };

  test("allows changing an existing file only after it was read", async () => {
    const old = { path: "old.txt" };
    const { read } = await runCalls(guarded, ["write", old], ["read", old], ["edit", old], ["ls"]);
    const denial = 'Read "old.txt" with "read" before you change it. (policy "read before write")';
    expect(read).toEqual([denial, "OK", "OK", "OK"]);
  });

  test("allows creating new files, and changing files that the model created", async () => {
    const { read } = await runCalls(
      { ...guarded, existing: [] },
      ["write", { path: "new.txt" }],
      ["edit", { path: "new.txt" }],
    );
    expect(read).toEqual(["OK", "OK"]);
  });

  test("denies a call that it cannot check", async () => {
    const { read } = await runCalls(guarded, ["write", {}]);
    expect(read).toEqual(['"write" has no "path" param to check. (policy "read before write")']);
    const policy = readBeforeWrite();
    const context = { session: new Session(), filesystem: null } as never;
    expect(await policy.check({ tool: "rm", params: { path: "a" } }, context)).toBe(
      "The prompt has no file system to check.",
    );
  });

  test.each(["toString", "constructor", "__proto__", "hasOwnProperty"])(
    "works with tools named like a member of every object: %s",
    async (name) => {
      const policy = readBeforeWrite({ readTools: [name], writeTools: ["put"] });
      const named = [createTool(name), createTool("put")];
      const path = { path: "a" };
      const { read } = await runCalls(
        { tools: named, template: [policy], existing: ["a"] },
        ["put", path],
        [name, path],
        ["put", path],
      );
      expect(read).toEqual([expect.stringContaining(`Read "a" with "${name}"`), "OK", "OK"]);
    },
  );

  test("accepts other tool names", async () => {
    const policy = readBeforeWrite({ readTools: ["look"], writeTools: ["put"] });
    const named = [createTool("look"), createTool("put"), createTool("write")];
    const { read } = await runCalls(
      { tools: named, template: [policy], existing: ["a"] },
      ["put", { path: "a" }],
      ["write", { path: "a" }],
    );
    expect(read[0]).toContain('Read "a" with "look"');
    expect(read[1]).toBe("OK");
    expect(() => readBeforeWrite({ readTools: ["Look!"] })).toThrow(PromptValidationError);
  });
});

describe("a policy that names tools", () => {
  const runAfter = (tool: string, ...names: string[]) =>
    sequentialDependency({ tool, after: names });
  const hostedTools = [webSearchTool()];
  const params = z.object({});
  const native = new NativeTool({ name: "grab", description: "Grabs.", params, result: params });
  const provided = new ProviderTool({
    name: "fetch_it",
    description: "Fetches.",
    params: z.object({}),
    provider: "openai",
    kind: "web_search",
    config: {},
    policies: [denyWith("never")],
  });
  const createTemplate = (
    tools: readonly Tool[],
    { section = [], template = [] }: Omit<Guarded, "tools"> = {},
  ) =>
    new PromptTemplate({
      ns: "demo",
      key: "k",
      policies: template,
      sections: [
        new MarkdownSection({
          key: "work",
          title: "W",
          template: "",
          tools,
          hostedTools,
          policies: section,
          children: [
            new MarkdownSection({
              key: "ship",
              title: "S",
              template: "",
              tools: [createTool("ship")],
            }),
          ],
        }),
      ],
    });
  const works = [createTool("test"), createTool("review")];

  test.each<readonly [string, () => unknown, RegExp]>([
    [
      "an unknown guarded tool",
      () => createTemplate(works, { template: [runAfter("shipp", "test")] }),
      /^Template "demo:k" policy must name tools of the template, not "shipp", got "shipp after test"\. Did you mean "ship"\?$/,
    ],
    [
      "an unknown tool in `after`",
      () => createTemplate(works, { template: [runAfter("ship", "test", "approve_it")] }),
      /not "approve_it".* Use one of "test", "review", .*"web_search"/,
    ],
    [
      "a hosted tool",
      () => createTemplate(works, { template: [runAfter("web_search", "test")] }),
      /must not guard "web_search", because no policy is checked before a hosted tool runs, got .* Remove the policy, and limit the tool with its own config\.$/,
    ],
    [
      "a native tool",
      () => createTemplate([...works, native], { template: [runAfter("grab", "test")] }),
      /must not guard "grab"/,
    ],
    [
      "a provider tool that has the policy itself",
      () => createTemplate([...works, provided]),
      /^Template "demo:k" tool "fetch_it" policy must not guard "fetch_it"/,
    ],
    [
      "a tool of another section",
      () => createTemplate(works, { section: [runAfter("ship", "test")] }),
      /^Template "demo:k" section "work" policy must guard "test", "review", because it is not checked for "ship".* Move the policy to "ship", to its section or to the template\.$/,
    ],
    [
      "another tool than the one that has it",
      () => createTemplate([...works, createTool("go", { policies: [runAfter("ship", "test")] })]),
      /^Template "demo:k" tool "go" policy must guard "go"/,
    ],
    [
      "an unknown tool that reads",
      () => createTemplate(works, { template: [readBeforeWrite({ readTools: ["look"] })] }),
      /not "look"/,
    ],
    [
      "an unknown tool that writes",
      () => createTemplate(works, { template: [readBeforeWrite({ writeTools: ["put"] })] }),
      /not "put"/,
    ],
    [
      "an unknown tool in a policy of your own",
      () => createTemplate(works, { template: [{ ...denyWith("mine"), guards: ["tests"] }] }),
      /not "tests".* Did you mean "test"\?$/,
    ],
  ])("rejects %s when the template is created", (_, make, message) => {
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(message);
  });

  test("may wait for hosted tools and the library's own, and guard its section's tools", () => {
    expect(() =>
      createTemplate(works, {
        template: [runAfter("ship", "web_search", "read_section"), readBeforeWrite()],
        section: [runAfter("review", "ship")],
      }),
    ).not.toThrow();
  });

  test("must list their names", () => {
    const policy = { ...denyWith("mine"), guards: "test" };
    expect(() => createTool("work", { policies: [policy as never] })).toThrow(
      "must be an array of policies",
    );
  });
});

import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { holds, same } from "./expect.ts";
import { listening } from "./listening.ts";
import { codeTool, promptIn, wordPromptIn, wordTool } from "./prompts.ts";
import type { WorkspaceCase, WorkspaceStage } from "./workspace-case.ts";

const done = { text: "Done." };
const calling = (...calls: readonly (readonly [name: string, word: string])[]) => ({
  toolCalls: calls.map(([name, word]) => ({ name, arguments: { word } })),
});

const readTool = wordTool("read", async ({ word }, context) =>
  ToolResult.ok(await filesOf(context).readText(word)),
);

const writeTool = wordTool("write", async ({ word }, context) => {
  await filesOf(context).writeText(word, "written by a tool");
  return ToolResult.ok(word);
});

/** Writes, overwrites and deletes, and then fails. */
const spoilTool = wordTool("spoil", async ({ word }, context) => {
  const files = filesOf(context);
  await files.writeText("repo/spoilt.txt", "spoilt");
  await files.writeText(word, "spoilt");
  await files.delete("repo/b.txt");
  return ToolResult.error("spoilt by the contract");
});

const joining = `
with open(ROOT + "/repo/a.txt") as one, open(ROOT + "/repo/tool.txt") as other:
    text = one.read() + ", " + other.read()
with open(ROOT + "/repo/code.txt", "w") as file:
    file.write(text)
`;

/** Says in a file whether a port of this machine can be reached. */
const calls = `
import socket
with open(ROOT + "/repo/port") as file:
    port = int(file.read())
try:
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    outcome = "reached"
except Exception:
    outcome = "not reached"
with open(ROOT + "/repo/outcome", "w") as file:
    file.write(outcome)
`;

const counting = `
import os
path = ROOT + "/repo/count"
count = len(open(path).read()) if os.path.exists(path) else 0
with open(path, "w") as file:
    file.write("x" * (count + 1))
`;

/** Tools and code on the same files, and what is told of it. */
export const workspaceWork: readonly WorkspaceCase[] = [
  {
    name: "a tool reads and writes the workspace by its context, and a failed call is undone",
    script: [
      calling(["read", "repo/a.txt"], ["write", "repo/tool.txt"]),
      calling(["spoil", "repo/a.txt"]),
      done,
    ],
    async check(stage) {
      const section = await repository(stage);
      const prompt = promptIn(section, [readTool, writeTool, spoilTool]);
      await stage.adapter.evaluate(prompt, { session: stage.session });
      const told = stage.bus.of("ToolInvoked").map(({ result }) => result.value);
      same(told, ["owl", "repo/tool.txt", null], "what the tools gave");
      const files = section.filesystem;
      same(await files.listDir("repo"), ["a.txt", "b.txt", "tool.txt"], "the files there are");
      same(await files.readText("repo/a.txt"), "owl", "what was overwritten");
      same(await files.readText("repo/tool.txt"), "written by a tool", "what was written");
    },
  },
  {
    name: "code sees what was mounted and what a tool wrote, and a tool sees what code wrote",
    script: [
      calling(["write", "repo/tool.txt"]),
      { code: joining },
      calling(["read", "repo/code.txt"]),
      done,
    ],
    async check(stage) {
      const prompt = promptIn(await repository(stage), [readTool, writeTool]);
      const { text } = await stage.adapter.evaluate(prompt, { session: stage.session });
      const read = stage.bus.of("ToolInvoked").find(({ name }) => name === "read");
      same(read?.result.value, "owl, written by a tool", "what the tool read");
      same(text, "Done.", "the answer");
      holds(stage.asked().at(-1), "owl, written by a tool", "the last request");
    },
  },
  {
    name: "a run of code is an ordinary event with its origin and what it printed",
    script: [{ code: 'print("ho" + "ot")' }, calling(["read", "repo/a.txt"]), done],
    async check(stage) {
      const prompt = promptIn(await repository(stage), [readTool]);
      const { hostedCalls } = await stage.adapter.evaluate(prompt, { session: stage.session });
      const [code, read] = stage.bus.of("ToolInvoked");
      same([code?.name, read?.name], [codeTool.name, "read"], "ToolInvoked");
      const { execution, provider, capability } = code?.origin ?? {};
      const expected = ["provider", stage.adapter.name, codeTool.kind];
      same([execution, provider, capability], expected, "origin");
      same(read?.origin, undefined, "origin of a call that ran here");
      same(code?.result.success, true, "success");
      holds(code?.result.message, "hoot", "what the event says");
      same(
        hostedCalls.map(({ kind }) => kind),
        [codeTool.kind],
        "hostedCalls",
      );
    },
  },
  {
    name: "structured output is read and typed beside a workspace",
    script: [{ code: "pass" }, { text: '{"word":"owl"}' }],
    async check(stage) {
      const prompt = wordPromptIn(await repository(stage));
      const response = await stage.adapter.evaluate(prompt, { session: stage.session });
      same([response.output, response.text], [{ word: "owl" }, null], "response");
    },
  },
  {
    name: "the next evaluation finds the workspace as the last one left it",
    script: [{ code: counting }, { text: "One." }, { code: counting }, { text: "Two." }],
    async check(stage) {
      const section = await repository(stage);
      const { adapter, session } = stage;
      const first = await adapter.evaluate(promptIn(section), { session });
      const second = await adapter.evaluate(promptIn(section), { session });
      same([first.text, second.text], ["One.", "Two."], "the answers");
      same(await section.filesystem.readText("repo/count"), "xx", "what code counted");
    },
  },
  {
    name: "code does not reach the network of this machine",
    script: [{ code: calls }, done],
    async check(stage) {
      await using open = await listening();
      const section = await repository(stage, { port: String(open.port) });
      await stage.adapter.evaluate(promptIn(section), { session: stage.session });
      same(await section.filesystem.readText("repo/outcome"), "not reached", "the outcome");
      same(open.count(), 0, "connections");
    },
  },
];

async function repository({ host, workspace }: WorkspaceStage, more: Record<string, string> = {}) {
  const hostPath = await host({ "a.txt": "owl", "b.txt": "barn", ...more });
  return workspace({ mounts: [{ hostPath, mountPath: "repo" }], allowedHostRoots: [hostPath] });
}

function filesOf({ filesystem }: ToolContext): Filesystem {
  if (filesystem) return filesystem;
  throw new Error("The tool has no file system, though its prompt has a workspace");
}

import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { openCountingPort } from "./counting-port.ts";
import { expectContains, expectSame } from "./expect.ts";
import { codeTool, createWordWorkspacePrompt, createWorkspacePrompt, wordTool } from "./prompts.ts";
import type { WorkspaceCase, WorkspaceFixture } from "./workspace-case.ts";

const done = { text: "Done." };
const callTools = (...calls: readonly (readonly [name: string, word: string])[]) => ({
  toolCalls: calls.map(([name, word]) => ({ name, arguments: { word } })),
});

const readTool = wordTool("read", async ({ word }, context) =>
  ToolResult.ok(await requireFilesystem(context).readText(word)),
);

const writeTool = wordTool("write", async ({ word }, context) => {
  await requireFilesystem(context).writeText(word, "written by a tool");
  return ToolResult.ok(word);
});

/** Writes, overwrites and deletes files, and then fails. */
const spoilTool = wordTool("spoil", async ({ word }, context) => {
  const files = requireFilesystem(context);
  await files.writeText("repo/spoilt.txt", "spoilt");
  await files.writeText(word, "spoilt");
  await files.delete("repo/b.txt");
  return ToolResult.error("spoilt by the contract");
});

const joiningCode = `
with open(ROOT + "/repo/a.txt") as one, open(ROOT + "/repo/tool.txt") as other:
    text = one.read() + ", " + other.read()
with open(ROOT + "/repo/code.txt", "w") as file:
    file.write(text)
`;

/** Python code that records whether it can connect to a port of the host. */
const connectingCode = `
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

const countingCode = `
import os
path = ROOT + "/repo/count"
count = len(open(path).read()) if os.path.exists(path) else 0
with open(path, "w") as file:
    file.write("x" * (count + 1))
`;

/** Cases about tools and code that work on the same files, and the events they cause. */
export const workspaceToolCases: readonly WorkspaceCase[] = [
  {
    name: "lets tools read and write the workspace through their context, and undoes a failed call",
    script: [
      callTools(["read", "repo/a.txt"], ["write", "repo/tool.txt"]),
      callTools(["spoil", "repo/a.txt"]),
      done,
    ],
    async check(stage) {
      const section = await createRepository(stage);
      const prompt = createWorkspacePrompt(section, [readTool, writeTool, spoilTool]);
      await stage.adapter.evaluate(prompt, { session: stage.session });
      const told = stage.bus.of("ToolInvoked").map(({ result }) => result.value);
      expectSame(told, ["owl", "repo/tool.txt", null], "the values of the tools");
      const files = section.filesystem;
      expectSame(await files.listDir("repo"), ["a.txt", "b.txt", "tool.txt"], "the files");
      expectSame(await files.readText("repo/a.txt"), "owl", "the overwritten file");
      expectSame(await files.readText("repo/tool.txt"), "written by a tool", "the written file");
    },
  },
  {
    name: "shows mounted files and tools' changes to code, and code's changes to tools",
    script: [
      callTools(["write", "repo/tool.txt"]),
      { code: joiningCode },
      callTools(["read", "repo/code.txt"]),
      done,
    ],
    async check(stage) {
      const prompt = createWorkspacePrompt(await createRepository(stage), [readTool, writeTool]);
      const { text } = await stage.adapter.evaluate(prompt, { session: stage.session });
      const read = stage.bus.of("ToolInvoked").find(({ name }) => name === "read");
      expectSame(read?.result.value, "owl, written by a tool", "the text that the tool read");
      expectSame(text, "Done.", "the answer");
      expectContains(stage.asked().at(-1), "owl, written by a tool", "the last request");
    },
  },
  {
    name: "publishes a code run as ToolInvoked with its origin and output",
    script: [{ code: 'print("ho" + "ot")' }, callTools(["read", "repo/a.txt"]), done],
    async check(stage) {
      const prompt = createWorkspacePrompt(await createRepository(stage), [readTool]);
      const { hostedCalls } = await stage.adapter.evaluate(prompt, { session: stage.session });
      const [code, read] = stage.bus.of("ToolInvoked");
      expectSame([code?.name, read?.name], [codeTool.name, "read"], "ToolInvoked");
      const { execution, provider, capability } = code?.origin ?? {};
      const expected = ["provider", stage.adapter.name, codeTool.kind];
      expectSame([execution, provider, capability], expected, "origin");
      expectSame(read?.origin, undefined, "origin of a local call");
      expectSame(code?.result.success, true, "success");
      expectContains(code?.result.message, "hoot", "the message of the event");
      expectSame(
        hostedCalls.map(({ kind }) => kind),
        [codeTool.kind],
        "hostedCalls",
      );
    },
  },
  {
    name: "parses structured output of a prompt with a workspace",
    script: [{ code: "pass" }, { text: '{"word":"owl"}' }],
    async check(stage) {
      const prompt = createWordWorkspacePrompt(await createRepository(stage));
      const response = await stage.adapter.evaluate(prompt, { session: stage.session });
      expectSame(response.output, { word: "owl" }, "response.output");
      expectSame(response.text.replace(/\s/g, ""), '{"word":"owl"}', "response.text");
    },
  },
  {
    name: "keeps the workspace's files for the next evaluation",
    script: [{ code: countingCode }, { text: "One." }, { code: countingCode }, { text: "Two." }],
    async check(stage) {
      const section = await createRepository(stage);
      const { adapter, session } = stage;
      const first = await adapter.evaluate(createWorkspacePrompt(section), { session });
      const second = await adapter.evaluate(createWorkspacePrompt(section), { session });
      expectSame([first.text, second.text], ["One.", "Two."], "the answers");
      expectSame(
        await section.filesystem.readText("repo/count"),
        "xx",
        "the runs that code counted",
      );
    },
  },
  {
    name: "keeps code from connecting to the host's network",
    script: [{ code: connectingCode }, done],
    async check(stage) {
      await using open = await openCountingPort();
      const section = await createRepository(stage, { port: String(open.port) });
      await stage.adapter.evaluate(createWorkspacePrompt(section), { session: stage.session });
      expectSame(await section.filesystem.readText("repo/outcome"), "not reached", "the outcome");
      expectSame(open.countConnections(), 0, "connections");
    },
  },
];

async function createRepository(
  { createFolder, createWorkspace }: WorkspaceFixture,
  more: Record<string, string> = {},
) {
  const hostPath = await createFolder({ "a.txt": "owl", "b.txt": "barn", ...more });
  return createWorkspace({
    mounts: [{ hostPath, mountPath: "repo" }],
    allowedHostRoots: [hostPath],
  });
}

function requireFilesystem({ filesystem }: ToolContext): Filesystem {
  if (filesystem) return filesystem;
  throw new Error("The prompt has a workspace, but its tools have no file system");
}

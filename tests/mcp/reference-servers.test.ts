import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { Deadline, MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { McpToolsSection } from "weakincentives/mcp";
import { fakeClock, recordingBus, scriptedClient, scriptedSubject } from "weakincentives/testing";
import { claudeSubject } from "../support/claude/contract-subject.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { localSubject, ourClient } from "../support/contract-local.ts";
import { findReferenceServer, mcpServersMissing } from "../support/mcp/reference-servers.ts";
import { call, runMcp } from "../support/mcp/run-mcp.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const start = (name: Parameters<typeof findReferenceServer>[0], ...args: readonly string[]) => ({
  command: process.execPath,
  args: [findReferenceServer(name), ...args],
});

/** Starts the reference server with HTTP, and returns its URL. It stops with the test. */
async function startHttpServer(): Promise<string> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [findReferenceServer("everything"), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  const isUp = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await expect.poll(isUp).toBe(true);
  return url;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe.skipIf(mcpServersMissing)("the reference server", () => {
  test("everything, over stdio: text, structured results, images, links and errors", async () => {
    const section = new McpToolsSection({ server: start("everything"), prefix: "e_" });
    const { results, offered } = await runMcp(section, [
      call("e_echo", { message: "owl" }),
      call("e_get-sum", { a: 1, b: 2 }),
      call("e_get-sum", { a: "1" }),
      call("e_get-structured-content", { location: "Chicago" }),
      call("e_get-tiny-image"),
      call("e_get-resource-links", { count: 2 }),
      call("e_get-resource-reference", { resourceType: "Text", resourceId: 1 }),
    ]);
    expect(offered[0]?.every((name) => name.startsWith("e_"))).toBe(true);
    expect(results[0]?.message).toBe("Echo: owl");
    expect(results[1]?.message).toContain("3");
    expect(results[2]).toMatchObject({ success: false });
    expect(results[2]?.message).toContain("do not fit the tool's parameters");
    expect(results[3]?.value).toMatchObject({ conditions: expect.any(String) });
    expect(results[4]?.message).toMatch(/\[An image of \d+ bytes, image\/png, not shown\]/);
    expect(results[5]?.message).toContain("[A link to the resource demo://");
    expect(results[6]?.message).toContain("[The resource demo://");
  });

  test("everything, over streamable HTTP", async () => {
    const section = new McpToolsSection({ server: { url: await startHttpServer() } });
    const { results } = await runMcp(section, [call("echo", { message: "owl" }), call("get-env")]);
    expect(results[0]?.message).toBe("Echo: owl");
    expect(results[1]?.success).toBe(true);
  });

  test("everything, with a client that stays open", async () => {
    const client = new Client({ name: "tests", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(await startHttpServer())));
    onTestFinished(() => client.close());
    const section = new McpToolsSection({ server: { client }, include: ["echo"] });
    for (const word of ["one", "two"]) {
      const { results } = await runMcp(section, [call("echo", { message: word })]);
      expect(results[0]?.message).toBe(`Echo: ${word}`);
    }
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  });

  test("everything: a long call ends at the evaluation's deadline", async () => {
    const section = new McpToolsSection({ server: start("everything") });
    const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "k", sections: [section] }));
    const client = scriptedClient(
      call("trigger-long-running-operation", { duration: 50, steps: 5 }),
    );
    const deadline = Deadline.after(3_000);
    const running = client.evaluate(prompt, { session: new Session(), deadline });
    await expect(running).rejects.toThrow("The deadline passed");
    expect(section.tools()).toEqual([]);
  });

  test("filesystem: reads and writes only below its folder", async () => {
    const folder = temporaryTree();
    mkdirSync(`${folder}/notes`);
    writeFileSync(`${folder}/notes/a.txt`, "owls");
    const section = new McpToolsSection({ server: start("filesystem", folder) });
    const { results } = await runMcp(section, [
      call("read_text_file", { path: `${folder}/notes/a.txt` }),
      call("write_file", { path: `${folder}/notes/b.txt`, content: "mice" }),
      call("list_directory", { path: `${folder}/notes` }),
      call("read_text_file", { path: "/etc/passwd" }),
    ]);
    expect(results.map(({ success }) => success)).toEqual([true, true, true, false]);
    expect(results[0]?.message).toContain("owls");
    expect(results[2]?.message).toContain("[FILE] b.txt");
    expect(results[3]?.message).toContain("denied");
  });

  test("filesystem: tools that only read are declared without effects", async () => {
    const section = new McpToolsSection({ server: start("filesystem", temporaryTree()) });
    const { asked } = await runMcp(section);
    const effects = new Map(asked[0]?.rendered.tools.map((tool) => [tool.name, tool.effects]));
    expect(effects.get("read_text_file")).toBe("none");
    expect(effects.get("write_file")).toBe("once");
  });

  test("memory: keeps its graph during an evaluation", async () => {
    const server = { ...start("memory"), env: { MEMORY_FILE_PATH: `${temporaryTree()}/m.jsonl` } };
    const owl = { name: "Owl", entityType: "bird", observations: ["hunts at night"] };
    const { results } = await runMcp(new McpToolsSection({ server }), [
      call("create_entities", { entities: [owl] }),
      call("read_graph"),
    ]);
    expect(results[1]?.value).toMatchObject({ entities: [owl] });
  });

  describe.each([
    ["the scripted client", scriptedSubject, null],
    ["OpenAI", localSubject(ourClient), null],
    ["Claude", claudeSubject, sdkMissing],
  ] as const)("everything, on %s", (_name, make, missing) => {
    test.skipIf(missing)("runs calls", { timeout: SDK_TIMEOUT }, async () => {
      const script = [
        { toolCalls: [{ name: "get-sum", arguments: { a: 20, b: 22 } }] },
        { text: "Done." },
      ];
      const subject = await make(script, { clock: fakeClock({ skipsSleep: true }) });
      onTestFinished(() => subject.close?.());
      const bus = recordingBus();
      const task = new MarkdownSection({ key: "task", title: "Task", template: "Add." });
      const server = start("everything");
      const sections = [task, new McpToolsSection({ server, include: ["get-sum"] })];
      const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "k", sections }));
      const { text } = await subject.adapter.evaluate(prompt, { session: new Session({ bus }) });
      expect(text).toBe("Done.");
      expect(bus.of("ToolInvoked")[0]?.result.message).toContain("42");
      expect(subject.asked()[1]).toContain("42");
    });
  });
});

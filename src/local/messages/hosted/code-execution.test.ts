import { describe, expect, test } from "vitest";
import { isBubblewrapUsable } from "../../../../tests/support/attacks/bubblewrap-target.ts";
import {
  clientTool,
  plain,
  startMessagesFixture,
} from "../../../../tests/support/local/messages-fixture.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { readRecord } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import { checkContainer } from "./resolve-container.ts";

const createTool = (date: number) => ({ type: `code_execution_${date}`, name: "code_execution" });
const python = createTool(20250522);
const commands = createTool(20250825);
const repl = createTool(20260120);

const isIsolated = await isBubblewrapUsable();

/** Returns the contents of the results in a message. */
function readResults(message: WireItem): readonly unknown[] {
  const content = Array.isArray(message["content"]) ? message["content"].filter(isPlainObject) : [];
  const results = content.filter(({ type }) => String(type).endsWith("_tool_result"));
  return results.map((block) => block["content"]);
}

describe("code execution on the Messages API", () => {
  test("runs Python in a container and continues with the results", async () => {
    const { message, asked } = await startMessagesFixture([
      [{ code: "open('a.txt', 'w').write('a')\nprint(6 * 7)" }],
      [{ say: "It is 42." }],
    ]);
    const answer = await message({ tools: [python] });
    expect(answer).toMatchObject({
      stop_reason: "end_turn",
      content: [
        {
          type: "server_tool_use",
          id: expect.stringMatching(/^srvtoolu_/),
          name: "code_execution",
          input: { code: expect.stringContaining("print(6 * 7)") },
        },
        {
          type: "code_execution_tool_result",
          content: {
            type: "code_execution_result",
            stdout: "42\n",
            stderr: "",
            return_code: 0,
            content: [{ type: "code_execution_output", file_id: expect.any(String) }],
          },
        },
        { type: "text", text: "It is 42." },
      ],
      container: { id: expect.any(String), skills: null },
    });
    const { expires_at: end } = readRecord(answer, "container");
    expect(new Date(String(end)).getTime()).toBeGreaterThan(Date.now() + 15 * 60_000);
    expect(asked[0]?.tools).toMatchObject([{ type: "code_interpreter" }]);
    expect(asked[1]?.items.at(-1)).toMatchObject({
      type: "code_interpreter_call",
      outputs: [{ type: "logs", logs: "42\n" }],
    });
  });

  test("keeps the files of a container that the next request names, in a stream too", async () => {
    const { message, stream } = await startMessagesFixture([
      [{ shell: ["echo owl > bird.txt"] }, { say: "Written." }],
      [{ shell: ["cat bird.txt", "exit 3"] }, { say: "Read." }],
    ]);
    const { container } = await message({ tools: [commands] });
    const { id } = readRecord({ container }, "container");
    const events = await stream({ tools: [commands], container: id });
    const blocks = events.flatMap((event) =>
      event.type === "content_block_start" ? readRecord(event, "content_block") : [],
    );
    expect(blocks).toMatchObject([
      { type: "server_tool_use", name: "bash_code_execution", input: {} },
      {
        type: "bash_code_execution_tool_result",
        content: { type: "bash_code_execution_result", stdout: "owl\n", return_code: 0 },
      },
      { type: "server_tool_use" },
      { content: { return_code: 3 } },
      { type: "text" },
    ]);
    expect(events.find(({ type }) => type === "message_delta")).toMatchObject({
      delta: { stop_reason: "end_turn", container: { id } },
    });
  });

  test("copies the files that the request uploads into the container", async () => {
    const { message, base } = await startMessagesFixture([
      [{ shell: ["cat birds.txt"] }, { say: "Owls." }],
    ]);
    const body = new FormData();
    body.append("file", new File(["owls"], "birds.txt"));
    const init = { method: "POST", headers: { "anthropic-version": "2023-06-01" }, body };
    const { id } = Object(await (await fetch(`${base}/v1/files`, init)).json());
    const content = [{ type: "container_upload", file_id: id }];
    const messages = [{ role: "user", content }];
    expect(readResults(await message({ tools: [commands], messages }))).toMatchObject([
      { stdout: "owls" },
    ]);
  });

  test("runs Python by a command where the tool has no interpreter", async () => {
    const { message } = await startMessagesFixture([[{ code: "print(6 * 7)" }, { say: "42." }]]);
    expect(await message({ tools: [commands] })).toMatchObject({
      content: [
        { name: "bash_code_execution", input: { command: expect.stringContaining("python3 -") } },
        { content: { stdout: "42\n" } },
        {},
      ],
    });
  });

  test("edits files with the text editor, and deletes them by a command", async () => {
    const update = { type: "update_file", path: "sub/a.txt", diff: " one\n-two\n+2" };
    const { message } = await startMessagesFixture([
      [
        { patch: [{ type: "create_file", path: "sub/a.txt", diff: "+zero\n+one\n+two" }] },
        { patch: [{ type: "create_file", path: "b.txt", diff: "+a\n+a" }] },
        { patch: [update, update, { ...update, path: "none.txt" }] },
        { patch: [{ type: "update_file", path: "b.txt", diff: "-a\n+b" }] },
        { patch: [{ type: "create_file", path: "b.txt", diff: "+c" }] },
        { patch: [{ type: "create_file", path: "b.txt/c.txt", diff: "+c" }] },
        { shell: ["cat sub/a.txt"] },
        { patch: [{ type: "delete_file", path: "sub/a.txt" }] },
        { shell: ["ls sub"] },
        { say: "Done." },
      ],
    ]);
    const kind = "text_editor_code_execution";
    const failure = { type: `${kind}_tool_result_error` };
    expect(readResults(await message({ tools: [repl] }))).toMatchObject([
      { type: `${kind}_create_result`, is_file_update: false },
      { is_file_update: false },
      {
        type: `${kind}_str_replace_result`,
        old_start: 2,
        old_lines: 2,
        new_start: 2,
        new_lines: 2,
        lines: ["-one", "-two", "+one", "+2"],
      },
      { ...failure, error_code: "invalid_tool_input" },
      { ...failure, error_code: "file_not_found" },
      { ...failure, error_message: "old_str occurs 2 times, not once" },
      { is_file_update: true },
      { ...failure, error_code: "invalid_tool_input" },
      { stdout: "zero\none\n2\n" },
      { return_code: 0 },
      { stdout: "" },
    ]);
  });

  test.skipIf(!isIsolated)(
    "reports code that raises, exits, is killed, or takes too long",
    async () => {
      const { message } = await startMessagesFixture(
        [
          [
            { code: "x = 6 * 7" },
            { code: "print(x); 1 / 0" },
            { code: "raise SystemExit(3)" },
            { code: "import os; os._exit(9)" },
            { code: "while True: pass" },
            { shell: ["sleep 60"] },
            { patch: [{ type: "create_file", path: "/proc/none/x", diff: "+a" }] },
            { say: "Done." },
          ],
        ],
        { sandbox: "bubblewrap", limits: { runTimeoutMs: 1500 } },
      );
      expect(readResults(await message({ tools: [repl] }))).toMatchObject([
        { return_code: 0, stderr: "" },
        { return_code: 1, stdout: "42\n", stderr: expect.stringContaining("ZeroDivisionError") },
        { return_code: 3 },
        { return_code: 137, stderr: expect.stringContaining("The interpreter was killed.") },
        { type: "code_execution_tool_result_error", error_code: "execution_time_exceeded" },
        { type: "bash_code_execution_tool_result_error", error_code: "execution_time_exceeded" },
        { type: "text_editor_code_execution_tool_result_error" },
      ]);
    },
  );

  test("prefers the client's shell and editor for commands and patches", async () => {
    const patch = { patch: [{ type: "create_file", path: "a.txt", diff: "+a" }] };
    const { message } = await startMessagesFixture([[{ shell: ["ls"] }], [patch]]);
    const tools = [commands, { type: "bash_20250124", name: "bash" }, clientTool("Write")];
    for (const name of ["bash", "Write"])
      expect(await message({ tools })).toMatchObject({
        content: [{ type: "tool_use", name }],
        stop_reason: "tool_use",
        container: null,
      });
  });

  test("has no commands in its first version", async () => {
    const { ask } = await startMessagesFixture([[{ shell: ["ls"] }]]);
    expect((await ask({ ...plain, tools: [python] })).body).toMatchObject({
      error: {
        message: expect.stringContaining(
          'the model ran a command, but the request does not offer the tool "Bash". It offers the hosted tool "code_execution_20250522".',
        ),
      },
    });
  });

  test("rejects a container that does not exist or has expired", async () => {
    const { message, ask } = await startMessagesFixture([
      [{ code: "1" }, { expireContainer: true }, { say: "Gone." }],
      [{ expireContainer: true }, { say: "Nothing." }],
    ]);
    const tools = [python];
    const { container } = await message({ tools });
    await message({ tools });
    for (const id of [readRecord({ container }, "container")["id"], "cntr_none"]) {
      const { status, body } = await ask({ ...plain, tools, container: id });
      expect([status, body]).toMatchObject([
        400,
        {
          error: {
            message: `container: Container '${id}' not found or expired. Omit \`container\` to get a new one.`,
          },
        },
      ]);
    }
  });

  test("passes on unexpected errors of the container store", () => {
    const services = (error: Error) =>
      Object({
        tools: {
          containers: {
            check: () => {
              throw error;
            },
          },
        },
      });
    const check = (error: Error) => checkContainer(Object({ containerId: "c" }), services(error));
    expect(() => check(new Error("The disk is full."))).toThrow("The disk is full.");
    expect(() => check(new ApiProblem(404, "None."))).toThrow("container: Container 'c' not found");
  });
});

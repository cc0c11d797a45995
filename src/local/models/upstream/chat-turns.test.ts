import { describe, expect, test } from "vitest";
import { builtInCatalog } from "../../tools/index.ts";
import { toChatTurns } from "./chat-turns.ts";

const convertItems = (...items: readonly object[]) =>
  toChatTurns(items, (name) => `its_${name}`, builtInCatalog);
const user = { type: "message", role: "user", content: "Go." };
const go = { role: "user", parts: [{ text: "Go." }] };

function createCall(id: string, name = "add", args = "{}") {
  return { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: args };
}

function createOutput(id: string, text = `Result of ${id}.`) {
  return { type: "function_call_output", call_id: id, output: text };
}

function createTurnCall(id: string, result = `Result of ${id}.`) {
  return { id, name: "add", args: "{}", result: [{ text: result }] };
}

describe("toChatTurns() with messages", () => {
  test("keeps their roles and texts in every format", () => {
    const parts = [
      { type: "input_text", text: "One." },
      { type: "input_text", text: "Two." },
    ];
    const said = [
      { type: "output_text", text: "Three.", annotations: [] },
      { type: "refusal", refusal: "Four." },
      "odd",
      { type: "input_text" },
    ];
    expect(
      convertItems(
        { role: "system", content: "Be brief." },
        { type: "message", role: "developer", content: parts },
        { type: "message", role: "assistant", content: said },
        { type: "message", role: "critic", content: null },
      ),
    ).toEqual([
      { role: "system", parts: [{ text: "Be brief." }] },
      { role: "developer", parts: [{ text: "One." }, { text: "Two." }] },
      { role: "assistant", text: "Three.\nFour.", calls: [] },
      { role: "user", parts: [] },
    ]);
  });

  test("keeps images by URL, and notes images without one", () => {
    const content = [
      { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "low" },
      { type: "input_image", image_url: "https://a.test/b.png" },
      { type: "input_image", file_id: "file-1" },
    ];
    expect(convertItems({ role: "user", content })).toEqual([
      {
        role: "user",
        parts: [
          { image: "data:image/png;base64,AA==", detail: "low" },
          { image: "https://a.test/b.png", detail: null },
          { text: "[The image file-1 cannot be shown here.]" },
        ],
      },
    ]);
  });

  test("includes text files, and notes other files", () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const createNote = (name: string) =>
      `[The file ${name} is attached, but its content cannot be shown here.]`;
    const files: readonly (readonly [object, string])[] = [
      [
        { filename: "a.txt", file_data: `data:text/plain;base64,${base64("Grüße")}` },
        "[The file a.txt:]\nGrüße",
      ],
      [{ filename: "b.txt", file_data: base64("b") }, "[The file b.txt:]\nb"],
      [{ filename: "c.png", file_data: "data:image/png;base64,iVBORw0KGgo=" }, createNote("c.png")],
      [{ filename: "d.bin", file_data: base64("a\0b") }, createNote("d.bin")],
      [{ file_id: "file-1" }, createNote("file-1")],
      [{ file_url: "https://a.test/e.pdf" }, createNote("https://a.test/e.pdf")],
      [{}, createNote("(unnamed)")],
    ];
    const content = files.map(([file]) => ({ type: "input_file", ...file }));
    const parts = files.map(([, text]) => ({ text }));
    expect(convertItems({ role: "user", content })).toEqual([{ role: "user", parts }]);
  });

  test("omits reasoning and unknown items", () => {
    const reasoning = { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] };
    expect(convertItems(user, reasoning, { type: "mcp_list_tools" }, {})).toEqual([go]);
  });
});

describe("toChatTurns() with calls of the client's functions", () => {
  test("merges parallel calls into one turn, with results in the order of the calls", () => {
    expect(
      convertItems(user, createCall("1"), createCall("2"), createOutput("2"), createOutput("1")),
    ).toEqual([
      go,
      { role: "assistant", text: "", calls: [createTurnCall("1"), createTurnCall("2")] },
    ]);
  });

  test("creates one turn per sequential call", () => {
    expect(
      convertItems(createCall("1"), createOutput("1"), createCall("2"), createOutput("2")),
    ).toEqual([
      { role: "assistant", text: "", calls: [createTurnCall("1")] },
      { role: "assistant", text: "", calls: [createTurnCall("2")] },
    ]);
  });

  test("merges calls with the text before them, not with the text after them", () => {
    const createAnswer = (text: string) => ({ type: "message", role: "assistant", content: text });
    expect(
      convertItems(
        createAnswer("A."),
        createAnswer("B."),
        createCall("1"),
        createOutput("1"),
        createAnswer("C."),
      ),
    ).toEqual([
      { role: "assistant", text: "A.", calls: [] },
      { role: "assistant", text: "B.", calls: [createTurnCall("1")] },
      { role: "assistant", text: "C.", calls: [] },
    ]);
  });

  test("puts results after their calls even if other messages are between them", () => {
    const thought = { type: "reasoning", summary: [] };
    expect(
      convertItems(
        createCall("1"),
        thought,
        createCall("2"),
        user,
        createOutput("1"),
        createOutput("2"),
      ),
    ).toEqual([
      { role: "assistant", text: "", calls: [createTurnCall("1"), createTurnCall("2")] },
      go,
    ]);
  });

  test("accepts shared ids across turns and missing results", () => {
    expect(
      convertItems(
        createCall("1"),
        createOutput("1", "A."),
        createCall("1"),
        createOutput("1", "B."),
        createCall("2"),
      ),
    ).toEqual([
      { role: "assistant", text: "", calls: [createTurnCall("1", "A.")] },
      { role: "assistant", text: "", calls: [createTurnCall("1", "B.")] },
      { role: "assistant", text: "", calls: [createTurnCall("2", "No result.")] },
    ]);
  });

  test("keeps images in results, and normalizes arguments to JSON", () => {
    const picture = { type: "input_image", image_url: "https://a.test/b.png" };
    const result = { type: "function_call_output", call_id: "1", output: [picture] };
    const custom = { type: "custom_tool_call", call_id: "3", name: "sql", input: "select 1" };
    const rows = { type: "custom_tool_call_output", call_id: "3", output: "1 row" };
    const [turn] = convertItems(
      createCall("1", "draw", "{bad"),
      createCall("2", "draw", " "),
      custom,
      result,
      rows,
    );
    expect(turn).toMatchObject({
      calls: [
        { args: '{"input":"{bad"}', result: [{ image: "https://a.test/b.png", detail: null }] },
        { args: "{}" },
        { id: "3", name: "sql", args: '{"input":"select 1"}', result: [{ text: "1 row" }] },
      ],
    });
  });
});

describe("toChatTurns() with hosted calls", () => {
  test.each<[string, object, string, object, string]>([
    [
      "code",
      {
        type: "code_interpreter_call",
        code: "print(1)",
        outputs: [
          { type: "logs", logs: "1\n" },
          { type: "image", url: "data:," },
        ],
      },
      "python",
      { code: "print(1)" },
      "1\n\n\n[An image was created.]",
    ],
    [
      "code without output",
      { type: "code_interpreter_call", code: null, outputs: null },
      "python",
      { code: "" },
      "It printed nothing.",
    ],
    [
      "a file search",
      {
        type: "file_search_call",
        queries: ["cats", "dogs"],
        results: [{ filename: "a.md", text: "Cats." }, { file_id: "file-1" }],
      },
      "file_search",
      { query: "cats; dogs" },
      "[a.md]\nCats.\n\n[file-1]\n",
    ],
    [
      "a search without results",
      { type: "file_search_call", results: null },
      "file_search",
      { query: "" },
      "Nothing was found.",
    ],
    [
      "a web search",
      {
        type: "web_search_call",
        action: { type: "search", query: "cats", sources: [] },
        results: [{ title: "Cats", url: "http://a.test", text: "They purr." }],
      },
      "web_search",
      { query: "cats" },
      "Cats (http://a.test)\nThey purr.",
    ],
    [
      "a search with sources only",
      {
        type: "web_search_call",
        action: {
          type: "search",
          queries: ["a", "b"],
          sources: [{ type: "url", url: "http://a.test" }],
        },
      },
      "web_search",
      { query: "a; b" },
      "http://a.test",
    ],
    [
      "a bare search",
      { type: "web_search_call", action: { type: "search" } },
      "web_search",
      { query: "" },
      "Nothing was found.",
    ],
    [
      "an opened page",
      {
        type: "web_search_call",
        action: { type: "open_page", url: "http://a.test" },
        results: [{ url: "http://a.test", text: "Hi." }],
      },
      "open_page",
      { url: "http://a.test" },
      "http://a.test\nHi.",
    ],
    [
      "a search in a page",
      {
        type: "web_search_call",
        action: { type: "find_in_page", url: "http://a.test", pattern: "purr" },
        results: [{ text: "They purr." }],
      },
      "find_in_page",
      { url: "http://a.test", pattern: "purr" },
      "They purr.",
    ],
  ])("converts %s to a function call with its result", (_, item, name, args, text) => {
    expect(convertItems({ id: "h_1", ...item })).toEqual([
      {
        role: "assistant",
        text: "",
        calls: [{ id: "h_1", name: `its_${name}`, args: JSON.stringify(args), result: [{ text }] }],
      },
    ]);
  });

  test.each<[string, object, object, string, object, string]>([
    [
      "commands",
      { type: "shell_call", action: { commands: ["ls", "cat x", "sleep 9"] } },
      {
        type: "shell_call_output",
        output: [
          { stdout: "a\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "", stderr: "no x", outcome: { type: "exit", exit_code: 1 } },
          { stdout: "", stderr: "", outcome: { type: "timeout" } },
          {},
        ],
      },
      "shell",
      { commands: ["ls", "cat x", "sleep 9"] },
      "a\n\nExit code: 0\n\nstderr:\nno x\nExit code: 1\n\nIt timed out and was stopped.\n\nExit code: undefined",
    ],
    [
      "a local_shell command",
      { type: "local_shell_call", action: { type: "exec", command: ["ls", "-a"] } },
      { type: "local_shell_call_output", output: "a" },
      "shell",
      { commands: ["ls -a"] },
      "a",
    ],
    [
      "an invalid local_shell command",
      { type: "local_shell_call", action: { command: "ls" } },
      { type: "local_shell_call_output", output: "a" },
      "shell",
      { commands: ["ls"] },
      "a",
    ],
    [
      "a patch",
      { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
      { type: "apply_patch_call_output", status: "completed" },
      "apply_patch",
      { operations: [{ type: "delete_file", path: "a" }] },
      "The patch was applied.",
    ],
    [
      "a failed patch",
      { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
      { type: "apply_patch_call_output", status: "failed", output: "There is no a." },
      "apply_patch",
      { operations: [{ type: "delete_file", path: "a" }] },
      "The patch failed.\n\nThere is no a.",
    ],
  ])("finds the result of %s in another item", (_, item, result, name, args, text) => {
    const turns = convertItems(
      { id: "x_1", call_id: "call_1", ...item },
      { call_id: "call_1", ...result },
    );
    expect(turns).toMatchObject([
      {
        calls: [
          { id: "call_1", name: `its_${name}`, args: JSON.stringify(args), result: [{ text }] },
        ],
      },
    ]);
  });

  test("creates one turn per hosted call, in order with the client's calls", () => {
    const code = (id: string) => ({ type: "code_interpreter_call", id, code: id, outputs: [] });
    const turns = convertItems(
      code("a"),
      code("b"),
      createCall("1"),
      code("c"),
      createCall("2"),
      createOutput("1"),
      createOutput("2"),
    );
    expect(turns.map((turn) => "calls" in turn && turn.calls.map(({ id }) => id))).toEqual([
      ["a"],
      ["b"],
      ["1", "c"],
      ["2"],
    ]);
  });

  test("converts hosted calls without an id", () => {
    expect(convertItems({ type: "shell_call" })).toMatchObject([
      { calls: [{ id: "", args: "{}" }] },
    ]);
  });
});

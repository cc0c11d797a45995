import { describe, expect, test } from "vitest";
import { builtInCatalog } from "../../tools/index.ts";
import { spokenHistory } from "./spoken-history.ts";

const history = (...items: readonly object[]) =>
  spokenHistory(items, (name) => `its_${name}`, builtInCatalog);
const user = { type: "message", role: "user", content: "Go." };
const go = { role: "user", parts: [{ text: "Go." }] };

function call(id: string, name = "add", args = "{}") {
  return { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: args };
}

function output(id: string, text = `Result of ${id}.`) {
  return { type: "function_call_output", call_id: id, output: text };
}

function made(id: string, result = `Result of ${id}.`) {
  return { id, name: "add", args: "{}", result: [{ text: result }] };
}

describe("messages", () => {
  test("keep their role and their words, whichever way these are written", () => {
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
      history(
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

  test("keep pictures by their address, and note those that have none", () => {
    const content = [
      { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "low" },
      { type: "input_image", image_url: "https://a.test/b.png" },
      { type: "input_image", file_id: "file-1" },
    ];
    expect(history({ role: "user", content })).toEqual([
      {
        role: "user",
        parts: [
          { image: "data:image/png;base64,AA==", detail: "low" },
          { image: "https://a.test/b.png", detail: null },
          { text: "[The picture file-1 cannot be shown here.]" },
        ],
      },
    ]);
  });

  test("show files that are text, and note the others", () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const cannot = (name: string) =>
      `[The file ${name} was given; its content cannot be shown here.]`;
    const files: readonly (readonly [object, string])[] = [
      [
        { filename: "a.txt", file_data: `data:text/plain;base64,${base64("Grüße")}` },
        "[The file a.txt:]\nGrüße",
      ],
      [{ filename: "b.txt", file_data: base64("b") }, "[The file b.txt:]\nb"],
      [{ filename: "c.png", file_data: "data:image/png;base64,iVBORw0KGgo=" }, cannot("c.png")],
      [{ filename: "d.bin", file_data: base64("a\0b") }, cannot("d.bin")],
      [{ file_id: "file-1" }, cannot("file-1")],
      [{ file_url: "https://a.test/e.pdf" }, cannot("https://a.test/e.pdf")],
      [{}, cannot("without a name")],
    ];
    const content = files.map(([file]) => ({ type: "input_file", ...file }));
    const parts = files.map(([, text]) => ({ text }));
    expect(history({ role: "user", content })).toEqual([{ role: "user", parts }]);
  });

  test("leave out reasoning, and items that nobody knows", () => {
    const reasoning = { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] };
    expect(history(user, reasoning, { type: "mcp_list_tools" }, {})).toEqual([go]);
  });
});

describe("calls of the client's functions", () => {
  test("made at once are one turn, with their results in the order of the calls", () => {
    expect(history(user, call("1"), call("2"), output("2"), output("1"))).toEqual([
      go,
      { role: "assistant", text: "", calls: [made("1"), made("2")] },
    ]);
  });

  test("made one after the other are a turn each", () => {
    expect(history(call("1"), output("1"), call("2"), output("2"))).toEqual([
      { role: "assistant", text: "", calls: [made("1")] },
      { role: "assistant", text: "", calls: [made("2")] },
    ]);
  });

  test("are one with what was said right before them, and not with what was said after", () => {
    const said = (text: string) => ({ type: "message", role: "assistant", content: text });
    expect(history(said("A."), said("B."), call("1"), output("1"), said("C."))).toEqual([
      { role: "assistant", text: "A.", calls: [] },
      { role: "assistant", text: "B.", calls: [made("1")] },
      { role: "assistant", text: "C.", calls: [] },
    ]);
  });

  test("are followed by their results also where others spoke in between", () => {
    const thought = { type: "reasoning", summary: [] };
    expect(history(call("1"), thought, call("2"), user, output("1"), output("2"))).toEqual([
      { role: "assistant", text: "", calls: [made("1"), made("2")] },
      go,
    ]);
  });

  test("may share an id over turns, and may have no result", () => {
    expect(history(call("1"), output("1", "A."), call("1"), output("1", "B."), call("2"))).toEqual([
      { role: "assistant", text: "", calls: [made("1", "A.")] },
      { role: "assistant", text: "", calls: [made("1", "B.")] },
      { role: "assistant", text: "", calls: [made("2", "There is no result.")] },
    ]);
  });

  test("give pictures as results, and get arguments that every server can parse", () => {
    const picture = { type: "input_image", image_url: "https://a.test/b.png" };
    const result = { type: "function_call_output", call_id: "1", output: [picture] };
    const custom = { type: "custom_tool_call", call_id: "3", name: "sql", input: "select 1" };
    const rows = { type: "custom_tool_call_output", call_id: "3", output: "1 row" };
    const [turn] = history(call("1", "draw", "{bad"), call("2", "draw", " "), custom, result, rows);
    expect(turn).toMatchObject({
      calls: [
        { args: '{"input":"{bad"}', result: [{ image: "https://a.test/b.png", detail: null }] },
        { args: "{}" },
        { id: "3", name: "sql", args: '{"input":"select 1"}', result: [{ text: "1 row" }] },
      ],
    });
  });
});

describe("hosted calls", () => {
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
      "1\n\n\n[A picture was made.]",
    ],
    [
      "code without a word",
      { type: "code_interpreter_call", code: null, outputs: null },
      "python",
      { code: "" },
      "It printed nothing.",
    ],
    [
      "a search of files",
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
      "a search in vain",
      { type: "file_search_call", results: null },
      "file_search",
      { query: "" },
      "Nothing was found.",
    ],
    [
      "a search of the web",
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
      "a search of which only the sources are known",
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
      "words in a page",
      {
        type: "web_search_call",
        action: { type: "find_in_page", url: "http://a.test", pattern: "purr" },
        results: [{ text: "They purr." }],
      },
      "find_in_page",
      { url: "http://a.test", pattern: "purr" },
      "They purr.",
    ],
  ])("of %s are calls of a function with their result", (_, item, name, args, text) => {
    expect(history({ id: "h_1", ...item })).toEqual([
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
      "a\n\nExit code: 0\n\nstderr:\nno x\nExit code: 1\n\nIt took too long and was stopped.\n\nExit code: undefined",
    ],
    [
      "a command of old",
      { type: "local_shell_call", action: { type: "exec", command: ["ls", "-a"] } },
      { type: "local_shell_call_output", output: "a" },
      "shell",
      { commands: ["ls -a"] },
      "a",
    ],
    [
      "an odd command of old",
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
      "a patch that does not fit",
      { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
      { type: "apply_patch_call_output", status: "failed", output: "There is no a." },
      "apply_patch",
      { operations: [{ type: "delete_file", path: "a" }] },
      "The patch failed.\n\nThere is no a.",
    ],
  ])("of %s find their result in another item", (_, item, result, name, args, text) => {
    const turns = history(
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

  test("are a turn each, and stand among the client's own calls", () => {
    const code = (id: string) => ({ type: "code_interpreter_call", id, code: id, outputs: [] });
    const turns = history(
      code("a"),
      code("b"),
      call("1"),
      code("c"),
      call("2"),
      output("1"),
      output("2"),
    );
    expect(turns.map((turn) => "calls" in turn && turn.calls.map(({ id }) => id))).toEqual([
      ["a"],
      ["b"],
      ["1", "c"],
      ["2"],
    ]);
  });

  test("without any id are calls all the same", () => {
    expect(history({ type: "shell_call" })).toMatchObject([{ calls: [{ id: "", args: "{}" }] }]);
  });
});

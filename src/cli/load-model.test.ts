import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import type { ModelRequest } from "../local/models/local-model.ts";
import { loadModel } from "./load-model.ts";

const request: ModelRequest = {
  model: "any",
  instructions: null,
  items: [],
  tools: [],
  toolChoice: "auto",
  format: null,
  turn: 0,
  text: "Hello.",
};

function writeScript(name: string, text: string): string {
  return join(temporaryTree({ [name]: text }), name);
}

describe("loadModel()", () => {
  test.each([
    ["turns.json", '[[{ "say": "Hi." }]]'],
    ["turns.mjs", 'export default [[{ say: "Hi." }]];'],
    ["turns.cjs", 'module.exports = [[{ say: "Hi." }]];'],
    ["answer.mjs", 'export default ({ text }) => [{ say: text === "Hello." ? "Hi." : "No." }];'],
    ["model.mjs", 'export default { respond: async () => [{ say: "Hi." }] };'],
    ["model.ts", 'const hi: string = "Hi.";\nexport default [[{ say: hi }]];'],
  ])("reads %s", async (name, text) => {
    const path = writeScript(name, text);
    const { model, name: called } = await loadModel({ script: path });
    expect(called).toBe(path);
    expect(await model?.respond(request)).toEqual([{ say: "Hi." }]);
  });

  test("connects to an upstream server and names its model", async () => {
    const upstream = { baseURL: "http://127.0.0.1:9/v1", model: "qwen3" };
    const { model, name } = await loadModel({ upstream });
    expect(name).toBe("qwen3 at http://127.0.0.1:9/v1");
    expect(model).toEqual({ mayIgnoreToolChoice: true, respond: expect.any(Function) });
  });

  test("uses the echo by default", async () => {
    expect(await loadModel({})).toEqual({ model: undefined, name: "echo" });
  });

  test.each([
    ["turns.json", "[[", /^--model must contain JSON, got ".*turns\.json"\. /],
    ["turns.json", '{ "say": "Hi." }', /^--model must be an array of turns, a function of the req/],
    [
      "turns.json",
      '[[{ "sya": "Hi." }]]',
      /turns\.json: steps\[0\]\[0\] key must be a known option, got "sya"\. Did you mean "say"\?/,
    ],
    [
      "turns.yaml",
      "- say: Hi.",
      /^--model must end in \.json or \.js, .*turns\.yaml"\. Rename the file\.$/,
    ],
    ["a.mjs", "export const model = [];", /must have a default export, got ".*a\.mjs". Export/],
    [
      "a.mjs",
      'throw new Error("no luck");',
      /must be a module that can be loaded, .*\. No luck\.$/,
    ],
    ["a.mjs", "export default 7;", /^--model must be an array of turns, a function of the request/],
  ])(
    "rejects an invalid file with its path and the problem: %s %s",
    async (name, text, message) => {
      await expect(loadModel({ script: writeScript(name, text) })).rejects.toThrow(message);
    },
  );

  test.each(["gone.json", "gone.mjs"])("rejects the missing file %s", async (name) => {
    const path = join(temporaryTree(), name);
    await expect(loadModel({ script: path })).rejects.toThrow(
      /gone\.m?js.*\. (ENOENT|Cannot find)/,
    );
  });
});

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import type { ModelRequest } from "../local/models/local-model.ts";
import { servedModel } from "./served-model.ts";

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

function script(name: string, text: string): string {
  return join(temporaryTree({ [name]: text }), name);
}

describe("The model of wink serve", () => {
  test.each([
    ["turns.json", '[[{ "say": "Hi." }]]'],
    ["turns.mjs", 'export default [[{ say: "Hi." }]];'],
    ["turns.cjs", 'module.exports = [[{ say: "Hi." }]];'],
    ["answer.mjs", 'export default ({ text }) => [{ say: text === "Hello." ? "Hi." : "No." }];'],
    ["model.mjs", 'export default { respond: async () => [{ say: "Hi." }] };'],
    ["model.ts", 'const hi: string = "Hi.";\nexport default [[{ say: hi }]];'],
  ])("is read from %s", async (name, text) => {
    const path = script(name, text);
    const { model, name: called } = await servedModel({ script: path });
    expect(called).toBe(path);
    expect(await model?.respond(request)).toEqual([{ say: "Hi." }]);
  });

  test("is an upstream's, by the name it has there", async () => {
    const upstream = { baseURL: "http://127.0.0.1:9/v1", model: "qwen3" };
    const { model, name } = await servedModel({ upstream });
    expect(name).toBe("qwen3 at http://127.0.0.1:9/v1");
    expect(model).toEqual({ respond: expect.any(Function) });
  });

  test("is the provider's own without either", async () => {
    expect(await servedModel({})).toEqual({ model: undefined, name: "echo" });
  });

  test.each([
    ["turns.json", "[[", /^--model must hold JSON, got ".*turns\.json": /],
    ["turns.json", '{ "say": "Hi." }', /^--model must be a list of turns, a function of the req/],
    [
      "turns.json",
      '[[{ "sya": "Hi." }]]',
      /turns\.json: steps\[0\]\[0\]\.sya must be one of "say", .*, got "Hi\."/,
    ],
    ["turns.yaml", "- say: Hi.", /^--model must end in \.json or \.js, .*turns\.yaml": rename it$/],
    ["a.mjs", "export const model = [];", /must have a default export, got ".*a\.mjs". Export/],
    ["a.mjs", 'throw new Error("no luck");', /must be a module that can be loaded, .*: no luck$/],
    ["a.mjs", "export default 7;", /^--model must be a list of turns, a function of the request/],
  ])("is refused with the file and the problem: %s %s", async (name, text, message) => {
    await expect(servedModel({ script: script(name, text) })).rejects.toThrow(message);
  });

  test.each(["gone.json", "gone.mjs"])("is refused if there is no %s", async (name) => {
    const path = join(temporaryTree(), name);
    await expect(servedModel({ script: path })).rejects.toThrow(
      /gone\.m?js.*: (ENOENT|Cannot find)/,
    );
  });
});

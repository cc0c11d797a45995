import { describe, expect, test } from "vitest";
import { readAll } from "../../../tests/support/manual-stream.ts";
import type { TurnRequest } from "../../adapter/model-client.ts";
import { jsonSchema } from "../../base/schema/json-schema.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import type { ScriptedTurn } from "../../testing/scripted-turn.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";

const tick = new Tool({
  name: "tick",
  description: "Ticks.",
  params: null,
  handler: () => ToolResult.ok(null, "tock"),
});
const section = new MarkdownSection({ key: "s", title: "S", template: "Owls.", tools: [tick] });
const bird = jsonSchema<{ name: string; sounds: string[] }>({
  type: "object",
  properties: { name: { type: "string" }, sounds: { type: "array", items: { type: "string" } } },
  required: ["name", "sounds"],
});
const birds = jsonSchema<{ name: string }[]>({
  type: "array",
  items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
});
const names = { ns: "demo", sections: [section] };
const birdPrompt = new Prompt(new PromptTemplate({ ...names, key: "bird", output: bird }));
const birdsPrompt = new Prompt(new PromptTemplate({ ...names, key: "birds", output: birds }));
const textPrompt = new Prompt(new PromptTemplate({ ...names, key: "text" }));

/** A step that lets the reader see every delta before the next one. */
function speakSlowly(...deltas: readonly string[]) {
  return async ({ observer, turn }: TurnRequest): Promise<ScriptedTurn> => {
    for (const delta of deltas) {
      observer?.onPart({ type: "text", turn, delta });
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    return { text: deltas.join("") };
  };
}

describe("partialOutput()", () => {
  test("grows with the text, and its last value is the validated output", async () => {
    const model = scriptedClient(
      speakSlowly('{"na', 'me":"Ow', 'l","sounds":', '["hoo', '","', 'hoot"', "]}"),
    );
    const stream = model.stream(birdPrompt);
    const values = await readAll(stream.partialOutput());
    expect(values).toEqual([
      {},
      { name: "Ow" },
      { name: "Owl" },
      { name: "Owl", sounds: ["hoo"] },
      { name: "Owl", sounds: ["hoo", ""] },
      { name: "Owl", sounds: ["hoo", "hoot"] },
      { name: "Owl", sounds: ["hoo", "hoot"] },
    ]);
    expect(values.at(-1)).toBe((await stream.response).output);
  });

  test("is a list for a list schema, with or without the items of the wire", async () => {
    const wrapped = scriptedClient(speakSlowly('{"items"', ':[{"na', 'me":"Owl"},', "{}]}"));
    const plain = scriptedClient(speakSlowly('[{"name":"Ow', 'l"}', "]"));
    const values = readAll(wrapped.stream(birdsPrompt).partialOutput());
    await expect(values).rejects.toThrow("does not match the output schema");
    expect(await readAll(plain.stream(birdsPrompt).partialOutput())).toEqual([
      [{ name: "Ow" }],
      [{ name: "Owl" }],
      [{ name: "Owl" }],
    ]);
    const items = scriptedClient(speakSlowly('{"items"', ':[{"na', 'me":"Owl"}', "]}"));
    expect(await readAll(items.stream(birdsPrompt).partialOutput())).toEqual([
      [{}],
      [{ name: "Owl" }],
      [{ name: "Owl" }],
    ]);
  });

  test("reads the JSON block of an answer with prose, and else its first object", async () => {
    const answer = '"name":"Owl","sounds":[]}';
    const block = scriptedClient(
      speakSlowly("Here [1] it is:", "\n```json\n", "{", answer, "\n```"),
    );
    const prose = scriptedClient(speakSlowly("Here it is:", " {", answer, " Bye."));
    const expected = [{}, { name: "Owl", sounds: [] }, { name: "Owl", sounds: [] }];
    expect((await readAll(block.stream(birdPrompt).partialOutput())).slice(-3)).toEqual(expected);
    expect(await readAll(prose.stream(birdPrompt).partialOutput())).toEqual(expected);
  });

  test("has no value for text that is neither an object nor a list", async () => {
    const model = scriptedClient(speakSlowly("[1, 2", ", 3] ", "{oops}"));
    await expect(readAll(model.stream(birdPrompt).partialOutput())).rejects.toThrow();
    const list = scriptedClient(speakSlowly('{"items": "no', 'ne"}'));
    await expect(readAll(list.stream(birdsPrompt).partialOutput())).rejects.toThrow();
  });

  test("starts anew in each turn, and after a restart", async () => {
    const model = scriptedClient(
      async (request) => {
        await speakSlowly('{"name":"Crow"')(request);
        return { text: '{"name":"Crow"', toolCalls: [{ name: "tick" }] };
      },
      async (request) => {
        await speakSlowly('{"name":"Ra')(request);
        request.observer?.onRestart();
        return await speakSlowly('{"name":"Owl",', '"sounds":[]}')(request);
      },
    );
    expect(await readAll(model.stream(birdPrompt).partialOutput())).toEqual([
      { name: "Crow" },
      { name: "Ra" },
      { name: "Owl" },
      { name: "Owl", sounds: [] },
      { name: "Owl", sounds: [] },
    ]);
  });

  test("is the growing text without an output schema", async () => {
    const model = scriptedClient(speakSlowly("Hel", "lo."));
    expect(await readAll(model.stream(textPrompt).partialOutput())).toEqual(["Hel", "Hello."]);
  });

  test("skips values that a slow reader did not ask for", async () => {
    const model = scriptedClient({ deltas: ['{"name":', '"O', "w", 'l","sounds":[', "]}"] });
    const stream = model.stream(birdPrompt);
    await stream.response;
    const owl = { name: "Owl", sounds: [] };
    expect(await readAll(stream.partialOutput())).toEqual([owl, owl]);
  });

  test("parses long text again only when it has grown by a 64th", async () => {
    const item = '"hoot hoot hoot",';
    const deltas = ['{"name":"Owl","sounds":[', ...Array(4_000).fill(item), '""]}'];
    const stream = scriptedClient(async ({ observer, turn }) => {
      for (const delta of deltas) {
        observer?.onPart({ type: "text", turn, delta });
        await null;
        await null;
        await null;
      }
      return { text: deltas.join("") };
    }).stream(birdPrompt);
    const values = await readAll(stream.partialOutput());
    expect(values.at(-1)?.sounds).toHaveLength(4_001);
    // From 24 to 68,000 characters, a 64th at a time: 64 * ln(68,000 / 24) = 509.
    expect(values.length).toBeGreaterThan(100);
    expect(values.length).toBeLessThan(520);
  });
});

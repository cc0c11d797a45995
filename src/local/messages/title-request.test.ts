import { describe, expect, test } from "vitest";
import { messagesStage } from "../../../tests/support/local/messages-stage.ts";

const schema = { type: "object", properties: { title: { type: "string" } } };

function titleOf(session: string) {
  return {
    output_config: { format: { type: "json_schema", schema } },
    messages: [{ role: "user", content: `<session>\n${session}\n</session>\n\nWrite the title.` }],
  };
}

describe("a title that a client asks for beside the conversation", () => {
  test("is the first words of it, and no model is asked", async () => {
    const { message, asked } = await messagesStage([]);
    const { content } = await message(titleOf("Why are the  tomatoes of bay three cold?"));
    expect(content).toEqual([{ type: "text", text: '{"title":"Why are the tomatoes of"}' }]);
    expect((await message(titleOf(" ")))["content"]).toMatchObject([
      { text: '{"title":"Untitled"}' },
    ]);
    expect(asked).toEqual([]);
  });

  test("is the model's to give where the conversation itself wants one", async () => {
    const { message, asked } = await messagesStage(() => [{ say: { title: "Mine" } }]);
    const { output_config } = titleOf("");
    expect((await message({ output_config }))["content"]).toMatchObject([
      { text: '{"title":"Mine"}' },
    ]);
    const other = { type: "object", properties: { title: {}, text: {} } };
    await message({
      ...titleOf("So."),
      output_config: { format: { type: "json_schema", schema: other } },
    });
    expect(asked).toHaveLength(2);
  });
});

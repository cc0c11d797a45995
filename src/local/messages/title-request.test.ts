import { describe, expect, test } from "vitest";
import { startMessagesFixture } from "../../../tests/support/local/messages-fixture.ts";

const schema = { type: "object", properties: { title: { type: "string" } } };

function createTitleRequest(session: string) {
  return {
    output_config: { format: { type: "json_schema", schema } },
    messages: [{ role: "user", content: `<session>\n${session}\n</session>\n\nWrite the title.` }],
  };
}

describe("a title request", () => {
  test("returns the first words of the conversation without calling the model", async () => {
    const { message, asked } = await startMessagesFixture([]);
    const { content } = await message(
      createTitleRequest("Why are the  tomatoes of bay three cold?"),
    );
    expect(content).toEqual([{ type: "text", text: '{"title":"Why are the tomatoes of"}' }]);
    expect((await message(createTitleRequest(" ")))["content"]).toMatchObject([
      { text: '{"title":"Untitled"}' },
    ]);
    expect(asked).toEqual([]);
  });

  test("calls the model if the conversation itself requests a title", async () => {
    const { message, asked } = await startMessagesFixture(() => [{ say: { title: "Mine" } }]);
    const { output_config } = createTitleRequest("");
    expect((await message({ output_config }))["content"]).toMatchObject([
      { text: '{"title":"Mine"}' },
    ]);
    const other = { type: "object", properties: { title: {}, text: {} } };
    await message({
      ...createTitleRequest("So."),
      output_config: { format: { type: "json_schema", schema: other } },
    });
    expect(asked).toHaveLength(2);
  });
});

import { describe, expect, test } from "vitest";
import { hostSandbox } from "../../../tests/host-sandbox.ts";
import { asking, output } from "../../../tests/local/stage.ts";
import type { WireItem } from "../../openai/wire.ts";
import { scriptedModel } from "../models/scripted-model.ts";
import { LocalProvider } from "../provider.ts";

const at = "http://local/v1";

function items(body: WireItem): readonly WireItem[] {
  return body["data"] as readonly WireItem[];
}

describe("the input of a response", () => {
  test("is shown in parts, each with an id, and without what was not asked for", async () => {
    const model = scriptedModel([[{ code: "print(1)" }, { say: "1" }], [{ say: "2" }]]);
    await using provider = new LocalProvider({ model, sandbox: hostSandbox() });
    const { respond, ask } = asking(provider.fetch, at);
    const input = [
      { role: "assistant", content: "Before." },
      { role: "user", content: "Hi." },
    ];
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const first = await respond({ input, tools });
    const { id } = await respond({ input: "So?", previous_response_id: first["id"] });
    const path = `GET /responses/${id}/input_items?order=asc`;
    const { body } = await ask(path);
    expect(items(body)).toMatchObject([
      { role: "assistant", content: [{ type: "output_text", text: "Before." }] },
      { role: "user", content: [{ type: "input_text", text: "Hi." }], status: "completed" },
      { id: output(first)[0]?.["id"], type: "code_interpreter_call", outputs: null },
      { id: output(first)[1]?.["id"], role: "assistant" },
      { role: "user" },
    ]);
    expect(new Set(items(body).map((item) => item["id"])).size).toBe(5);
    for (const key of ["include", "include[]"]) {
      const { body: more } = await ask(`${path}&${key}=code_interpreter_call.outputs`);
      expect(items(more)[2]).toMatchObject({ outputs: [{ logs: "1\n" }] });
    }
  });

  test("adds tools to those of the request, wherever it does", async () => {
    const model = scriptedModel(({ tools }) => [
      { say: tools.map((tool) => ("name" in tool ? tool.name : "")).join() },
    ]);
    await using provider = new LocalProvider({ model, sandbox: hostSandbox() });
    const { respond } = asking(provider.fetch, at);
    const look = { type: "function", name: "look", parameters: {} };
    const more = {
      type: "additional_tools",
      role: "developer",
      tools: [{ ...look, name: "hear" }],
    };
    const response = await respond({
      input: [{ role: "user", content: "Hi." }, more],
      tools: [look],
    });
    expect(output(response)).toMatchObject([{ content: [{ text: "look,hear" }] }]);
  });
});

import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  createFolder,
  createVectorStore,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

/** Event types without their prefix; consecutive duplicates are merged. */
function listOrder(events: readonly { readonly type: string }[]): readonly string[] {
  return events
    .map(({ type }) => type.replace(/^response\./, ""))
    .filter((type, at, all) => type !== all[at - 1]);
}

/** Returns the events between the start and the end of the response. */
async function collectItemEvents(
  script: Parameters<typeof startProviderFixture>[0],
  body: WireItem,
  web?: string,
) {
  const { stream } = await startProviderFixture(script, { web });
  const events = await stream({ input: "Hi.", ...body });
  const order = listOrder(events);
  expect(order.slice(0, 2)).toEqual(["created", "in_progress"]);
  expect(order.at(-1)).toBe("completed");
  expect(events.map((event) => event["sequence_number"])).toEqual([...events.keys()]);
  return order.slice(2, -1);
}

const message = [
  "output_item.added",
  "content_part.added",
  "output_text.delta",
  "output_text.done",
  "content_part.done",
  "output_item.done",
];

describe("a response stream", () => {
  test("has the events of a message", async () => {
    expect(await collectItemEvents([[{ say: "Hello there, how are you?" }]], {})).toEqual(message);
  });

  test("has the events of a refusal", async () => {
    expect(await collectItemEvents([[{ refuse: "No." }]], {})).toEqual([
      "output_item.added",
      "content_part.added",
      "refusal.delta",
      "refusal.done",
      "content_part.done",
      "output_item.done",
    ]);
  });

  test("has the events of reasoning and a call", async () => {
    const tools = [{ type: "function", name: "look", parameters: {} }];
    const script = [[{ think: "Hm." }, { call: { name: "look", args: { at: "owls" } } }]];
    expect(await collectItemEvents(script, { tools })).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
    ]);
  });

  test("has the events of code", async () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    expect(await collectItemEvents([[{ code: "print(1)" }], [{ say: "1" }]], { tools })).toEqual([
      "output_item.added",
      "code_interpreter_call.in_progress",
      "code_interpreter_call_code.delta",
      "code_interpreter_call_code.done",
      "code_interpreter_call.interpreting",
      "code_interpreter_call.completed",
      "output_item.done",
      ...message,
    ]);
  });

  test("has the events of commands", async () => {
    const tools = [{ type: "shell", environment: { type: "container_auto" } }];
    expect(
      await collectItemEvents([[{ shell: ["echo hi"] }], [{ say: "Hi." }]], { tools }),
    ).toEqual([
      "output_item.added",
      "shell_call_command.added",
      "shell_call_command.delta",
      "shell_call_command.done",
      "output_item.done",
      "output_item.added",
      "shell_call_output_content.delta",
      "shell_call_output_content.done",
      "output_item.done",
      ...message,
    ]);
  });

  test("has the events of a patch", async () => {
    const patch = [{ type: "create_file", path: "a.txt", diff: "+Hi.\n" }];
    expect(await collectItemEvents([[{ patch }]], { tools: [{ type: "apply_patch" }] })).toEqual([
      "output_item.added",
      "apply_patch_call_operation_diff.delta",
      "apply_patch_call_operation_diff.done",
      "output_item.done",
    ]);
  });

  test("has the events of a web search and its citations", async () => {
    const web = createFolder({ "a.html": "<title>Owls</title><p>Owls.</p>" });
    const script = [
      [{ search: "owls" }],
      [{ say: "Owls.", citations: [{ hit: 0, at: [0, 5] as const }] }],
    ];
    expect(await collectItemEvents(script, { tools: [{ type: "web_search" }] }, web)).toEqual([
      "output_item.added",
      "web_search_call.in_progress",
      "web_search_call.searching",
      "web_search_call.completed",
      "output_item.done",
      ...message.slice(0, 3),
      "output_text.annotation.added",
      ...message.slice(3),
    ]);
  });

  test("has the events of a file search", async () => {
    const on = await startProviderFixture([[{ search: "owls" }], [{ say: "Owls." }]]);
    const { id } = await createVectorStore(on, { "owls.md": { text: "Owls." } });
    const tools = [{ type: "file_search", vector_store_ids: [id] }];
    const events = await on.stream({ input: "Hi.", tools });
    expect(listOrder(events).slice(2, 7)).toEqual([
      "output_item.added",
      "file_search_call.in_progress",
      "file_search_call.searching",
      "file_search_call.completed",
      "output_item.done",
    ]);
  });

  test("ends with the same response as without streaming, and stores it", async () => {
    const { stream, ask } = await startProviderFixture([[{ say: "Hello." }]]);
    const last = (await stream({ input: "Hi." })).at(-1);
    const response = last?.["response"];
    expect((await ask(`GET /responses/${Object(response).id}`)).body).toEqual(response);
  });

  test("ends at max_output_tokens", async () => {
    const { stream } = await startProviderFixture([[{ say: "x".repeat(100) }]]);
    const events = await stream({ input: "Hi.", max_output_tokens: 16 });
    expect(events.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" } },
    });
  });

  test("sends events as they occur", async () => {
    const { url } = await startProviderFixture([[{ think: "Hm." }, { stall: 60_000 }]]);
    const body = JSON.stringify({ model: "any", input: "Hi.", stream: true });
    const response = await fetch(`${url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    let heard = "";
    for await (const part of response.body ?? []) {
      heard += new TextDecoder().decode(part);
      if (heard.includes("response.output_item.done")) break;
    }
    expect(heard).toContain("response.reasoning_summary_text.done");
  });
});

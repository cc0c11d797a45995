import OpenAI, { toFile } from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { ResponsesWS } from "openai/resources/responses/ws";
import { expect } from "vitest";
import { z } from "zod";
import { describeClient } from "./support/describe-client.ts";
import { createOwlStore } from "./support/openai-resources.ts";
import { ANSWER, CODE, PAGES, PIXEL, TWO_CALLS } from "./support/samples.ts";
import { type Script, type ServeOptions, serve } from "./support/serve.ts";

const model = "gpt-5.5";

async function start(script: Script, options: ServeOptions = {}): Promise<OpenAI> {
  const { url } = await serve(script, options);
  return new OpenAI({ baseURL: url, apiKey: "local" });
}

const look = {
  type: "function",
  name: "look",
  parameters: { type: "object", properties: { at: { type: "string" } } },
  strict: false,
} as const;

const python = { type: "code_interpreter", container: { type: "auto" } } as const;

function findItem<T extends string>(output: readonly { readonly type: string }[], type: T) {
  const item = output.find((one) => one.type === type);
  if (!item) throw new Error(`There is no ${type} in ${JSON.stringify(output)}`);
  return item;
}

describeClient("openai", {
  async "plain turn"() {
    const client = await start([[{ say: "Hello." }]]);
    const response = await client.responses.create({ model, input: "Hi." });
    expect(response.output_text).toBe("Hello.");
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
    const stored = await client.responses.retrieve(response.id);
    expect(stored.output_text).toBe("Hello.");
    await client.responses.delete(response.id);
    await expect(client.responses.retrieve(response.id)).rejects.toThrow(OpenAI.NotFoundError);
  },

  async streaming() {
    const client = await start([[{ think: "Hm." }, { say: "Hello, owls." }]]);
    const stream = client.responses.stream({ model, input: "Hi." });
    let text = "";
    stream.on("response.output_text.delta", ({ delta }) => {
      text += delta;
    });
    const response = await stream.finalResponse();
    expect([text, response.output_text]).toEqual(["Hello, owls.", "Hello, owls."]);
  },

  async "function calls, several at once"() {
    const client = await start(TWO_CALLS);
    const first = await client.responses.create({ model, input: "How many?", tools: [look] });
    const calls = first.output.filter((item) => item.type === "function_call");
    expect(calls.map((call) => call.arguments)).toEqual(['{"at":"barn"}', '{"at":"tree"}']);
    const results = calls.map(({ call_id }) => ({
      type: "function_call_output" as const,
      call_id,
      output: "Six.",
    }));
    const tools = [look];
    const input = [{ role: "user" as const, content: "How many?" }, ...calls, ...results];
    const second = await client.responses.create({ model, input, tools, store: false });
    expect(second.output_text).toBe("Twelve owls.");
  },

  async "structured output"() {
    const client = await start([[{ say: ANSWER }]]);
    const schema = z.object({ animal: z.string(), count: z.int() });
    const text = { format: zodTextFormat(schema, "owls") };
    const { output_parsed } = await client.responses.parse({ model, input: "How many?", text });
    expect(output_parsed).toEqual(ANSWER);
  },

  async "custom tools"() {
    const client = await start([[{ call: { name: "sql", args: "SELECT 1" } }]]);
    const format = { type: "grammar", syntax: "regex", definition: ".+" } as const;
    const tools = [{ type: "custom", name: "sql", format } as const];
    const { output } = await client.responses.create({ model, input: "Count.", tools });
    expect(output).toMatchObject([{ type: "custom_tool_call", name: "sql", input: "SELECT 1" }]);
  },

  async "code execution at the provider"() {
    const client = await start([[{ code: CODE }, { say: "42." }]]);
    const response = await client.responses.create({
      model,
      input: "Compute.",
      tools: [python],
      include: ["code_interpreter_call.outputs"],
    });
    expect(response.output).toMatchObject([
      { type: "code_interpreter_call", outputs: [{ type: "logs", logs: "42\n" }] },
      { type: "message" },
    ]);
  },

  async "files of a container"() {
    const client = await start([
      [
        { code: "import glob; print(open(glob.glob('/mnt/data/*notes.txt')[0]).read())" },
        { code: CODE },
        { say: "Saved.", citations: [{ file: "owls.txt" }] },
      ],
    ]);
    const { id } = await client.containers.create({ name: "owls" });
    const file = await toFile(Buffer.from("Notes."), "notes.txt");
    await client.containers.files.create(id, { file });
    const { output } = await client.responses.create({
      model,
      input: "Save.",
      tools: [{ type: "code_interpreter", container: id }],
      include: ["code_interpreter_call.outputs"],
    });
    expect(output[0]).toMatchObject({ outputs: [{ logs: "Notes.\n" }] });
    const made: string[] = [];
    for await (const one of client.containers.files.list(id)) {
      if (one.source !== "assistant") continue;
      const content = await client.containers.files.content.retrieve(one.id, { container_id: id });
      made.push(`${one.path}: ${await content.text()}`);
    }
    expect(made).toEqual(["/mnt/data/owls.txt: 12"]);
    await client.containers.delete(id);
    await expect(client.containers.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
  },

  async "file search"() {
    const client = await start([
      [{ search: { file: "owls at night" } }],
      [{ say: "At night.", citations: [{ hit: 0 }] }],
    ]);
    const response = await client.responses.create({
      model,
      input: "When?",
      tools: [{ type: "file_search", vector_store_ids: [await createOwlStore(client.baseURL)] }],
      include: ["file_search_call.results"],
    });
    expect(response.output).toMatchObject([
      { type: "file_search_call", results: [{ filename: "owls.md" }] },
      { content: [{ annotations: [{ type: "file_citation", filename: "owls.md" }] }] },
    ]);
  },

  async "web search"() {
    const script = [[{ search: { web: "owls" } }], [{ say: "Barns.", citations: [{ hit: 0 }] }]];
    const client = await start(script, { pages: PAGES });
    const tools = [{ type: "web_search" } as const];
    const { output } = await client.responses.create({ model, input: "Where?", tools });
    expect(output).toMatchObject([
      { type: "web_search_call", status: "completed" },
      { content: [{ annotations: [{ type: "url_citation", url: "https://owls.example/barn" }] }] },
    ]);
  },

  async "hosted shell"() {
    const client = await start([[{ shell: ["echo owl"] }, { say: "Done." }]]);
    const tools = [{ type: "shell", environment: { type: "container_auto" } } as const];
    const { output } = await client.responses.create({ model, input: "Run.", tools });
    expect(output).toMatchObject([
      { type: "shell_call" },
      { type: "shell_call_output", output: [{ stdout: "owl\n", outcome: { exit_code: 0 } }] },
      { type: "message" },
    ]);
  },

  async apply_patch() {
    const operation = { type: "create_file", path: "a.txt", diff: "+owl\n" };
    const client = await start([[{ patch: [operation] }], [{ say: "Done." }]]);
    const tools = [{ type: "apply_patch" } as const];
    const first = await client.responses.create({ model, input: "Edit.", tools });
    const call = first.output.find((item) => item.type === "apply_patch_call");
    expect(call?.operation).toEqual(operation);
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [
        { type: "apply_patch_call_output", call_id: call?.call_id ?? "", status: "completed" },
      ],
      tools,
    });
    expect(second.output_text).toBe("Done.");
  },

  async "tool search"() {
    const client = await start([
      [{ use: { kind: "tool_search", args: { goal: "owls" } } }],
      [{ call: { name: "look", args: {} } }],
    ]);
    const tools = [
      { type: "tool_search", execution: "client", parameters: { type: "object" } } as const,
    ];
    const first = await client.responses.create({ model, input: "Find.", tools });
    const call = first.output.find((item) => item.type === "tool_search_call");
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [
        {
          type: "tool_search_output",
          call_id: call?.call_id ?? "",
          execution: "client",
          tools: [{ ...look, defer_loading: true }],
        },
      ],
      tools,
    });
    expect(second.output).toMatchObject([{ type: "function_call", name: "look" }]);
  },

  async "image input"() {
    const client = await start([
      [{ code: "import os; print(os.listdir('/mnt/data'))" }, { say: "An image." }],
    ]);
    const { output } = await client.responses.create({
      model,
      input: [
        { role: "user", content: [{ type: "input_image", image_url: PIXEL, detail: "auto" }] },
      ],
      tools: [python],
      include: ["code_interpreter_call.outputs"],
    });
    expect(output[0]).toMatchObject({ outputs: [{ logs: "['image.png']\n" }] });
  },

  async "file input"() {
    const client = await start([
      [{ code: "print(open('/mnt/data/owls.txt').read())" }, { say: "Read." }],
    ]);
    const bytes = await toFile(Buffer.from("Twelve owls."), "owls.txt");
    const file = await client.files.create({ file: bytes, purpose: "user_data" });
    const { output } = await client.responses.create({
      model,
      input: [{ role: "user", content: [{ type: "input_file", file_id: file.id }] }],
      tools: [python],
      include: ["code_interpreter_call.outputs"],
    });
    expect(output[0]).toMatchObject({ outputs: [{ logs: "Twelve owls.\n" }] });
    expect(await (await client.files.content(file.id)).text()).toBe("Twelve owls.");
  },

  async "continuing an earlier turn"() {
    const client = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const first = await client.responses.create({ model, input: "Who are you?" });
    const second = await client.responses.create({
      model,
      input: "Again?",
      previous_response_id: first.id,
    });
    expect(second.output_text).toBe("Ada.");
    const items = [];
    for await (const item of client.responses.inputItems.list(second.id)) items.push(item);
    expect(items).toHaveLength(3);
  },

  async conversations() {
    const client = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const greeting = { type: "message", role: "user", content: "Hi." } as const;
    const { id } = await client.conversations.create({ items: [greeting] });
    await client.responses.create({ model, input: "Who are you?", conversation: id });
    await client.responses.create({ model, input: "Again?", conversation: { id } });
    const types = [];
    for await (const item of client.conversations.items.list(id, { order: "asc" }))
      types.push(item.type === "message" ? item.role : item.type);
    expect(types).toEqual(["user", "user", "assistant", "user", "assistant"]);
    await client.conversations.delete(id);
    await expect(client.conversations.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
  },

  async "background and cancel"() {
    const client = await start([[{ stall: 300 }, { say: "Done." }], [{ stall: 60_000 }]]);
    let response = await client.responses.create({ model, input: "Work.", background: true });
    expect(["queued", "in_progress"]).toContain(response.status);
    while (response.status === "queued" || response.status === "in_progress") {
      await new Promise((resolve) => setTimeout(resolve, 50));
      response = await client.responses.retrieve(response.id);
    }
    expect([response.status, response.output_text]).toEqual(["completed", "Done."]);
    const { id } = await client.responses.create({ model, input: "Work.", background: true });
    expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
  },

  async "resumed stream"() {
    const client = await start([[{ say: "One." }, { stall: 300 }, { say: "Two." }]]);
    const stream = await client.responses.create({
      model,
      input: "Count.",
      background: true,
      stream: true,
    });
    let [id, seen] = ["", -1];
    for await (const event of stream) {
      if (event.type === "response.created") ({ id } = event.response);
      seen = event.sequence_number;
      if (event.type === "response.output_text.delta") break;
    }
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: seen });
    const numbers = [];
    let output: unknown;
    for await (const event of rest) {
      numbers.push(event.sequence_number);
      if (event.type === "response.completed") ({ output } = event.response);
    }
    expect(numbers[0]).toBe(seen + 1);
    expect(output).toMatchObject([
      { content: [{ text: "One." }] },
      { content: [{ text: "Two." }] },
    ]);
  },

  async "uploads in parts"() {
    const client = await start([[{ say: "Unused." }]]);
    const upload = await client.uploads.create({
      bytes: 10,
      filename: "owls.txt",
      mime_type: "text/plain",
      purpose: "user_data",
    });
    const ids: string[] = [];
    for (const text of ["Twelv", "e owl"]) {
      const data = await toFile(Buffer.from(text), "part");
      const part = await client.uploads.parts.create(upload.id, { data });
      ids.push(part.id);
    }
    const done = await client.uploads.complete(upload.id, { part_ids: ids });
    expect(done.status).toBe("completed");
    const content = await client.files.content(done.file?.id ?? "");
    expect(await content.text()).toBe("Twelve owl");
  },

  async WebSocket() {
    const client = await start([[{ say: "One." }], [{ say: "Two." }]]);
    const socket = new ResponsesWS(client);
    const ask = (input: string, previous_response_id?: string) =>
      new Promise<OpenAI.Responses.Response>((resolve, reject) => {
        socket.once("error", reject);
        socket.once("response.completed", ({ response }) => resolve(response));
        const more = previous_response_id === undefined ? {} : { previous_response_id };
        socket.send({ type: "response.create", model, input, store: false, ...more });
      });
    try {
      const first = await ask("Count.");
      const second = await ask("Continue.", first.id);
      expect(second).toMatchObject({ previous_response_id: first.id, status: "completed" });
      expect(second.output).toMatchObject([{ content: [{ text: "Two." }] }]);
    } finally {
      socket.close();
    }
  },

  async "chat completions"() {
    const client = await start([...TWO_CALLS, [{ say: "Bye." }]]);
    const tools = [{ type: "function", function: { name: "look", parameters: {} } } as const];
    const question = { role: "user", content: "How many?" } as const;
    const first = await client.chat.completions.create({ model, messages: [question], tools });
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    const results = (choice?.message.tool_calls ?? []).map(({ id }) => {
      return { role: "tool" as const, tool_call_id: id, content: "Six." };
    });
    expect(results).toHaveLength(2);
    if (!choice) throw new Error("There is no choice.");
    const messages = [question, choice.message, ...results];
    const second = await client.chat.completions.create({ model, messages, tools });
    expect(second.choices[0]?.message.content).toBe("Twelve owls.");
    const stream = client.chat.completions.stream({ model, messages: [question] });
    expect(await stream.finalContent()).toBe("Bye.");
  },

  async compaction() {
    const client = await start([
      [{ say: "Hello." }],
      [{ compact: true }],
      [{ say: "Still here." }],
    ]);
    const first = await client.responses.create({ model, input: "My name is Ada." });
    const compacted = await client.responses.compact({ model, previous_response_id: first.id });
    findItem(compacted.output, "compaction");
    const input: OpenAI.Responses.ResponseInput = [
      ...(compacted.output as OpenAI.Responses.ResponseInputItem[]),
      { role: "user", content: "Who am I?" },
      { type: "compaction_trigger" },
    ];
    const { output } = await client.responses.create({ model, input });
    expect(output).toMatchObject([{ type: "compaction" }]);
  },

  async "token count"() {
    const client = await start([[{ say: "Unused." }]]);
    const { input_tokens } = await client.responses.inputTokens.count({
      model,
      input: "How many?",
    });
    expect(input_tokens).toBeGreaterThan(0);
  },

  async "list of models"() {
    const client = await start([[{ say: "Unused." }]]);
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).not.toEqual([]);
    expect(await client.models.retrieve(ids[0] ?? "")).toMatchObject({ id: ids[0] });
  },

  async "errors and retries"() {
    const slow = { status: 429, message: "Slow down.", code: "rate_limit_exceeded" };
    const client = await start([[{ fail: slow }], [{ say: "Hello." }], [{ fail: slow }]]);
    const { output_text } = await client.responses.create({ model, input: "Hi." });
    expect(output_text).toBe("Hello.");
    const once = client.withOptions({ maxRetries: 0 });
    await expect(once.responses.create({ model, input: "Hi." })).rejects.toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      message: "429 Slow down.",
    });
    const wrong = client.responses.create({ model, input: "Hi.", previous_response_id: "resp_1" });
    await expect(wrong).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
    await expect(client.responses.retrieve("resp_1")).rejects.toMatchObject({ status: 404 });
  },
});

import { describe, expect, test } from "vitest";
import { hostSandbox } from "../../../tests/support/host-sandbox.ts";
import {
  createRequester,
  readAnswer,
  readOutput,
} from "../../../tests/support/local/provider-fixture.ts";
import { createTemporaryDataDir } from "../../../tests/support/local-storage.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { LocalModel } from "../models/local-model.ts";
import { scriptedModel } from "../models/scripted-model.ts";
import { LocalProvider } from "../provider.ts";
import { openDatabase } from "../store/database.ts";
import { responseTables } from "../store/response-tables.ts";

const at = "http://local/v1";

function readItems(body: WireItem): readonly WireItem[] {
  return body["data"] as readonly WireItem[];
}

describe("a response's input items", () => {
  test("are returned in parts, with ids, and without fields that were not included", async () => {
    const model = scriptedModel([[{ code: "print(1)" }, { say: "1" }], [{ say: "2" }]]);
    await using provider = new LocalProvider({ model, sandbox: hostSandbox() });
    const { respond, ask } = createRequester(provider.fetch, at);
    const input = [
      { role: "assistant", content: "Before." },
      { role: "user", content: "Hi." },
    ];
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const first = await respond({ input, tools });
    const { id } = await respond({ input: "So?", previous_response_id: first["id"] });
    const path = `GET /responses/${id}/input_items?order=asc`;
    const { body } = await ask(path);
    expect(readItems(body)).toMatchObject([
      { role: "assistant", content: [{ type: "output_text", text: "Before." }] },
      { role: "user", content: [{ type: "input_text", text: "Hi." }], status: "completed" },
      { id: readOutput(first)[0]?.["id"], type: "code_interpreter_call", outputs: null },
      { id: readOutput(first)[1]?.["id"], role: "assistant" },
      { role: "user" },
    ]);
    expect(new Set(readItems(body).map((item) => item["id"])).size).toBe(5);
    for (const key of ["include", "include[]"]) {
      const { body: more } = await ask(`${path}&${key}=code_interpreter_call.outputs`);
      expect(readItems(more)[2]).toMatchObject({ outputs: [{ logs: "1\n" }] });
    }
  });

  test("can add tools to the request's tools, at any position", async () => {
    const model = scriptedModel(({ tools }) => [
      { say: tools.map((tool) => ("name" in tool ? tool.name : "")).join() },
    ]);
    await using provider = new LocalProvider({ model, sandbox: hostSandbox() });
    const { respond } = createRequester(provider.fetch, at);
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
    expect(readOutput(response)).toMatchObject([{ content: [{ text: "look,hear" }] }]);
  });
});

/** A model that answers with the texts that it reads. */
const reader = scriptedModel(({ items }) => [
  { say: items.map((item) => readText(item)).join(" ") },
]);

function readText(item: object): string {
  const { content }: WireItem = { ...item };
  return Array.isArray(content) ? `(${Object(content[0]).text})` : "";
}

describe("a conversation of stored responses", () => {
  test("continues after a restart", async () => {
    using folder = createTemporaryDataDir();
    const options = { model: reader, sandbox: hostSandbox(), dataDir: folder.path };
    let previous_response_id: unknown;
    for (const input of ["1", "2", "3"]) {
      await using provider = new LocalProvider(options);
      const { respond, ask } = createRequester(provider.fetch, at);
      const response = await respond({ input, previous_response_id });
      previous_response_id = response["id"];
      expect((await ask(`GET /responses/${response["id"]}`)).body).toEqual(response);
      if (input === "3") expect(readAnswer(response)).toBe("(1) ((1)) (2) ((1) ((1)) (2)) (3)");
    }
  });

  test("keeps a deleted response's items", async () => {
    await using provider = new LocalProvider({ model: reader, sandbox: hostSandbox() });
    const { respond, ask } = createRequester(provider.fetch, at);
    const { id: first } = await respond({ input: "1" });
    const { id: second } = await respond({ input: "2", previous_response_id: first });
    const third = await respond({ input: "3", previous_response_id: second });
    for (const id of [first, second]) await ask(`DELETE /responses/${id}`);
    const { body } = await ask(`GET /responses/${third["id"]}/input_items`);
    expect(readItems(body)).toHaveLength(5);
    const fourth = await respond({ input: "4", previous_response_id: third["id"] });
    expect(readAnswer(fourth)).toBe(`${readAnswer(third)} (${readAnswer(third)}) (4)`);
    const again = { model: "any", input: "3", previous_response_id: second };
    expect(await ask("POST /responses", again)).toMatchObject({
      status: 400,
      body: { error: { code: "previous_response_not_found", param: "previous_response_id" } },
    });
    for (const route of ["GET", "DELETE"].map((method) => `${method} /responses/${second}`))
      expect(await ask(route)).toMatchObject({ status: 404 });
    for (const [method, what] of [
      ["GET", "input_items"],
      ["POST", "cancel"],
    ])
      expect(await ask(`${method} /responses/${second}/${what}`)).toMatchObject({ status: 404 });
  });

  test("keeps a response's items if it is deleted during the next turn", async () => {
    const [asked, deleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const model: LocalModel = {
      async respond(request) {
        if (request.text === "2") {
          asked.resolve();
          await deleted.promise;
        }
        return await reader.respond(request);
      },
    };
    await using provider = new LocalProvider({ model, sandbox: hostSandbox() });
    const { respond, ask } = createRequester(provider.fetch, at);
    const { id: first } = await respond({ input: "1" });
    const next = respond({ input: "2", previous_response_id: first });
    await asked.promise;
    await ask(`DELETE /responses/${first}`);
    deleted.resolve();
    const { id: second } = await next;
    const third = await respond({ input: "3", previous_response_id: second });
    expect(readAnswer(third)).toBe("(1) ((1)) (2) ((1) ((1)) (2)) (3)");
  });

  test("of an earlier version can be retrieved and continued", async () => {
    using folder = createTemporaryDataDir();
    const response = { id: "resp_1", output: [{ type: "message", content: [{ text: "One." }] }] };
    {
      using database = openDatabase(folder.path);
      database.migrateTables("responses", responseTables.slice(0, 2));
      const kept = [
        response,
        [{ type: "message", role: "user", content: "1" }, ...response.output],
      ];
      const [text = "", all = ""] = kept.map((part) => JSON.stringify(part));
      database
        .prepare("INSERT INTO responses VALUES (?, ?, ?, ?, ?)")
        .run("resp_1", 1, text, all, 1);
    }
    const options = { model: reader, sandbox: hostSandbox(), dataDir: folder.path };
    await using provider = new LocalProvider(options);
    const { respond, ask } = createRequester(provider.fetch, at);
    expect((await ask("GET /responses/resp_1")).body).toEqual(response);
    const next = await respond({ input: "2", previous_response_id: "resp_1" });
    expect(readAnswer(next)).toBe(" (One.) (2)");
  });

  test("shows the included fields and stores the rest", async () => {
    const model = scriptedModel(() => [{ think: "Hm." }, { say: "1" }]);
    await using provider = new LocalProvider({ model, sandbox: hostSandbox() });
    const { respond, ask } = createRequester(provider.fetch, at);
    for (const include of [[], ["reasoning.encrypted_content"]]) {
      const response = await respond({ input: "1", include });
      expect("encrypted_content" in (readOutput(response)[0] ?? {})).toBe(include.length > 0);
      expect((await ask(`GET /responses/${response["id"]}`)).body).toEqual(response);
    }
  });
});

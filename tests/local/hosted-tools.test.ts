import { describe, expect, test } from "vitest";
import { fakeClock } from "weakincentives/testing";
import {
  findItem,
  readAnnotations,
  readAnswer,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

const python = { type: "code_interpreter", container: { type: "auto" } };
const outputs = ["code_interpreter_call.outputs"];

describe("the code interpreter", () => {
  test("runs code in isolation, and its files can be downloaded", async () => {
    const { respond, ask, fetch, url } = await startProviderFixture(
      [
        [{ code: "open('owls.txt', 'w').write('Owls.')\nprint(6 * 7)" }],
        [{ say: "See [owls](sandbox:/mnt/data/owls.txt)." }],
      ],
      { sandbox: "auto" },
    );
    const response = await respond({ input: "Hi.", tools: [python], include: outputs });
    const call = findItem(response, "code_interpreter_call");
    expect(call["outputs"]).toEqual([{ type: "logs", logs: "42\n" }]);
    const [citation] = readAnnotations(response);
    expect(citation).toMatchObject({
      type: "container_file_citation",
      container_id: call["container_id"],
      filename: "owls.txt",
      start_index: 11,
      end_index: 37,
    });
    const at = `/containers/${call["container_id"]}/files`;
    const { body: listed } = await ask(`GET ${at}`);
    expect(listed["data"]).toMatchObject([
      { id: citation?.["file_id"], path: "/mnt/data/owls.txt", source: "assistant" },
    ]);
    const file = await fetch(`${url}${at}/${citation?.["file_id"]}/content`);
    expect(await file.text()).toBe("Owls.");
  });

  test("shows its output only if included", async () => {
    const { respond } = await startProviderFixture([[{ code: "print(1)" }], [{ say: "1" }]]);
    const response = await respond({ input: "Hi.", tools: [python] });
    expect(findItem(response, "code_interpreter_call")["outputs"]).toBeNull();
  });

  test("reports a failure in its logs", async () => {
    const { respond } = await startProviderFixture([[{ code: "1 / 0" }], [{ say: "Oh." }]]);
    const response = await respond({ input: "Hi.", tools: [python], include: outputs });
    const { outputs: logs, status } = findItem(response, "code_interpreter_call");
    expect(status).toBe("completed");
    expect(JSON.stringify(logs)).toContain("ZeroDivisionError");
  });

  test("continues in the container of the conversation, chained or replayed", async () => {
    const { respond } = await startProviderFixture((request) =>
      request.items.some((item) => "code" in item && item.code === `${request.text}`)
        ? [{ say: "Done." }]
        : [{ code: request.text }],
    );
    const first = await respond({ input: "print(1)", tools: [python] });
    const second = await respond({
      input: "print(2)",
      tools: [python],
      previous_response_id: first["id"],
    });
    const third = await respond({
      input: [...readOutput(first), { role: "user", content: "print(3)" }],
      tools: [python],
      store: false,
    });
    const fresh = await respond({ input: "print(4)", tools: [python] });
    const ids = [first, second, third, fresh].map(
      (one) => findItem(one, "code_interpreter_call")["container_id"],
    );
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(ids[3]).not.toBe(ids[0]);
  });

  test("runs in the named container", async () => {
    const { respond, ask } = await startProviderFixture([[{ code: "print(1)" }], [{ say: "1" }]]);
    const { body: made } = await ask("POST /containers", { name: "mine", memory_limit: "4g" });
    const tools = [{ type: "code_interpreter", container: made["id"] }];
    const response = await respond({ input: "Hi.", tools });
    expect(findItem(response, "code_interpreter_call")["container_id"]).toBe(made["id"]);
    expect(response["tools"]).toEqual(tools);
  });

  test.each([true, false])("rejects a missing container (streamed: %s)", async (stream) => {
    const { ask } = await startProviderFixture([]);
    const tools = [{ type: "code_interpreter", container: "cntr_1" }];
    expect(
      await ask("POST /responses", { model: "any", input: "Hi.", tools, stream }),
    ).toMatchObject({
      status: 404,
      body: { error: { message: "Container with id 'cntr_1' not found." } },
    });
  });

  test("rejects an expired container, and a conversation that used it", async () => {
    const clock = fakeClock({ now: Date.now() });
    const { respond, ask } = await startProviderFixture([[{ code: "print(1)" }], [{ say: "1" }]], {
      clock,
    });
    const first = await respond({ input: "Hi.", tools: [python] });
    const container = findItem(first, "code_interpreter_call")["container_id"];
    await clock.advance(21 * 60_000);
    const expired = { status: 400, body: { error: { message: "Container is expired." } } };
    const tools = [{ type: "code_interpreter", container }];
    const asked = { model: "any", input: "Hi." };
    expect(await ask("POST /responses", { ...asked, tools })).toMatchObject(expired);
    const chained = { ...asked, tools: [python], previous_response_id: first["id"] };
    expect(await ask("POST /responses", chained)).toMatchObject(expired);
    const { body } = await ask(`GET /containers/${container}`);
    expect(body["status"]).toBe("expired");
  });

  test("fails if its container expires during the turn", async () => {
    const { ask } = await startProviderFixture([
      [{ code: "print(1)" }, { expireContainer: true }, { code: "1" }],
    ]);
    const answer = await ask("POST /responses", { model: "any", input: "Hi.", tools: [python] });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message: "Container is expired.", param: null, code: null } },
    });
  });

  test("is a model error if the request does not offer it", async () => {
    const { ask } = await startProviderFixture([[{ code: "print(1)" }]]);
    const answer = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(answer).toMatchObject({ status: 500, body: { error: { code: "model_error" } } });
  });

  test("runs at most max_tool_calls times", async () => {
    const { respond } = await startProviderFixture([
      [{ code: "print(1)" }, { code: "print(2)" }, { code: "print(3)" }],
      [{ say: "Enough." }],
    ]);
    const response = await respond({ input: "Hi.", tools: [python], max_tool_calls: 2 });
    expect(readOutput(response).map(({ type }) => type)).toEqual([
      "code_interpreter_call",
      "code_interpreter_call",
      "message",
    ]);
    expect(response["max_tool_calls"]).toBe(2);
  });
});

describe("the shell", () => {
  test("runs commands in order in a container, and the response's tool names it", async () => {
    const { respond } = await startProviderFixture([
      [{ shell: ["echo hi > a; cat a", "echo no >&2; exit 3"] }],
      [{ say: "Done." }],
    ]);
    const tools = [{ type: "shell", environment: { type: "container_auto" } }];
    const response = await respond({ input: "Hi.", tools });
    const call = findItem(response, "shell_call");
    expect(findItem(response, "shell_call_output")).toMatchObject({
      call_id: call["call_id"],
      output: [
        { stdout: "hi\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
        { stdout: "", stderr: "no\n", outcome: { type: "exit", exit_code: 3 } },
      ],
    });
    const named = tools.map(() => ({ type: "shell", environment: call["environment"] }));
    expect(response["tools"]).toMatchObject(named);
  });

  test("leaves commands of a local shell to the client", async () => {
    const { respond, ask } = await startProviderFixture([[{ shell: ["ls"] }], [{ say: "Done." }]]);
    const tools = [{ type: "shell", environment: { type: "local" } }];
    const first = await respond({ input: "Hi.", tools });
    const call = findItem(first, "shell_call");
    expect(call).toMatchObject({ action: { commands: ["ls"] }, environment: { type: "local" } });
    const next = { model: "any", tools, previous_response_id: first["id"] };
    expect(await ask("POST /responses", { ...next, input: "So?" })).toMatchObject({ status: 400 });
    const outcome = { type: "exit", exit_code: 0 };
    const given = {
      type: "shell_call_output",
      call_id: call["call_id"],
      output: [{ stdout: "a", stderr: "", outcome }],
    };
    expect(readAnswer(await respond({ ...next, input: [given] }))).toBe("Done.");
  });
});

describe("apply_patch", () => {
  test("passes each operation to the client as one call", async () => {
    const operations = [
      { type: "create_file", path: "a.txt", diff: "+Hi.\n" },
      { type: "delete_file", path: "b.txt" },
    ];
    const { respond } = await startProviderFixture([[{ patch: operations }], [{ say: "Done." }]]);
    const tools = [{ type: "apply_patch" }];
    const first = await respond({ input: "Hi.", tools });
    expect(readOutput(first).map(({ operation }) => operation)).toEqual(operations);
    const answers = readOutput(first).map(({ call_id }) => ({
      type: "apply_patch_call_output",
      call_id,
      status: "completed",
    }));
    const second = await respond({ input: answers, tools, previous_response_id: first["id"] });
    expect(readAnswer(second)).toBe("Done.");
  });
});

import { describe, expect, test } from "vitest";
import type { LocalTool, LocalToolItem, ModelAction } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { createDice, dice, roll, startProvider } from "../support/local/own-tools-provider.ts";
import { readAnswer } from "../support/local/provider-fixture.ts";

const offered = { model: "any", input: "Roll.", tools: [{ type: "dice" }] };
const rollAndSay = () => [roll, { say: "A six." }];

const circular: Record<string, unknown> = {};
circular["self"] = circular;

/** Returns a failing request's response, blocking and as a stream. */
async function collectFailures(tool: LocalTool, actions: readonly ModelAction[] = rollAndSay()) {
  const faults: unknown[] = [];
  const options = { onFault: (fault: unknown) => void faults.push(fault) };
  const { ask } = await startProvider([tool], () => actions, options);
  const whole = await ask("POST /responses", offered);
  const streamed = await ask("POST /responses", { ...offered, stream: true });
  const events = String(streamed.body["text"] ?? "");
  expect(faults).toEqual([]);
  return { whole, streamed, events };
}

describe("a failing custom tool", () => {
  test.each<readonly [did: string, run: () => unknown, problem: string]>([
    [
      "throws",
      () => {
        throw new Error("They fell off the table.");
      },
      "They fell off the table.",
    ],
    ["rejects", async () => await Promise.reject(new RangeError("Lost.")), "Lost."],
    [
      "throws no error",
      () => {
        throw "gone";
      },
      '"gone"',
    ],
    [
      "throws null",
      () => {
        throw null;
      },
      "null",
    ],
    ["returns nothing", () => undefined, "it is undefined"],
    ["returns null", () => null, "it is null"],
    ["returns a text", () => "six", 'it is "six"'],
    ["returns no items", () => [], "at least one item"],
    ["returns what JSON lacks", () => ({ rolled: 6n }), "value.rolled is 6"],
    ["returns a date", () => ({ at: new Date(0) }), "value.at is a Date"],
    ["returns itself", () => circular, "contains itself"],
    ["returns an instance", () => new Map(), "it is a Map"],
    [
      "returns another type",
      () => ({ type: "message" }),
      'must be one of "dice_call", got "message"',
    ],
    ["returns a type of a built-in tool", () => [{}, { type: "mcp_call" }], 'got "mcp_call"'],
    ["returns a number for an id", () => ({ id: 7 }), "expected a string"],
    ["returns an empty id", () => ({ id: "" }), "dice_call.id"],
  ])("that %s fails the response with an error that names it", async (_did, run, problem) => {
    const { whole, streamed, events } = await collectFailures(
      createDice({ run: run as LocalTool["run"] }),
    );
    expect(whole).toMatchObject({
      status: 500,
      body: {
        error: {
          message: expect.stringContaining("Step 1 failed: Tool 'dice' failed in run: "),
          type: "server_error",
          param: null,
          code: "tool_error",
        },
      },
    });
    expect(Object(whole.body["error"]).message).toContain(problem);
    expect(whole.headers.get("x-should-retry")).toBe("false");
    expect(streamed.status).toBe(200);
    expect(events).toContain("event: error\n");
    expect(events.trimEnd().split("\n\n").at(-1)).toMatch(
      /^event: response.failed\n.*"tool_error"/,
    );
  });

  test("has a truncated error message if it is too long", async () => {
    const run = () => {
      throw new Error("x".repeat(1_000_000));
    };
    const { whole } = await collectFailures(createDice({ run }));
    expect(String(Object(whole.body["error"]).message).length).toBeLessThan(3_000);
  });

  test("that cites something other than an array gets an error", async () => {
    const run: LocalTool["run"] = (_call, { cite }) => {
      cite(null as never);
      return {};
    };
    const { whole } = await collectFailures(createDice({ run }));
    expect(Object(whole.body["error"]).message).toBe(
      "Step 1 failed: Tool 'dice' failed in run: cite() needs an array, got null",
    );
  });

  test("cannot change its request", async () => {
    const run: LocalTool["run"] = ({ entry }) => {
      Object.assign(entry, { color: "blue" });
      return {};
    };
    const { whole } = await collectFailures(createDice({ run }));
    expect(Object(whole.body["error"]).message).toContain("Tool 'dice' failed in run: Cannot ");
  });

  test("that returns an item which its own check rejects gets an error", async () => {
    const item: LocalToolItem = { check: () => "Roll again." };
    const { whole } = await collectFailures(createDice({}, item));
    expect(Object(whole.body["error"]).message).toBe(
      "Step 1 failed: Tool 'dice' failed in run: it returned an invalid item: Roll again.",
    );
  });

  test.each<readonly [field: string, item: LocalToolItem]>([
    [
      "items.dice_call.check",
      {
        check: () => {
          throw new Error("Oh.");
        },
      },
    ],
    ["items.dice_call.check", { check: () => true as never }],
    ["items.dice_call.check", { check: (async () => null) as never }],
    [
      "items.dice_call.includes",
      {
        includes: {
          "dice_call.a": () => {
            throw new Error("Oh.");
          },
        },
      },
    ],
    ["items.dice_call.includes", { includes: { "dice_call.a": () => null as never } }],
  ])("whose %s fails does not affect the server", async (field, item) => {
    const { whole, events } = await collectFailures(createDice({}, item));
    expect(whole).toMatchObject({ status: 500, body: { error: { code: "tool_error" } } });
    expect(Object(whole.body["error"]).message).toContain(`Tool 'dice' failed in`);
    expect(Object(whole.body["error"]).message).toContain(field);
    expect(events).toContain("event: response.failed\n");
  });

  test.each<readonly [did: string, events: () => unknown]>([
    [
      "throw",
      () => {
        throw new Error("Oh.");
      },
    ],
    ["are nothing", () => undefined],
    ["have no list", () => ({ added: {}, running: null, finished: [] })],
    ["begin with nothing", () => ({ added: null, running: [], finished: [] })],
    ["have no type", () => ({ added: {}, running: [{}], finished: [] })],
    ["cannot be JSON", () => ({ added: {}, running: [], finished: [{ type: "a", big: 1n }] })],
  ])("whose events %s fails only the stream", async (_did, events) => {
    const tool = createDice({}, { events: events as never });
    const { whole, events: streamed } = await collectFailures(tool);
    expect(whole).toMatchObject({ status: 200 });
    expect(streamed).toContain("Tool 'dice' failed in items.dice_call.events: ");
    expect(streamed).toContain("event: response.failed\n");
  });

  test("whose check throws fails the request", async () => {
    const check = () => {
      throw new Error("Oh.");
    };
    const { ask } = await startProvider([createDice({ check, checkChoice: check })], rollAndSay);
    const answer = await ask("POST /responses", offered);
    expect(answer).toMatchObject({
      status: 500,
      body: { error: { message: "Tool 'dice' failed in check: Oh." } },
    });
  });

  test.each<readonly [did: string, echo: () => never]>([
    [
      "throws",
      () => {
        throw new Error("Oh.");
      },
    ],
    ["returns a text", () => "dice" as never],
  ])("whose echo %s fails the response", async (_, echo) => {
    const { whole, streamed } = await collectFailures(createDice({ echo }));
    expect(streamed.status).toBe(500);
    expect(whole).toMatchObject({ status: 500, body: { error: { code: "tool_error" } } });
    expect(Object(whole.body["error"]).message).toContain("Tool 'dice' failed in echo: ");
  });

  test("does not prevent the next request", async () => {
    let fails = true;
    const run: LocalTool["run"] = () => {
      if (fails) throw new Error("Not yet.");
      return { rolled: 6 };
    };
    const { ask, respond } = await startProvider([createDice({ run })], rollAndSay);
    expect(await ask("POST /responses", offered)).toMatchObject({ status: 500 });
    fails = false;
    expect(readAnswer(await respond(offered))).toBe("A six.");
  });
});

describe("a long-running custom tool", () => {
  /** Creates a tool that runs until it is aborted, or forever. */
  function createSlowTool(hears: boolean) {
    const started = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const run: LocalTool["run"] = async (_call, { signal }) => {
      started.resolve();
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          if (hears) reject(signal.reason);
        });
      });
      return {};
    };
    return { tool: createDice({ run }), started: started.promise, reasons };
  }

  test.each([
    [true, false],
    [true, true],
    [false, false],
    [false, true],
  ])(
    "is aborted when the client disconnects (handles the signal: %s, streamed: %s)",
    async (hears, stream) => {
      const { tool, started, reasons } = createSlowTool(hears);
      const { url, respond } = await startProvider([tool], ({ turn }) =>
        turn === 0 ? [roll] : [{ say: "Hello." }],
      );
      const client = new AbortController();
      const left = fetch(`${url}/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...offered, stream }),
        signal: client.signal,
      }).then((response) => response.text());
      await started;
      client.abort(new Error("gone"));
      await expect(left).rejects.toThrow("gone");
      await expect.poll(() => reasons.length).toBe(1);
      expect(readAnswer(await respond(offered))).toBe("Hello.");
    },
  );

  test.each([true, false])(
    "is aborted when the provider is disposed (handles the signal: %s)",
    async (hears) => {
      const { tool, started, reasons } = createSlowTool(hears);
      const { provider } = await startProvider([tool], () => [roll]);
      const asked = provider
        .fetch("http://local/v1/responses", { method: "POST", body: JSON.stringify(offered) })
        .then(({ status }) => status);
      await started;
      await provider[Symbol.asyncDispose]();
      expect(await asked).toBe(503);
      expect(reasons).toHaveLength(1);
    },
  );
});

describe("the use action", () => {
  const parameters = {
    type: "object",
    properties: { sides: { type: "integer" } },
    required: ["sides"],
  };

  test.each<readonly [use: { kind: string; args: object }, problem: string]>([
    [{ kind: "dices", args: {} }, 'Did you mean "dice"?'],
    [{ kind: "coffee_machine", args: {} }, '"shell", "tool_search", "apply_patch", "dice"'],
    [{ kind: "__proto__", args: {} }, 'a tool of kind "__proto__", but there are only'],
    [
      { kind: "mcp", args: {} },
      "the model used the tool 'mcp', but the request does not offer mcp. It offers the hosted tools",
    ],
    [
      { kind: "local_shell", args: {} },
      "the model used the tool 'local_shell', which is not supported by the local provider",
    ],
    [
      { kind: "dice", args: { sides: "six" } },
      'the arguments {"sides":"six"}, which do not match {',
    ],
    [{ kind: "code_interpreter", args: {} }, "which do not match {"],
  ])("fails with an error for %j", async (use, problem) => {
    const tool = createDice({ description: "Rolls.", parameters });
    const { ask } = await startProvider([tool], () => [{ use }]);
    const tools = [...offered.tools, { type: "local_shell" }];
    const { status, headers, body } = await ask("POST /responses", { ...offered, tools });
    expect(status).toBe(500);
    expect(headers.get("x-should-retry")).toBe("false");
    expect(body["error"]).toMatchObject({ code: "model_error" });
    expect(Object(body["error"]).message).toContain(problem);
  });

  test("can call a built-in tool", async () => {
    const use = { kind: "code_interpreter", args: { code: "print(6 * 7)" } };
    const { ask } = await startProvider([], () => [{ use }, { say: "Done." }]);
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const include = ["code_interpreter_call.outputs"];
    const { body } = await ask("POST /responses", { ...offered, tools, include });
    const [call] = body["output"] as readonly WireItem[];
    expect(call).toMatchObject({ outputs: [{ type: "logs", logs: "42\n" }] });
  });

  test("fails on the Messages API", async () => {
    const { url } = await startProvider([dice], () => [roll]);
    const response = await fetch(`${url}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "claude-any",
        max_tokens: 100,
        messages: [{ role: "user", content: "Roll." }],
      }),
    });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: {
        message: expect.stringContaining("the model used the tool 'dice', but the Messages API"),
      },
    });
  });
});

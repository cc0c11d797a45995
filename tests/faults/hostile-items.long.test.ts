import { describe, expect, test } from "vitest";
import {
  codeInterpreterTool,
  fileSearchTool,
  imageGenerationTool,
  mcpTool,
  webSearchTool,
} from "weakincentives";
import {
  createFaultSetup,
  createResponseText,
  createTextResponse,
  type FaultSetupOptions,
  getConversationItems,
} from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message } from "../support/wire-server.ts";

const addition = JSON.stringify(functionCall("add", { a: 1, b: 2 }, "call_1"));
const sum = { type: "function_call_output", call_id: "call_1", output: "3" };
/** The items themselves are invalid. */
const server = { invalid: "allowed" } as const;
const createMessage = (part: string) => `{"type":"message","role":"assistant","content":[${part}]}`;
const createCitedMessage = (annotations: string) =>
  createMessage(`{"type":"output_text","text":"Owls.","annotations":${annotations}}`);

const harmless: readonly [string, string][] = [
  ["of an unknown type", '{"type":"telepathy_call","id":"tp_1","thought":{"x":[1,null]}}'],
  ["without a type", '{"id":"x_1","content":"y"}'],
  ["without a type but with text", '{"role":"assistant","content":"Hello."}'],
  ["without fields", "{}"],
  ["whose type is null", '{"type":null,"id":"x_1"}'],
  ["whose type is a number", '{"type":7}'],
  ["whose type is an object", '{"type":{"toString":1,"valueOf":2},"id":{"toString":1}}'],
  ["whose type is empty", '{"type":"","role":""}'],
  ["called __proto__", '{"type":"__proto__","id":"__proto__"}'],
  ["with a __proto__ field", '{"type":"odd","__proto__":{"polluted":true},"x":{"__proto__":null}}'],
  ["with a constructor field", '{"type":"odd","constructor":{"prototype":{"polluted":true}}}'],
  [
    "with fields named like methods",
    '{"type":"odd","toString":1,"valueOf":2,"toJSON":"x","hasOwnProperty":null}',
  ],
  ["that looks like a promise", '{"type":"odd","then":{"then":1},"catch":"x"}'],
  ["with lone surrogates", '{"type":"odd","x":"\\ud800","\\udfff":"\\udc00\\ud800"}'],
  ["with control characters", '{"type":"odd","x":"\\u0000\\u001b[31m\\u2028\\r\\n"}'],
  ["whose content is a string", '{"type":"message","role":"assistant","content":"Hello."}'],
  ["with invalid content parts", createMessage('1,"x",[],{},{"type":"telepathy"},{"type":null}')],
  [
    "with text parts without text",
    createMessage('{"type":"output_text"},{"type":"output_text","text":null}'),
  ],
  ["with an empty refusal", createMessage('{"type":"refusal","refusal":null}')],
  ["whose annotations are null", createCitedMessage("null")],
  ["whose annotations are an object", createCitedMessage('{"type":"url_citation"}')],
  ["with unknown annotations", createCitedMessage('[{"type":"dream_citation","start_index":0}]')],
  [
    "with invalid annotations",
    createCitedMessage('[null,1,"x",[],{},{"type":null},{"type":"url_citation"}]'),
  ],
  [
    "with invalid citation indices",
    createCitedMessage('[{"type":"url_citation","start_index":"NaN","end_index":{}}]'),
  ],
  [
    "with citation indices out of range",
    createCitedMessage('[{"type":"url_citation","start_index":-5,"end_index":1e9}]'),
  ],
  [
    "with fractional citation indices",
    createCitedMessage('[{"type":"file_citation","index":0.5,"file_id":null}]'),
  ],
  ["that is reasoning without a summary", '{"type":"reasoning","id":"rs_1","summary":null}'],
  ["that is reasoning without an id", '{"type":"reasoning","encrypted_content":7}'],
];

const hosted: FaultSetupOptions = {
  server,
  hostedTools: [
    webSearchTool(),
    codeInterpreterTool(),
    fileSearchTool({ vectorStoreIds: ["vs_1"] }),
    imageGenerationTool(),
    mcpTool({ serverLabel: "docs", serverUrl: "https://docs.example/mcp" }),
  ],
};

/** Items that the official client itself rejects in a buffered response. */
const stumblingBlocks: readonly [string, string][] = [
  ["whose content is null", '{"type":"message","role":"assistant","content":null}'],
  ["whose content is an object", '{"type":"message","role":"assistant","content":{"text":"x"}}'],
  ["whose content has nulls", createMessage("null")],
  ["that is null", "null"],
];

describe.each(clients)("on %s, an item", (_name, client) => {
  test.each(stumblingBlocks)("%s is tolerated", async (_what, item) => {
    const script = [createTextResponse(createResponseText([item, addition])), [message("Three.")]];
    await using at = await createFaultSetup(client, script, { server });
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.turns).toHaveLength(2);
  });

  test.each(harmless)("%s is sent back unchanged", async (_what, item) => {
    const answer = createTextResponse(createResponseText([item, addition]));
    await using at = await createFaultSetup(client, [answer, [message("Three.")]], { server });
    expect(await at.evaluate()).toMatchObject({ text: "Three.", usage: { totalTokens: 15 } });
    expect(getConversationItems(at.turns[1])).toEqual([
      JSON.parse(item),
      JSON.parse(addition),
      sum,
    ]);
    expect(at.turns[1]?.text).toContain(JSON.stringify(JSON.parse(item)));
    expect(at.additions).toEqual([{ a: 1, b: 2 }]);
    expect(at.bus.of("HistoryRepaired")).toEqual([]);
    expect({}).not.toHaveProperty("polluted");
  });

  test.each(harmless)("%s can be stored and continued", async (_what, item) => {
    const answer = createTextResponse(createResponseText([item, JSON.stringify(message("Hi."))]));
    await using at = await createFaultSetup(client, [answer, [message("Again.")]], { server });
    await at.evaluate();
    expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Again." });
    expect(getConversationItems(at.turns[1])[0]).toEqual(JSON.parse(item));
  });

  test.each(["1", '"x"', "[]", '[{"type":"message"}]', "true"])(
    "that is %s is dropped",
    async (item) => {
      const answer = createTextResponse(createResponseText([item, addition, item]));
      await using at = await createFaultSetup(client, [answer, [message("Three.")]], { server });
      expect(await at.evaluate()).toMatchObject({ text: "Three." });
      expect(getConversationItems(at.turns[1])).toEqual([JSON.parse(addition), sum]);
    },
  );

  test.each(["web_search", "code_interpreter", "file_search", "image_generation", "mcp"])(
    "of the tool %s with missing or invalid fields is reported as a call",
    async (kind) => {
      const type = `${kind}_call`;
      const odd = { type, id: 7, status: {}, action: "x", queries: 1, outputs: {}, results: "x" };
      const odder = { type, id: null, action: { sources: [null, 1], queries: [null] }, code: [] };
      const rest = { name: 1, server_label: "docs", arguments: [], output: {}, result: 5 };
      const items = [
        { type, server_label: "docs" },
        { ...odd, ...rest },
        { ...odder, ...rest },
      ];
      const output = [...items.map((item) => JSON.stringify(item)), addition];
      const script = [createTextResponse(createResponseText(output)), [message("Three.")]];
      await using at = await createFaultSetup(client, script, hosted);
      const response = await at.evaluate();
      expect(response).toMatchObject({ text: "Three." });
      expect(response.hostedCalls.map(({ name }) => name)).toEqual([kind, kind, kind]);
      expect(getConversationItems(at.turns[1]).slice(0, 3)).toEqual(items);
    },
  );

  test("with an infinite number is sent back and does not end the evaluation", async () => {
    const item = createCitedMessage(
      '[{"type":"url_citation","start_index":1e400,"end_index":-1e400}]',
    );
    const script = [createTextResponse(createResponseText([item, addition])), [message("Three.")]];
    await using at = await createFaultSetup(client, script, { server });
    const response = await at.evaluate();
    expect(response).toMatchObject({ text: "Three.", citations: [{ type: "url", span: null }] });
  });

  test("with lone surrogates in its text returns them unchanged", async () => {
    const item = createMessage('{"type":"output_text","text":"\\ud83e","annotations":[]}');
    await using at = await createFaultSetup(
      client,
      [createTextResponse(createResponseText([item]))],
      {
        server,
      },
    );
    expect((await at.evaluate()).text).toBe("\ud83e");
  });

  test("is sent back without its id with store: false", async () => {
    const thought =
      '{"type":"reasoning","id":"rs_1","summary":null,"encrypted_content":"x","__proto__":[1]}';
    const script = [
      createTextResponse(createResponseText([thought, addition])),
      [message("Three.")],
    ];
    const adapter = { modelConfig: { store: false } };
    await using at = await createFaultSetup(client, script, { server, adapter });
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.turns[1]?.text).toContain(thought.replace('"id":"rs_1",', ""));
  });
});

describe.each(clients)("on %s, an output", (name, client) => {
  const isOurs = name.startsWith("the built-in");

  test.each<[string, unknown]>([
    ["null", null],
    ["an object", {}],
    ["a string", "[]"],
    ["missing", undefined],
    ["a number", 7],
  ])("that is %s is an error that names it", async (_what, output) => {
    const json = { id: "resp_1", object: "response", status: "completed", output };
    const script = [[functionCall("add", { a: 1, b: 2 })], { json }, [message("Fresh.")]];
    await using at = await createFaultSetup(client, script);
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/output is (.*, not an array|not iterable)/),
      partial: { turns: 1 },
      ...(isOurs && { phase: "response" }), // the official client throws its own error
    });
    expect(await at.evaluate()).toMatchObject({ text: "Fresh." });
  });

  test.each(["[]", "[null]", '[1,"x",[]]'])("that is %s has no answer", async (output) => {
    const text = `{"id":"resp_1","status":"completed","output":${output}}`;
    await using at = await createFaultSetup(client, [createTextResponse(text)]);
    const words = expect.stringContaining("returned an empty response");
    expect(await at.getFailure()).toMatchObject({ phase: "response", message: words });
  });
});

const none = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

describe.each(clients)("on %s, a usage object", (_name, client) => {
  const getUsage = async (usage: unknown) => {
    const json = { id: "resp_1", status: "completed", output: [message("Hi.")], usage };
    await using at = await createFaultSetup(client, [{ json }]);
    return (await at.evaluate()).usage;
  };

  test.each<[string, unknown]>([
    ["missing", undefined],
    ["null", null],
    ["a string", "many"],
    ["an array", [1, 2]],
    ["empty", {}],
    ["made of strings", { input_tokens: "10", output_tokens: "5", total_tokens: "15" }],
    ["made of nulls", { input_tokens: null, input_tokens_details: null, total_tokens: null }],
    [
      "invalid inside",
      { input_tokens_details: 7, output_tokens_details: { reasoning_tokens: [] } },
    ],
  ])("that is %s counts as zero", async (_what, usage) => {
    expect(await getUsage(usage)).toEqual({ ...none, totalTokens: 0 });
  });

  test("without a total gets the sum", async () => {
    const usage = { input_tokens: 10, output_tokens: 5 };
    expect(await getUsage(usage)).toMatchObject({
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
    });
  });

  test("with negative numbers counts as zero", async () => {
    const details = { input_tokens_details: { cached_tokens: -1 } };
    const usage = { input_tokens: -10, output_tokens: -5, total_tokens: -15, ...details };
    expect(await getUsage(usage)).toEqual({ ...none, totalTokens: 0 });
  });
});

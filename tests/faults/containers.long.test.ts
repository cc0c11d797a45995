import { describe, expect, test } from "vitest";
import { codeInterpreterTool, shellTool } from "weakincentives";
import {
  createFaultSetup,
  type FaultSetupOptions,
  getConversationItems,
} from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  type RouteAnswer,
  type WireServerOptions,
} from "../support/wire-server.ts";

const createRejection = (status: number, words: string): RouteAnswer => ({
  status,
  error: { message: words },
});
const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const code = codeInterpreterCall("print(3)", ["3\n"], "cntr_1");
const first = [code, addition];

type Routes = NonNullable<WireServerOptions["routes"]>;

const useOwnContainer = (route: Routes[string]): FaultSetupOptions => ({
  hostedTools: [codeInterpreterTool({ container: { id: "cntr_1" } })],
  server: { lenient: true, routes: { "GET /containers/cntr_1": route } },
});
const createContainerResponse = (status: string) => ({
  json: { id: "cntr_1", object: "container", created_at: 1, status, name: "mine" },
});

describe.each(clients)("on %s, a container created by the caller", (_name, client) => {
  test.each([
    ["Container is expired.", 400],
    ["Container with id 'cntr_1' not found.", 404],
    ["Expected container_id: cntr_1", 400],
  ])(
    "that expires during an evaluation (%s) must be replaced by the caller",
    async (words, status) => {
      const no = createRejection(status, words);
      const setting = useOwnContainer(createContainerResponse("running"));
      await using at = await createFaultSetup(
        client,
        () => (at.turns.length === 1 ? first : no),
        setting,
      );
      expect(await at.getFailure()).toMatchObject({
        name: "PromptEvaluationError",
        phase: "request",
        message: expect.stringMatching(/cntr_1 no longer exists.*Create a new one and pass its id/),
        cause: {
          name: "ContainerExpiredError",
          containerId: "cntr_1",
          originalError: { name: "OpenAIRequestError", status },
        },
        partial: { turns: 1, hostedCalls: [{ kind: "code_interpreter", containerId: "cntr_1" }] },
      });
      expect(at.turns.length).toBeLessThanOrEqual(3);
    },
  );

  test("that expires during an evaluation is reported with the failed request's id", async () => {
    const script = [first, createRejection(400, "Container is expired.")];
    await using at = await createFaultSetup(
      client,
      script,
      useOwnContainer(createContainerResponse("running")),
    );
    expect(await at.getFailure()).toMatchObject({
      requestId: "req_3", // after the request that checked the container
      providerPayload: { error: { message: "Container is expired." } },
    });
  });

  test.each<[string, Routes[string]]>([
    ["has expired", createContainerResponse("expired")],
    ["was deleted", createContainerResponse("deleted")],
    ["does not exist", createRejection(404, "Container with id 'cntr_1' not found.")],
  ])("that %s is detected before the first request", async (_how, route) => {
    await using at = await createFaultSetup(client, [], useOwnContainer(route));
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      message: expect.stringMatching(/cntr_1 no longer exists.*Create a new one/),
      cause: { name: "ContainerExpiredError", containerId: "cntr_1" },
      partial: { turns: 0 },
    });
    expect(at.turns).toEqual([]);
  });

  test.each<[string, RouteAnswer]>([
    ["running", createContainerResponse("running")],
    ["in an unknown state", createContainerResponse("dreaming")],
    ["without a state", { json: { id: "cntr_1" } }],
    ["odd", { json: { status: { toString: 1 } } }],
  ])("that is %s is treated as running", async (_how, route) => {
    await using at = await createFaultSetup(client, [[message("Hi.")]], useOwnContainer(route));
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
  });

  test("is checked once per evaluation, and again after a failed check", async () => {
    let looked = 0;
    const route = () =>
      looked++ === 0 ? createRejection(503, "Busy.") : createContainerResponse("running");
    await using at = await createFaultSetup(
      client,
      [first, [message("Three.")]],
      useOwnContainer(route),
    );
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(looked).toBe(2);
  });

  test.each([
    [401, /OPENAI_API_KEY/],
    [403, /project/],
  ])("that cannot be checked (%i) fails immediately", async (status, words) => {
    await using at = await createFaultSetup(
      client,
      [],
      useOwnContainer(createRejection(status, "No.")),
    );
    const facts = { name: "PromptEvaluationError", phase: "request", requestId: "req_1" };
    expect(await at.getFailure()).toMatchObject({
      ...facts,
      message: expect.stringMatching(words),
    });
  });

  test("whose check keeps failing is a ThrottleError after three attempts", async () => {
    await using at = await createFaultSetup(
      client,
      [],
      useOwnContainer(createRejection(500, "Oops.")),
    );
    const facts = { name: "ThrottleError", kind: "server", attempts: 3, requestId: "req_3" };
    expect(await at.getFailure()).toMatchObject(facts);
    expect(at.turns).toEqual([]);
  });

  test("remains in the history when the provider's own container expires", async () => {
    const setting = useOwnContainer(createContainerResponse("running"));
    const old = codeInterpreterCall("print(1)", ["1\n"], "cntr_0");
    const script = [
      [old, code, addition],
      createRejection(400, "Container is expired."),
      [message("Hi.")],
    ];
    await using at = await createFaultSetup(client, script, setting);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    const containers = getConversationItems(at.turns[2]).map((item) => Object(item).container_id);
    expect(containers).toContain("cntr_1");
    expect(containers).not.toContain("cntr_0");
  });
});

describe.each(clients)("on %s, a container created by the provider", (_name, client) => {
  test("is not checked, and its expiry is not reported as the caller's", async () => {
    const hostedTools = [codeInterpreterTool()];
    const no = createRejection(400, "Container is expired.");
    await using at = await createFaultSetup(client, [first, no, no], {
      hostedTools,
      server: { lenient: true },
    });
    const cause = { name: "OpenAIRequestError", status: 400 };
    expect(await at.getFailure()).toMatchObject({ name: "PromptEvaluationError", cause });
  });

  test("that ran a shell is removed with its calls and outputs when it expires", async () => {
    const hostedTools = [shellTool({ environment: { type: "container" } })];
    const environment = { type: "container_reference", container_id: "cntr_1" };
    const action = { commands: ["ls"], timeout_ms: null, max_output_length: null };
    const shell = { type: "shell_call", id: "sh_1", call_id: "call_9", status: "completed" };
    const answer = { type: "shell_call_output", id: "sho_1", call_id: "call_9", output: [] };
    const ran = [
      { ...shell, action, environment },
      { ...answer, status: "completed", max_output_length: null },
    ];
    const script = [
      [...ran, addition],
      createRejection(400, "Container is expired."),
      [message("Hi.")],
    ];
    await using at = await createFaultSetup(client, script, {
      hostedTools,
      server: { lenient: true },
    });
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
    expect(getConversationItems(at.turns[2])).toMatchObject([
      { call_id: "call_1" },
      { output: "3" },
    ]);
    expect(at.bus.of("HistoryRepaired")).toMatchObject([
      { dropped: [{ type: "shell_call" }, { type: "shell_call_output" }] },
    ]);
  });
});

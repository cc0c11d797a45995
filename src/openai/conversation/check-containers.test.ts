import { describe, expect, test } from "vitest";
import { clients } from "../../../tests/support/openai-clients.ts";
import { createTaskPrompt, lookTool, runScript } from "../../../tests/support/openai-run.ts";
import { functionCall, message } from "../../../tests/support/wire-server.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { ContainerExpiredError } from "../errors/errors.ts";

const prompt = createTaskPrompt({
  tools: [lookTool],
  hostedTools: [codeInterpreterTool({ container: { id: "cntr_1" } })],
});
const container = (status: string) => ({ json: { id: "cntr_1", object: "container", status } });
const gone = {
  status: 404,
  error: { message: "Container with id 'cntr_1' not found.", type: "invalid_request_error" },
};

describe.each(clients)("a caller's container, on %s", (_, client) => {
  const run = (answer: ReturnType<typeof container> | typeof gone, adapter = {}) =>
    runScript([[functionCall("look", {})], [message("Hi.")]], {
      prompt,
      client,
      adapter,
      server: { routes: { "GET /containers/cntr_1": answer } },
    });

  test("is checked once, before the first request", async () => {
    const { error, requests, bodies } = await run(container("running"));
    expect(error).toBeNull();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /containers/cntr_1",
      "POST /responses",
      "POST /responses",
    ]);
    expect(bodies[0]?.["tools"]).toMatchObject([
      { type: "function" },
      { type: "code_interpreter", container: "cntr_1" },
    ]);
  });

  test.each([
    ["is unknown", gone],
    ["has expired", container("expired")],
    ["was deleted", container("deleted")],
  ])("is rejected before the first request and not replaced if it %s", async (_why, answer) => {
    const { error, requests } = await run(answer);
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
    expect(error?.cause).toBeInstanceOf(ContainerExpiredError);
    expect(error?.cause).toMatchObject({ containerId: "cntr_1" });
    expect(error?.message).toMatch(
      /Container cntr_1 no longer exists .*\. Create a new one and pass its id/,
    );
    expect(requests).toHaveLength(1);
  });

  test("is not checked with checkContainers: false", async () => {
    const { error, requests } = await run(gone, { checkContainers: false });
    expect(error).toBeNull();
    expect(requests).toHaveLength(2);
  });
});

test("the containers of shells are checked too, and new containers are not", async () => {
  const hostedTools = [
    codeInterpreterTool(),
    shellTool({ environment: { type: "container", containerId: "cntr_2" } }),
  ];
  const { requests } = await runScript([[message("Hi.")]], {
    prompt: createTaskPrompt({ hostedTools }),
    server: { routes: { "GET /containers/cntr_2": { json: { id: "cntr_2", status: "running" } } } },
  });
  expect(requests.map(({ path }) => path)).toEqual(["/containers/cntr_2", "/responses"]);
});

test("a failed container check is retried", async () => {
  let requests = 0;
  const busy = { status: 503, error: { message: "Busy", type: "server_error" } };
  const { error } = await runScript([[message("Hi.")]], {
    prompt,
    server: {
      routes: { "GET /containers/cntr_1": () => (++requests < 3 ? busy : container("running")) },
    },
  });
  expect(error).toBeNull();
  expect(requests).toBe(3);
});

test("a caller's container that expires during a turn is not replaced", async () => {
  const expired = {
    status: 400,
    error: { message: "Container is expired.", type: "invalid_request_error", param: null },
  };
  const { error } = await runScript([expired], {
    prompt,
    server: { routes: { "GET /containers/cntr_1": container("running") } },
  });
  expect(error?.cause).toBeInstanceOf(ContainerExpiredError);
});

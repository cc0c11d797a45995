import { describe, expect, test } from "vitest";
import { clients } from "../../../tests/support/openai-clients.ts";
import { lookTool, promptWith, runOn } from "../../../tests/support/openai-run.ts";
import { functionCall, message } from "../../../tests/support/wire-server.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { ContainerExpiredError } from "../errors/errors.ts";

const prompt = promptWith({
  tools: [lookTool],
  hostedTools: [codeInterpreterTool({ container: { id: "cntr_1" } })],
});
const container = (status: string) => ({ json: { id: "cntr_1", object: "container", status } });
const gone = {
  status: 404,
  error: { message: "Container with id 'cntr_1' not found.", type: "invalid_request_error" },
};

describe.each(clients)("on %s a container that the caller names", (_, client) => {
  const run = (answer: ReturnType<typeof container> | typeof gone, adapter = {}) =>
    runOn([[functionCall("look", {})], [message("Hi.")]], {
      prompt,
      client,
      adapter,
      server: { routes: { "GET /containers/cntr_1": answer } },
    });

  test("is looked for once, before the first request", async () => {
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
  ])("and that %s is refused before a request, and not replaced", async (_why, answer) => {
    const { error, requests } = await run(answer);
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
    expect(error?.cause).toBeInstanceOf(ContainerExpiredError);
    expect(error?.cause).toMatchObject({ containerId: "cntr_1" });
    expect(error?.message).toMatch(/Container cntr_1 is gone .*: make a new one and give its id/);
    expect(requests).toHaveLength(1);
  });

  test("is not looked for where that is switched off", async () => {
    const { error, requests } = await run(gone, { checkContainers: false });
    expect(error).toBeNull();
    expect(requests).toHaveLength(2);
  });
});

test("containers of shells are looked for too, and those that are yet to be made are not", async () => {
  const hostedTools = [
    codeInterpreterTool(),
    shellTool({ environment: { type: "container", containerId: "cntr_2" } }),
  ];
  const { requests } = await runOn([[message("Hi.")]], {
    prompt: promptWith({ hostedTools }),
    server: { routes: { "GET /containers/cntr_2": { json: { id: "cntr_2", status: "running" } } } },
  });
  expect(requests.map(({ path }) => path)).toEqual(["/containers/cntr_2", "/responses"]);
});

test("a server that cannot say is asked again", async () => {
  let asked = 0;
  const busy = { status: 503, error: { message: "Busy", type: "server_error" } };
  const { error } = await runOn([[message("Hi.")]], {
    prompt,
    server: {
      routes: { "GET /containers/cntr_1": () => (++asked < 3 ? busy : container("running")) },
    },
  });
  expect(error).toBeNull();
  expect(asked).toBe(3);
});

test("a container that dies on the way is the caller's to replace", async () => {
  const expired = {
    status: 400,
    error: { message: "Container is expired.", type: "invalid_request_error", param: null },
  };
  const { error } = await runOn([expired], {
    prompt,
    server: { routes: { "GET /containers/cntr_1": container("running") } },
  });
  expect(error?.cause).toBeInstanceOf(ContainerExpiredError);
});

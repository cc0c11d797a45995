import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { hostSandbox } from "../../tests/support/host-sandbox.ts";
import type { ModelAction } from "./model-action.ts";
import { scriptedModel } from "./models/scripted-model.ts";
import { LocalProvider } from "./provider.ts";
import type { LocalProviderOptions } from "./provider-options.ts";

const python = { type: "code_interpreter", container: { type: "auto" } } as const;
const CLOSED = "The local provider was closed before the response was complete.";

/** Creates a provider in a temporary folder that the test can inspect, and collects its faults. */
function createProvider(options: LocalProviderOptions) {
  const folder = mkdtempSync(join(tmpdir(), "wink-turns-"));
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  const faults: unknown[] = [];
  const onFault = (error: unknown) => void faults.push(error);
  const provider = new LocalProvider({ sandbox: hostSandbox(), onFault, ...options });
  const client = (maxRetries = 2) =>
    new OpenAI({ baseURL: "http://local/v1", apiKey: "k", fetch: provider.fetch, maxRetries });
  /** Closes the provider, and waits for pending callbacks to run. */
  const close = async () => {
    await provider[Symbol.asyncDispose]();
    const left = readdirSync(folder);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect({ faults, left, later: readdirSync(folder) }).toEqual({
      faults: [],
      left: [],
      later: [],
    });
  };
  return { provider, client, close };
}

/** Creates a model that signals when it is called and then returns the actions. */
function createModel(actions: readonly ModelAction[]) {
  const asked = Promise.withResolvers<void>();
  const model = scriptedModel(() => {
    asked.resolve();
    return actions;
  });
  return { model, asked: asked.promise };
}

describe("LocalProvider disposal with a turn in process", () => {
  test("ends a turn that waits for its model at once, with the reason", async () => {
    const { model, asked } = createModel([{ stall: 60_000 }, { say: "Never." }]);
    const { client, close } = createProvider({ model });
    const answer = client()
      .responses.create({ model: "any", input: "Hi." })
      .catch((error: unknown) => error);
    await asked;
    await close();
    const error = await answer;
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 503, code: "provider_closed", message: `503 ${CLOSED}` });
  });

  test("ends a stream with a failed response, whether or not it is read", async () => {
    const { model, asked } = createModel([{ say: "First." }, { stall: 60_000 }]);
    const { provider, close } = createProvider({ model });
    const body = JSON.stringify({ model: "any", input: "Hi.", stream: true });
    const ask = () => provider.fetch("http://local/v1/responses", { method: "POST", body });
    const [read] = await Promise.all([ask(), ask()]);
    await asked;
    await close();
    const text = await read.text();
    expect(text).toContain('"text":"First."');
    expect(text).toContain(`"error":{"code":"provider_closed","message":"${CLOSED}"}`);
    expect(text).toContain("event: response.failed");
  });

  test("kills the running code of a turn", async () => {
    const sandbox = hostSandbox();
    const { model } = createModel([{ code: "import time\ntime.sleep(60)" }]);
    const { client, close } = createProvider({ model, sandbox });
    const answer = client()
      .responses.create({ model: "any", input: "Go.", tools: [python] })
      .catch((error: unknown) => error);
    await vi.waitFor(() => expect(sandbox.opened).toHaveLength(1), 30_000);
    await close();
    expect(sandbox.ended).toEqual(sandbox.opened);
    expect(await answer).toMatchObject({ status: 503, code: "provider_closed" });
  });

  test("does not wait for a model that ignores its signal", async () => {
    const asked = Promise.withResolvers<void>();
    const late = Promise.withResolvers<readonly ModelAction[]>();
    const respond = () => {
      asked.resolve();
      return late.promise;
    };
    const { client, close } = createProvider({ model: { respond } });
    const answer = client()
      .responses.create({ model: "any", input: "Hi." })
      .catch((error: unknown) => error);
    await asked.promise;
    await close();
    late.resolve([{ say: "Too late." }]);
    expect(await answer).toMatchObject({ status: 503 });
  });

  test("does not start a turn whose request body arrives later", async () => {
    const { provider, close } = createProvider({});
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const init = { method: "POST", body: readable, duplex: "half" };
    const answer = provider.fetch("http://local/v1/responses", init);
    await writer.write(Buffer.from('{"model": "any",'));
    await close();
    await writer.write(Buffer.from(' "input": "Hi."}'));
    await writer.close();
    const { status } = await answer;
    expect(status).toBe(503);
  });

  test("rejects requests during startup and shutdown", async () => {
    const { client, provider, close } = createProvider({
      model: scriptedModel([[{ say: "Hi." }]]),
    });
    const ask = () =>
      client(0)
        .responses.create({ model: "any", input: "Hi." })
        .catch((error: Error) => error.cause);
    const early = ask();
    const ending = close();
    const late = ask();
    const refusal = {
      message: 'LocalProvider must not be disposed, got "disposed". Create a new one.',
    };
    expect(await Promise.all([early, late])).toMatchObject([refusal, refusal]);
    await ending;
    await expect(provider.sandbox()).rejects.toThrow(refusal.message);
  });
});

test("LocalProvider does not start a turn that its client has aborted", async () => {
  let asks = 0;
  const model = scriptedModel(() => {
    asks += 1;
    return [{ say: "Hi." }];
  });
  const { provider, close } = createProvider({ model });
  const body = JSON.stringify({ model: "any", input: "Hi." });
  const init = { method: "POST", body, signal: AbortSignal.abort() };
  await expect(provider.fetch("http://local/v1/responses", init)).rejects.toThrow("aborted");
  expect(asks).toBe(0);
  await close();
});

describe("LocalProvider disposal with a turn on a socket", () => {
  test("ends the turn with its connection", async () => {
    const { model, asked } = createModel([{ stall: 60_000 }]);
    const { provider, close } = createProvider({ model });
    const { url } = await provider.listen();
    const answer = fetch(`${url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "any", input: "Hi." }),
    });
    const failed = expect(answer).rejects.toThrow("fetch failed");
    await asked;
    await close();
    await failed;
  });
});

describe("LocalProvider disposal during indexing", () => {
  test("stops indexing and resumes it at the next start", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "wink-index-"));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const text = Array.from({ length: 400_000 }, (_, place) => `word${place % 5_000}`).join(" ");
    const { client, close } = createProvider({ dataDir });
    const { files, vectorStores } = client();
    const file = await files.create({ file: new File([text], "a.txt"), purpose: "assistants" });
    const { id } = await vectorStores.create({ file_ids: [file.id] });
    expect((await vectorStores.retrieve(id)).status).toBe("in_progress");
    await close();

    const next = createProvider({ dataDir });
    const again = next.client().vectorStores;
    expect((await again.retrieve(id)).status).toBe("in_progress");
    await vi.waitFor(
      async () => expect((await again.retrieve(id)).file_counts.completed).toBe(1),
      30_000,
    );
    await next.close();
  });
});

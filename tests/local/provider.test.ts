import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LocalProvider, type LocalProviderOptions, scriptedModel } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { hostSandbox } from "../support/host-sandbox.ts";
import {
  createRequester,
  findItem,
  readAnswer,
  readOutput,
} from "../support/local/provider-fixture.ts";

const at = "http://local/v1";

function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-provider-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("LocalProvider", () => {
  test("returns its sandbox and the reason", async () => {
    await using provider = new LocalProvider();
    const { name, reason } = await provider.sandbox();
    expect(["bubblewrap", "wasm"]).toContain(name);
    expect(reason).toContain(`${name}: a trial run succeeded`);
    expect(await provider.sandbox({ trial: false })).toMatchObject({ name });
  });

  test("echoes by default", async () => {
    await using provider = new LocalProvider({ sandbox: hostSandbox() });
    const { respond } = createRequester(provider.fetch, at);
    expect(readAnswer(await respond({ input: "Hello." }))).toContain("Hello.");
  });

  test("deletes its temporary data on disposal", async () => {
    const folder = createTemporaryFolder();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const provider = new LocalProvider({ sandbox: hostSandbox() });
    await provider.sandbox();
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^wink-local-/)]);
    await provider[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    expect(readdirSync(folder)).toEqual([]);
    await expect(provider.fetch(`${at}/models`)).rejects.toThrow(
      'LocalProvider must not be disposed, got "disposed". Create a new one',
    );
  });

  test("keeps responses, keys and containers in its data folder", async () => {
    const dataDir = createTemporaryFolder();
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const options = { dataDir, sandbox: hostSandbox() };
    let first: WireItem;
    {
      const model = scriptedModel([
        [{ think: "Hm." }, { code: "open('a', 'w')" }, { say: "One." }],
      ]);
      await using provider = new LocalProvider({ ...options, model });
      const { respond } = createRequester(provider.fetch, at);
      first = await respond({ input: "1", tools, include: ["reasoning.encrypted_content"] });
    }
    const model = scriptedModel([[{ say: "Two." }], [{ say: "Three." }]]);
    await using provider = new LocalProvider({ ...options, model });
    const { respond, ask } = createRequester(provider.fetch, at);
    const chained = { input: "2", previous_response_id: first["id"], tools };
    expect(readAnswer(await respond(chained))).toBe("Two.");
    const replayed = [...readOutput(first), { role: "user", content: "3" }];
    expect(readAnswer(await respond({ input: replayed, store: false }))).toBe("Three.");
    const container = findItem(first, "code_interpreter_call")["container_id"];
    const { body } = await ask(`GET /containers/${container}/files`);
    expect(body).toMatchObject({ data: [{ path: "/mnt/data/a" }] }); // prints the error if it is one
  });

  test("answers turns without choosing a sandbox, and chooses one when code runs", async () => {
    const trial = Promise.withResolvers<{ usable: boolean; reason: string }>();
    let trials = 0;
    const probe = () => {
      trials += 1;
      return trial.promise;
    };
    const model = scriptedModel(({ text }) =>
      text === "Code." ? [{ code: "print(6 * 7)" }, { say: "Ran." }] : [{ say: "Plain." }],
    );
    await using provider = new LocalProvider({ model, sandbox: { ...hostSandbox(), probe } });
    const { respond } = createRequester(provider.fetch, at);
    expect(readAnswer(await respond({ input: "Hello." }))).toBe("Plain.");
    expect(trials).toBe(0);
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const runs = ["Code.", "Code."].map((input) => respond({ input, tools }));
    trial.resolve({ usable: true, reason: "for tests" });
    expect((await Promise.all(runs)).map(readAnswer)).toEqual(["Ran.", "Ran."]);
    expect(trials).toBe(1);
  });

  test("reports an unusable sandbox when code runs", async () => {
    const faults: unknown[] = [];
    const probe = async () => ({ usable: false, reason: "bwrap is missing: install it" });
    await using provider = new LocalProvider({
      model: scriptedModel(() => [{ code: "1" }]),
      sandbox: { ...hostSandbox(), probe },
      onFault: (error) => void faults.push(error),
    });
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const message =
      'sandbox must be a sandbox that works on this host, got "host". Bwrap is missing: install it.';
    const { ask } = createRequester(provider.fetch, at);
    const { status, body } = await ask("POST /responses", { model: "any", input: "Go.", tools });
    expect(status).toBe(500);
    expect(JSON.stringify(body)).toContain(JSON.stringify(message).slice(1, -1));
    expect(faults).toMatchObject([{ message }]);
  });

  test("rejects an invalid sandbox immediately", async () => {
    const name: string = "chroot";
    await using provider = new LocalProvider({ sandbox: name as "auto" });
    await expect(provider.fetch(`${at}/models`)).rejects.toThrow(
      'sandbox must be a Sandbox or a sandbox name, got "chroot"',
    );
  });

  test("can be used again after a failed start", async () => {
    let isUsable = false;
    const sandbox = {
      ...hostSandbox(),
      probe: async () => ({ usable: isUsable, reason: "not yet" }),
    };
    await using provider = new LocalProvider({ sandbox });
    await expect(provider.sandbox()).rejects.toThrow("Not yet.");
    isUsable = true;
    expect(await provider.sandbox()).toMatchObject({ name: "host" });
  });

  test("can be disposed without being started", async () => {
    const provider = new LocalProvider({ web: "/nowhere" });
    await expect(provider.listen()).rejects.toThrow("web must be an existing folder of pages");
    await provider[Symbol.asyncDispose]();
    const other = new LocalProvider();
    await expect(other[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});

describe("LocalProvider.listen()", () => {
  test("requires a key for hosts other than loopback", async () => {
    await using open = new LocalProvider({ sandbox: hostSandbox() });
    await expect(open.listen({ host: "0.0.0.0" })).rejects.toThrow(
      'listen(host) must be a loopback address unless the provider has an apiKey, got "0.0.0.0"',
    );
    await using guarded = new LocalProvider({ sandbox: hostSandbox(), apiKey: "sk-1" });
    const { url, close } = await guarded.listen({ host: "0.0.0.0" });
    const local = url.replace("0.0.0.0", "127.0.0.1");
    expect((await fetch(`${local}/models`)).status).toBe(401);
    await close();
    await expect(fetch(`${local}/models`)).rejects.toThrow("fetch failed");
  });

  test.each(["localhost", "::1"])("listens on %s", async (host) => {
    await using provider = new LocalProvider({ sandbox: hostSandbox() });
    const listening = await provider.listen({ host }).catch((error: Error) => error);
    if (listening instanceof Error) {
      expect(listening.message).toContain("EADDRNOTAVAIL"); // the host has no IPv6
      return;
    }
    expect((await fetch(`${listening.url}/models`)).status).toBe(200);
  });

  test("rejects if the provider is disposed before it listens", async () => {
    const provider = new LocalProvider({ sandbox: hostSandbox() });
    const listening = expect(provider.listen()).rejects.toThrow(
      "LocalProvider must not be disposed",
    );
    await provider[Symbol.asyncDispose]();
    await listening;
  });

  test("rejects a port in use", async () => {
    await using provider = new LocalProvider({ sandbox: hostSandbox() });
    const { url } = await provider.listen();
    const port = Number(new URL(url).port);
    await expect(provider.listen({ port })).rejects.toThrow("must be free to listen on");
  });
});

describe("LocalProvider options", () => {
  test.each<[string, unknown, string]>([
    ["an invalid model", { model: {} }, "LocalProvider.model must be a LocalModel"],
    ["an empty key", { apiKey: "" }, "LocalProvider.apiKey must be a non-empty string"],
    [
      "a key that is not a string",
      { apiKey: 7 },
      "LocalProvider.apiKey must be a non-empty string",
    ],
  ])("are rejected: %s", (_what, options, message) => {
    expect(() => new LocalProvider(options as LocalProviderOptions)).toThrow(message);
  });

  test("default to reporting faults to the console", async () => {
    const { readProviderSettings } = await import("../../src/local/provider-options.ts");
    const { onFault, limits, sandbox } = readProviderSettings();
    expect({ limits, sandbox }).toEqual({
      limits: { maxBodyBytes: 67_108_864, runTimeoutMs: 60_000, require: "watched" },
      sandbox: "auto",
    });
    const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
    onTestFinished(() => told.mockRestore());
    onFault("a bug");
    expect(told).toHaveBeenCalledWith("a bug");
  });
});

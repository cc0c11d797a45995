import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LocalProvider, type LocalProviderOptions, scriptedModel } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { hostSandbox } from "../support/host-sandbox.ts";
import { asking, itemOf, output, said } from "../support/local/stage.ts";

const at = "http://local/v1";

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-provider-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("a provider", () => {
  test("says which sandbox it uses, and why", async () => {
    await using provider = new LocalProvider();
    const { name, reason } = await provider.sandbox();
    expect(["bubblewrap", "wasm"]).toContain(name);
    expect(reason).toContain(`${name}: a trial run succeeded`);
    expect(await provider.sandbox({ trial: false })).toMatchObject({ name });
  });

  test("echoes without a model", async () => {
    await using provider = new LocalProvider({ sandbox: hostSandbox() });
    const { respond } = asking(provider.fetch, at);
    expect(said(await respond({ input: "Hello." }))).toContain("Hello.");
  });

  test("leaves nothing behind of what was temporary", async () => {
    const folder = temporary();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const provider = new LocalProvider({ sandbox: hostSandbox() });
    await provider.sandbox();
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^wink-local-/)]);
    await provider[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    expect(readdirSync(folder)).toEqual([]);
    await expect(provider.fetch(`${at}/models`)).rejects.toThrow(
      'LocalProvider must be in use, got "disposed". Make a new one',
    );
  });

  test("remembers in its folder what was stored, sealed and made", async () => {
    const dataDir = temporary();
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const options = { dataDir, sandbox: hostSandbox() };
    let first: WireItem;
    {
      const model = scriptedModel([
        [{ think: "Hm." }, { code: "open('a', 'w')" }, { say: "One." }],
      ]);
      await using provider = new LocalProvider({ ...options, model });
      const { respond } = asking(provider.fetch, at);
      first = await respond({ input: "1", tools, include: ["reasoning.encrypted_content"] });
    }
    const model = scriptedModel([[{ say: "Two." }], [{ say: "Three." }]]);
    await using provider = new LocalProvider({ ...options, model });
    const { respond, ask } = asking(provider.fetch, at);
    const chained = { input: "2", previous_response_id: first["id"], tools };
    expect(said(await respond(chained))).toBe("Two.");
    const replayed = [...output(first), { role: "user", content: "3" }];
    expect(said(await respond({ input: replayed, store: false }))).toBe("Three.");
    const container = itemOf(first, "code_interpreter_call")["container_id"];
    const { body } = await ask(`GET /containers/${container}/files`);
    expect(body["data"]).toMatchObject([{ path: "/mnt/data/a" }]);
  });

  test("answers plain turns while it knows no sandbox, and chooses one when code runs", async () => {
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
    const { respond } = asking(provider.fetch, at);
    expect(said(await respond({ input: "Hello." }))).toBe("Plain.");
    expect(trials).toBe(0);
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const runs = ["Code.", "Code."].map((input) => respond({ input, tools }));
    trial.resolve({ usable: true, reason: "for tests" });
    expect((await Promise.all(runs)).map(said)).toEqual(["Ran.", "Ran."]);
    expect(trials).toBe(1);
  });

  test("tells whoever wants code run what its sandbox lacks", async () => {
    const faults: unknown[] = [];
    const probe = async () => ({ usable: false, reason: "bwrap is missing: install it" });
    await using provider = new LocalProvider({
      model: scriptedModel(() => [{ code: "1" }]),
      sandbox: { ...hostSandbox(), probe },
      onFault: (error) => void faults.push(error),
    });
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const message = 'sandbox must be one that works here, got "host". Bwrap is missing: install it';
    const { ask } = asking(provider.fetch, at);
    const { status, body } = await ask("POST /responses", { model: "any", input: "Go.", tools });
    expect(status).toBe(500);
    expect(JSON.stringify(body)).toContain(JSON.stringify(message).slice(1, -1));
    expect(faults).toMatchObject([{ message }]);
  });

  test("refuses at once a sandbox that is not one", async () => {
    const name: string = "docker";
    await using provider = new LocalProvider({ sandbox: name as "auto" });
    await expect(provider.fetch(`${at}/models`)).rejects.toThrow(
      'sandbox must be a sandbox or the name of one, got "docker"',
    );
  });

  test("that could not start may be asked again", async () => {
    let isUsable = false;
    const sandbox = {
      ...hostSandbox(),
      probe: async () => ({ usable: isUsable, reason: "not yet" }),
    };
    await using provider = new LocalProvider({ sandbox });
    await expect(provider.sandbox()).rejects.toThrow("not yet");
    isUsable = true;
    expect(await provider.sandbox()).toMatchObject({ name: "host" });
  });

  test("that never started has nothing to end", async () => {
    const provider = new LocalProvider({ web: "/nowhere" });
    await expect(provider.listen()).rejects.toThrow("web must be a folder of pages");
    await provider[Symbol.asyncDispose]();
    const other = new LocalProvider();
    await expect(other[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});

describe("a provider on a socket", () => {
  test("listens beyond this machine only with a key", async () => {
    await using open = new LocalProvider({ sandbox: hostSandbox() });
    await expect(open.listen({ host: "0.0.0.0" })).rejects.toThrow(
      'listen(host) must be this machine, unless the provider has an apiKey, got "0.0.0.0"',
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
      expect(listening.message).toContain("EADDRNOTAVAIL"); // a machine without IPv6
      return;
    }
    expect((await fetch(`${listening.url}/models`)).status).toBe(200);
  });

  test("does not listen if it is disposed of before it does", async () => {
    const provider = new LocalProvider({ sandbox: hostSandbox() });
    const listening = expect(provider.listen()).rejects.toThrow("LocalProvider must be in use");
    await provider[Symbol.asyncDispose]();
    await listening;
  });

  test("cannot take a port that is taken", async () => {
    await using provider = new LocalProvider({ sandbox: hostSandbox() });
    const { url } = await provider.listen();
    const port = Number(new URL(url).port);
    await expect(provider.listen({ port })).rejects.toThrow("must be free to listen on");
  });
});

describe("options of a provider", () => {
  test.each<[string, unknown, string]>([
    ["no model", { model: {} }, "LocalProvider.model must be a LocalModel"],
    ["an empty key", { apiKey: "" }, "LocalProvider.apiKey must be a text that is not empty"],
    ["a key that is no text", { apiKey: 7 }, "LocalProvider.apiKey must be a text"],
  ])("are refused: %s", (_what, options, message) => {
    expect(() => new LocalProvider(options as LocalProviderOptions)).toThrow(message);
  });

  test("faults are told to the console unless told otherwise", async () => {
    const { providerSettings } = await import("../../src/local/provider-options.ts");
    const { onFault, limits, sandbox } = providerSettings();
    expect({ limits, sandbox }).toEqual({
      limits: { maxBodyBytes: 67_108_864, runTimeoutMs: 60_000 },
      sandbox: "auto",
    });
    const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
    onTestFinished(() => told.mockRestore());
    onFault("a bug");
    expect(told).toHaveBeenCalledWith("a bug");
  });
});

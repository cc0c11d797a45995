import { describe, expect, it, onTestFinished } from "vitest";
import { ThrottleError } from "weakincentives";
import { ContainerFilesystem, ContainerManager, openAIClient } from "weakincentives/openai";
import { fakeClock } from "weakincentives/testing";
import { planMounts } from "../../src/files/mounts/plan-mounts.ts";
import type { OpenAIClient } from "../../src/openai/http/client.ts";
import { resolveContainerSettings } from "../../src/openai/workspace/container-config.ts";
import { WorkspaceLoader } from "../../src/openai/workspace/workspace-loader.ts";
import {
  createInterceptionFixture,
  type InterceptedRequest,
  type InterceptionFixture,
  isWorkspaceRequest,
} from "../support/workspace/interception-fixture.ts";
import { createRepository, hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

const REFUSAL = {
  status: 429,
  headers: { "retry-after-ms": "3" },
  body: '{"error":{"message":"Slow down."}}',
};

/** The error after the three attempts that the fixture's adapter makes. */
const THROTTLED = { kind: "rate_limit", retryAfterMs: 3, attempts: 3, phase: "request" };

const WRITE = `open("/mnt/data/p/new.txt", "w").write("new") and None`;

type Matcher = (request: InterceptedRequest) => boolean;

const isCreation: Matcher = ({ method, path }) => `${method} ${path}` === "POST /containers";
const isUpload: Matcher = ({ method, path }) => method === "POST" && path.endsWith("/files");
const isList: Matcher = ({ method, path }) => method === "GET" && path.endsWith("/files");
const isDownload: Matcher = ({ path }) => path.endsWith("/content");
const isFileDeletion: Matcher = ({ method, path }) => method === "DELETE" && /files\//.test(path);
const isRetrieval: Matcher = ({ method, path }) =>
  method === "GET" && /^\/containers\/[^/]+$/.test(path);

/** Throttles the matching requests while `isOn`. */
function throttle(fixture: InterceptionFixture, matches: Matcher) {
  const state = { isOn: true, refused: 0 };
  fixture.intercept((request) => {
    if (!state.isOn || !matches(request)) return null;
    state.refused += 1;
    return REFUSAL;
  });
  return state;
}

async function createFixture(code = WRITE) {
  const fixture = await createInterceptionFixture([[{ code }], [{ say: "Done." }]]);
  const mounts = [{ hostPath: createRepository({ "a.txt": "one" }), mountPath: "p" }];
  return { fixture, mounts };
}

async function catchThrottle(work: Promise<unknown>): Promise<ThrottleError> {
  const error: unknown = await work.then(
    () => expect.fail("it did not fail"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ThrottleError);
  return error as ThrottleError;
}

describe("an evaluation whose container request stays throttled", () => {
  it.each([
    ["creation", isCreation],
    ["upload", isUpload],
    ["request that runs Python", isWorkspaceRequest],
  ])("throws a ThrottleError after %s was tried three times, not more", async (_, matches) => {
    const { fixture, mounts } = await createFixture();
    const state = throttle(fixture, matches);
    const error = await catchThrottle(fixture.evaluate(fixture.createSection({ mounts })));
    expect(error).toMatchObject({ ...THROTTLED, promptName: "tests:bent", partial: { turns: 0 } });
    expect(state.refused).toBe(3);
  });

  it("throws a ThrottleError if it cannot find out whether the container is alive", async () => {
    const { fixture, mounts } = await createFixture();
    const state = throttle(fixture, isRetrieval);
    fixture.intercept((request) =>
      request.path === "/responses" && !isWorkspaceRequest(request)
        ? {
            status: 400,
            body: `{"error":{"message":"Container with id 'cntr_1' not found.","type":"invalid_request_error"}}`,
          }
        : null,
    );
    const error = await catchThrottle(fixture.evaluate(fixture.createSection({ mounts })));
    expect(error).toMatchObject(THROTTLED);
    expect(state.refused).toBe(3);
  });

  it("throws a ThrottleError if the replacement of a lost container is throttled, and recovers", async () => {
    const { fixture, mounts } = await createFixture();
    const section = fixture.createSection({ mounts, client: fixture.client });
    await section.filesystem.ensureContainer();
    const first = section.containerId ?? "";
    await fixture.calls.remove(first);
    const state = throttle(fixture, isCreation);
    const error = await catchThrottle(fixture.evaluate(section));
    expect([error.kind, error.attempts, state.refused]).toEqual(["rate_limit", 3, 3]);
    state.isOn = false;
    expect((await fixture.evaluate(section)).text).toBe("Done.");
    expect(fixture.bus.of("ContainerReplaced")).toMatchObject([{ containerId: first }]);
  });
});

describe("the file system of a workspace", () => {
  it.each([
    ["list", isList],
    ["download", isDownload],
    ["request that runs Python", isWorkspaceRequest],
  ])("throws a ThrottleError if the %s stays throttled, and recovers", async (_, matches) => {
    const { fixture, mounts } = await createFixture();
    const section = fixture.createSection({ mounts });
    await fixture.evaluate(section);
    const state = throttle(fixture, matches);
    const error = await catchThrottle(section.filesystem.readText("p/new.txt"));
    expect(error).toMatchObject(THROTTLED);
    state.isOn = false;
    expect(await section.filesystem.readText("p/new.txt")).toBe("new");
  });

  it("throws a ThrottleError if one listed file stays throttled, and keeps the others", async () => {
    const code = `for name in ["a", "b", "c"]:
    open(f"/mnt/data/{name}.txt", "w").write(name)`;
    const { fixture } = await createFixture(code);
    const section = fixture.createSection({ unpack: "files" });
    await fixture.evaluate(section);
    let downloads = 0;
    const state = throttle(fixture, (request) => isDownload(request) && ++downloads > 1);
    await catchThrottle(section.filesystem.readText("a.txt"));
    state.isOn = false;
    const { filesystem } = section;
    const texts = ["a.txt", "b.txt", "c.txt"].map((path) => filesystem.readText(path));
    expect(await Promise.all(texts)).toEqual(["a", "b", "c"]);
  });

  it("throws a ThrottleError and restores the file if a deletion stays throttled", async () => {
    const { fixture, mounts } = await createFixture();
    const section = fixture.createSection({ mounts, unpack: "files" });
    await fixture.evaluate(section);
    const state = throttle(fixture, isFileDeletion);
    expect(await catchThrottle(section.filesystem.writeText("p/a.txt", "two"))).toMatchObject(
      THROTTLED,
    );
    state.isOn = false;
    expect(await section.filesystem.readText("p/a.txt")).toBe("one");
  });
});

describe.skipIf(!hasBubblewrap)(
  "cleanup() of a workspace whose last download stays throttled",
  () => {
    it.each(["bootstrap", "files"] as const)(
      "reports it and does not delete the container that has the files, with unpack %j",
      async (unpack) => {
        const { fixture, mounts } = await createFixture(
          unpack === "files" ? WRITE.replace("p/", "") : WRITE,
        );
        const section = fixture.createSection({
          ...{ mounts, unpack, syncOnCleanup: true, deleteOnCleanup: true },
        });
        const state = throttle(fixture, isDownload); // also at the end of the evaluation
        await fixture.evaluate(section);
        const id = section.containerId ?? "";
        const { failed, added, deleted } = await section.cleanup();
        expect([added, deleted]).toEqual([[], []]);
        expect(failed.at(-1)).toEqual({
          path: ".",
          reason: expect.stringContaining(` (container ${id})`),
        });
        expect(failed.at(-1)?.reason).toContain("Slow down");
        state.isOn = false;
        expect(await fixture.calls.getStatus(id)).toBe("running");
        const kept: string[] = [];
        for await (const { path } of fixture.calls.list(id)) kept.push(path);
        expect(kept.some((path) => path.endsWith("/new.txt"))).toBe(true);
      },
    );
  },
);

describe("a ContainerManager", () => {
  it("throws a ThrottleError after five attempts to create a container", async () => {
    const { fixture } = await createFixture();
    throttle(fixture, isCreation);
    const clock = fakeClock({ skipsSleep: true });
    const manager = new ContainerManager({ client: fixture.client, clock });
    expect(await catchThrottle(manager.ensure())).toMatchObject({ ...THROTTLED, attempts: 5 });
    expect(await catchThrottle(manager.use(async () => {}))).toMatchObject({ attempts: 5 });
    expect(manager.state).toBe("absent");
  });

  it("throws a ThrottleError if it cannot delete its container, and deletes it on the next call", async () => {
    const { fixture } = await createFixture();
    const clock = fakeClock({ skipsSleep: true });
    const manager = new ContainerManager({ client: fixture.client, clock });
    const id = await manager.ensure();
    const state = throttle(fixture, ({ method }) => method === "DELETE");
    expect(await catchThrottle(manager.release({ remove: true }))).toMatchObject({ attempts: 5 });
    expect(manager.state).toBe("released");
    state.isOn = false;
    await manager.release({ remove: true });
    await expect(fixture.calls.getStatus(id)).rejects.toMatchObject({ status: 404 });
  });
});

/** Creates a file system without a prompt that does not really wait between attempts. */
function createFilesystem(client: OpenAIClient): ContainerFilesystem {
  const files = new WorkspaceLoader(
    {
      plan: planMounts([], { allowedHostRoots: [] }),
      settings: resolveContainerSettings(),
      name: "test",
      archive: "test.tar",
      unpack: "files",
      syncPolicy: "never",
      syncDestination: null,
      deleteOnCleanup: false,
      client,
      standalone: {},
    },
    fakeClock({ skipsSleep: true }),
  );
  onTestFinished(async () => void (await files.cleanup()));
  return new ContainerFilesystem(files);
}

describe("a ContainerFilesystem without a prompt", () => {
  it("does not repeat a request after the quota is exhausted", async () => {
    const { fixture } = await createFixture();
    fixture.intercept(() => ({
      status: 429,
      body: '{"error":{"message":"Pay first.","code":"insufficient_quota"}}',
    }));
    const files = new ContainerFilesystem({ client: fixture.client });
    onTestFinished(() => files.cleanup());
    expect(await catchThrottle(files.readText("a.txt"))).toMatchObject({
      ...{ kind: "quota_exhausted", attempts: 1, retryAfterMs: null },
    });
  });

  it.each([
    [429, "rate_limit"],
    [408, "timeout"],
    [503, "server"],
  ])("throws a ThrottleError after responses with status %i", async (status, kind) => {
    const { fixture } = await createFixture();
    fixture.intercept((request) => (isUpload(request) ? { ...REFUSAL, status } : null));
    const files = createFilesystem(fixture.client);
    expect(await catchThrottle(files.writeText("a.txt", "one"))).toMatchObject({
      ...{ kind, attempts: 5, cause: { name: "OpenAIRequestError", status } },
    });
  });

  it("throws a ThrottleError of kind network if there is no server", async () => {
    const client = openAIClient({ baseURL: "http://127.0.0.1:9/v1", apiKey: "local" });
    const error = await catchThrottle(createFilesystem(client).exists("a.txt"));
    expect([error.kind, error.attempts]).toEqual(["network", 5]);
  });

  it("throws a ThrottleError of kind timeout if the server does not respond", async () => {
    const { fixture } = await createFixture();
    let requests = 0;
    const hang = async (_input: unknown, init?: RequestInit) => {
      requests += 1;
      return await new Promise<Response>((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    };
    const client = openAIClient({
      baseURL: "http://x/v1",
      apiKey: "k",
      fetch: hang,
      timeoutMs: 20,
    });
    const error = await catchThrottle(createFilesystem(client).exists("a.txt"));
    expect([error.kind, error.attempts, requests]).toEqual(["timeout", 5, 5]);
    expect(fixture.requests).toEqual([]);
  });
});

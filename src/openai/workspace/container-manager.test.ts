import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import {
  createContainerManagerFixture,
  createFailingOperation,
  createListOperation,
} from "../../../tests/support/workspace/container-manager-fixture.ts";

describe("ContainerManager", () => {
  test("creates its container on first use, with the given options", async () => {
    const stage = await createContainerManagerFixture();
    const config = { memoryLimit: "1g", expiresAfterMinutes: 7 } as const;
    const manager = stage.createManager({ name: "mine", config });
    expect([manager.state, manager.containerId, stage.createdCount]).toEqual(["absent", null, 0]);
    const id = await manager.ensure();
    expect([manager.state, manager.containerId, await manager.ensure()]).toEqual(["ready", id, id]);
    const container = await (await fetch(`${stage.url}/containers/${id}`)).json();
    expect(container).toMatchObject({
      name: "mine",
      memory_limit: "1g",
      expires_after: { minutes: 7 },
    });
  });

  test.each<[string, object, string]>([
    ["an empty name", { name: "" }, "ContainerManager.name"],
    ["an unknown memory limit", { config: { memoryLimit: "8g" } }, "ContainerManager.config"],
  ])("rejects %s", async (_what, options, message) => {
    const stage = await createContainerManagerFixture();
    expect(() => stage.createManager(options)).toThrow(message);
  });

  test("creates one container for concurrent callers", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    const waiting = [1, 2, 3, 4].map(() => manager.ensure());
    const using = manager.use(async (id) => id);
    expect(new Set([...(await Promise.all(waiting)), await using])).toEqual(
      new Set([manager.containerId]),
    );
    expect(stage.createdCount).toBe(1);
  });

  test("reports its state", async () => {
    const stage = await createContainerManagerFixture();
    const states: string[] = [];
    const { manager } = stage.createFilledContainer(async (_id, step) => {
      states.push(manager.state);
      step("uploading");
      states.push(manager.state);
      step("unpacking");
      states.push(manager.state);
    });
    states.push(manager.state);
    const id = await manager.ensure();
    states.push(manager.state);
    manager.lose(id, new Error("It is gone."));
    states.push(manager.state);
    await manager.ensure();
    states.push(manager.state);
    await manager.release();
    states.push(manager.state);
    const filling = ["creating", "uploading", "unpacking", "ready"];
    expect(states).toEqual(["absent", ...filling, "lost", ...filling, "released"]);
  });

  test("retries while the provider throttles", async () => {
    const stage = await createContainerManagerFixture();
    let refusals = 0;
    stage.relay.respondWith(({ path }) =>
      path === "/containers" && refusals++ < 2
        ? { status: 429, json: { error: { message: "Slow down." } } }
        : null,
    );
    const id = await stage.createManager().ensure();
    expect([await stage.readStatus(id), stage.createdCount]).toEqual(["running", 3]);
  });

  test("throws the request's error and can be retried", async () => {
    const stage = await createContainerManagerFixture();
    let isRefused = true;
    stage.relay.respondWith(({ path }) =>
      path === "/containers" && isRefused
        ? { status: 401, json: { error: { message: "No such key." } } }
        : null,
    );
    const manager = stage.createManager();
    await expect(manager.ensure()).rejects.toMatchObject({ status: 401 });
    expect(manager.state).toBe("absent");
    isRefused = false;
    await manager.ensure();
    expect(manager.state).toBe("ready");
  });
});

describe("ContainerManager.use()", () => {
  test("returns the operation's result and throws its error", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    expect(await manager.use(async () => 42)).toBe(42);
    const problem = new Error("My own.");
    await expect(manager.use(() => Promise.reject(problem))).rejects.toBe(problem);
    expect([manager.state, stage.createdCount]).toEqual(["ready", 1]);
  });

  test("repeats the operation in a new container if the first is lost", async () => {
    const stage = await createContainerManagerFixture();
    const { manager, replacements } = stage.createFilledContainer(async () => {});
    const { seen, operation } = createFailingOperation(stage, 1);
    const id = await manager.use(operation);
    expect(seen).toEqual([expect.any(String), id]);
    expect(replacements).toMatchObject([
      { containerId: seen[0], replacedBy: id, hasServed: true, reason: expect.any(String) },
    ]);
    expect([...manager.gone]).toEqual([seen[0]]);
    expect(manager.gone.has(id)).toBe(false);
  });

  test("does not repeat the operation a second time", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    const { seen, operation } = createFailingOperation(stage, 2);
    const failure = await manager.use(operation).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: "ContainerExpiredError",
      message: expect.stringMatching(
        / no longer exists \(.*\)\. Try again: its replacement failed too, /,
      ),
      containerId: seen[0],
      cause: { name: "OpenAIRequestError", status: 404 },
    });
    expect([seen.length, manager.state, manager.containerId]).toEqual([2, "lost", null]);
    expect(await manager.use(operation)).toBe(manager.containerId);
    expect(stage.createdCount).toBe(3);
  });

  test("throws the operation's error from the new container", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    const { operation } = createFailingOperation(stage, 1);
    const problem = new Error("My own.");
    const failing = manager.use(async (id) => {
      await operation(id);
      throw problem;
    });
    await expect(failing).rejects.toBe(problem);
    expect([manager.state, stage.createdCount]).toEqual(["ready", 2]);
  });

  test("does not replace a second container after replacing one first", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    manager.lose(await manager.ensure(), new Error("It is gone."));
    const { seen, operation } = createFailingOperation(stage, 1);
    const failure = await manager.use(operation).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "ContainerExpiredError", containerId: seen[0] });
    expect([seen.length, stage.createdCount, manager.state]).toEqual([1, 2, "lost"]);
  });

  test("shares one replacement between concurrent operations", async () => {
    const stage = await createContainerManagerFixture();
    const { manager, replacements } = stage.createFilledContainer(async () => {});
    await stage.calls.remove(await manager.ensure());
    const ids = await Promise.all(
      [1, 2, 3, 4, 5].map(() => manager.use(createListOperation(stage))),
    );
    expect(new Set(ids)).toEqual(new Set([manager.containerId]));
    expect([stage.createdCount, replacements.length]).toEqual([2, 1]);
  });

  test("does not repeat the operation after an abort", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    const aborted = new AbortController();
    const using = manager.use(
      async (id) => {
        await stage.calls.remove(id);
        aborted.abort(new Error("Aborted."));
        await createListOperation(stage)(id);
      },
      { signal: aborted.signal },
    );
    await expect(using).rejects.toThrow("Aborted.");
    expect(stage.createdCount).toBe(1);
  });
});

describe("ContainerManager.use() with the official client", () => {
  const createOfficial = async () => {
    const stage = await createContainerManagerFixture();
    const client = new OpenAI({ baseURL: stage.relay.url, apiKey: "local", maxRetries: 0 });
    return { stage, client, manager: stage.createManager({ client }) };
  };

  test.each(["deleted", "expired"])("replaces a container that is %s", async (how) => {
    const { stage, client, manager } = await createOfficial();
    const first = await manager.ensure();
    if (how === "deleted") await stage.calls.remove(first);
    else
      stage.relay.respondWith(({ containerId }) =>
        containerId === first
          ? { status: 400, json: { error: { message: "Container is expired." } } }
          : null,
      );
    const files = await manager.use(async (id) => (await client.containers.files.list(id)).data);
    expect([files, manager.containerId === first, stage.createdCount]).toEqual([[], false, 2]);
  });

  test("throws a NotFoundError that is not about the container", async () => {
    const { stage, client, manager } = await createOfficial();
    const using = manager.use((id) =>
      client.containers.files.retrieve("cfile_1", { container_id: id }),
    );
    await expect(using).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect([manager.state, stage.createdCount]).toEqual(["ready", 1]);
  });
});

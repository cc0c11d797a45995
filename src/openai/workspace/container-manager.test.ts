import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { dying, looks, managerStage } from "../../../tests/support/workspace/manager-stage.ts";

describe("a container manager", () => {
  test("makes its container when it is first needed, as it was told to", async () => {
    const at = await managerStage();
    const config = { memoryLimit: "1g", expiresAfterMinutes: 7 } as const;
    const manager = at.manager({ name: "mine", config });
    expect([manager.state, manager.containerId, at.made]).toEqual(["absent", null, 0]);
    const id = await manager.ensure();
    expect([manager.state, manager.containerId, await manager.ensure()]).toEqual(["ready", id, id]);
    const container = await (await fetch(`${at.url}/containers/${id}`)).json();
    expect(container).toMatchObject({
      name: "mine",
      memory_limit: "1g",
      expires_after: { minutes: 7 },
    });
  });

  test.each<[string, object, string]>([
    ["an empty name", { name: "" }, "ContainerManager.name"],
    ["a memory that there is not", { config: { memoryLimit: "8g" } }, "ContainerManager.config"],
  ])("refuses %s", async (_what, options, words) => {
    const at = await managerStage();
    expect(() => at.manager(options)).toThrow(words);
  });

  test("makes one for all who wait for it", async () => {
    const at = await managerStage();
    const manager = at.manager();
    const waiting = [1, 2, 3, 4].map(() => manager.ensure());
    const using = manager.use(async (id) => id);
    expect(new Set([...(await Promise.all(waiting)), await using])).toEqual(
      new Set([manager.containerId]),
    );
    expect(at.made).toBe(1);
  });

  test("says what it is doing", async () => {
    const at = await managerStage();
    const states: string[] = [];
    const { manager } = at.filling(async (_id, step) => {
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

  test("waits where the provider asks it to", async () => {
    const at = await managerStage();
    let refusals = 0;
    at.relay.answerBy(({ path }) =>
      path === "/containers" && refusals++ < 2
        ? { status: 429, json: { error: { message: "Slow down." } } }
        : null,
    );
    const id = await at.manager().ensure();
    expect([await at.statusOf(id), at.made]).toEqual(["running", 3]);
  });

  test("fails as the request does, and may be asked again", async () => {
    const at = await managerStage();
    let isRefused = true;
    at.relay.answerBy(({ path }) =>
      path === "/containers" && isRefused
        ? { status: 401, json: { error: { message: "No such key." } } }
        : null,
    );
    const manager = at.manager();
    await expect(manager.ensure()).rejects.toMatchObject({ status: 401 });
    expect(manager.state).toBe("absent");
    isRefused = false;
    await manager.ensure();
    expect(manager.state).toBe("ready");
  });
});

describe("an operation in a container", () => {
  test("gives what it gives, and fails as it does", async () => {
    const at = await managerStage();
    const manager = at.manager();
    expect(await manager.use(async () => 42)).toBe(42);
    const problem = new Error("My own.");
    await expect(manager.use(() => Promise.reject(problem))).rejects.toBe(problem);
    expect([manager.state, at.made]).toEqual(["ready", 1]);
  });

  test("is done again in a new one if its own is gone", async () => {
    const at = await managerStage();
    const { manager, replacements } = at.filling(async () => {});
    const { seen, operation } = dying(at, 1);
    const id = await manager.use(operation);
    expect(seen).toEqual([expect.any(String), id]);
    expect(replacements).toMatchObject([
      { containerId: seen[0], replacedBy: id, hasServed: true, reason: expect.any(String) },
    ]);
    expect([...manager.gone]).toEqual([seen[0]]);
    expect(manager.gone.has(id)).toBe(false);
  });

  test("is not done a third time", async () => {
    const at = await managerStage();
    const manager = at.manager();
    const { seen, operation } = dying(at, 2);
    const failure = await manager.use(operation).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: "ContainerExpiredError",
      message: expect.stringMatching(/ is gone \(.*\): the one in its place failed as well; /),
      containerId: seen[0],
      cause: { name: "OpenAIRequestError", status: 404 },
    });
    expect([seen.length, manager.state, manager.containerId]).toEqual([2, "lost", null]);
    expect(await manager.use(operation)).toBe(manager.containerId);
    expect(at.made).toBe(3);
  });

  test("fails as it does in the new one, where that is not gone", async () => {
    const at = await managerStage();
    const manager = at.manager();
    const { operation } = dying(at, 1);
    const problem = new Error("My own.");
    const failing = manager.use(async (id) => {
      await operation(id);
      throw problem;
    });
    await expect(failing).rejects.toBe(problem);
    expect([manager.state, at.made]).toEqual(["ready", 2]);
  });

  test("which has to replace a container before it begins does not replace another", async () => {
    const at = await managerStage();
    const manager = at.manager();
    manager.lose(await manager.ensure(), new Error("It is gone."));
    const { seen, operation } = dying(at, 1);
    const failure = await manager.use(operation).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "ContainerExpiredError", containerId: seen[0] });
    expect([seen.length, at.made, manager.state]).toEqual([1, 2, "lost"]);
  });

  test("shares a replacement with all that were in the dead one", async () => {
    const at = await managerStage();
    const { manager, replacements } = at.filling(async () => {});
    await at.calls.remove(await manager.ensure());
    const ids = await Promise.all([1, 2, 3, 4, 5].map(() => manager.use(looks(at))));
    expect(new Set(ids)).toEqual(new Set([manager.containerId]));
    expect([at.made, replacements.length]).toEqual([2, 1]);
  });

  test("is not done again for somebody who has gone", async () => {
    const at = await managerStage();
    const manager = at.manager();
    const gone = new AbortController();
    const using = manager.use(
      async (id) => {
        await at.calls.remove(id);
        gone.abort(new Error("I have gone."));
        await looks(at)(id);
      },
      { signal: gone.signal },
    );
    await expect(using).rejects.toThrow("I have gone.");
    expect(at.made).toBe(1);
  });
});

describe("an operation that uses the official client itself", () => {
  const official = async () => {
    const at = await managerStage();
    const client = new OpenAI({ baseURL: at.relay.url, apiKey: "local", maxRetries: 0 });
    return { at, client, manager: at.manager({ client }) };
  };

  test.each(["deleted", "expired"])("is understood where its container is %s", async (how) => {
    const { at, client, manager } = await official();
    const first = await manager.ensure();
    if (how === "deleted") await at.calls.remove(first);
    else
      at.relay.answerBy(({ containerId }) =>
        containerId === first
          ? { status: 400, json: { error: { message: "Container is expired." } } }
          : null,
      );
    const files = await manager.use(async (id) => (await client.containers.files.list(id)).data);
    expect([files, manager.containerId === first, at.made]).toEqual([[], false, 2]);
  });

  test("fails as it does where something else is not there", async () => {
    const { at, client, manager } = await official();
    const using = manager.use((id) =>
      client.containers.files.retrieve("cfile_1", { container_id: id }),
    );
    await expect(using).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect([manager.state, at.made]).toEqual(["ready", 1]);
  });
});

import { describe, expect, test } from "vitest";
import {
  createInterceptionFixture,
  type InterceptionFixture,
  isWorkspaceRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { createRepository } from "../../../tests/support/workspace/workspace-fixture.ts";
import type { Logger } from "../../base/logger.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";

const MINUTE = 60_000;
const NOON = Date.parse("2026-03-01T12:00:00Z");
const createMounts = (folder: string) => [{ hostPath: folder, mountPath: "p" }];

/** Counts the status requests for the container. */
function countStatusRequests({ requests }: InterceptionFixture): number {
  return requests.filter((request) => request === "GET /containers/·").length;
}

/** Creates a stage with a fake clock, whose model answers only after `finish()`. */
async function createSlowStage() {
  const [clock, providerClock] = [fakeClock({ now: NOON }), fakeClock({ now: NOON })];
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const logger: Logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const stage = await createInterceptionFixture(
    ({ turn }) => (turn % 2 === 0 ? [{ code: "print(1)" }] : [{ say: "Done." }]),
    { provider: { clock: providerClock }, adapter: { clock, logger } },
  );
  const thinking = Promise.withResolvers<void>();
  const done = Promise.withResolvers<null>();
  stage.intercept((request) => {
    if (request.path !== "/responses" || isWorkspaceRequest(request)) return null;
    thinking.resolve();
    return done.promise;
  });
  const folder = createRepository({ "a.txt": "one" });
  return {
    stage,
    clock,
    providerClock,
    logged,
    thinking: thinking.promise,
    finish: () => done.resolve(null),
    folder,
  };
}

/** Waits for requests that run in the background. */
async function waitUntil(condition: () => boolean): Promise<void> {
  await expect.poll(condition).toBe(true);
}

describe("KeepAlive", () => {
  test("checks the container at a third of its expiry time while an evaluation runs, and not after", async () => {
    const { stage, clock, providerClock, thinking, finish, folder } = await createSlowStage();
    const section = stage.createSection({ mounts: createMounts(folder) });
    const evaluating = stage.evaluate(section);
    await thinking;
    expect(countStatusRequests(stage)).toBe(0);
    for (let count = 1; count <= 6; count++) {
      await providerClock.advance((20 * MINUTE) / 3);
      await clock.advance((20 * MINUTE) / 3);
      await waitUntil(() => countStatusRequests(stage) === count);
      await waitUntil(() => clock.sleeping > 1); // the progress of the turn sleeps too
    }
    expect(await stage.calls.getStatus(section.containerId ?? "")).toBe("running");
    finish();
    expect((await evaluating).text).toBe("Done.");
    await clock.advance(19 * MINUTE);
    expect([countStatusRequests(stage), stage.bus.of("ContainerReplaced")]).toEqual([6, []]);
  });

  test("uses the configured expiry time", async () => {
    const { stage, clock, thinking, finish, folder } = await createSlowStage();
    const containerConfig = { expiresAfterMinutes: 3 };
    const section = stage.createSection({ mounts: createMounts(folder), containerConfig });
    const evaluating = stage.evaluate(section);
    await thinking;
    await clock.advance(MINUTE);
    await waitUntil(() => countStatusRequests(stage) === 1);
    finish();
    await evaluating;
  });

  test("does not check a missing container, and a hold can be disposed twice", async () => {
    const { stage, clock, thinking, finish } = await createSlowStage();
    const section = stage.createSection({ containerConfig: { mode: "auto" } });
    const evaluating = stage.evaluate(section);
    await thinking;
    const hold = section.workspace.hold(clock);
    hold[Symbol.dispose]();
    hold[Symbol.dispose]();
    await clock.advance((20 * MINUTE) / 3);
    await waitUntil(() => clock.sleeping > 0);
    expect(countStatusRequests(stage)).toBe(0);
    finish();
    await evaluating;
  });

  test("also keeps the container of a tool's hostMounts alive", async () => {
    const { stage, clock, thinking, finish, folder } = await createSlowStage();
    const hostMounts = createMounts(folder);
    const container = { type: "auto", hostMounts, allowedHostRoots: "any" } as const;
    const evaluating = stage.evaluate([], { hostedTools: [codeInterpreterTool({ container })] });
    await thinking;
    await clock.advance((20 * MINUTE) / 3);
    await waitUntil(() => countStatusRequests(stage) === 1);
    finish();
    await evaluating;
  });

  test("checks once for two evaluations, while either of them runs", async () => {
    const { stage, clock, thinking, finish, folder } = await createSlowStage();
    const section = stage.createSection({ mounts: createMounts(folder) });
    const controller = new AbortController();
    const first = stage.evaluate(section, { signal: controller.signal });
    const second = stage.evaluate(section);
    await thinking;
    controller.abort(new Error("Enough."));
    await expect(first).rejects.toThrow("Enough.");
    await clock.advance((20 * MINUTE) / 3);
    await waitUntil(() => countStatusRequests(stage) === 1);
    finish();
    await second;
    await clock.advance((20 * MINUTE) / 3);
    expect(countStatusRequests(stage)).toBe(1);
  });

  test.each([
    ["deleted", async (stage: InterceptionFixture, id: string) => stage.calls.remove(id)],
    [
      "expired",
      async (stage: InterceptionFixture, id: string) =>
        stage.intercept(({ method, path }) =>
          `${method} ${path}` === `GET /containers/${id}`
            ? { status: 200, body: JSON.stringify({ id, status: "expired" }) }
            : null,
        ),
    ],
  ])("marks a %s container as lost, so that the next use replaces it", async (_, lose) => {
    const { stage, clock, thinking, finish, folder } = await createSlowStage();
    const section = stage.createSection({ mounts: createMounts(folder) });
    const evaluating = stage.evaluate(section);
    await thinking;
    const id = section.containerId ?? "";
    await lose(stage, id);
    await clock.advance((20 * MINUTE) / 3);
    await waitUntil(() => section.containerId === null);
    finish();
    expect((await evaluating).text).toBe("Done.");
    expect(await section.filesystem.readText("p/a.txt")).toBe("one");
    expect(stage.bus.of("ContainerReplaced")).toMatchObject([{ containerId: id }]);
  });

  test("keeps the container and logs a warning if the check fails", async () => {
    const { stage, clock, thinking, finish, folder, logged } = await createSlowStage();
    stage.intercept(({ method, path }) =>
      method === "GET" && /^\/containers\/\w+$/.test(path)
        ? { status: 500, body: '{"error":{"message":"Later."}}' }
        : null,
    );
    const section = stage.createSection({ mounts: createMounts(folder) });
    const evaluating = stage.evaluate(section);
    await thinking;
    const { containerId } = section;
    await clock.advance((20 * MINUTE) / 3);
    await waitUntil(() => logged.includes("could not check a container"));
    finish();
    await evaluating;
    expect(section.containerId).toBe(containerId);
  });
});

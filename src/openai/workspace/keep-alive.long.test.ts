import { describe, expect, test } from "vitest";
import {
  type BentStage,
  bentStage,
  ownRequest,
} from "../../../tests/support/workspace/bent-stage.ts";
import { repository } from "../../../tests/support/workspace/stage.ts";
import type { Logger } from "../../base/logger.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";

const MINUTE = 60_000;
const NOON = Date.parse("2026-03-01T12:00:00Z");
const mountsOf = (folder: string) => [{ hostPath: folder, mountPath: "p" }];

/** How often the container was looked at. */
function looks({ requests }: BentStage): number {
  return requests.filter((request) => request === "GET /containers/·").length;
}

/** A stage whose time is a test's, and whose model thinks for as long as the test likes. */
async function slowStage() {
  const [clock, there] = [fakeClock({ now: NOON }), fakeClock({ now: NOON })];
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const logger: Logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const stage = await bentStage(
    ({ turn }) => (turn % 2 === 0 ? [{ code: "print(1)" }] : [{ say: "Done." }]),
    { provider: { clock: there }, adapter: { clock, logger } },
  );
  const thinking = Promise.withResolvers<void>();
  const done = Promise.withResolvers<null>();
  stage.bend((request) => {
    if (request.path !== "/responses" || ownRequest(request)) return null;
    thinking.resolve();
    return done.promise;
  });
  const folder = repository({ "a.txt": "one" });
  return {
    stage,
    clock,
    there,
    logged,
    thinking: thinking.promise,
    finish: () => done.resolve(null),
    folder,
  };
}

/** Lets what was woken ask over the network. */
async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo).toBe(true);
}

describe("a container", () => {
  test("is looked at every third of its life while an evaluation runs, and not after", async () => {
    const { stage, clock, there, thinking, finish, folder } = await slowStage();
    const section = stage.section({ mounts: mountsOf(folder) });
    const evaluating = stage.evaluate(section);
    await thinking;
    expect(looks(stage)).toBe(0);
    for (let count = 1; count <= 6; count++) {
      await there.advance((20 * MINUTE) / 3);
      await clock.advance((20 * MINUTE) / 3);
      await until(() => looks(stage) === count);
      await until(() => clock.sleeping > 0);
    }
    expect(await stage.calls.status(section.containerId ?? "")).toBe("running");
    finish();
    expect((await evaluating).text).toBe("Done.");
    await clock.advance(19 * MINUTE);
    expect([looks(stage), stage.bus.of("ContainerReplaced")]).toEqual([6, []]);
  });

  test("is looked at by the life it was given", async () => {
    const { stage, clock, thinking, finish, folder } = await slowStage();
    const containerConfig = { expiresAfterMinutes: 3 };
    const section = stage.section({ mounts: mountsOf(folder), containerConfig });
    const evaluating = stage.evaluate(section);
    await thinking;
    await clock.advance(MINUTE);
    await until(() => looks(stage) === 1);
    finish();
    await evaluating;
  });

  test("that is not there yet is not looked at, nor one that was let go of twice", async () => {
    const { stage, clock, thinking, finish } = await slowStage();
    const section = stage.section({ containerConfig: { mode: "auto" } });
    const evaluating = stage.evaluate(section);
    await thinking;
    const held = section.workspace.hold(clock);
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    await clock.advance((20 * MINUTE) / 3);
    await until(() => clock.sleeping > 0);
    expect(looks(stage)).toBe(0);
    finish();
    await evaluating;
  });

  test("of a tool's host mounts is kept alive in the same way", async () => {
    const { stage, clock, thinking, finish, folder } = await slowStage();
    const hostMounts = mountsOf(folder);
    const container = { type: "auto", hostMounts, allowedHostRoots: "any" } as const;
    const evaluating = stage.evaluate([], { hostedTools: [codeInterpreterTool({ container })] });
    await thinking;
    await clock.advance((20 * MINUTE) / 3);
    await until(() => looks(stage) === 1);
    finish();
    await evaluating;
  });

  test("is looked at once for two evaluations, and for as long as one of them runs", async () => {
    const { stage, clock, thinking, finish, folder } = await slowStage();
    const section = stage.section({ mounts: mountsOf(folder) });
    const over = new AbortController();
    const first = stage.evaluate(section, { signal: over.signal });
    const second = stage.evaluate(section);
    await thinking;
    over.abort(new Error("Enough."));
    await expect(first).rejects.toThrow("Enough.");
    await clock.advance((20 * MINUTE) / 3);
    await until(() => looks(stage) === 1);
    finish();
    await second;
    await clock.advance((20 * MINUTE) / 3);
    expect(looks(stage)).toBe(1);
  });

  test.each([
    ["deleted", async (stage: BentStage, id: string) => stage.calls.remove(id)],
    [
      "expired",
      async (stage: BentStage, id: string) =>
        stage.bend(({ method, path }) =>
          `${method} ${path}` === `GET /containers/${id}`
            ? { status: 200, body: JSON.stringify({ id, status: "expired" }) }
            : null,
        ),
    ],
  ])("that is found to be %s is replaced when it is next needed", async (_, kill) => {
    const { stage, clock, thinking, finish, folder } = await slowStage();
    const section = stage.section({ mounts: mountsOf(folder) });
    const evaluating = stage.evaluate(section);
    await thinking;
    const id = section.containerId ?? "";
    await kill(stage, id);
    await clock.advance((20 * MINUTE) / 3);
    await until(() => section.containerId === null);
    finish();
    expect((await evaluating).text).toBe("Done.");
    expect(await section.filesystem.readText("p/a.txt")).toBe("one");
    expect(stage.bus.of("ContainerReplaced")).toMatchObject([{ containerId: id }]);
  });

  test("that cannot be looked at is not given up, and that is noted", async () => {
    const { stage, clock, thinking, finish, folder, logged } = await slowStage();
    stage.bend(({ method, path }) =>
      method === "GET" && /^\/containers\/\w+$/.test(path)
        ? { status: 500, body: '{"error":{"message":"Later."}}' }
        : null,
    );
    const section = stage.section({ mounts: mountsOf(folder) });
    const evaluating = stage.evaluate(section);
    await thinking;
    const { containerId } = section;
    await clock.advance((20 * MINUTE) / 3);
    await until(() => logged.includes("a container could not be looked at"));
    finish();
    await evaluating;
    expect(section.containerId).toBe(containerId);
  });
});

import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import {
  createInterceptionFixture,
  type InterceptedRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import {
  createRepository,
  hasBubblewrap,
  readFiles,
} from "../../../tests/support/workspace/workspace-fixture.ts";
import { maxThrottleWaitMs } from "../../adapter/throttle.ts";
import { Session } from "../../session/session.ts";
import { fakeClock } from "../../testing/fake-clock.ts";

const slowDown = {
  status: 429,
  body: JSON.stringify({ error: { message: "Slow down." } }),
  headers: { "retry-after": "120" },
};

const writeScript = [
  [{ code: "open('/mnt/data/p/new.txt', 'w').write('new') and None" }],
  [{ say: "Done." }],
];

const limit = { [maxThrottleWaitMs]: 60_000 };

/** Answers the first request that `isMeant` selects with `slowDown`. */
function slowDownOnce(isMeant: (request: InterceptedRequest) => boolean) {
  let isOver = false;
  return (request: InterceptedRequest) => {
    if (isOver || !isMeant(request)) return null;
    isOver = true;
    return slowDown;
  };
}

describe("a workspace of an evaluation whose throttled requests may wait 60 seconds", () => {
  test.each([
    ["the creation of its container", "POST", /^\/containers$/],
    ["the upload of its files", "POST", /^\/(containers\/\w+\/)?files$/],
  ])("ends the evaluation at once if %s must wait for 120 seconds", async (_what, method, path) => {
    const clock = fakeClock(); // nothing moves it, so a wait would not end
    const stage = await createInterceptionFixture([[{ say: "Done." }]], { adapter: { clock } });
    const session = new Session({ id: "run", store: new MemorySessionStore() });
    stage.intercept(slowDownOnce((one) => one.method === method && path.test(one.path)));
    const folder = createRepository({ "a.txt": "one" });
    const section = stage.createSection({
      session,
      mounts: [{ hostPath: folder, mountPath: "p" }],
    });
    await expect(stage.evaluate(section, { session, ...limit })).rejects.toMatchObject({
      ...{ name: "ThrottleError", retryAfterMs: 120_000, promptName: "tests:bent" },
    });
    expect(stage.requests).not.toContain("POST /responses");
    const { text } = await stage.evaluate(section, { session, resume: true, ...limit });
    expect(text).toBe("Done.");
  });

  test.skipIf(!hasBubblewrap)("waits for the download of files that code has made", async () => {
    const clock = fakeClock({ skipsSleep: true });
    const stage = await createInterceptionFixture(writeScript, { adapter: { clock } });
    let hasRun = false;
    stage.intercept(({ path }) => {
      if (path === "/responses") hasRun = true;
      return null;
    });
    stage.intercept(slowDownOnce(({ method }) => hasRun && method === "GET"));
    const folder = createRepository({ "a.txt": "one" });
    const section = stage.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncPolicy: "eachTurn",
    });
    const started = clock.now();
    await stage.evaluate(section, { session: stage.session, ...limit });
    expect(readFiles(section.tempDir)).toEqual({ "p/a.txt": "one", "p/new.txt": "new" });
    expect(clock.now() - started).toBeGreaterThanOrEqual(120_000);
  });
});

import { describe, expect, test } from "vitest";
import {
  type BentRequest,
  bentStage,
  ownRequest,
} from "../../../tests/support/workspace/bent-stage.ts";
import { repository } from "../../../tests/support/workspace/stage.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { ContainerExpiredError } from "../errors/errors.ts";

const mountsOf = (folder: string) => [{ hostPath: folder, mountPath: "p" }];
const reading = [[{ code: "print(open('/mnt/data/p/a.txt').read())" }], [{ say: "Done." }]];

const isModels = (request: BentRequest) => request.path === "/responses" && !ownRequest(request);
const refusal = (status: number, message: string) => ({
  status,
  body: JSON.stringify({ error: { message, type: "invalid_request_error" } }),
});

describe("a request whose container is gone", () => {
  test("is made again in another one, and the model is told", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([...reading, ...reading]);
    const section = stage.section({ mounts: mountsOf(folder) });
    await stage.evaluate(section);
    const first = section.containerId ?? "";
    stage.bend(async (request) => {
      if (isModels(request) && section.containerId === first) await stage.calls.remove(first);
      return null;
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(section.containerId).not.toBe(first);
    expect(stage.bus.of("ContainerReplaced")).toMatchObject([
      { containerId: first, replacedBy: section.containerId, restored: 1 },
    ]);
    const last = JSON.stringify(stage.seen.filter(isModels).at(-1)?.body["input"]);
    expect(last).toContain("The container was replaced by a new one.");
    expect(stage.printed()).toEqual(["one\n", "one\n"]);
  });

  test("fails if that one is gone as well; the next finds a third", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(reading);
    const section = stage.section({ mounts: mountsOf(folder) });
    let left = 2;
    stage.bend(async (request) => {
      if (isModels(request) && left-- > 0) await stage.calls.remove(section.containerId ?? "");
      return null;
    });
    const failing = stage.evaluate(section);
    await expect(failing).rejects.toBeInstanceOf(PromptEvaluationError);
    await expect(failing).rejects.toMatchObject({ cause: expect.any(ContainerExpiredError) });
    await expect(failing).rejects.toThrow(
      "so is the one before it; what was written is kept, try again",
    );
    expect(section.containerId).toBeNull();
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(stage.printed()).toEqual(["one\n"]);
  });

  test("fails if none can be made in its place; what was written is kept", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(reading);
    const section = stage.section({ mounts: mountsOf(folder) });
    const [none, dead] = [{ is: false }, { is: false }];
    stage.bend(async (request) => {
      if (isModels(request) && !dead.is) {
        Object.assign(dead, { is: true });
        Object.assign(none, { is: true });
        await stage.calls.remove(section.containerId ?? "");
      }
      const isNew = request.method === "POST" && request.path === "/containers";
      return isNew && none.is ? refusal(400, "No more containers.") : null;
    });
    const failing = stage.evaluate(section);
    await expect(failing).rejects.toThrow(
      "the one in its place failed as well; what was written is kept, try again",
    );
    await expect(failing).rejects.toMatchObject({ cause: expect.any(ContainerExpiredError) });
    none.is = false;
    expect((await stage.evaluate(section)).text).toBe("Done.");
  });

  test("is not what a complaint about another container means", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(reading);
    const section = stage.section({ mounts: mountsOf(folder) });
    stage.bend((request) =>
      isModels(request) ? refusal(400, "Container with id 'cntr_other' not found.") : null,
    );
    await expect(stage.evaluate(section)).rejects.toThrow("cntr_other");
    expect(stage.requests).toContain("GET /containers/·");
    expect(stage.requests.filter((request) => request === "POST /containers")).toHaveLength(1);
  });

  test("is no longer known to be gone if it cannot be looked for", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(reading);
    const section = stage.section({ mounts: mountsOf(folder) });
    stage.bend((request) => {
      if (request.method === "GET") return refusal(500, "The database is down.");
      return isModels(request) ? refusal(400, "Container is expired.") : null;
    });
    const failing = stage.evaluate(section);
    await expect(failing).rejects.toBeInstanceOf(PromptEvaluationError);
    await expect(failing).rejects.toThrow("The database is down");
  });

  test("is found by its status, where that says so", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(reading);
    const section = stage.section({ mounts: mountsOf(folder) });
    let isFirst = true;
    stage.bend((request) => {
      if (request.method === "GET") return { status: 200, body: '{"id":"x","status":"expired"}' };
      if (!isModels(request) || !isFirst) return null;
      isFirst = false;
      return refusal(400, "Container is expired.");
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(stage.bus.of("ContainerReplaced")).toHaveLength(1);
  });
});

describe("a failure that is about no container", () => {
  test("replaces none", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(reading);
    const section = stage.section({ mounts: mountsOf(folder) });
    stage.bend((request) => (isModels(request) ? refusal(400, "Too many tools.") : null));
    await expect(stage.evaluate(section)).rejects.toThrow("Too many tools");
    expect(section.containerId).not.toBeNull();
    expect(stage.requests).not.toContain("GET /containers/·");
  });
});

describe('a container that the provider makes, in mode "auto",', () => {
  test("is asked for with the network that was given", async () => {
    const stage = await bentStage([]);
    stage.bend(({ path }) => (path === "/responses" ? refusal(400, "Not here.") : null));
    const networkPolicy = { type: "allowlist", allowedDomains: ["pypi.org"] } as const;
    const section = stage.section({ containerConfig: { mode: "auto", networkPolicy } });
    await expect(stage.evaluate(section)).rejects.toThrow("Not here");
    expect(stage.seen[0]?.body["tools"]).toMatchObject([
      {
        container: {
          type: "auto",
          memory_limit: "4g",
          network_policy: { type: "allowlist", allowed_domains: ["pypi.org"] },
        },
      },
    ]);
  });
});

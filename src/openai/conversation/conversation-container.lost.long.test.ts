import { describe, expect, test } from "vitest";
import {
  createInterceptionFixture,
  type InterceptedRequest,
  isWorkspaceRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { createRepository } from "../../../tests/support/workspace/workspace-fixture.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { ContainerExpiredError } from "../errors/errors.ts";

const createMounts = (folder: string) => [{ hostPath: folder, mountPath: "p" }];
const readScript = [[{ code: "print(open('/mnt/data/p/a.txt').read())" }], [{ say: "Done." }]];

const isModelRequest = (request: InterceptedRequest) =>
  request.path === "/responses" && !isWorkspaceRequest(request);
const createErrorResponse = (status: number, message: string) => ({
  status,
  body: JSON.stringify({ error: { message, type: "invalid_request_error" } }),
});

describe("a request whose container no longer exists", () => {
  test("is retried with a new container, and the model is notified", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([...readScript, ...readScript]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    await stage.evaluate(section);
    const first = section.containerId ?? "";
    stage.intercept(async (request) => {
      if (isModelRequest(request) && section.containerId === first) await stage.calls.remove(first);
      return null;
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(section.containerId).not.toBe(first);
    expect(stage.bus.of("ContainerReplaced")).toMatchObject([
      { containerId: first, replacedBy: section.containerId, restored: 1 },
    ]);
    const last = JSON.stringify(stage.seenRequests.filter(isModelRequest).at(-1)?.body["input"]);
    expect(last).toContain("The container was replaced by a new one.");
    expect(stage.readOutputs()).toEqual(["one\n", "one\n"]);
  });

  test("fails if the replacement is lost too, and the next evaluation creates a third container", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(readScript);
    const section = stage.createSection({ mounts: createMounts(folder) });
    let left = 2;
    stage.intercept(async (request) => {
      if (isModelRequest(request) && left-- > 0)
        await stage.calls.remove(section.containerId ?? "");
      return null;
    });
    const failing = stage.evaluate(section);
    await expect(failing).rejects.toBeInstanceOf(PromptEvaluationError);
    await expect(failing).rejects.toMatchObject({ cause: expect.any(ContainerExpiredError) });
    await expect(failing).rejects.toThrow(
      "Try again: the container before it was lost too, and everything written is kept",
    );
    expect(section.containerId).toBeNull();
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(stage.readOutputs()).toEqual(["one\n"]);
  });

  test("fails if no replacement can be created, and the next evaluation recovers", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(readScript);
    const section = stage.createSection({ mounts: createMounts(folder) });
    const [blocked, removed] = [{ is: false }, { is: false }];
    stage.intercept(async (request) => {
      if (isModelRequest(request) && !removed.is) {
        Object.assign(removed, { is: true });
        Object.assign(blocked, { is: true });
        await stage.calls.remove(section.containerId ?? "");
      }
      const isNew = request.method === "POST" && request.path === "/containers";
      return isNew && blocked.is ? createErrorResponse(400, "No more containers.") : null;
    });
    const failing = stage.evaluate(section);
    await expect(failing).rejects.toThrow(
      "Try again: its replacement failed too, and everything written is kept",
    );
    await expect(failing).rejects.toMatchObject({ cause: expect.any(ContainerExpiredError) });
    blocked.is = false;
    expect((await stage.evaluate(section)).text).toBe("Done.");
  });

  test("does not replace the container for an error about another container", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(readScript);
    const section = stage.createSection({ mounts: createMounts(folder) });
    stage.intercept((request) =>
      isModelRequest(request)
        ? createErrorResponse(400, "Container with id 'cntr_other' not found.")
        : null,
    );
    await expect(stage.evaluate(section)).rejects.toThrow("cntr_other");
    expect(stage.requests).toContain("GET /containers/·");
    expect(stage.requests.filter((request) => request === "POST /containers")).toHaveLength(1);
  });

  test("fails if the container's status cannot be checked", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(readScript);
    const section = stage.createSection({ mounts: createMounts(folder) });
    stage.intercept((request) => {
      if (request.method === "GET") return createErrorResponse(500, "The database is down.");
      return isModelRequest(request) ? createErrorResponse(400, "Container is expired.") : null;
    });
    const failing = stage.evaluate(section);
    await expect(failing).rejects.toBeInstanceOf(PromptEvaluationError);
    await expect(failing).rejects.toThrow("The database is down");
  });

  test("replaces a container whose status is expired", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(readScript);
    const section = stage.createSection({ mounts: createMounts(folder) });
    let isFirst = true;
    stage.intercept((request) => {
      if (request.method === "GET") return { status: 200, body: '{"id":"x","status":"expired"}' };
      if (!isModelRequest(request) || !isFirst) return null;
      isFirst = false;
      return createErrorResponse(400, "Container is expired.");
    });
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(stage.bus.of("ContainerReplaced")).toHaveLength(1);
  });
});

describe("an error that is not about a container", () => {
  test("does not replace the container", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(readScript);
    const section = stage.createSection({ mounts: createMounts(folder) });
    stage.intercept((request) =>
      isModelRequest(request) ? createErrorResponse(400, "Too many tools.") : null,
    );
    await expect(stage.evaluate(section)).rejects.toThrow("Too many tools");
    expect(section.containerId).not.toBeNull();
    expect(stage.requests).not.toContain("GET /containers/·");
  });
});

describe('a container that the provider creates in mode "auto"', () => {
  test("is requested with the configured network policy", async () => {
    const stage = await createInterceptionFixture([]);
    stage.intercept(({ path }) =>
      path === "/responses" ? createErrorResponse(400, "Not here.") : null,
    );
    const networkPolicy = { type: "allowlist", allowedDomains: ["pypi.org"] } as const;
    const section = stage.createSection({ containerConfig: { mode: "auto", networkPolicy } });
    await expect(stage.evaluate(section)).rejects.toThrow("Not here");
    expect(stage.seenRequests[0]?.body["tools"]).toMatchObject([
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

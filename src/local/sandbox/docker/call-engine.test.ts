import { describe, expect, test } from "vitest";
import { createStubEngine } from "../../../../tests/support/local/stub-engine.ts";
import { callEngine, type EngineName, explainEngineProblem } from "./call-engine.ts";

describe("callEngine", () => {
  test("returns what the client prints", async () => {
    const client = createStubEngine({ info: "echo hello; echo ignored >&2" });
    expect(await callEngine(client, ["info"])).toEqual({ stdout: "hello\n", problem: null });
  });

  test("names what to install if the client is missing", async () => {
    const missing = { engine: "podman", program: "/nowhere/podman" } as const;
    expect(await callEngine(missing, ["info"])).toEqual({
      problem:
        "/nowhere/podman is not installed: apt-get install podman, on macOS brew install podman",
    });
  });

  test("gives up on an engine that does not answer", async () => {
    const client = createStubEngine({ info: "exec sleep 60" });
    expect(await callEngine(client, ["info"], 200)).toEqual({
      problem: `${client.program} did not answer within 0.2 s: restart docker`,
    });
  });

  test("reports an exit code if the client prints nothing", async () => {
    const client = createStubEngine({ info: "exit 3" });
    const { problem } = await callEngine(client, ["info"]);
    expect(problem).toMatch(/^\S+: it exited without a message \(Command failed: /);
  });
});

describe("explainEngineProblem", () => {
  const explain = (message: string, engine: EngineName = "docker") =>
    explainEngineProblem({ engine, program: engine }, message);

  test.each([
    [
      "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
      "start Docker Desktop or the service docker",
    ],
    [
      "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
      "join the group docker",
    ],
    ["Error: Mounts denied: the path /private is not shared from the host", "File sharing"],
  ])("adds a remedy to %s", (message, remedy) => {
    expect(explain(message)).toContain(remedy);
  });

  test("names the remedy of the other engine for the other engine", () => {
    expect(explain("Cannot connect to Podman", "podman")).toContain("podman machine start");
  });

  test("skips warnings before the problem", () => {
    const message = "WARNING: No swap limit support\ndocker: Error response: no space left.";
    expect(explain(message)).toBe("docker: Error response: no space left.");
    expect(explain("no space left")).toBe("docker: no space left");
  });
});

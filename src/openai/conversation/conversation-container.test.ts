import { readdirSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import {
  createInterceptionFixture,
  type InterceptedRequest,
  type InterceptionFixture,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { createRepository } from "../../../tests/support/workspace/workspace-fixture.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { silentLogger } from "../../base/logger.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import {
  type AutoContainerConfig,
  type CodeInterpreterConfig,
  codeInterpreterTool,
} from "../../tools/hosted/code-interpreter.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { OpenAICodeInterpreterTool } from "../code-interpreter-tool.ts";

const createMounts = (folder: string) => [{ hostPath: folder, mountPath: "p" }];
const python = (container?: CodeInterpreterConfig["container"]) => [
  codeInterpreterTool({ container }),
];

function filterResponseRequests({
  seenRequests,
}: InterceptionFixture): readonly InterceptedRequest[] {
  return seenRequests.filter(({ path }) => path === "/responses");
}

/** Redirects temporary files to a new folder until the test ends. */
function useTemporaryFolder(): string {
  const [folder, before] = [temporaryTree(), process.env["TMPDIR"]];
  onTestFinished(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  });
  process.env["TMPDIR"] = folder;
  return folder;
}

const withoutTools = { adapter: { hostedTools: null } };

describe("a prompt with a workspace is rejected before the first request", () => {
  test("without a code interpreter", async () => {
    const stage = await createInterceptionFixture([], withoutTools);
    const failing = stage.evaluate(stage.createSection());
    await expect(failing).rejects.toBeInstanceOf(PromptEvaluationError);
    await expect(failing).rejects.toMatchObject({ cause: expect.any(InvalidOptionError) });
    await expect(failing).rejects.toThrow(
      'The prompt\'s container workspace must be combined with a code interpreter or a hosted shell, got "no code interpreter". Pass hostedTools: { codeInterpreter: true } to the adapter, or add the tool to a section.',
    );
    expect(stage.requests).toEqual([]);
  });

  test.each([
    [false, [], "code_interpreter"],
    [[], [], "code_interpreter"],
    [["web_search"], [codeInterpreterTool({}, { name: "python" })], "python"],
    [false, [shellTool({ environment: { type: "container" } })], "shell"],
  ] as const)(
    "if allowHostedTools %j forbids the tool that runs code, with a remedy that helps",
    async (allowHostedTools, hostedTools, name) => {
      const stage = await createInterceptionFixture([]);
      const { adapter, session } = stage;
      const task = { key: "task", title: "Task", template: "Do it." };
      const sections = [new MarkdownSection({ ...task, hostedTools }), stage.createSection()];
      const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "t", sections }));
      const failing = adapter.evaluate(prompt, { session, allowHostedTools });
      await expect(failing).rejects.toThrow(
        `The prompt's container workspace must be combined with a code interpreter or a hosted shell, got "only ${name}, which allowHostedTools forbids". Include "${name}" in the array allowHostedTools, or evaluate a prompt without the workspace.`,
      );
      expect(stage.requests).toEqual([]);
    },
  );

  test("with only a local shell", async () => {
    const stage = await createInterceptionFixture([], withoutTools);
    const executor = { run: async () => ({ stdout: "", stderr: "", exitCode: 0 }) };
    const localShell = shellTool({ environment: { type: "local" } }, { executor } as never);
    const failing = stage.evaluate(stage.createSection(), { hostedTools: [localShell] });
    await expect(failing).rejects.toThrow(
      "must be combined with a code interpreter or a hosted shell",
    );
  });

  test("with a second workspace", async () => {
    const stage = await createInterceptionFixture([]);
    const sections = [stage.createSection(), stage.createSection({ key: "other" })];
    const failing = stage.evaluate(sections);
    await expect(failing).rejects.toThrow(
      'The prompt\'s container workspaces must be at most one, because code runs in one container, got ["workspace","other"]. Move all mounts to one section.',
    );
    expect(stage.requests).toEqual([]);
  });

  test.each<readonly [string, CodeInterpreterConfig["container"]]>([
    ["that already exists", { id: "cntr_mine" }],
    ["that would be created", { type: "auto" }],
    ["with mounts", { type: "auto", hostMounts: [], allowedHostRoots: "any" }],
  ])("with a code interpreter that has its own container %s", async (_, container) => {
    const stage = await createInterceptionFixture([]);
    const failing = stage.evaluate(stage.createSection(), { hostedTools: python(container) });
    await expect(failing).rejects.toThrow(
      'Hosted tool "code_interpreter" config.container must be omitted with a container workspace, because the tool runs in its container, got "a separate container". Omit container, or remove the workspace.',
    );
    expect(stage.requests).toEqual([]);
  });

  test.each([
    ["that already exists", { type: "container", containerId: "cntr_mine" }],
    ["that would be created", { type: "container" }],
  ] as const)("with a shell that has its own container %s", async (_, environment) => {
    const stage = await createInterceptionFixture([]);
    const failing = stage.evaluate(stage.createSection(), {
      hostedTools: [shellTool({ environment })],
    });
    await expect(failing).rejects.toThrow(
      'Hosted tool "shell" config.environment must be omitted with a container workspace, because the tool runs in its container, got "a separate container". Omit environment, or remove the workspace.',
    );
    expect(stage.requests).toEqual([]);
  });
});

describe("a workspace's container", () => {
  test("is filled after a warning about globs that match nothing, once", async () => {
    const folder = createRepository({ "a.txt": "one", "b.log": "" });
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (...given: unknown[]) => warnings.push(given) };
    const script = [[{ say: "First." }], [{ say: "Second." }]];
    const stage = await createInterceptionFixture(script, { adapter: { logger } });
    const globs = { includeGlob: ["*.txt", "*.md"], excludeGlob: ["secrit", "*.log"] };
    const mounts = [
      { hostPath: folder, mountPath: "p", ...globs },
      { hostPath: `${folder}/a.txt` },
    ];
    const section = stage.createSection({ mounts, allowedHostRoots: [folder] });
    expect(section.mountPreviews[0]?.unmatched).toEqual(["*.md", "secrit"]);
    expect(warnings).toEqual([]);
    stage.intercept(({ path }) => {
      if (path === "/containers") expect(warnings).toHaveLength(1);
      return null;
    });
    await stage.evaluate(section);
    await stage.evaluate(section);
    const facts = { hostPath: folder, mountPath: "p", globs: ["*.md", "secrit"] };
    expect(warnings).toEqual([["globs of a mount match nothing", facts]]);
  });

  test("is also used by a hosted shell", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(
      [[{ shell: ["cat /mnt/data/p/a.txt; echo -n two > /mnt/data/p/b.txt"] }], [{ say: "Done." }]],
      withoutTools,
    );
    const section = stage.createSection({ mounts: createMounts(folder) });
    await stage.evaluate(section, { hostedTools: [shellTool()] });
    expect(filterResponseRequests(stage).at(-1)?.body["tools"]).toEqual([
      {
        type: "shell",
        environment: { type: "container_reference", container_id: section.containerId },
      },
    ]);
    expect(await section.filesystem.readText("p/b.txt")).toBe("two");
  });

  test("is not created for a prompt without a workspace", async () => {
    const stage = await createInterceptionFixture([[{ say: "Done." }]]);
    await stage.evaluate([]);
    expect(stage.requests).toEqual(["POST /responses"]);
    expect(filterResponseRequests(stage)[0]?.body["tools"]).toMatchObject([
      { container: { type: "auto" } },
    ]);
  });

  test("is created with the configured memory, expiry and network policy", async () => {
    const stage = await createInterceptionFixture([[{ say: "Done." }]]);
    const networkPolicy = { type: "allowlist", allowedDomains: ["pypi.org"] } as const;
    const containerConfig = { memoryLimit: "16g", expiresAfterMinutes: 5, networkPolicy } as const;
    stage.intercept(({ method, path }) =>
      method === "POST" && path === "/containers"
        ? { status: 400, body: JSON.stringify({ error: { message: "Not that." } }) }
        : null,
    );
    const failing = stage.evaluate(stage.createSection({ containerConfig }));
    await expect(failing).rejects.toMatchObject({ phase: "request" });
    await expect(failing).rejects.toThrow("Not that");
    expect(stage.seenRequests[0]?.body).toEqual({
      name: `weakincentives ${stage.session.id}`,
      memory_limit: "16g",
      network_policy: { type: "allowlist", allowed_domains: ["pypi.org"] },
      expires_after: { anchor: "last_active_at", minutes: 5 },
    });
  });
});

describe('a workspace in mode "auto"', () => {
  const auto = { mode: "auto", memoryLimit: "1g" } as const;

  test("adopts the container that the provider creates and keeps using it", async () => {
    const stage = await createInterceptionFixture([
      [{ code: "open('/mnt/data/a.txt', 'w').write('one') and None" }],
      [{ say: "Done." }],
      [{ code: "print(open('/mnt/data/a.txt').read())" }],
      [{ say: "Done." }],
    ]);
    const section = stage.createSection({ containerConfig: auto, syncOnCleanup: true });
    await stage.evaluate(section);
    expect(filterResponseRequests(stage)[0]?.body["tools"]).toEqual([
      { type: "code_interpreter", container: { type: "auto", memory_limit: "1g" } },
    ]);
    expect(stage.requests).not.toContain("POST /containers");
    const { containerId } = section;
    expect(containerId).toMatch(/^cntr_/);
    await stage.evaluate(section);
    expect(filterResponseRequests(stage).at(-1)?.body["tools"]).toMatchObject([
      { container: containerId },
    ]);
    expect(stage.readOutputs()).toEqual(["", "one\n"]);
    expect(await section.cleanup()).toMatchObject({ added: ["a.txt"], failed: [] });
  });

  test("creates no container if no code runs", async () => {
    const stage = await createInterceptionFixture([[{ say: "Done." }]]);
    const section = stage.createSection({ containerConfig: auto, syncOnCleanup: true });
    await stage.evaluate(section);
    expect([section.containerId, stage.requests]).toEqual([null, ["POST /responses"]]);
    expect(await section.cleanup()).toMatchObject({ added: [], failed: [] });
  });

  test("continues in a new container when the adopted one is lost", async () => {
    const stage = await createInterceptionFixture([
      [{ code: "open('/mnt/data/a.txt', 'w').write('one') and None" }],
      [{ say: "First." }],
      [{ code: "print(open('/mnt/data/a.txt').read())" }],
      [{ say: "Second." }],
    ]);
    const section = stage.createSection({ containerConfig: auto, syncPolicy: "eachTurn" });
    await stage.evaluate(section);
    const first = section.containerId ?? "";
    await stage.calls.remove(first);
    expect((await stage.evaluate(section)).text).toBe("Second.");
    expect(section.containerId).not.toBe(first);
    expect(stage.readOutputs()).toEqual(["", "one\n"]);
    expect(stage.bus.of("ContainerReplaced")).toMatchObject([
      { containerId: first, replacedBy: section.containerId, restored: 1 },
    ]);
  });
});

describe("a code interpreter with hostMounts", () => {
  const readScript = [
    [{ code: "print(open('/mnt/data/p/a.txt').read(), open('/mnt/data/p/sub/b.txt').read())" }],
    [{ say: "Done." }],
  ];
  const auto = (folder: string, more: Partial<AutoContainerConfig> = {}): AutoContainerConfig => ({
    type: "auto",
    hostMounts: createMounts(folder),
    allowedHostRoots: [folder],
    ...more,
  });

  test("mounts the files, describes them to the model and removes temporary files", async () => {
    const folder = createRepository({ "a.txt": "one", "sub/b.txt": "two", ".env": "KEY=1" });
    const stage = await createInterceptionFixture(readScript, withoutTools);
    const temporary = useTemporaryFolder();
    const hostedTools = python(auto(folder, { memoryLimit: "4g" }));
    await stage.evaluate([], { hostedTools });
    expect(stage.readOutputs()).toEqual(["one two\n"]);
    expect(stage.seenRequests[0]).toMatchObject({
      path: "/containers",
      body: { memory_limit: "4g" },
    });
    const [, note] = Object(filterResponseRequests(stage).at(-1)?.body["input"]);
    expect(note).toMatchObject({ role: "developer" });
    expect(note.content).toBe(
      'These files are in the container that code runs in, below /mnt/data. Read and change them there with Python.\n- "p": 2 files, 6 bytes: "a.txt", "sub/b.txt"',
    );
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("works with OpenAICodeInterpreterTool, together with uploaded files", async () => {
    const folder = createRepository({ "a.txt": "one", "sub/b.txt": "two" });
    const stage = await createInterceptionFixture(readScript, withoutTools);
    const file = new File(["three"], "c.txt");
    const { id } = Object(await stage.client.files.create({ file, purpose: "user_data" }));
    const tool = new OpenAICodeInterpreterTool({ container: auto(folder, { fileIds: [id] }) });
    await stage.evaluate([], { tools: [tool] });
    expect(stage.readOutputs()).toEqual(["one two\n"]);
    const creation = stage.seenRequests.find(({ path }) => path === "/containers");
    expect(creation?.body).toMatchObject({ file_ids: [id], memory_limit: "1g" });
  });

  test("describes the files to the model once", async () => {
    const folder = createRepository({ "a.txt": "one", "sub/b.txt": "two" });
    const stage = await createInterceptionFixture(
      [...readScript.slice(0, 1), [{ code: "print(2)" }], [{ say: "Done." }]],
      withoutTools,
    );
    await stage.evaluate([], { hostedTools: python(auto(folder)) });
    const input = JSON.stringify(filterResponseRequests(stage).at(-1)?.body["input"]);
    expect(input.split("These files are in the container").length - 1).toBe(1);
    expect(stage.requests.filter((request) => request === "POST /containers")).toHaveLength(1);
  });

  test("is rejected without allowedHostRoots before the first request", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([], withoutTools);
    const container = { type: "auto", hostMounts: createMounts(folder) } as const;
    const failing = stage.evaluate([], { hostedTools: python(container) });
    await expect(failing).rejects.toThrow(
      'Hosted tool "code_interpreter" config.container.allowedHostRoots must be provided with hostMounts, because these files are uploaded, got undefined. List the folders that mounts may come from, or pass "any".',
    );
    expect(stage.requests).toEqual([]);
  });

  test.each<readonly [string, readonly Partial<HostMount>[], string]>([
    ["overlap", [{ mountPath: "a" }, { mountPath: "a/b" }], "[1].mountPath"],
    ["need a name", [{ hostPath: "/" }], "[0].mountPath"],
  ])("names the field of mounts that %s", async (_what, given, field) => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([], withoutTools);
    const hostMounts = given.map((mount) => ({ hostPath: folder, ...mount }));
    const container = auto(folder, { hostMounts, allowedHostRoots: "any" });
    await expect(stage.evaluate([], { hostedTools: python(container) })).rejects.toThrow(
      `Hosted tool "code_interpreter" config.container.hostMounts${field} must`,
    );
  });

  test("logs globs that match nothing", async () => {
    const folder = createRepository({ "a.txt": "one", "sub/b.txt": "two" });
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (...given: unknown[]) => warnings.push(given) };
    const adapter = { hostedTools: null, logger };
    const stage = await createInterceptionFixture(readScript, { adapter });
    const hostMounts = [{ hostPath: folder, mountPath: "p", excludeGlob: ["secrit"] }];
    await stage.evaluate([], { hostedTools: python(auto(folder, { hostMounts })) });
    expect(warnings).toEqual([
      ["globs of a mount match nothing", { hostPath: folder, mountPath: "p", globs: ["secrit"] }],
    ]);
  });

  test("removes temporary files when the upload fails", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([], withoutTools);
    const temporary = useTemporaryFolder();
    stage.intercept(({ path }) =>
      path === "/containers" ? { status: 400, body: '{"error":{"message":"Full."}}' } : null,
    );
    await expect(stage.evaluate([], { hostedTools: python(auto(folder)) })).rejects.toThrow("Full");
    expect(readdirSync(temporary)).toEqual([]);
  });
});

import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, it, type TestContext } from "vitest";
import { temporaryTree } from "../support/temporary-tree.ts";

const toModuleUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/**
 * Runs `code` in its own namespaces and returns its result. Temporary files go to a small disk that disappears with
 * the process; the provider stores its files on another disk.
 */
function runOnSmallDisk(megabytes: number, code: string): unknown {
  const [disk, kept, host] = [temporaryTree(), temporaryTree(), temporaryTree()];
  const program = `
    import { execFileSync } from "node:child_process";
    import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
    const load = (urls) => Promise.all(urls.map((url) => import(url)));
    const [{ Prompt, MarkdownSection, PromptTemplate, Session }, local, openai, bubblewrap, client] =
      await load([${[
        "index.ts",
        "local/index.ts",
        "openai/index.ts",
        "local/sandbox/bubblewrap/bubblewrap-sandbox.ts",
        "openai/http/http-client.ts",
      ]
        .map((path) => toModuleUrl(`../../src/${path}`))
        .join(", ")}]);
    const [disk, kept, host] = ${JSON.stringify([disk, kept, host])};
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=${megabytes}m", "tmpfs", disk]);
    process.env.TMPDIR = disk;
    const session = new Session();
    const serve = async (script) => {
      const provider = new local.LocalProvider({
        model: local.scriptedModel(script),
        sandbox: bubblewrap.bubblewrapSandbox(),
        dataDir: kept,
      });
      const { url } = await provider.listen();
      const requests = [];
      const counted = (input, init) => {
        requests.push(new URL(input).pathname.replace(/cntr_\\w+/, "·"));
        return fetch(input, init);
      };
      const clientConfig = { baseURL: url, apiKey: "local", fetch: counted };
      const adapter = new openai.OpenAIAdapter({
        ...{ model: "local", clientConfig, hostedTools: { codeInterpreter: true } },
      });
      const evaluate = async (section) => {
        const task = new MarkdownSection({ key: "task", title: "Task", template: "Go." });
        const sections = [task, section];
        const prompt = new Prompt(new PromptTemplate({ ns: "a", key: "b", sections }));
        return (await adapter.evaluate(prompt, { session })).text;
      };
      return { requests, evaluate };
    };
    const workspace = (options = {}) => new openai.OpenAIContainerWorkspaceSection({
      ...{ session, mounts: [{ hostPath: host, mountPath: "p" }], allowedHostRoots: "any" },
      ...options,
    });
    const failure = (work) => work.then(() => "none", (error) => error.message);
    const run = async () => { ${code} };
    console.log("said: " + JSON.stringify(await run()));
    process.exit();
  `;
  const args = ["-rm", process.execPath, "--input-type=module", "-e", program];
  const output = execFileSync("unshare", args, { encoding: "utf8" });
  return JSON.parse(/^said: (.*)$/m.exec(output)?.[1] ?? "null");
}

const canMount =
  spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;
const canSandbox =
  spawnSync("unshare", ["-rm", "bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]).status ===
  0;

function skipUnless(context: TestContext, isThere: boolean): void {
  context.skip(!isThere, "no disk can be mounted, or no sandbox started, with unshare -rm");
}

describe("a workspace with a full disk", () => {
  it("fails to copy the mounts and sends nothing", (context) => {
    skipUnless(context, canMount);
    const said = runOnSmallDisk(
      1,
      `writeFileSync(host + "/a.bin", Buffer.alloc(900_000));
      writeFileSync(host + "/b.bin", Buffer.alloc(900_000));
      const { requests, evaluate } = await serve([]);
      const section = workspace();
      const problem = await failure(evaluate(section));
      await section.cleanup();
      return { problem, requests, left: readdirSync(disk) };`,
    );
    expect(said).toEqual({
      problem: expect.stringContaining("Copy the mounts to another folder"),
      requests: [],
      left: [],
    });
  });

  it("fails to pack the mounts and uploads no partial archive", (context) => {
    skipUnless(context, canMount);
    const said = runOnSmallDisk(
      1,
      `writeFileSync(host + "/a.bin", Buffer.alloc(700_000));
      const { requests, evaluate } = await serve([]);
      const section = workspace();
      const problem = await failure(evaluate(section));
      const { containerId } = section;
      await section.cleanup();
      return { problem, requests, containerId, left: readdirSync(disk) };`,
    );
    expect(said).toEqual({
      problem: expect.stringMatching(/ENOSPC|no room|no space/i),
      requests: ["/v1/containers", "/v1/containers/·"],
      containerId: null,
      left: [],
    });
  });

  it("fails to fetch files that code created and retains the existing ones", (context) => {
    skipUnless(context, canMount && canSandbox);
    const said = runOnSmallDisk(
      2,
      `writeFileSync(host + "/a.txt", "one");
      const code = "import os\\nos.chdir('/mnt/data/p')\\n"
        + "open('big.bin', 'wb').write(os.urandom(3_000_000)) and None\\nos.remove('a.txt')";
      const { evaluate } = await serve([[{ code }], [{ say: "Done." }]]);
      const section = workspace({ syncOnCleanup: true, syncDestination: kept + "/synced" });
      const text = await evaluate(section);
      const { failed } = await section.cleanup();
      const files = readdirSync(kept + "/synced/p");
      return { text, failed, files, left: readdirSync(disk) };`,
    );
    expect(said).toEqual({
      text: "Done.",
      failed: [
        {
          path: ".",
          reason: expect.stringMatching(
            /^the last changes that code made could not be downloaded: .*(?:ENOSPC|no room|no space)/i,
          ),
        },
      ],
      files: ["a.txt"],
      left: [],
    });
  });
});

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Session } from "weakincentives";
import { JsonlSessionStore } from "weakincentives/stores";
import { recordingBus } from "weakincentives/testing";
import {
  createInterceptionFixture,
  type InterceptionFixture,
  isWorkspaceRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { createRepository, readFiles } from "../../../tests/support/workspace/workspace-fixture.ts";
import type { OpenAIContainerWorkspaceSectionOptions } from "./container-workspace-section.ts";

const appendLine = (text: string) => [
  { code: `print("${text}", file=open("/mnt/data/p/log.txt", "a"))` },
];
const done = [{ say: "Done." }];
/** The turns of two evaluations, each of which appends a line. */
const appendTwice = [appendLine("first"), done, appendLine("second"), done];
const countCreatedContainers = ({ requests }: InterceptionFixture) =>
  requests.filter((request) => request === "POST /containers").length;

/** Returns the developer messages of the model's last request. */
function readNotes({ seenRequests }: InterceptionFixture): string {
  const last = seenRequests.findLast(
    (request) =>
      request.path === "/responses" && request.method === "POST" && !isWorkspaceRequest(request),
  );
  const input: readonly { role?: string; content?: string }[] = Object(last?.body["input"]);
  return input
    .filter(({ role }) => role === "developer")
    .map(({ content }) => content)
    .join("\n");
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-resumed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A stage whose sections belong to sessions that are opened from a store, as in separate processes. */
async function createStage(
  script: Parameters<typeof createInterceptionFixture>[0],
  setting: Parameters<typeof createInterceptionFixture>[1] = {},
) {
  const stage = await createInterceptionFixture(script, setting);
  const home = createFolder();
  const mounted = createRepository({ "a.txt": "one", "b.txt": "two" });
  const store = new JsonlSessionStore(join(home, "sessions"));
  const persistDir = join(home, "kept");
  const result = join(home, "result");
  const open = async (options: Partial<OpenAIContainerWorkspaceSectionOptions> = {}) => {
    const bus = recordingBus();
    const session = await Session.openOrCreate(store, "s", [], { bus });
    const mounts = [{ hostPath: mounted, mountPath: "p" }];
    const section = stage.createSection({ session, mounts, ...options });
    const evaluate = () => stage.evaluate(section, { session });
    const close = async () => {
      await section.cleanup();
      await session.close();
    };
    return { session, section, bus, evaluate, close };
  };
  return { stage, mounted, persistDir, result, open };
}

describe("a workspace of another process", () => {
  test("continues in its container, which is filled only once", async () => {
    const { stage, persistDir, result, open } = await createStage(appendTwice);
    const first = await open({ persistDir });
    await first.evaluate();
    const id = first.section.containerId;
    await first.close();
    const second = await open({ persistDir, syncOnCleanup: true, syncDestination: result });
    await second.evaluate();
    expect(second.section.containerId).toBe(id);
    expect(countCreatedContainers(stage)).toBe(1);
    expect(second.bus.of("ContainerReplaced")).toEqual([]);
    await second.close();
    expect(readFiles(result)).toEqual({
      "p/a.txt": "one",
      "p/b.txt": "two",
      "p/log.txt": "first\nsecond\n",
    });
  });

  test("continues in its container after it was suspended, which syncs nothing", async () => {
    const { stage, persistDir, result, open } = await createStage(appendTwice);
    const options = { persistDir, syncOnCleanup: true, syncDestination: result };
    const first = await open({ ...options, deleteOnCleanup: true });
    await first.evaluate();
    await first.section.suspend();
    await first.session.close();
    expect(existsSync(result)).toBe(false);
    const second = await open(options);
    await second.evaluate();
    expect(countCreatedContainers(stage)).toBe(1);
    await second.close();
    expect(readFiles(result)["p/log.txt"]).toBe("first\nsecond\n");
  });

  test("continues in its container without persistDir, with the files that only it has", async () => {
    const { stage, mounted, result, open } = await createStage(appendTwice);
    const first = await open({ syncPolicy: "eachTurn", syncDestination: result });
    await first.evaluate();
    await first.session.close(); // the section is not cleaned up
    writeFileSync(join(mounted, "a.txt"), "edited later");
    const second = await open({ syncOnCleanup: true, syncDestination: result });
    await second.evaluate();
    expect(countCreatedContainers(stage)).toBe(1);
    const { files } = await second.section.diff();
    expect(files.map(({ path, status }) => [path, status])).toEqual([["p/log.txt", "added"]]);
    const { changed } = await second.section.cleanup();
    expect(changed).toEqual([]);
    expect(readFiles(result)["p/log.txt"]).toBe("first\nsecond\n");
  });

  test("is rebuilt from persistDir if its container is lost, and not from the edited mounts", async () => {
    const { stage, mounted, persistDir, open } = await createStage([
      appendLine("first"),
      done,
      [{ code: "print(open('/mnt/data/p/a.txt').read(), open('/mnt/data/p/log.txt').read())" }],
      done,
    ]);
    const first = await open({ persistDir });
    await first.evaluate();
    const id = first.section.containerId ?? "";
    await first.close();
    await stage.calls.remove(id);
    writeFileSync(join(mounted, "a.txt"), "edited later");
    const second = await open({ persistDir });
    await second.evaluate();
    const replacedBy = second.section.containerId;
    expect(second.bus.of("ContainerReplaced")).toMatchObject([
      { containerId: id, replacedBy, reason: "it no longer exists", restored: 3 },
    ]);
    expect(second.bus.of("ContainerReplaced")[0]?.lost).toEqual(["the memory of running code"]);
    expect(readNotes(stage)).toContain("The files are unchanged.");
    expect(
      second.bus.of("ToolInvoked").map(({ result }) => Object(result.value)["stdout"]),
    ).toEqual(["one first\n\n"]);
  });

  test("is rebuilt from persistDir without the mounted folder, and syncs every file", async () => {
    const { stage, mounted, persistDir, result, open } = await createStage(appendTwice);
    const first = await open({ persistDir });
    await first.evaluate();
    const { template, containerId } = first.section;
    await first.close();
    await stage.calls.remove(containerId ?? "");
    rmSync(mounted, { recursive: true });
    await expect(open()).rejects.toThrow(/does not exist\. Set mounts\[0\]\.hostPath/);
    const second = await open({ persistDir, syncOnCleanup: true, syncDestination: result });
    expect(second.section.template).toBe(template);
    await second.evaluate();
    const { files } = await second.section.diff();
    expect(files.map(({ path, status }) => [path, status])).toEqual([["p/log.txt", "added"]]);
    const { conflicts, failed } = await second.section.cleanup();
    expect({ conflicts, failed }).toEqual({ conflicts: [], failed: [] });
    expect(readFiles(result)).toEqual({
      "p/a.txt": "one",
      "p/b.txt": "two",
      "p/log.txt": "first\nsecond\n",
    });
  });

  test("is rebuilt from persistDir if code that was never recorded has changed its live container", async () => {
    const { stage, persistDir, open } = await createStage([
      appendLine("first"),
      done,
      appendLine("never recorded"),
      done,
      [{ code: "print(open('/mnt/data/p/log.txt').read())" }],
      done,
    ]);
    const first = await open({ persistDir });
    await first.evaluate();
    const id = first.section.containerId ?? "";
    await first.close();
    const tools = [{ type: "code_interpreter", container: id }];
    await stage.client.responses.create({ model: "local", input: "Go on.", tools });
    const second = await open({ persistDir });
    await second.evaluate();
    const replacedBy = second.section.containerId;
    expect(second.bus.of("ContainerReplaced")).toMatchObject([
      {
        ...{ containerId: id, replacedBy, restored: 3 },
        reason: "its files are not those that were last kept",
        lost: ["the memory of running code"],
      },
    ]);
    expect(readNotes(stage)).toContain("The files are unchanged.");
    expect(
      second.bus.of("ToolInvoked").map(({ result }) => Object(result.value)["stdout"]),
    ).toEqual(["first\n\n"]);
  });

  test("is rebuilt from the mounts without persistDir, and the model learns what is lost", async () => {
    const { stage, open } = await createStage([appendLine("first"), done, done]);
    const first = await open({ syncPolicy: "eachTurn", syncDestination: createFolder() });
    await first.evaluate();
    await first.session.close();
    await stage.calls.remove(first.section.containerId ?? "");
    const second = await open();
    await second.evaluate();
    const [replaced] = second.bus.of("ContainerReplaced");
    expect(replaced).toMatchObject({ restored: 2 });
    expect(replaced?.lost).toEqual(["the memory of running code", "p/log.txt"]);
    expect(readNotes(stage)).toContain('could not be restored and are lost: "p/log.txt"');
  });

  test("reports changes that were never downloaded", async () => {
    const { stage, open } = await createStage([appendLine("first"), done, done]);
    const first = await open();
    await first.evaluate();
    await first.session.close();
    await stage.calls.remove(first.section.containerId ?? "");
    const second = await open();
    await second.evaluate();
    expect(second.bus.of("ContainerReplaced")[0]?.lost).toContain(
      "changes that code made to files since the last download",
    );
    expect(readNotes(stage)).toContain("later changes by code are lost");
  });

  test("reports kept files that were damaged", async () => {
    const { stage, persistDir, open } = await createStage([done, done]);
    const first = await open({ persistDir, client: stage.client });
    await first.section.filesystem.writeText("p/new.txt", "new");
    await first.evaluate();
    const id = first.section.containerId ?? "";
    await first.close();
    for (const name of readdirSync(join(persistDir, "blobs")))
      writeFileSync(join(persistDir, "blobs", name), "damaged");
    await stage.calls.remove(id);
    const second = await open({ persistDir });
    await second.evaluate();
    expect(readNotes(stage)).toContain('"p/new.txt"');
  });

  test("cannot be checked while the provider fails, and is not given up for it", async () => {
    const { stage, persistDir, open } = await createStage([done, done]);
    const first = await open({ persistDir });
    await first.evaluate();
    const id = first.section.containerId;
    await first.close();
    const second = await open({ persistDir });
    let isBroken = true;
    stage.intercept(({ method }) =>
      isBroken && method === "GET"
        ? { status: 400, body: JSON.stringify({ error: { message: "Not now." } }) }
        : null,
    );
    await expect(second.evaluate()).rejects.toThrow("Not now");
    isBroken = false;
    await second.evaluate();
    expect(second.section.containerId).toBe(id);
  });
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPasteProject, type PasteProject } from "../support/documents/paste-project.ts";
import {
  type Bundle,
  bundleWorker,
  edgeMissing,
  type Miniflare,
  startWorker,
} from "../support/edge/edge-runtime.ts";
import { startHttpServer } from "../support/mcp/http-server.ts";

describe.skipIf(edgeMissing !== null)("weakincentives/mcp in workerd", () => {
  let project: PasteProject;
  let bundle: Bundle;
  let worker: Miniflare;

  beforeAll(async () => {
    project = await createPasteProject();
    const source = await readFile(new URL("mcp-worker.ts", import.meta.url), "utf8");
    const pasted = await project.paste(source, ["@modelcontextprotocol/client"], "ts");
    bundle = await bundleWorker(join(pasted.folder, pasted.file));
    worker = await startWorker(bundle.code, {});
  }, 300_000);
  afterAll(async () => {
    await worker?.dispose();
    await project[Symbol.asyncDispose]();
  });

  const send = async (body: object): Promise<unknown> => {
    const init = { method: "POST", body: JSON.stringify(body) };
    return await (await worker.dispatchFetch("https://mcp.example/", init)).json();
  };

  test("is bundled without imports", () => {
    expect(bundle.imports).toEqual([]);
  });

  test("calls a tool of a server with a URL", async () => {
    const { url } = await startHttpServer();
    expect(await send({ url, word: "owl" })).toEqual({ message: '{"word":"owl"}' });
  });

  test("rejects a server with a command", async () => {
    expect(await send({ command: "server" })).toEqual({
      message: expect.stringContaining("A server with a command needs Node."),
    });
  });
});

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Browser, startChromium } from "./support/chromium.ts";
import { chromiumPath } from "./support/chromium-path.ts";
import { startWinkRun } from "./support/cli/start-wink-run.ts";
import { message } from "./support/wire-items.ts";
import { formatEvents, toStreamEvents } from "./support/wire-stream.ts";

let browser: Browser;

/** Starts a model server that sends one word, and the rest after `release` is resolved. */
async function startSlowModel() {
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume();
    void answer(response, started.resolve, release.promise);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const env = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "test-key" };
  return { env, release, started: started.promise };
}

async function answer(response: ServerResponse, onStart: () => void, release: Promise<void>) {
  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
  const body = { id: "resp_1", object: "response", model: "slow", status: "completed", usage };
  const events = toStreamEvents({ ...body, output: [message("Roses are red.")] });
  const at = events.findIndex(({ type }) => type === "response.output_text.delta");
  const delta = (text: string) => ({ ...events[at], delta: text });
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(formatEvents([...events.slice(0, at), delta("Roses are")]));
  onStart();
  await release;
  response.end(formatEvents([delta(" red."), ...events.slice(at + 1)]));
}

describe.skipIf(!chromiumPath)("wink run --inspect in Chromium", () => {
  beforeAll(async () => {
    browser = await startChromium(chromiumPath ?? "");
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
  });

  test.each([
    ["a prompt", ["baker.ts", "--model", "slow", "--param", "kind=rye"]],
    ["a loop", ["summarize.ts", "--param", "text=Flowers"]],
  ])(
    "shows the text of %s as it arrives, also if the page is opened late",
    async (_, [name, ...flags]) => {
      const { env, release, started } = await startSlowModel();
      const args = [`tests/support/cli/agents/${name}`, ...flags, "--inspect", "--json"];
      const run = startWinkRun(args, { env, stdin: "" });
      await started;
      const { inspector } = JSON.parse(run.output.err.split("\n", 1).join());
      const page = await browser.open(inspector);
      const live = 'document.querySelector(".live")?.innerText';
      await page.expectValue(live, "Turn 1 Roses are");
      await page.reload();
      await page.expectValue(live, "Turn 1 Roses are");
      release.resolve();
      expect(await run.ended).toEqual({ code: 0, signal: null });
      expect(JSON.parse(run.output.out)).toMatchObject({ text: "Roses are red." });
    },
  );
});

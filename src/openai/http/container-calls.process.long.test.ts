import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, truncateSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { startRawServer } from "../../../tests/support/raw-server.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

const MB = 2 ** 20;

/** Runs a program in a separate process, with `calls` to the server at `url`, and returns its output. */
async function runProgram(
  url: string,
  config: string,
  program: string,
  shell = "",
): Promise<string> {
  const from = (name: string) => JSON.stringify(new URL(name, import.meta.url));
  const script = `
    import { openAsBlob } from "node:fs";
    import { openAIClient } from ${from("./http-client.ts")};
    import { ContainerCalls } from ${from("./container-calls.ts")};
    const client = openAIClient({ baseURL: ${JSON.stringify(url)}, ${config} });
    const calls = new ContainerCalls(client);
    ${program}
  `;
  const path = join(temporaryTree({ "program.mjs": script }), "program.mjs");
  const child = spawn("sh", ["-c", `${shell} exec "$0" "$1"`, process.execPath, path]);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe("");
  return output.trim();
}

/** Creates a program that prints how much its memory grew at most, in MB. */
const measureMemory = (work: string) => `
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 2);
  ${work}
  clearInterval(timer);
  console.log(Math.round((most - before) / ${MB}));
`;

const ways = [
  ["node", ""],
  ["fetch", "fetch"],
] as const;

describe.each(ways)("ContainerCalls in a separate process over %s", (_way, config) => {
  test("transfers a file of 300 MB without holding it in memory", async () => {
    const size = 300 * MB;
    const folder = temporaryTree({ "large.tar": "" });
    truncateSync(join(folder, "large.tar"), size);
    const server = createServer(async (request, response) => {
      let received = 0;
      for await (const { length } of request) received += length;
      if (request.method === "POST") {
        const file = { id: "f", path: "/mnt/data/f", bytes: size };
        response.end(JSON.stringify(received > size ? file : {}));
        return;
      }
      const part = Buffer.alloc(MB);
      for (let sent = 0; sent < 300; sent++) {
        if (!response.write(part)) await once(response, "drain");
      }
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const path = (name: string) => JSON.stringify(join(folder, name));
    const up = `await calls.upload("c", new File([await openAsBlob(${path("large.tar")})], "a"));`;
    const down = `
      const length = await calls.downloadTo("c", "f", ${path("copy.tar")});
      if (length !== ${size}) throw new Error("it is " + length);
    `;
    expect(Number(await runProgram(url, config, measureMemory(up)))).toBeLessThan(64);
    // The chunks that were read are garbage, which piles up to 64 MB before it is collected.
    expect(Number(await runProgram(url, config, measureMemory(down)))).toBeLessThan(128);
  });

  test("reports a full disk and leaves no partial file", async () => {
    const server = await startRawServer((_, response) => response.end(Buffer.alloc(MB)));
    const path = join(temporaryTree(), "a.bin");
    const program = `
      const saved = calls.downloadTo("c", "f", ${JSON.stringify(path)});
      await saved.catch((error) => console.log(error.name, error.code, error.message));
    `;
    // The system does not let any file grow beyond eight blocks.
    const output = await runProgram(server.url, config, program, "trap '' XFSZ; ulimit -f 8;");
    expect(output).toBe(
      `FilesystemError EFBIG EFBIG: ${JSON.stringify(path)} was rejected by the host: EFBIG: file too large`,
    );
    expect(existsSync(path)).toBe(false);
  });
});

test("the process exits after an unread body is canceled", async () => {
  const server = await startRawServer((_, response) => void response.write("abc"));
  const program = `
    const { body } = await client.files.content("file-1");
    await body.cancel();
    const start = performance.now();
    process.on("exit", () => console.log(performance.now() - start < 2000 ? "at once" : "late"));
  `;
  expect(await runProgram(server.url, "", program)).toBe("at once");
  expect(await runProgram(server.url, "fetch", program)).toBe("at once");
});

import * as client from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "../base/clock.ts";
import { type StdioRuntime, StdioTransport } from "./stdio-transport.ts";

const ping = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

/** Starts a program written in JavaScript. It is closed with the test. */
async function start(
  code: string,
  { cwd, ...runtime }: Partial<StdioRuntime> & { readonly cwd?: string } = {},
) {
  const server = { command: process.execPath, args: ["-e", code], cwd };
  const transport = new StdioTransport(server, client, runtime);
  const messages: unknown[] = [];
  const errors: Error[] = [];
  let closed = 0;
  transport.onmessage = (message) => messages.push(message);
  transport.onerror = (error) => errors.push(error);
  transport.onclose = () => {
    closed += 1;
  };
  onTestFinished(() => transport.close());
  await transport.start();
  return { transport, messages, errors, countClosed: () => closed };
}

describe("StdioTransport", () => {
  test("sends and receives messages, and closes", async () => {
    const { transport, messages, countClosed } = await start(
      "process.stdin.on('data', (line) => process.stdout.write(line))",
    );
    await transport.send(ping);
    await expect.poll(() => messages).toEqual([ping]);
    await transport.close();
    await expect.poll(countClosed).toBe(1);
    await expect(transport.send(ping)).rejects.toThrow(
      "The server is not running. It exited with code 0.",
    );
  });

  test("waits for a slow reader, and leaves no listener behind", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const { transport, messages } = await start(
      "let size = 0; process.stdin.on('data', (chunk) => { size += chunk.length; });" +
        `process.stdin.on('end', () => console.log(JSON.stringify({ ...${JSON.stringify(ping)}, id: size })))`,
    );
    const params = { text: "x".repeat(200_000) };
    for (let count = 0; count < 30; count++) await transport.send({ ...ping, params });
    await transport.close();
    const bytes = 30 * `${JSON.stringify({ ...ping, params })}\n`.length;
    await expect.poll(() => messages).toEqual([{ ...ping, id: bytes }]);
    expect(warnings).toEqual([]);
  });

  test("reports JSON that is not JSON-RPC, and skips other lines", async () => {
    const code = `console.log('hello'); console.log('{"a":1}'); console.log('${JSON.stringify(ping)}')`;
    const { messages, errors } = await start(code);
    await expect.poll(() => messages).toEqual([ping]);
    expect(errors).toHaveLength(1);
  });

  test("describes how the process ended, with the last 2,048 characters of its error output", async () => {
    const code = "process.stderr.write('x'.repeat(5000) + 'ü.'); process.exitCode = 4";
    const { transport, countClosed } = await start(code);
    await expect.poll(countClosed).toBe(1);
    expect(transport.describeEnd()).toMatch(
      /^It exited with code 4\. Its error output ends with: x{2046}ü\.$/,
    );
  });

  test("describes a process that a signal ended", async () => {
    const { transport, countClosed } = await start("process.kill(process.pid, 'SIGKILL')");
    await expect.poll(countClosed).toBe(1);
    expect(transport.describeEnd()).toBe("It was ended by SIGKILL.");
  });

  test("sends a large message to a process that reads slowly", async () => {
    const { transport, messages } = await start(
      "let n = 0; process.stdin.on('data', (d) => { n += d.length; if (String(d).endsWith('\\n')) console.log(JSON.stringify({ jsonrpc: '2.0', method: 'n', params: { n } })) })",
    );
    await transport.send({ ...ping, params: { text: "x".repeat(2_000_000) } });
    await expect.poll(() => messages).toHaveLength(1);
  });

  test("starts the program in its working directory", async () => {
    const code = `console.log(JSON.stringify({ jsonrpc: "2.0", method: process.cwd() }))`;
    const { messages } = await start(code, { cwd: "/" });
    await expect.poll(() => messages).toEqual([{ jsonrpc: "2.0", method: "/" }]);
  });

  test("reports a message that cannot be sent, because the program has closed its input", async () => {
    const code = `require("fs").closeSync(0); console.log('${JSON.stringify(ping)}'); setInterval(() => {}, 60_000)`;
    const { transport, messages, errors } = await start(code);
    await expect.poll(() => messages).toEqual([ping]);
    await transport.send(ping);
    await expect.poll(() => errors).toMatchObject([{ code: "EPIPE" }]);
  });

  test("ends the program on Windows, where there are no process groups", async () => {
    const code = `setInterval(() => {}, 60_000); console.log('${JSON.stringify(ping)}')`;
    const clock: Clock = {
      now: () => systemClock.now(),
      sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / 5, signal),
    };
    const { transport, messages } = await start(code, { platform: "win32", clock });
    await expect.poll(() => messages).toEqual([ping]);
    await transport.close();
    expect(transport.describeEnd()).toBe("It was ended by SIGTERM.");
  });

  test("rejects if the program does not exist, and can be closed before it is started", async () => {
    const transport = new StdioTransport({ command: "/no/such/program" }, client);
    await transport.close();
    await expect(transport.start()).rejects.toThrow("ENOENT");
    await transport.close();
  });

  test("rejects on a runtime without Node's modules", async () => {
    const transport = new StdioTransport({ command: "a" }, client, { find: () => undefined });
    await expect(transport.start()).rejects.toThrow(
      "A server with a command needs Node. Use a server with a url on this runtime.",
    );
  });
});

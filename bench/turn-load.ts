/**
 * Sends turns to a server over eight connections, back to back. It runs in a separate process, because
 * a client in the server's process would cost several times as much as the server. It receives
 * `{ url, body, turns }` and returns the turns per second.
 */
import { Agent, request } from "node:http";
import { performance } from "node:perf_hooks";

export interface TurnLoad {
  readonly url: string;
  readonly body: string;
  readonly turns: number;
}

const CONNECTIONS = 8;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

process.on("message", async (load: TurnLoad) => {
  let left = load.turns;
  const started = performance.now();
  const client = async () => {
    while (left-- > 0) await post(load);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  process.send?.((1_000 * load.turns) / (performance.now() - started));
});

function post({ url, body }: TurnLoad): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const asked = request(url, { method: "POST", agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`Answered with ${response.statusCode}`));
      response.resume().on("end", resolve);
    });
    asked.on("error", reject).end(body);
  });
}

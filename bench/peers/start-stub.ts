import { fork } from "node:child_process";
import { once } from "node:events";

/** The stub of OpenAI's API in another process, so that its cost is not counted. */
export interface Stub extends Disposable {
  readonly origin: string;
}

/** Starts the stub on a free port. It ends when it is disposed, or with this process. */
export async function startStub(): Promise<Stub> {
  const child = fork(new URL("server/stub.mjs", import.meta.url), { execArgv: [] });
  const [{ port }] = await once(child, "message");
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

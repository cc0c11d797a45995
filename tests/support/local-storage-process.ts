import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Starts a server in its own process on a data folder. `kill` ends it like a crash. */
export async function startLocalStorageProcess(dataDir: string) {
  const main = fileURLToPath(new URL("local-storage-main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--no-warnings", main, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [line] = await once(child.stdout, "data");
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return { url: String(line).trim(), pid: child.pid ?? 0, kill, [Symbol.asyncDispose]: kill };
}

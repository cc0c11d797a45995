import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** How many bytes of memory a process holds, or 0 if it is gone or nobody can say. */
export async function residentBytes(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<number> {
  try {
    return 1024 * (platform === "linux" ? await fromProc(pid) : await fromPs(pid));
  } catch {
    return 0; // it has just ended
  }
}

async function fromProc(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}

/** Where there is no `/proc`. */
async function fromPs(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout);
}

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Returns the resident memory of a process in bytes, or 0 if it has ended or cannot be measured. */
export async function readResidentBytes(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<number> {
  try {
    return 1024 * (platform === "linux" ? await readFromProc(pid) : await readFromPs(pid));
  } catch {
    return 0; // it has just ended
  }
}

async function readFromProc(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}

/** For systems without `/proc`. */
async function readFromPs(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout);
}

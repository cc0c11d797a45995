import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MeasureRow } from "../measure-row.ts";

/** The output of `scripts/trace.ts --json`. */
export interface Trace {
  readonly provider: string;
  readonly count: number;
  readonly parts: readonly { readonly until: string; readonly files: readonly string[] }[];
}

/**
 * How many files one evaluation may enter. Evaluations have barriers, a standing and files to keep since
 * decision 78, workspaces report their progress since decision 82, and costs and requests are counted since
 * decision 88.
 */
export const TRACE_TARGETS = { openai: 115, claude: 95 } as const;

/** True if the Claude Agent SDK is installed, which a trace on Claude needs. */
export function hasClaudeSdk(): boolean {
  return existsSync("node_modules/@anthropic-ai/claude-agent-sdk");
}

/** Traces one evaluation in a separate process, whose temporary folder has no leftovers of others to remove. */
export function runTrace(provider: keyof typeof TRACE_TARGETS): Trace {
  const folder = mkdtempSync(join(tmpdir(), "wink-trace-"));
  try {
    const traced = spawnSync(process.execPath, ["scripts/trace.ts", provider, "--json"], {
      encoding: "utf8",
      env: { ...process.env, TMPDIR: folder },
    });
    if (traced.status === 0) return JSON.parse(traced.stdout);
    throw new Error(`scripts/trace.ts ${provider} failed:\n${traced.stderr}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many files one evaluation enters, on each provider that can be traced here. */
export function measureTraces(): readonly MeasureRow[] {
  const providers = hasClaudeSdk() ? (["openai", "claude"] as const) : (["openai"] as const);
  return providers.map((provider) => {
    const { count, parts } = runTrace(provider);
    return {
      measure: `files that one evaluation enters on ${provider}`,
      now: count,
      anchors: "-",
      target: TRACE_TARGETS[provider],
      where: parts.flatMap(({ files }) => files),
    };
  });
}

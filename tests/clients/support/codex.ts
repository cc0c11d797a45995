import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createTemporaryFolder } from "./serve.ts";

/** An event that `codex exec --json` prints. */
export interface CodexEvent {
  readonly type: string;
  readonly item?: CodexItem;
  readonly error?: { readonly message: string };
}

/** A message, command, change or search of a Codex turn. */
export interface CodexItem {
  readonly type: string;
  readonly text?: string;
  readonly aggregated_output?: string;
  readonly [key: string]: unknown;
}

/** How Codex reaches the local provider. */
export type CodexProvider =
  /** A provider of the user's configuration. */
  | "local"
  /** A provider with the name "OpenAI", for which Codex also uses fields and items that it keeps from others. */
  | "OpenAI"
  /** Codex's built-in provider with another base URL. It prefers WebSockets. */
  | "built-in";

/** A Codex CLI with its own home and work folder. */
export interface Codex {
  /** Its work folder. */
  readonly folder: string;
  /** Runs `codex exec --json` and returns the events. Throws if Codex fails, unless `mayFail`. */
  exec(args: readonly string[], options?: { readonly mayFail?: boolean }): Promise<CodexEvent[]>;
}

const MAIN = fileURLToPath(new URL("../node_modules/@openai/codex/bin/codex.js", import.meta.url));

/** Configures a Codex CLI for a local provider. Nothing that it sends leaves the machine. */
export async function createCodex(
  url: string,
  provider: CodexProvider = "local",
  files: Readonly<Record<string, string>> = {},
): Promise<Codex> {
  const root = await createTemporaryFolder();
  const [home, folder, tmp] = ["home", "work", "tmp"].map((name) => join(root, name));
  if (!home || !folder || !tmp) throw new Error("The folders of Codex have no paths.");
  for (const path of [home, folder, tmp]) await mkdir(path);
  await writeFile(join(home, "config.toml"), createConfig(url, provider));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, name.endsWith(".png") ? "base64" : "utf8");
  }
  // Codex refuses a home in the folder for temporary files, so it gets another one.
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    CODEX_HOME: home,
    TMPDIR: tmp,
    OPENAI_API_KEY: "local",
    CODEX_API_KEY: "local",
  };
  return {
    folder,
    async exec(args, { mayFail = false } = {}) {
      const { code, output, errors } = await run([...args], folder, env);
      if (code !== 0 && !mayFail) throw new Error(`Codex failed (${code}): ${output}${errors}`);
      return output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    },
  };
}

/** Returns the items with this type that Codex completed. */
export function findItems(events: readonly CodexEvent[], type: string): CodexItem[] {
  return events.flatMap(({ type: kind, item }) =>
    kind === "item.completed" && item?.type === type ? [item] : [],
  );
}

/** Returns what the model said last. */
export function readLastMessage(events: readonly CodexEvent[]): string | undefined {
  return findItems(events, "agent_message").at(-1)?.text;
}

/** The model is one whose tools are in the request; of newer models Codex sends them in the input. */
function createConfig(url: string, provider: CodexProvider): string {
  const custom = `model_provider = "local"

[model_providers.local]
name = "${provider}"
base_url = "${url}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"`;
  return `model = "gpt-5.5"
check_for_update_on_startup = false
${provider === "built-in" ? `openai_base_url = "${url}"` : custom}

[analytics]
enabled = false

[features]
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
skill_search = false
plugin_sharing = false
`;
}

async function run(args: readonly string[], cwd: string, env: Record<string, string>) {
  const [first = "", ...rest] = args;
  const command =
    first === "resume" ? ["resume", "--last"] : ["--sandbox", "workspace-write", first];
  const child = spawn(
    process.execPath,
    [MAIN, "exec", ...command, "--json", "--skip-git-repo-check", ...rest],
    { cwd, env, stdio: ["ignore", "pipe", "pipe"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, output, errors };
}

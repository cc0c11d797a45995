import { bubblewrapSandbox } from "../../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts";
import { chromiumPath } from "./chromium-path.ts";
import { sdkMissing } from "./claude/sdk-installed.ts";
import { hasShell } from "./cli/has-shell.ts";
import { edgeMissing } from "./edge/edge-runtime.ts";
import { mcpServersMissing } from "./mcp/reference-servers.ts";

/** Prints which Node the tests run on and, once, which tests are skipped and how to run them. */
export async function setup(): Promise<void> {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  print(`Tests run on Node ${process.version}`);
  const { usable, reason } = await bubblewrapSandbox().probe();
  if (!usable) print(`Tests that need bubblewrap are skipped: ${reason}`);
  if (chromiumPath === null) {
    print("Tests in a browser are skipped. Install it with apt-get install chromium.");
  }
  const shells = (["zsh", "fish"] as const).filter((shell) => !hasShell(shell)).join(" ");
  if (shells !== "") {
    print(
      `Tests of wink completion are skipped. Install the shells with apt-get install ${shells}.`,
    );
  }
  if (edgeMissing !== null) print(`Tests in an edge runtime are skipped. ${edgeMissing}`);
  if (mcpServersMissing !== null) {
    print(`Tests with the reference servers of MCP are skipped. ${mcpServersMissing}`);
  }
  if (sdkMissing !== null) {
    print("Tests that need the Claude Agent SDK are skipped. Install it with npm run claude.");
  }
}

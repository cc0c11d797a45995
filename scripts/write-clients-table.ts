/**
 * Runs the suite of clients and writes the table of its results into the guide. A feature is "yes" only if the
 * client's test has passed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceTable } from "../tests/clients/support/guide-table.ts";

interface Results {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

const guide = "docs/guides/local.md";
const folder = mkdtempSync(join(tmpdir(), "wink-clients-table-"));
try {
  const output = join(folder, "results.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${output}`];
  // Tests that compare the guide's old table fail here. They pass in the next run.
  spawnSync("npm", ["run", "test:clients", "--", ...reporters], { stdio: "inherit" });
  if (existsSync(output)) writeTables(output);
  else process.exitCode = 1; // the suite has not started, and has printed the reason
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function writeTables(output: string): void {
  const { testResults } = JSON.parse(readFileSync(output, "utf8")) as Results;
  const passed = new Set(
    testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === "passed")
      .map(({ ancestorTitles: [client], title }) => `${client}: ${title}`),
  );
  const hasPassed = (client: string, feature: string) => passed.has(`${client}: ${feature}`);
  writeFileSync(guide, replaceTable(readFileSync(guide, "utf8"), hasPassed));
  console.log(`${guide}: the table of clients is written.`);
}

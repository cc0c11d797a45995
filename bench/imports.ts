/** Measures the import of the root entry point in a new process, next to the import of zod. */
import { execFileSync } from "node:child_process";
import { compareSides } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const facts = { what: "importing weakincentives to importing zod", unit: "ms", goal: 1 } as const;
const rounds = Array.from({ length: countRounds(25) }, () => ({
  ours: measureImport("weakincentives"),
  reference: measureImport("zod"),
}));
printResult({ figures: [compareSides(facts, rounds)] });

/** The milliseconds that a new process needs to import `specifier`, without its own start. */
function measureImport(specifier: string): number {
  const code = `
    const before = performance.now();
    await import(${JSON.stringify(specifier)});
    process.stdout.write(String(performance.now() - before));
  `;
  return Number(
    execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }),
  );
}

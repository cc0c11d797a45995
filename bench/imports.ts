import { execFileSync } from "node:child_process";

/** The milliseconds that a new process needs to import `specifier`, without its startup. */
export function measureImport(specifier: string): number {
  const code = `
    const before = performance.now();
    await import(${JSON.stringify(specifier)});
    process.stdout.write(String(performance.now() - before));
  `;
  return Number(
    execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }),
  );
}

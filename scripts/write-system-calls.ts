/** Writes `src/local/sandbox/seccomp/system-calls.ts` from the kernel's headers. Needs gcc and linux-libc-dev. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

// Defines for the parts of the generic table that arm64 uses.
const ARM64 = "RENAMEAT NEW_STAT SET_GET_RLIMIT MEMFD_SECRET SYS_CLONE3"
  .split(" ")
  .map((name) => `#define __ARCH_WANT_${name}\n`)
  .join("");

const tables = {
  x64: readTable("#include <asm/unistd_64.h>\n"),
  arm64: readTable(`${ARM64}#include <asm-generic/unistd.h>\n`),
};

writeFileSync(
  "src/local/sandbox/seccomp/system-calls.ts",
  `import { readTable } from "./read-table.ts";

/**
 * Numbers of Linux's system calls by name, for each architecture that has a filter. Written by
 * \`scripts/write-system-calls.ts\`. A line is the number of the first name; the others follow.
 */
export const SYSTEM_CALLS: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map([
${Object.entries(tables)
  .map(
    ([name, table]) => `  [\n    "${name}",\n    readTable(\`\n${formatTable(table)}\n\`),\n  ],`,
  )
  .join("\n")}
]);
`,
);

function readTable(source: string): ReadonlyMap<number, string> {
  const defines = execFileSync("gcc", ["-E", "-dM", "-D__BITS_PER_LONG=64", "-"], {
    input: source,
  });
  const found = new Map<number, string>();
  const aliases = new Map<string, number>();
  for (const [, name = "", value = ""] of String(defines).matchAll(/^#define __(\w+) (\S+)$/gm)) {
    if (name.startsWith("NR3264_")) aliases.set(`__${name}`, Number(value));
  }
  for (const [, name = "", value = ""] of String(defines).matchAll(
    /^#define __NR_(\w+) (\S+)$/gm,
  )) {
    if (name === "syscalls" || name === "arch_specific_syscall") continue;
    found.set(aliases.get(value) ?? Number(value), name);
  }
  return found;
}

function formatTable(table: ReadonlyMap<number, string>): string {
  const lines: string[] = [];
  let next = -1;
  for (const number of [...table.keys()].sort((a, b) => a - b)) {
    const name = table.get(number) ?? "";
    const line = lines.at(-1) ?? "";
    if (number === next && line.length + name.length < 110)
      lines[lines.length - 1] = `${line} ${name}`;
    else lines.push(`${number} ${name}`);
    next = number + 1;
  }
  return lines.join("\n");
}

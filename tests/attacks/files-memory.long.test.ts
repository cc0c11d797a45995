import { execFileSync } from "node:child_process";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attacks/attempt.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const surface = "patterns and patches";
const MEBIBYTE = 2 ** 20;

/** Prints by how many bytes the peak memory of the process grows during a search. */
const PROGRAM = `
const { HostFilesystem } = await import(process.argv[1]);
const files = new HostFilesystem(process.argv[2]);
const before = process.resourceUsage().maxRSS;
const matches = await files.grep("owl");
console.log((process.resourceUsage().maxRSS - before) * 1024, matches.length);
`;

/** Searches a folder in a separate process. */
function measureSearch(folder: string): { readonly grown: number; readonly matches: number } {
  const module = join(import.meta.dirname, "../../src/files/filesystem/host-filesystem.ts");
  const output = execFileSync(
    process.execPath,
    ["--input-type=module", "-e", PROGRAM, module, folder],
    { encoding: "utf8" },
  );
  const [grown = 0, matches = 0] = output.split(" ").map(Number);
  return { grown, matches };
}

attempt(
  {
    finding: "C13",
    surface,
    tries: "a search in a sparse file of 1.2 GiB",
    shows: "Files are read in chunks of 256 KiB, and the first NUL ends the search of a file.",
  },
  async () => {
    const folder = temporaryTree({ a: "owl\n", big: "" });
    truncateSync(join(folder, "big"), 1_288_490_188);
    const { grown, matches } = measureSearch(folder);
    const isSmall = grown < 150 * MEBIBYTE && matches === 1;
    return { through: isSmall ? [] : [`${grown} bytes, ${matches} matches`] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a search in 200 MiB of text in one file",
    shows: "Memory is bounded by one chunk and one line.",
  },
  async () => {
    const folder = temporaryTree({ a: "owl\n" });
    const line = `${"text without the word ".repeat(4)}\n`;
    const block = line.repeat(Math.floor(MEBIBYTE / line.length));
    for (let n = 0; n < 200; n++) writeFileSync(join(folder, "big"), block, { flag: "a" });
    const { grown, matches } = measureSearch(folder);
    const isSmall = grown < 150 * MEBIBYTE && matches === 1;
    return { through: isSmall ? [] : [`${grown} bytes, ${matches} matches`] };
  },
);

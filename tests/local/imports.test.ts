import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test("importing weakincentives/local does not load the HTML parser", async () => {
  expect(await countParserFiles("src/local/index.ts")).toBe(0);
  expect(await countParserFiles("src/local/search/read-html.ts")).toBeGreaterThan(0);
});

/** Counts the files of parse5 that a new process loads with a module. */
async function countParserFiles(path: string): Promise<number> {
  const code = `
    import { registerHooks } from "node:module";
    let count = 0;
    registerHooks({
      load(url, context, next) {
        if (url.includes("/node_modules/parse5/")) count += 1;
        return next(url, context);
      },
    });
    await import(${JSON.stringify(new URL(`../../${path}`, import.meta.url).href)});
    process.stdout.write(String(count));
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code]);
  return Number(stdout);
}

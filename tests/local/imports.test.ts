import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test.each([
  ["parse5", "src/local/search/read-html.ts"],
  ["ws", "src/local/socket/socket-server.ts"],
])("importing weakincentives/local does not load %s", async (name, user) => {
  expect(await countFiles(name, "src/local/index.ts")).toBe(0);
  expect(await countFiles(name, user)).toBeGreaterThan(0);
});

/** Counts the files of a package that a new process loads with a module. */
async function countFiles(name: string, path: string): Promise<number> {
  const code = `
    import { registerHooks } from "node:module";
    let count = 0;
    registerHooks({
      load(url, context, next) {
        if (url.includes("/node_modules/${name}/")) count += 1;
        return next(url, context);
      },
    });
    await import(${JSON.stringify(new URL(`../../${path}`, import.meta.url).href)});
    process.stdout.write(String(count));
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code]);
  return Number(stdout);
}

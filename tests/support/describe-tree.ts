import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Describes a folder for comparisons: kind, permissions and bytes of every entry by path, with the folder as `.`. */
export function describeTree(folder: string): Readonly<Record<string, string>> {
  const found: [string, string][] = [];
  const look = (path: Buffer, name: string) => {
    const stats = lstatSync(path);
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isDirectory()) {
      found.push([name, `folder ${mode}`]);
      for (const entry of readdirSync(path, { encoding: "latin1" })) {
        const inner = Buffer.concat([path, Buffer.from(`/${entry}`, "latin1")]);
        look(inner, name === "." ? entry : `${name}/${entry}`);
      }
    } else if (stats.isFile()) {
      found.push([name, `file ${mode} ${readFileSync(path, "latin1")}`]);
    } else {
      found.push([name, stats.isSymbolicLink() ? `-> ${readlinkSync(path)}` : "other"]);
    }
  };
  look(Buffer.from(folder), ".");
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

import { relative } from "node:path";
import type { SourceFile } from "typescript/unstable/ast";
import { API, type Checker } from "typescript/unstable/sync";

/** The parsed and bound files of this repository. Dispose it to end the compiler's process. */
export interface TypeScriptProject extends Disposable {
  readonly checker: Checker;
  /** The files of the repository, by path from its root. Dependencies are not included. */
  readonly files: ReadonlyMap<string, SourceFile>;
}

/**
 * Opens the project of a `tsconfig.json`.
 *
 * TypeScript 7 calls this API unstable. The compiler's version is pinned, so it changes only with the lockfile.
 */
export function openProject(root: string): TypeScriptProject {
  const api = new API({ cwd: root });
  const config = `${root}/tsconfig.json`;
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (project === undefined) throw new Error(`${config} cannot be opened`);
  const { program, checker } = project;
  const files = new Map<string, SourceFile>();
  for (const name of program.getSourceFileNames()) {
    const path = relative(root, name);
    if (path.startsWith("..") || path.includes("node_modules")) continue;
    const file = program.getSourceFile(name);
    if (file !== undefined) files.set(path, file);
  }
  return { checker, files, [Symbol.dispose]: () => api.close() };
}

/** True for a test, a type test, or a file that only tests import. */
export function isTestFile(path: string): boolean {
  return path.startsWith("tests/") || /\.test(-d)?\.ts$/.test(path);
}

/** True for a file of the library itself. */
export function isSource(path: string): boolean {
  return path.startsWith("src/") && path.endsWith(".ts") && !isTestFile(path);
}

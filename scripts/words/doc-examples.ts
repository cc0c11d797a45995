import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PublicMember } from "./public-members.ts";

/** A program in the comment of a public name. */
export interface DocExample {
  /** The public name, and the number of the program if it has several: `Session`, `Session-2`. */
  readonly name: string;
  readonly file: string;
  readonly code: string;
}

/** Finds the TypeScript programs below the `@example` tags of public names. */
export function findDocExamples(members: readonly PublicMember[]): readonly DocExample[] {
  return members.flatMap(({ name, file, doc }) => {
    const examples = doc.split("@example").slice(1);
    return examples.map((example, index) => ({
      name: index === 0 ? name : `${name}-${index + 1}`,
      file,
      code: readProgram(example),
    }));
  });
}

/**
 * Type-checks each example as a module with the project's compiler options. Returns the compiler's output, or
 * an empty string. Unused variables are allowed; an example without a `ts` block is not.
 */
export function checkDocExamples(examples: readonly DocExample[], root: string): string {
  const empty = examples.filter(({ code }) => code.trim() === "");
  if (empty.length > 0) {
    return empty
      .map(({ name, file }) => `@example of ${name} in ${file} has no \`\`\`ts block`)
      .join("\n");
  }
  const folder = mkdtempSync(join(tmpdir(), "wink-examples-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    for (const { name, file, code } of examples) {
      writeFileSync(join(folder, `${name}.ts`), `// ${name} in ${file}\n${code}\nexport {};\n`);
    }
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(createConfig(root)));
    const compiler = join(root, "node_modules/.bin/tsc");
    const { stdout, status } = spawnSync(compiler, ["-p", folder], { encoding: "utf8" });
    return status === 0 ? "" : stdout.replaceAll(/^\S*\/(?=[\w.-]+\.ts\()/gm, "@example of ");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The code between the fences of an example, without the stars of the comment. Empty without fences. */
function readProgram(example: string): string {
  const text = example.replaceAll(/^\s*\* ?/gm, "");
  return /```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
}

function createConfig(root: string): object {
  return {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noUnusedLocals: false,
      noUnusedParameters: false,
      typeRoots: [join(root, "node_modules/@types")],
      paths: {
        weakincentives: [join(root, "src/index.ts")],
        "weakincentives/*": [join(root, "src/*/index.ts")],
      },
    },
    // The sources first: their event types must exist before an example adds to them.
    include: [join(root, "src/*/index.ts"), "*.ts"],
  };
}

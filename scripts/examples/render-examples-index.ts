import { groupExamples, toExampleName } from "./group-examples.ts";
import type { Example } from "./list-examples.ts";

/** Renders `examples/README.md`: every example with its sentence, its command and its output. */
export function renderExamplesIndex(examples: readonly Example[]): string {
  const groups = groupExamples(examples);
  const contents = groups.map(({ title, examples: listed }) => {
    const names = listed.map((example) => `[${toExampleName(example)}](#${toAnchor(example)})`);
    return `| ${title} | ${names.join(", ")} |`;
  });
  const sections = groups.map(({ title, examples: listed }) =>
    [`## ${title}`, ...listed.map(renderExample)].join("\n\n"),
  );
  return `${[INTRODUCTION, ["| topic | examples |", "| --- | --- |", ...contents].join("\n"), ...sections].join("\n\n")}\n`;
}

const INTRODUCTION = `# Examples

<!-- Written by npm run examples:index. Edit the examples, not this page. -->

Every example is a program that runs without a key and without a network: a scripted model answers, and the tools really
run. CI runs each one and compares its output with the output on this page.

In a clone of the repository, run \`npm ci && npm run build\` once, then \`node examples/rollback.ts\`. In your own project,
copy the file, because Node does not run TypeScript inside \`node_modules\`:

\`\`\`sh
npm install weakincentives zod
cp node_modules/weakincentives/examples/rollback.ts rollback.mts
node rollback.mts
\`\`\`

With \`--live\`, an example uses a real model: set \`OPENAI_API_KEY\`, or \`ANTHROPIC_API_KEY\` for Claude. You pay for its
tokens, and the answers differ from those below. Examples that need more packages than \`weakincentives\` and \`zod\` list
them.`;

function renderExample(example: Example): string {
  const { path, sentence, needs, prints } = example;
  const file = path.replace(/^examples\//, "");
  const more =
    needs.length > 0 ? [`Needs ${needs.map((name) => `\`${name}\``).join(" and ")}.`] : [];
  return [
    `### ${toExampleName(example)}`,
    [`[${file}](${file}): ${sentence}`, ...more, describeRun(example)].join("\n"),
    ["```text", ...prints, "```"].join("\n"),
  ].join("\n\n");
}

function describeRun({ path, isRunByWink, source }: Example): string {
  if (/^export default /m.test(source)) {
    const live = `npx wink run ${path} --model gpt-5.2`;
    return `Run \`npx wink run ${path}\`, or \`${live}\` with \`OPENAI_API_KEY\` set.`;
  }
  if (isRunByWink) {
    const key = source.includes('"weakincentives/claude"') ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
    return `Run \`npx wink run ${path}\`, or \`node ${path}\` with \`${key}\` set.`;
  }
  const live = source.includes("--live") ? ` or \`node ${path} --live\`` : "";
  return `Run \`node ${path}\`${live}.`;
}

/** The anchor of an example's heading. */
function toAnchor(example: Example): string {
  return toExampleName(example).replaceAll(/[^\w-]/g, "");
}

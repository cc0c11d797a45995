/** Creates llms.txt from the README: its first paragraph, and the guides with their topics. */
export function createMap(readme: string): string {
  const [, title = "", summary = ""] = /^# (.*)\n\n([\s\S]*?)\n\n/.exec(readme) ?? [];
  const guides = listGuides(readme).map(
    ({ name, path, topic }) => `- [${name}](${path}): ${topic}`,
  );
  return [
    `# ${title}`,
    "",
    `> ${summary.replaceAll("\n", " ")}`,
    "",
    "How to use the package, for coding agents: [AGENTS.md](AGENTS.md)",
    "",
    ...["## Guides", "", ...guides, ""],
    ...["## Reference", ""],
    "- [Public names](docs/reference/README.md): one page per entry point",
    "- [Errors](docs/errors.md): every message, why, and what to do",
    "- [Examples](examples/README.md): every program with its output",
    "- [Glossary](GLOSSARY.md): terms",
    "",
    ...["## Optional", ""],
    "- [All of the above in one file](llms-full.txt): README, AGENTS.md and the guides",
    "- [Changelog](CHANGELOG.md)",
    "",
  ].join("\n");
}

/** Creates llms-full.txt: the README, AGENTS.md and all guides, one after the other. */
export function createFullText(read: (path: string) => string): string {
  const readme = read("README.md");
  const paths = ["README.md", "AGENTS.md", ...listGuides(readme).map(({ path }) => path)];
  const pages = paths.map((path) => `<!-- ${path} -->\n\n${read(path).trimEnd()}\n`);
  return pages.join("\n");
}

interface Guide {
  readonly name: string;
  readonly path: string;
  readonly topic: string;
}

/** The rows of the table of guides. */
function listGuides(readme: string): readonly Guide[] {
  const [, table = ""] = readme.split("\n## Guides\n");
  const [rows = ""] = table.split("\n## ");
  const found = [...rows.matchAll(/^\| \[([^\]]+)\]\((docs\/guides\/[^)]+)\) \| (.*) \|$/gm)];
  if (found.length === 0) throw new Error("The README has no table of guides.");
  return found.map(([, name = "", path = "", topic = ""]) => ({ name, path, topic }));
}

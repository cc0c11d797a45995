/** Creates a picture of a terminal from the output of `wink demo`: the tool calls, without the model's code. */
export function createDemoPicture(output: string): string {
  const lines = ["$ npx wink demo", ...selectLines(output)];
  const height = lines.length * LINE + 2 * MARGIN;
  const rows = lines.map((line, index) => formatLine(line, MARGIN + (index + 1) * LINE - 5));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="A run of wink demo">`,
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#0d1117"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#c9d1d9" style="white-space: pre">`,
    ...rows,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

const WIDTH = 880;
const LINE = 18;
const MARGIN = 14;
const MAX_LENGTH = 108;

/** Selects the mounts and the turns. Ids are shortened, so that every run gives the same picture. */
function selectLines(output: string): readonly string[] {
  const all = output.split("\n");
  const mounted = all.findIndex((line) => line.startsWith("Mounted as "));
  const prompt = all.findIndex((line) => line.startsWith("Prompt sent "));
  const turns = all.indexOf("Turn 1");
  const end = all.indexOf("Turn 5");
  if (mounted === -1 || prompt === -1 || turns === -1 || end === -1) {
    throw new Error("The output of wink demo has no mounts, prompt or turns.");
  }
  const mounts = all.slice(mounted, prompt).filter((line) => !/^ {2}[\w.-]+$/.test(line));
  const calls = all.slice(turns, end).filter((line) => !/│|^ {4}(?:removed|- )/.test(line));
  return [...mounts, ...calls].map(shorten).filter((line, index, kept) => {
    return line !== "" || kept[index - 1] !== "";
  });
}

function shorten(line: string): string {
  const short = line
    .replaceAll(/\b(cntr|req|ci)_([0-9a-f]{4})[0-9a-f]+/g, "$1_…")
    .replace(/ was lost: .*(?=Container is expired)/, " was lost: ")
    .replace(/ \(request .*\)$/, "")
    .replace(/ queries=\[.*\]/, "");
  return short.length > MAX_LENGTH ? `${short.slice(0, MAX_LENGTH - 1)}…` : short;
}

function formatLine(line: string, y: number): string {
  const text = escapeXml(line)
    .replace("✓", '<tspan fill="#3fb950">✓</tspan>')
    .replace("✗", '<tspan fill="#f85149">✗</tspan>')
    .replace(/(ran (?:locally|at the provider))$/, '<tspan fill="#8b949e">$1</tspan>');
  const isTitle = /^(?:\$|Turn|Mounted)/.test(line);
  const isRollback = line.includes("rolled back");
  const fill = isRollback ? ' fill="#d29922"' : "";
  const weight = isTitle ? ' font-weight="bold"' : "";
  return `<text x="16" y="${y}"${fill}${weight}>${text}</text>`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

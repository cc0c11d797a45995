/**
 * Formats an exception as OpenAI's kernel, IPython, prints it. `error` is Python's traceback, or any
 * text from a custom sandbox.
 */
export function formatKernelError(error: string): string {
  const text = shorten(error.trimEnd());
  if (/^ +\+ Exception Group Traceback/m.test(text)) return text;
  if (/^SystemExit(?::|$)/.test(text)) return `${EXIT_HEADER}\n\n${text}`;
  if (/^ +File "/.test(text)) return text.replace(CELL_FILE, "Cell In[$1]");
  // A separator inside a message is not followed by a traceback.
  const parts = text.split(CHAIN);
  return `${DASHES}\n${parts.map((part, place) => (place % 2 === 1 ? part : formatOne(part))).join("\n\n")}`;
}

const DASHES = "-".repeat(75);
const HEADER = "Traceback (most recent call last)";
const EXIT_HEADER = "An exception has occurred, use %tb to see the full traceback.";
const CELL_FILE = /File "<cell (\d+)>"/;
const CHAIN =
  /\n\n(During handling of the above exception, another exception occurred:|The above exception was the direct cause of the following exception:)\n\n(?=Traceback \(most recent call last\):\n)/;

/** Formats one traceback of a chain. */
function formatOne(traceback: string): string {
  const lines = traceback.split("\n");
  const isHeaded = lines[0] === `${HEADER}:`;
  const place = isHeaded ? lines.findIndex((line, at) => at > 0 && /^\S/.test(line)) : 0;
  const frames = isHeaded ? formatFrames(lines.slice(1, place < 0 ? undefined : place)) : [];
  const report = place < 0 ? "" : lines.slice(place).join("\n");
  const [, name = "Exception", message = report] =
    /^([\p{L}_][\p{L}\p{N}_.<>]*)(?:: ?([\s\S]*)|$)/u.exec(report) ?? [];
  const body = message === name ? "" : message;
  return [`${name.padEnd(41)} ${HEADER}`, ...frames, `${name}: ${body}`].join("\n");
}

/** Formats frames: the place, the line of code with an arrow, and an empty line. */
function formatFrames(lines: readonly string[]): readonly string[] {
  const frames: string[] = [];
  let number: string | null = null;
  for (const line of lines) {
    const [, file = "", at = "", inside] = FRAME.exec(line) ?? [];
    if (at !== "") {
      if (frames.length > 0) frames.push("");
      frames.push(formatPlace(file, at, inside));
      number = at;
    } else if (number !== null) {
      frames.push(`${"-".repeat(Math.max(0, 5 - number.length))}> ${number} ${line.trimStart()}`);
      number = null;
    } else if (!/^[ ~^]+$/.test(line)) frames.push(line);
  }
  return frames.length === 0 ? frames : [...frames, ""];
}

const FRAME = /^ {2}File "(.*)", line (\d+)(?:, in (.*))?$/;

function formatPlace(file: string, line: string, inside: string | undefined): string {
  const cell = /^<cell (\d+)>$/.exec(file)?.[1];
  const place = cell === undefined ? `File ${file}:${line}` : `Cell In[${cell}], line ${line}`;
  return inside === undefined || inside === "<module>" ? place : `${place}, in ${inside}()`;
}

const MAX_LENGTH = 100_000;

function shorten(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH / 2)}\n…\n${text.slice(-MAX_LENGTH / 2)}`;
}

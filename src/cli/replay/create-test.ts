import { basename, dirname, relative, resolve, sep } from "node:path";
import { readRecords, readString, type UnknownRecord } from "../../base/json.ts";
import type { RecordedRequest, Recording } from "../../testing/cassette/recorded-exchange.ts";
import { isWorkspaceRequest, readJson } from "./create-run-report.ts";

/** The parts of a test of a recorded run. */
export interface TestParts {
  readonly recording: Recording;
  /** Path of the cassette. */
  readonly file: string;
  /** Path of the test. */
  readonly out: string;
  /** The module that exports the agent; `null` to write a placeholder. */
  readonly agent: string | null;
  readonly answer: string | null;
}

/** Creates a test for `node --test` that replays a recorded run. */
export function createTest({ recording, file, out, agent, answer }: TestParts): string {
  const imports = agent === null ? "" : `import run from ${toSpecifier(agent, out)};\n`;
  const adapter = agent === null ? 'import { OpenAIAdapter } from "weakincentives/openai";\n' : "";
  const placeholder = agent === null ? createPlaceholder(recording) : "";
  const title = toLiteral(`gives the answer that is recorded in ${basename(file)}`);
  return `import assert from "node:assert/strict";
import { test } from "node:test";
${adapter}import { cassette } from "weakincentives/testing";
${imports}
${placeholder}test(${title}, async () => {
  const tape = cassette(new URL(${toSpecifier(file, out)}, import.meta.url));
  const answer = await run(tape.fetch);
  await tape.close(); // throws if a recorded request was not sent
${createAssertion(answer)}});
`;
}

/** A path relative to the test, as a literal of JavaScript. */
function toSpecifier(path: string, out: string): string {
  const steps = relative(dirname(resolve(out)), resolve(path))
    .split(sep)
    .map(encodeURIComponent);
  return toLiteral(steps[0] === ".." ? steps.join("/") : `./${steps.join("/")}`);
}

/** Writes a text as a literal of JavaScript. In a comment, U+2028 would end the line, and code would follow. */
function toLiteral(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{C}\u2028\u2029]/gu,
    (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );
}

function createAssertion(answer: string | null): string {
  if (answer === null) return '  assert.ok(answer !== undefined, "run must return the answer");\n';
  return `  assert.equal(typeof answer === "string" ? answer : answer.text, ${toLiteral(answer)});\n`;
}

const MAX_INPUT_LENGTH = 1_000;

/** The model and the input are known from the first request; the prompt is the caller's. */
function createPlaceholder({ exchanges }: Recording): string {
  const first = exchanges
    .map(({ request }) => request)
    .find((request) => /\/responses$/.test(request.path) && !isWorkspaceRequest(request));
  const body = first ? readJson(first.body) : {};
  const model = toLiteral(readString(body, "model") || "gpt-5.2");
  const input = toLiteral(findInput(body).slice(0, MAX_INPUT_LENGTH));
  return `/** Runs the agent with \`fetch\` and returns its answer: a text, or the response of \`evaluate\`. */
async function run(fetch) {
  const adapter = new OpenAIAdapter({ model: ${model}, clientConfig: { fetch${toBaseURL(first)} } });
  // Import your prompt, and replace the last line by:
  // return await adapter.evaluate(prompt, { input: ${input} });
  throw new Error("Import your prompt into this test");
}

`;
}

/** The host is not recorded. A host below `.invalid` does not exist. */
function toBaseURL(request: RecordedRequest | undefined): string {
  const prefix = request?.path.replace(/\/responses$/, "") ?? "/v1";
  return prefix === "/v1" ? "" : `, baseURL: ${toLiteral(`https://recorded.invalid${prefix}`)}`;
}

function findInput(body: UnknownRecord): string {
  const message = readRecords(body, "input").findLast((item) => item["role"] === "user");
  if (!message) return readString(body, "input");
  const parts = readRecords(message, "content").map((part) => readString(part, "text"));
  return readString(message, "content") || parts.join("");
}

import { writeFile } from "node:fs/promises";

/** Writes a session file with this many events: turns with two calls each, and an event of the application. */
export async function writeLongSession(path: string, events: number): Promise<void> {
  const start = Date.UTC(2026, 0, 1);
  const records: object[] = [
    { kind: "session", version: 2, id: "long", createdAt: new Date(start).toISOString(), tags: {} },
  ];
  const add = (event: object) => {
    const createdAt = new Date(start + records.length * 100).toISOString();
    const stamp = { sessionId: "long", promptName: "night:shift", adapter: "openai", createdAt };
    records.push({ kind: "event", event: { ...stamp, ...event } });
  };
  add({ type: "EvaluationStarted", inputDigest: null, isResumed: false });
  for (let turn = 1; records.length + 4 <= events + 1; turn++) {
    const calls = ["read_sensor", "move_vent"].map((name) => ({ name, callId: `${name}_${turn}` }));
    const toolCalls = calls.map((call) => ({ ...call, arguments: JSON.stringify({ turn }) }));
    const usage = { inputTokens: 1_000 + turn, outputTokens: 40, totalTokens: 1_040 + turn };
    const text = `Turn ${turn}: the greenhouse is ${10 + (turn % 20)} °C warm. ${"Lorem ipsum. ".repeat(20)}`;
    add({ type: "TurnCompleted", turn, text, toolCalls, hostedCalls: [], usage, durationMs: 900 });
    for (const call of calls) {
      const success = turn % 50 !== 0;
      const result = {
        success,
        message: success ? "OK" : "It jammed.",
        value: { log: "x".repeat(500) },
      };
      add({
        type: "ToolInvoked",
        ...call,
        params: { turn },
        result,
        renderedOutput: "",
        usage,
        durationMs: 12,
      });
    }
    add({ type: "VentMoved", percent: turn % 101 });
  }
  while (records.length < events + 1) add({ type: "NightOver" });
  await writeFile(
    path,
    records.map((record, n) => `${JSON.stringify({ n, ...record })}\n`).join(""),
    {
      mode: 0o600,
    },
  );
}

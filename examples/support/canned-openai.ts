/** A `fetch` that returns these outputs, one per request, so that the examples run without a key. */
export function createCannedOpenAI(outputs: readonly (readonly object[])[]): typeof fetch {
  let turn = 0;
  return async (url) => {
    const path = new URL(String(url)).pathname;
    if (path.endsWith("/files")) return Response.json({ id: "file-1", object: "file" });
    if (path.endsWith("/content")) return new Response("month,total\nMay,12\n");
    const output = outputs[turn++] ?? [];
    const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
    return Response.json({ id: `resp_${turn}`, status: "completed", output, usage });
  };
}

/** A message item with the model's text and citations. */
export function createMessage(text: string, annotations: readonly object[] = []): object {
  const content = [{ type: "output_text", text, annotations }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

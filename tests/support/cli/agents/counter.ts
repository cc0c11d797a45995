/** A prompt whose output is no JSON, and whose section fails to clean up if the environment asks for it. */
import { MarkdownSection, PromptTemplate } from "weakincentives";
import * as z from "zod";

class Counter extends MarkdownSection {
  override async cleanup(): Promise<void> {
    if (process.env["WINK_TEST_LOCKED"]) throw new Error("The till is \u001b[31mlocked.");
  }
}

export default new PromptTemplate({
  ns: "shop",
  key: "counter",
  sections: [new Counter({ key: "task", title: "Task", template: "Count." })],
  output: z
    .object({ loaves: z.int() })
    .transform(({ loaves }) => (loaves === 0 ? undefined : BigInt(loaves))),
});

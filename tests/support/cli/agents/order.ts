/** A template with a typed answer, and no params. */
import { MarkdownSection, PromptTemplate } from "weakincentives";
import * as z from "zod";

export default new PromptTemplate({
  ns: "shop",
  key: "order",
  sections: [new MarkdownSection({ key: "task", title: "Task", template: "Read the order." })],
  output: z.object({ loaves: z.int() }),
});

import type { TurnRequest } from "../../adapter/model-client.ts";
import { isTextPart } from "../../prompt/input.ts";
import { checkAttachment, toAttachmentBlock } from "../attachments.ts";

/**
 * Creates the content blocks of a run's first user message: the prompt's text, its attachments, then the
 * parts of the user's input. Throws `InvalidOptionError` for attachments that Claude cannot read.
 */
export async function createFirstMessage(
  text: string,
  { rendered, input = [] }: Pick<TurnRequest, "rendered" | "input">,
): Promise<readonly object[]> {
  // First, so that no file is read if another attachment is refused.
  for (const [index, part] of input.entries())
    if (!isTextPart(part)) checkAttachment(part, toInputField(index));
  const content: object[] = text === "" && input.length > 0 ? [] : [{ type: "text", text }];
  for (const attachment of rendered.attachments)
    content.push(await toAttachmentBlock(attachment, "attach(files)"));
  for (const [index, part] of input.entries()) {
    content.push(
      isTextPart(part)
        ? { type: "text", text: part.text }
        : await toAttachmentBlock(part, toInputField(index)),
    );
  }
  return content;
}

function toInputField(index: number): string {
  return `evaluate(input)[${index}]`;
}

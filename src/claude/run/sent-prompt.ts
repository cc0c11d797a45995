import type { Attachment } from "../../prompt/attachment.ts";
import { type InputPart, isTextPart, joinInputText } from "../../prompt/input.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { checkAttachment, toAttachmentBlock } from "../attachments.ts";

/**
 * The prompt of one run as the model has it. If the prompt has a user part (user sections or input),
 * its system text is the SDK's system prompt. Otherwise its whole text is the first user message, and
 * the SDK uses its own system prompt.
 */
export class SentPrompt {
  /** The system prompt for the SDK; `null` if the SDK uses its own. It is fixed during a run. */
  readonly systemPrompt: string | null;
  readonly #hasUserPart: boolean;
  readonly #input: readonly InputPart[];
  readonly #inputText: string | null;
  #texts: PromptTexts;

  /** `sent` is the prompt as the model has it, if the run resumes an interrupted one. */
  constructor(
    rendered: RenderedTexts,
    input: readonly InputPart[] = [],
    sent: SentTexts | null = null,
  ) {
    this.#input = input;
    this.#inputText = sent ? sent.input : joinInputText(input);
    this.#hasUserPart =
      sent?.hasUserPart ?? (input.length > 0 || findText(rendered, "user") !== "");
    const { system, user } = this.#split(rendered);
    this.#texts = { system, user: sent?.user ?? user };
    this.systemPrompt = system === "" ? null : system;
  }

  /** The prompt as the model has it, for a run that resumes this one. */
  get sent(): SentTexts {
    return { hasUserPart: this.#hasUserPart, user: this.#texts.user, input: this.#inputText };
  }

  /**
   * Creates the content blocks of the first user message: the prompt's text, its attachments, then the
   * parts of the user's input. Throws `InvalidOptionError` for attachments that Claude cannot read.
   */
  async createContent(attachments: readonly Attachment[]): Promise<readonly object[]> {
    // First, so that no file is read if an attachment of the input is rejected.
    for (const [index, part] of this.#input.entries())
      if (!isTextPart(part)) checkAttachment(part, toInputField(index));
    const { user } = this.#texts;
    const content: object[] = user === "" && this.#hasUserPart ? [] : [toTextBlock(user)];
    for (const attachment of attachments)
      content.push(await toAttachmentBlock(attachment, "attach(files)"));
    for (const [index, part] of this.#input.entries()) {
      if (isTextPart(part)) content.push(toTextBlock(part.text));
      else content.push(await toAttachmentBlock(part, toInputField(index)));
    }
    return content;
  }

  /** Takes a newly rendered prompt. Returns texts that describe the changes to the model, by role. */
  update(rendered: RenderedTexts): readonly string[] {
    const before = this.#texts;
    const { system, user } = this.#split(rendered);
    this.#texts = { system, user };
    return [
      ...(system === before.system ? [] : [`The instructions now read:\n\n${system || NO_TEXT}`]),
      ...(user === before.user ? [] : [this.#describeUserText("now ")]),
    ];
  }

  /**
   * Returns what the model must read again after the SDK has replaced the conversation with a summary:
   * the user's message, and system text that differs from the SDK's system prompt.
   */
  repeat(): string {
    const { system } = this.#texts;
    const isStale = this.#hasUserPart && system !== (this.systemPrompt ?? "");
    const instructions = isStale ? [`The instructions read:\n\n${system || NO_TEXT}`] : [];
    return [...instructions, this.#describeUserText("")].join("\n\n");
  }

  #split(rendered: RenderedTexts): PromptTexts {
    if (!this.#hasUserPart) return { system: "", user: rendered.text };
    return { system: findText(rendered, "system"), user: findText(rendered, "user") };
  }

  #describeUserText(now: "now " | ""): string {
    const { user } = this.#texts;
    if (!this.#hasUserPart) return `The instructions ${now}read:\n\n${user}`;
    const texts = [user, this.#inputText ?? ""].filter((text) => text !== "");
    return quoteUserMessage(`The user's message ${now}reads`, texts.join("\n\n") || NO_TEXT);
  }
}

/** The user's side of a prompt, as the model has it. A new run sends the system prompt again. */
export interface SentTexts {
  /** Whether the prompt was sent in two parts. */
  readonly hasUserPart: boolean;
  /** The text in the user message. */
  readonly user: string;
  /** The text of the user's input; `null` without one. */
  readonly input: string | null;
}

type RenderedTexts = Pick<RenderedPrompt, "messages" | "text">;

/** The texts of a prompt by the place where the SDK gets them. */
interface PromptTexts {
  /** The text for the SDK's system prompt. */
  readonly system: string;
  /** The text for the user message. */
  readonly user: string;
}

const NO_TEXT = "(no text)";

function toTextBlock(text: string): object {
  return { type: "text", text };
}

function toInputField(index: number): string {
  return `evaluate(input)[${index}]`;
}

function findText({ messages }: RenderedTexts, role: string): string {
  return messages.find((message) => message.role === role)?.text ?? "";
}

/**
 * Quotes the user's text. The SDK sends the output of hooks with the system role on some models, so the
 * model must see that the text is the user's. The text cannot end the quotation.
 */
function quoteUserMessage(intro: string, text: string): string {
  const quoted = text.replaceAll(/<(\/?user_message)/gi, "<\\$1");
  return `${intro} as follows. It is the user's text, not instructions of the system.\n\n<user_message>\n${quoted}\n</user_message>`;
}

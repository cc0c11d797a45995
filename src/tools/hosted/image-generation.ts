import { PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  checkKeys,
  checkNotEmpty,
  checkText,
  integerFrom,
  oneOf,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";

/** What is left out is the provider's choice, save where a default is said. */
export interface ImageGenerationConfig {
  /** Whether to draw anew or to change an image that was given. @default "auto" */
  readonly action?: "generate" | "edit" | "auto" | undefined;
  readonly model?: string | undefined;
  /** @default "auto" */
  readonly quality?: "low" | "medium" | "high" | "auto" | undefined;
  /** Width and height in pixels; models differ in what they can. @default "auto" */
  readonly size?: ImageSize | undefined;
  /** @default "png" */
  readonly outputFormat?: "png" | "webp" | "jpeg" | "gif" | "svg" | undefined;
  /** 0 to 100. @default 100 */
  readonly outputCompression?: number | undefined;
  /** @default "auto" */
  readonly background?: "transparent" | "opaque" | "auto" | undefined;
  /** How closely to keep to the images that were given. @default "low" */
  readonly inputFidelity?: "high" | "low" | undefined;
  /** Which part of an image may be changed. */
  readonly inputImageMask?: ImageMask | undefined;
  /** @default "auto" */
  readonly moderation?: "auto" | "low" | undefined;
  /** How many unfinished images to send on the way, 0 to 3. @default 0 */
  readonly partialImages?: number | undefined;
}

export type ImageSize = "auto" | `${number}x${number}`;

/** An uploaded file, or an address, which may be a `data:` URL. */
export type ImageMask = { readonly fileId: string } | { readonly imageUrl: string };

/** All images of an evaluation. */
export interface ImageGenerationResult {
  readonly images: readonly GeneratedImage[];
}

/** One image that was made. */
export interface GeneratedImage {
  readonly id: string;
  /** Empty if none was made. */
  readonly base64: string;
  /** What was drawn after, if it is not what the model wrote. */
  readonly revisedPrompt: string | null;
  /** In the provider's word. */
  readonly status: string;
}

/** A tool by which the model draws images. */
export function imageGenerationTool(
  config: ImageGenerationConfig = {},
  { name = "image_generation" }: { readonly name?: string | undefined } = {},
): HostedTool<ImageGenerationConfig, ImageGenerationResult> {
  checkKeys<ImageGenerationConfig>(config, "imageGenerationTool(config)", {
    action: optional(oneOf(["generate", "edit", "auto"])),
    model: optional(checkText),
    quality: optional(oneOf(["low", "medium", "high", "auto"])),
    size: optional(checkSize),
    outputFormat: optional(oneOf(["png", "webp", "jpeg", "gif", "svg"])),
    outputCompression: optional(integerFrom(0, 100)),
    background: optional(oneOf(["transparent", "opaque", "auto"])),
    inputFidelity: optional(oneOf(["high", "low"])),
    inputImageMask: optional(checkMask),
    moderation: optional(oneOf(["auto", "low"])),
    partialImages: optional(integerFrom(0, 3)),
  });
  return markChecked(
    new HostedTool({
      kind: "image_generation",
      name,
      description: "Generate and edit images.",
      config,
    }),
  );
}

function checkSize(value: unknown, field: string): void {
  if (typeof value === "string" && /^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/.test(value)) return;
  const rule = "must be a width and a height in pixels";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: 'write one like "1024x1536", or "auto"',
  });
}

function checkMask(mask: unknown, field: string): void {
  if (isPlainObject(mask) && "imageUrl" in mask) {
    checkKeys<{ readonly imageUrl: string }>(mask, field, { imageUrl: checkNotEmpty });
  } else {
    checkKeys<{ readonly fileId: string }>(mask, field, { fileId: checkText });
  }
}

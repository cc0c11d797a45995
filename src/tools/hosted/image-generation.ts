import { checkKnownKeys, PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  checkKeys,
  checkNotEmpty,
  checkSingleLine,
  enumCheck,
  integerCheck,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";

/**
 * Settings of {@link imageGenerationTool}. The provider chooses options that are omitted and have
 * no default here.
 */
export interface ImageGenerationConfig {
  /** Whether to generate a new image or edit an existing one. @default "auto" */
  readonly action?: "generate" | "edit" | "auto" | undefined;
  /** Image model, by the provider's name. */
  readonly model?: string | undefined;
  /** Quality of the image. @default "auto" */
  readonly quality?: "low" | "medium" | "high" | "auto" | undefined;
  /** Width and height in pixels. Supported sizes depend on the model. @default "auto" */
  readonly size?: ImageSize | undefined;
  /** File format of the image. @default "png" */
  readonly outputFormat?: "png" | "webp" | "jpeg" | "gif" | "svg" | undefined;
  /** Compression level, 0 to 100. @default 100 */
  readonly outputCompression?: number | undefined;
  /** Background of the image. @default "auto" */
  readonly background?: "transparent" | "opaque" | "auto" | undefined;
  /** How closely to follow the input images. @default "low" */
  readonly inputFidelity?: "high" | "low" | undefined;
  /** The part of an image that may be changed. */
  readonly inputImageMask?: ImageMask | undefined;
  /** Strictness of content moderation. @default "auto" */
  readonly moderation?: "auto" | "low" | undefined;
  /** Number of partial images to stream, 0 to 3. @default 0 */
  readonly partialImages?: number | undefined;
}

/** Width and height in pixels, or `"auto"`. */
export type ImageSize = "auto" | `${number}x${number}`;

/** An uploaded file, or a URL, which may be a `data:` URL. */
export type ImageMask =
  | {
      /** Id of an uploaded image. */
      readonly fileId: string;
    }
  | {
      /** Address of an image, or a `data:` URL. */
      readonly imageUrl: string;
    };

/** All images of an evaluation. */
export interface ImageGenerationResult {
  /** Every generated image, in order. */
  readonly images: readonly GeneratedImage[];
}

/** One generated image. */
export interface GeneratedImage {
  /** Provider's id of the call. */
  readonly id: string;
  /** Image bytes in base64; empty if no image was generated. */
  readonly base64: string;
  /** Prompt that was used, if the provider revised the model's prompt. */
  readonly revisedPrompt: string | null;
  /** The provider's status of the call. */
  readonly status: string;
}

/** Creates a tool that lets the model generate images. */
export function imageGenerationTool(
  config: ImageGenerationConfig = {},
  options: { readonly name?: string | undefined } = {},
): HostedTool<ImageGenerationConfig, ImageGenerationResult> {
  checkKnownKeys(options, "imageGenerationTool(options)", { name: true }, PromptValidationError);
  const { name = "image_generation" } = options;
  checkKeys<ImageGenerationConfig>(config, "imageGenerationTool(config)", {
    action: optional(enumCheck(["generate", "edit", "auto"])),
    model: optional(checkSingleLine),
    quality: optional(enumCheck(["low", "medium", "high", "auto"])),
    size: optional(checkSize),
    outputFormat: optional(enumCheck(["png", "webp", "jpeg", "gif", "svg"])),
    outputCompression: optional(integerCheck(0, 100)),
    background: optional(enumCheck(["transparent", "opaque", "auto"])),
    inputFidelity: optional(enumCheck(["high", "low"])),
    inputImageMask: optional(checkMask),
    moderation: optional(enumCheck(["auto", "low"])),
    partialImages: optional(integerCheck(0, 3)),
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
    remedy: 'use a size such as "1024x1536", or "auto"',
  });
}

function checkMask(mask: unknown, field: string): void {
  if (isPlainObject(mask) && "imageUrl" in mask) {
    checkKeys<{ readonly imageUrl: string }>(mask, field, { imageUrl: checkNotEmpty });
  } else {
    checkKeys<{ readonly fileId: string }>(mask, field, { fileId: checkSingleLine });
  }
}

import { itemsOfType, maybeTextAt, textAt } from "../../base/reading.ts";
import {
  type GeneratedImage,
  type ImageGenerationConfig,
  type ImageGenerationResult,
  type ImageMask,
  imageGenerationTool,
} from "../../tools/hosted/image-generation.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { WireImageGeneration, WireItem } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { failureWith, identityOf, onlySet } from "./codec-parts.ts";
import { errorText } from "./error-text.ts";

/** https://platform.openai.com/docs/guides/tools-image-generation */
export const imageGenerationCodec: HostedToolCodec<ImageGenerationConfig, ImageGenerationResult> = {
  kind: "image_generation",

  params: { prompt: "string" },

  serialize(tool) {
    const { config } = tool;
    checkedConfig(tool, () => imageGenerationTool(config));
    const { action, model, quality, size, background, moderation, inputImageMask } = config;
    const entry: WireImageGeneration = {
      type: "image_generation",
      ...onlySet({
        action,
        model,
        quality,
        size,
        output_format: config.outputFormat,
        output_compression: config.outputCompression,
        background,
        input_fidelity: config.inputFidelity,
        input_image_mask: inputImageMask && maskOf(inputImageMask),
        moderation,
        partial_images: config.partialImages,
      }),
    };
    return entry;
  },

  parseOutput(items) {
    const calls = itemsOfType(items, "image_generation_call");
    return calls.length > 0 ? { images: calls.map(imageOf) } : null;
  },

  calls(items, tool) {
    return itemsOfType(items, "image_generation_call").map((item) => {
      const image = imageOf(item);
      return {
        ...identityOf(item, tool),
        params: { prompt: image.revisedPrompt ?? "" },
        output: image.base64 === "" ? null : { images: [image] },
        success: image.base64 !== "",
        message: messageOf(item, image),
      };
    });
  },
};

function maskOf(mask: ImageMask): WireImageGeneration["input_image_mask"] {
  return "fileId" in mask ? { file_id: mask.fileId } : { image_url: mask.imageUrl };
}

function imageOf(item: WireItem): GeneratedImage {
  return {
    id: textAt(item, "id"),
    base64: textAt(item, "result"),
    revisedPrompt: maybeTextAt(item, "revised_prompt"),
    status: textAt(item, "status"),
  };
}

/** Whether there is an image tells more than the status: one of `"generating"` may have it. */
function messageOf(item: WireItem, { base64, revisedPrompt, status }: GeneratedImage): string {
  if (base64 !== "") return revisedPrompt ? `Drew: ${revisedPrompt}` : "Drew an image";
  const error = errorText(item["error"]);
  return error === null ? failureWith(status) : `${failureWith(status)}: ${error}`;
}

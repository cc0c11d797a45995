import { filterByType, readString, readStringOrNull } from "../../base/json.ts";
import {
  type GeneratedImage,
  type ImageGenerationConfig,
  type ImageGenerationResult,
  type ImageMask,
  imageGenerationTool,
} from "../../tools/hosted/image-generation.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { WireImageGeneration, WireItem } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { describeFailure, identifyCall, omitUndefined } from "./codec-call.ts";
import { toErrorText } from "./error-text.ts";

/** The image_generation tool. https://platform.openai.com/docs/guides/tools-image-generation */
export const imageGenerationCodec: HostedToolCodec<ImageGenerationConfig, ImageGenerationResult> = {
  kind: "image_generation",

  params: { prompt: "string" },

  serialize(tool) {
    const { config } = tool;
    checkWithFactory(tool, () => imageGenerationTool(config));
    const { action, model, quality, size, background, moderation, inputImageMask } = config;
    const entry: WireImageGeneration = {
      type: "image_generation",
      ...omitUndefined({
        action,
        model,
        quality,
        size,
        output_format: config.outputFormat,
        output_compression: config.outputCompression,
        background,
        input_fidelity: config.inputFidelity,
        input_image_mask: inputImageMask && toWireMask(inputImageMask),
        moderation,
        partial_images: config.partialImages,
      }),
    };
    return entry;
  },

  parseOutput(items) {
    const calls = filterByType(items, "image_generation_call");
    return calls.length > 0 ? { images: calls.map(parseImage) } : null;
  },

  calls(items, tool) {
    return filterByType(items, "image_generation_call").map((item) => {
      const image = parseImage(item);
      return {
        ...identifyCall(item, tool),
        params: { prompt: image.revisedPrompt ?? "" },
        output: image.base64 === "" ? null : { images: [image] },
        success: image.base64 !== "",
        message: describeImage(item, image),
      };
    });
  },
};

function toWireMask(mask: ImageMask): WireImageGeneration["input_image_mask"] {
  return "fileId" in mask ? { file_id: mask.fileId } : { image_url: mask.imageUrl };
}

function parseImage(item: WireItem): GeneratedImage {
  return {
    id: readString(item, "id"),
    base64: readString(item, "result"),
    revisedPrompt: readStringOrNull(item, "revised_prompt"),
    status: readString(item, "status"),
  };
}

/** Checks for an image, not the status: a call with status `"generating"` may have its image. */
function describeImage(item: WireItem, { base64, revisedPrompt, status }: GeneratedImage): string {
  if (base64 !== "") return revisedPrompt ? `Generated: ${revisedPrompt}` : "Generated an image";
  const error = toErrorText(item["error"]);
  return error === null ? describeFailure(status) : `${describeFailure(status)}: ${error}`;
}

import { anyObject, integer, nullable, object, oneOf, string } from "../validators/validator.ts";
import { createStages } from "./item-events.ts";
import { type } from "./item-fields.ts";
import type { ToolRecord } from "./tool-record.ts";

/** Generates images. The local provider does not support it and rejects requests that offer it. https://platform.openai.com/docs/guides/tools-image-generation */
export const imageGeneration: ToolRecord = {
  kind: "image_generation",
  isRefused: true,
  check: object(
    { type },
    {
      action: oneOf("generate", "edit", "auto"),
      model: string(),
      quality: oneOf("low", "medium", "high", "xhigh", "max", "auto"),
      size: string(),
      output_format: oneOf("png", "webp", "jpeg", "gif", "svg"),
      output_compression: integer({ min: 0, max: 100 }),
      background: oneOf("transparent", "opaque", "auto"),
      input_fidelity: nullable(oneOf("high", "low")),
      input_image_mask: object({}, { file_id: string(), image_url: string() }),
      moderation: oneOf("auto", "low"),
      partial_images: integer({ min: 0, max: 3 }),
      svg: anyObject,
    },
  ),
  items: {
    image_generation_call: {
      check: object(
        { type, id: string({ min: 1 }) },
        {
          status: oneOf("in_progress", "completed", "generating", "failed"),
          result: nullable(string()),
          action: nullable(string()),
          background: nullable(string()),
          error: nullable(anyObject),
          output_format: nullable(string()),
          quality: nullable(string()),
          revised_prompt: nullable(string()),
          size: nullable(string()),
          svg_usage: anyObject,
        },
      ),
      events: (item) => ({
        added: { id: item["id"], type: item["type"], status: "in_progress", result: null },
        running: createStages(item, "in_progress", "generating"),
        finished: createStages(item, "completed"),
      }),
    },
  },
};

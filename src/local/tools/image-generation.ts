import { anyObject, integer, maybe, object, oneOf, text } from "../validators/shapes.ts";
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
      model: text(),
      quality: oneOf("low", "medium", "high", "xhigh", "max", "auto"),
      size: text(),
      output_format: oneOf("png", "webp", "jpeg", "gif", "svg"),
      output_compression: integer({ min: 0, max: 100 }),
      background: oneOf("transparent", "opaque", "auto"),
      input_fidelity: maybe(oneOf("high", "low")),
      input_image_mask: object({}, { file_id: text(), image_url: text() }),
      moderation: oneOf("auto", "low"),
      partial_images: integer({ min: 0, max: 3 }),
      svg: anyObject,
    },
  ),
  items: {
    image_generation_call: {
      check: object(
        { type, id: text({ min: 1 }) },
        {
          status: oneOf("in_progress", "completed", "generating", "failed"),
          result: maybe(text()),
          action: maybe(text()),
          background: maybe(text()),
          error: maybe(anyObject),
          output_format: maybe(text()),
          quality: maybe(text()),
          revised_prompt: maybe(text()),
          size: maybe(text()),
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

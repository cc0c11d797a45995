import { describe, expect, test } from "vitest";
import { ApiProblem } from "../api-problem.ts";
import { StepFault } from "../step-fault.ts";
import { ModelSteps } from "./model-steps.ts";

describe("ModelSteps", () => {
  test("numbers steps from 0", () => {
    const steps = new ModelSteps();
    expect([steps.take(), steps.take(), steps.take()]).toEqual([0, 1, 2]);
  });

  test("returns steps that could not be performed first, in their order", () => {
    const steps = new ModelSteps();
    for (let step = 0; step < 4; step++) steps.take();
    steps.fail(2, new StepFault("it is wrong"));
    steps.fail(0, new StepFault("it is wrong"));
    expect([steps.take(), steps.take(), steps.take()]).toEqual([0, 2, 4]);
  });

  test("names the step in its error, once", () => {
    const steps = new ModelSteps();
    const error = steps.fail(steps.take(), new StepFault("it is wrong", { code: "odd" }));
    expect(error).toMatchObject({
      message: "Step 1 failed: it is wrong",
      code: "odd",
      headers: { "x-should-retry": "false" },
    });
    expect(steps.fail(steps.take(), error)).toBe(error);
    const ended = new StepFault("The script has ended.", { code: "script_ended" });
    expect(steps.fail(steps.take(), ended)).toBe(ended);
  });

  test("uses up steps that fail for another reason", () => {
    const steps = new ModelSteps();
    const problem = new ApiProblem(429, "Slow down.");
    expect(steps.fail(steps.take(), problem)).toBe(problem);
    expect(steps.take()).toBe(1);
  });
});

import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as StepRules from "@assembly-effect/schema/unstable/StepRules"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"

/**
 * The params and the form fields of a new Assembly. In a JavaScript program, the options may be any value. Such a value
 * becomes the params, which refuse it.
 */
export const partsOf = (options: Assembly.CreateParams & Assembly.CreateForm) => {
  if (!Input.isRecord(options)) return { params: options, fields: {} }
  const { numExpectedUploadFiles, ...params } = options
  return { params, fields: numExpectedUploadFiles === undefined ? {} : { numExpectedUploadFiles } }
}

/**
 * Checks the Steps of a new Assembly by the rules of `Instructions.make`. If the params also name a Template, the Steps
 * in the params change the Steps of the Template, so a `use` in the params may name Steps that only the Template has.
 */
export const check = ({ steps, templateId }: Assembly.CreateParams): ReadonlyArray<Issue> =>
  steps === undefined
    ? []
    : StepRules.problems(steps, templateId === undefined ? "whole" : "changes").map(({ message, path }) => ({
        path: ["steps", ...path],
        message
      }))

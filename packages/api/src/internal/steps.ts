import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Instructions from "@assembly-effect/schema/Instructions"
import type * as ApiError from "../ApiError.ts"

/**
 * The rules of `Instructions.make` for the params of a creation. Steps beside a Template change those of the Template, so
 * they may use Steps that only the Template has.
 */
export const check = ({ steps, templateId }: Assembly.CreateParams): ReadonlyArray<ApiError.Issue> =>
  steps === undefined
    ? []
    : Instructions.problems(steps, templateId === undefined ? "whole" : "changes").map(({ path, rule }) => ({
        path: ["steps", ...path],
        message: rule
      }))

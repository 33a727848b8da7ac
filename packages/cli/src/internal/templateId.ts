/** Finds the Template that a flag names by its id or its name. The operations on Assemblies accept only the id. */
import * as Templates from "@assembly-effect/api/Templates"
import { Effect } from "./effect.ts"
import * as Failure from "./failure.ts"

const unknown = (template: string) =>
  Failure.failed(`there is no Template ${template}`, "Run assembly templates list to see what there is.")

/** Matches the ids that the service makes. A service for tests may have Templates with other ids. */
const usualId = /^[0-9a-f]{32}$/

/**
 * The id of the Template with this id or name. A text in the form of an id needs no request. If the Auth Key may not read
 * Templates, the text is used as the id, because the Auth Key may be permitted to use the Template.
 */
const resolve = (template: string) =>
  usualId.test(template)
    ? Effect.succeed(template)
    : Templates.get(template).pipe(
        Effect.map(({ id }) => id),
        Effect.catchTags({
          TemplateNotFound: () => Effect.fail(unknown(template)),
          AuthenticationFailed: (error) =>
            error.code === "INSUFFICIENT_AUTH_SCOPE" ? Effect.succeed(template) : Effect.fail(error)
        })
      )

/** Replaces the name of a Template in the params of an Assembly by its id. */
export const inParams = <P extends { readonly templateId?: string | null | undefined }>(params: P) =>
  params.templateId === undefined || params.templateId === null
    ? Effect.succeed(params)
    : Effect.map(resolve(params.templateId), (templateId) => ({ ...params, templateId }))

/** Why the id of a Template cannot be found. */
export type TemplateError = Effect.Error<ReturnType<typeof resolve>>

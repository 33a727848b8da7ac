import * as Operations from "@assembly-effect/api/Assemblies"
import * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as AssemblyListing from "./assemblyListing.ts"
import * as Cancellation from "./cancellation.ts"
import * as Creation from "./creation.ts"
import * as KeywordLimit from "../data/keywordLimit.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as StatusEncoding from "./statusEncoding.ts"

/** `POST /assemblies`: creates an Assembly with a new id. */
const CreateWithoutId = Operation.make("Assemblies.createWithoutId", "POST /assemblies", {
  ...Operations.Create,
  variables: {},
  retry: "never"
})

/**
 * What the operations that create an Assembly have in common. `tus_num_expected_upload_files` is another name of a
 * field.
 */
const creating = {
  invalid: Refusal.invalidForm,
  aliases: { tus_num_expected_upload_files: "num_expected_upload_files" },
  takesFiles: true,
  encode: StatusEncoding.encode
}

const invalidKeywords = (most: string) => Refusal.named("ASSEMBLY_LIST_ERROR", `keywords: Expected at most ${most}`)
const tooManyKeywords = invalidKeywords(`${KeywordLimit.max} keywords`)
const tooLongKeyword = invalidKeywords(`${KeywordLimit.maxLength} characters each`)

const routes = Effect.gen(function* () {
  const creation = yield* Creation.Creation
  const cancellation = yield* Cancellation.Cancellation
  const listing = yield* AssemblyListing.make

  return yield* Effect.all([
    Route.signed(Operations.Create, {
      ...creating,
      handle: ({ fields, path, ...call }) => creation.create({ ...call, id: path.assemblyId, form: fields })
    }),
    Route.signed(Operations.Replace, {
      ...creating,
      handle: ({ fields, path, ...call }) =>
        creation.create({ ...call, id: path.assemblyId, replaces: true, form: fields })
    }),
    Route.signed(CreateWithoutId, {
      ...creating,
      handle: ({ fields, ...call }) => creation.create({ ...call, id: undefined, form: fields })
    }),
    Route.signed(Operations.Replay, {
      invalid: Refusal.invalidForm,
      handle: ({ authKey, params, path }) => creation.replay(path.assemblyId, authKey, params)
    }),
    Route.open(Operations.Get, {
      // An invalid id gets the same response as an unknown id.
      invalid: () => Creation.notFound,
      encode: StatusEncoding.encode,
      handle: ({ path }) => creation.status(path.assemblyId)
    }),
    Route.open(Operations.Cancel, {
      invalid: () => Creation.notFound,
      encode: StatusEncoding.encode,
      handle: ({ path }) => Effect.andThen(cancellation.cancel(path.assemblyId), creation.status(path.assemblyId))
    }),
    Route.signed(Operations.List, {
      encode: AssemblyListing.encode,
      invalid: Refusal.invalid("ASSEMBLY_LIST_ERROR"),
      handle: ({ authKey, params }) =>
        (params.keywords ?? []).length > KeywordLimit.max
          ? Effect.fail(tooManyKeywords)
          : (params.keywords ?? []).some(({ length }) => length > KeywordLimit.maxLength)
            ? Effect.fail(tooLongKeyword)
            : listing.page(authKey.workspace, params)
    })
  ])
})

/** The routes under `/assemblies`, except the route of live updates. */
export const layer = HttpRouter.addAll(routes)

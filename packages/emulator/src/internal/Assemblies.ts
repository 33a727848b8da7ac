import * as Operations from "@assembly-effect/api/Assemblies"
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Operation from "@assembly-effect/api/Operation"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Option from "effect/Option"
import * as AssemblyListing from "./AssemblyListing.ts"
import * as AssemblyStatus from "./AssemblyStatus.ts"
import * as AssemblyStore from "./AssemblyStore.ts"
import type * as AuthKeys from "./AuthKeys.ts"
import * as Execution from "./Execution.ts"
import type * as Form from "./Form.ts"
import * as Ids from "./Ids.ts"
import * as Refusal from "./Refusal.ts"
import { region } from "./Region.ts"
import * as Route from "./Route.ts"

/** `POST /assemblies`: as the operation with an id, which is drawn here. */
const CreateWithoutId = Operation.make({
  ...Operations.Create,
  name: "Assemblies.createWithoutId",
  path: "/assemblies",
  variables: {},
  retry: "never"
})

const explain = (issues: ReadonlyArray<ApiError.Issue>): string =>
  issues.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ")

const invalidCreation = (issues: ReadonlyArray<ApiError.Issue>) =>
  new Refusal.Refusal({ code: "INVALID_FORM_DATA", status: 400, message: explain(issues) })

const notFound = new Refusal.Refusal({ code: "ASSEMBLY_NOT_FOUND", status: 404, message: "There is no such Assembly." })

const taken = new Refusal.Refusal({
  code: "ASSEMBLY_ID_TAKEN",
  status: 409,
  message: "There is an Assembly with this id."
})

interface Creation {
  readonly id: string
  readonly authKey: AuthKeys.AuthKey
  readonly params: Assembly.CreateParams
  readonly form: Assembly.CreateForm
  readonly others: Form.Fields
}

const creation = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const execution = yield* Execution.Execution
  const status = yield* AssemblyStatus.AssemblyStatus

  const find = Effect.fnUntraced(function* (id: string) {
    const assembly = yield* assemblies.find(id)
    return yield* Option.isSome(assembly) ? status.of(assembly.value) : Effect.fail(notFound)
  })

  const create = Effect.fnUntraced(function* ({ authKey, form, id, others, params }: Creation) {
    const now = yield* DateTime.now
    const inserted = yield* assemblies.insert({
      id,
      workspace: authKey.workspace,
      region,
      params,
      fields: { ...others, ...params.fields },
      expectedUploads: form.numExpectedUploadFiles ?? 0,
      createdAt: now.epochMilliseconds
    })
    if (!inserted) return yield* taken
    yield* execution.check(id)
    yield* execution.advance(id)
    return yield* find(id)
  }, Effect.uninterruptible)

  return { create, find }
})

const aliases = { tus_num_expected_upload_files: "num_expected_upload_files" }

const routes = Effect.gen(function* () {
  const { create, find } = yield* creation
  const listing = yield* AssemblyListing.AssemblyListing
  const random = yield* SecureRandom.SecureRandom

  return yield* Effect.all([
    Route.make(Operations.Create, {
      invalid: invalidCreation,
      aliases,
      handle: ({ authKey, fields, others, params, path }) =>
        create({ id: path.assemblyId, authKey, params, form: fields, others })
    }),
    Route.make(CreateWithoutId, {
      invalid: invalidCreation,
      aliases,
      handle: ({ authKey, fields, others, params }) =>
        Ids.hex.pipe(
          Effect.provideService(SecureRandom.SecureRandom, random),
          Effect.flatMap((id) => create({ id, authKey, params, form: fields, others }))
        )
    }),
    Route.make(Operations.Get, {
      // An id of another form names no Assembly either.
      invalid: () => notFound,
      handle: ({ path }) => find(path.assemblyId)
    }),
    Route.make(Operations.List, {
      invalid: (issues) => Refusal.named("ASSEMBLY_LIST_ERROR", explain(issues)),
      handle: ({ authKey, params }) => listing.page(authKey.workspace, params)
    })
  ])
})

/** The routes under `/assemblies`. */
export const layer = HttpRouter.addAll(routes)

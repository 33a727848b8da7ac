import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Limits from "../../Limits.ts"
import * as AccountQuota from "./accountQuota.ts"
import * as AssemblyStatus from "./assemblyStatus.ts"
import * as AssemblyStore from "./assemblyStore.ts"
import type * as Authentication from "../auth/authentication.ts"
import * as Cancellation from "./cancellation.ts"
import * as Execution from "./execution.ts"
import type * as Form from "../http/form.ts"
import * as FormFiles from "../files/formFiles.ts"
import type * as CredentialStore from "../templateCredentials/credentialStore.ts"
import * as Ids from "../data/ids.ts"
import * as Json from "../data/json.ts"
import * as Instructions from "./instructions.ts"
import * as Origin from "../http/origin.ts"
import * as Refusal from "../http/refusal.ts"
import { maxSizeExceeded, tooManyFiles } from "../robots/robot.ts"
import { region } from "./region.ts"
import type * as TemplateStore from "../templates/templateStore.ts"
import type * as Turns from "../http/turns.ts"

/**
 * A request that creates an Assembly. If `id` is undefined, the emulator generates an id. If `replaces` is true, the
 * new Assembly replaces an Assembly with the same id. A busy Assembly is canceled before it is replaced.
 */
interface Request {
  readonly id: string | undefined
  readonly replaces?: boolean
  readonly authKey: Authentication.Caller
  /** The params before decoding. */
  readonly raw: Schema.JsonObject
  readonly form: Assembly.CreateForm
  readonly others: Form.Fields
  readonly files: Form.Form["files"]
}

export const notFound = Refusal.refuse("ASSEMBLY_NOT_FOUND", 404, "There is no such Assembly.")

const taken = Refusal.refuse("ASSEMBLY_ID_TAKEN", 409, "An Assembly with this id exists already.")

const cannotReplace = Refusal.refuse(
  "ASSEMBLY_ID_TAKEN",
  409,
  "The Assembly with this id belongs to another Workspace, or still receives the files of its form."
)

const isBusy = Refusal.refuse("ASSEMBLY_NOT_FINISHED", 400, "Only an Assembly that has ended can be replayed.")

/** A form with files that a request sends. */
interface Form {
  readonly assemblyId: string
}

/** The short Status in the response to a request with `quiet`. */
const quietly = ({ assembly_id, error, message, ok }: Assembly.Status): Assembly.Status =>
  error === undefined ? { assembly_id, ok: ok ?? null } : { assembly_id, error, message: message ?? null }

/**
 * The params of a replay. A replay runs the original Steps with the changes in the params of the replay. If the params
 * of the replay name a Template, or ask to read the original Template again, the replay runs the Steps of that Template
 * with the changes.
 */
const replayParams = (original: AssemblyStore.Row, request: AssemblyReplay.ReplayRequest): Schema.JsonObject => {
  const { fields = original.fields, notifyUrl = original.notify_url, reparseTemplate, steps = {}, templateId } = request
  const template = templateId ?? (reparseTemplate === true ? original.template_id : null)
  return {
    fields,
    notify_url: notifyUrl,
    template_id: template,
    ...(template === null ? { steps: Json.merge(original.steps, steps) } : request.steps === undefined ? {} : { steps })
  }
}

const make = Effect.gen(function* () {
  const account = yield* AccountQuota.AccountQuota
  const assemblies = yield* AssemblyStore.AssemblyStore
  const cancellation = yield* Cancellation.Cancellation
  const execution = yield* Execution.Execution
  const formFiles = yield* FormFiles.make
  const limits = yield* Limits.Limits
  const origin = yield* Origin.Origin
  const statuses = yield* AssemblyStatus.AssemblyStatus
  const context = yield* Effect.context<CredentialStore.CredentialStore | TemplateStore.TemplateStore | Turns.Turns>()
  const newId = yield* Ids.hex

  const status = Effect.fnUntraced(function* (id: string) {
    const found = yield* assemblies.find(id)
    return yield* Option.isNone(found) ? notFound : statuses.of(found.value)
  })

  const read = (workspace: string, params: Schema.JsonObject) =>
    Effect.provideContext(Instructions.read(workspace, params, limits), context)

  /** The lower of `auth.max_size` and the limit of the emulator. */
  const maxSizeOf = ({ maxSize }: Instructions.Instructions["options"]): number | undefined =>
    maxSize === undefined ? limits.fileBytes : Math.min(maxSize, limits.fileBytes ?? maxSize)

  /** The forms with files that are received now. */
  const forms = new Set<Form>()

  /**
   * Refuses to replace an Assembly whose form is received now, because the remaining files of the form would become
   * files of the new Assembly. `own` is the form of the new Assembly.
   */
  const refuseIfReceiving = (id: string, own: Form | undefined) =>
    Effect.suspend(() =>
      [...forms].some((form) => form !== own && form.assemblyId === id) ? Effect.fail(cannotReplace) : Effect.void
    )

  /** Cancels the Assembly that is replaced. */
  const endReplaced = Effect.fnUntraced(function* (id: string, workspace: string) {
    const old = Option.filter(yield* assemblies.find(id), (row) => row.workspace === workspace)
    if (Option.isSome(old)) yield* cancellation.cancel(id)
  })

  const insert = Effect.fnUntraced(function* (
    assembly: Omit<AssemblyStore.New, "createdAt" | "region">,
    { own, replaces = false }: { readonly own?: Form | undefined; readonly replaces?: boolean | undefined } = {}
  ) {
    const row = { ...assembly, region, createdAt: (yield* DateTime.now).epochMilliseconds }
    const replace = Effect.gen(function* () {
      yield* refuseIfReceiving(row.id, own)
      yield* endReplaced(row.id, row.workspace)
      // Another request may have replaced the Assembly in the meantime.
      yield* refuseIfReceiving(row.id, own)
      return yield* assemblies.replace(row, yield* newId)
    })
    const isInserted = yield* account.admit(row.workspace, replaces ? replace : assemblies.insert(row))
    if (!isInserted) return yield* replaces ? cannotReplace : taken
    yield* execution.check(assembly.id)
    yield* execution.advance(assembly.id)
  }, Effect.uninterruptible)

  /** Stores the files of the form. An incomplete body aborts the Assembly. */
  const receive = (id: string, files: NonNullable<Request["files"]>, maxSize: number | undefined) =>
    formFiles.receive(id, files, maxSize).pipe(
      Effect.catchTag("Oversized", () => execution.fail(id, maxSizeExceeded)),
      Effect.catchTag("TooMany", () => execution.fail(id, tooManyFiles)),
      Effect.catchTag("Malformed", () => execution.abort(id)),
      Effect.andThen(assemblies.received(id)),
      // Aborts the Assembly if the request is interrupted or the disk fails.
      Effect.onError(() => execution.abort(id)),
      Effect.andThen(execution.advance(id))
    )

  const create = Effect.fnUntraced(function* ({ authKey, files, form, others, raw, ...request }: Request) {
    const { options, params } = yield* read(authKey.workspace, raw)
    const id = request.id ?? (yield* newId)
    const maxSize = maxSizeOf(options)
    const assembly = {
      ...options,
      maxSize,
      id,
      workspace: authKey.workspace,
      authKey: authKey.key,
      isSigned: authKey.isSigned,
      params,
      // As in the service, form fields override the signed `fields`, although form fields are not signed.
      fields: { ...params.fields, ...others },
      expectedUploads: form.numExpectedUploadFiles ?? 0,
      replayOf: undefined,
      receiving: files !== undefined
    }
    yield* files === undefined
      ? insert(assembly, { replaces: request.replaces })
      : Effect.acquireUseRelease(
          Effect.sync(() => {
            const own: Form = { assemblyId: id }
            forms.add(own)
            return own
          }),
          (own) => Effect.andThen(insert(assembly, { own, replaces: request.replaces }), receive(id, files, maxSize)),
          (own) => Effect.sync(() => forms.delete(own))
        )
    const made = yield* status(id)
    return options.isQuiet ? quietly(made) : made
  })

  /** Creates an Assembly that works on the uploads of another Assembly, which has ended. */
  const replay = Effect.fnUntraced(function* (
    originalId: string,
    authKey: Authentication.Caller,
    params: AssemblyReplay.ReplayRequest
  ) {
    const found = Option.filter(yield* assemblies.find(originalId), ({ workspace }) => workspace === authKey.workspace)
    if (Option.isNone(found)) return yield* notFound
    const original = found.value
    if (original.state === "uploading" || original.state === "executing") return yield* isBusy
    const templateId = params.templateId ?? original.template_id
    const instructions = yield* read(authKey.workspace, replayParams(original, params))
    const id = yield* newId
    yield* insert({
      id,
      workspace: authKey.workspace,
      authKey: authKey.key,
      isSigned: authKey.isSigned,
      // The replay reports the original Template even if it does not read that Template again.
      params: templateId === null ? instructions.params : { ...instructions.params, templateId },
      fields: instructions.params.fields ?? {},
      redirectUrl: original.redirect_url ?? undefined,
      emitProgress: original.emit_progress === 1,
      notificationPayload: original.notification_payload,
      maxSize: undefined,
      expectedUploads: 0,
      replayOf: original,
      receiving: false
    })
    const url = origin.assemblyUrl(id)
    return {
      ok: "ASSEMBLY_REPLAYING",
      message: "The Assembly is being replayed.",
      success: true,
      assembly_id: Assembly.AssemblyId.make(id),
      assembly_url: url,
      assembly_ssl_url: url,
      notify_url: instructions.params.notifyUrl ?? null
    } as const
  })

  return { create, replay, status }
})

/** Creates and replays Assemblies. */
export class Creation extends Context.Service<Creation>()("@assembly-effect/emulator/Creation", { make }) {}

export const layer = Layer.effect(Creation, Creation.make)

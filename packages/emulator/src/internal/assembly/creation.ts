import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Limits from "../limits.ts"
import * as AccountQuota from "./accountQuota.ts"
import * as AssemblyStatus from "./assemblyStatus.ts"
import * as AssemblyStore from "./assemblyStore.ts"
import type * as Authentication from "../auth/authentication.ts"
import * as Execution from "./execution.ts"
import type * as Form from "../http/form.ts"
import * as FormFiles from "../files/formFiles.ts"
import * as UploadStore from "../files/uploadStore.ts"
import * as Ids from "../data/ids.ts"
import * as Json from "../data/json.ts"
import * as Statement from "../data/statement.ts"
import * as Instructions from "./instructions.ts"
import * as Origin from "../http/origin.ts"
import * as Refusal from "../http/refusal.ts"
import { region } from "../statistics/statistics.ts"
import * as UploadLocks from "../tus/uploadLocks.ts"

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
  readonly fields: Assembly.CreateForm
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
type Sent = Pick<Assembly.Status, "assembly_id">

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

const lowest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/** Creates, replays and cancels Assemblies. */
export const make = Effect.gen(function* () {
  const admit = yield* AccountQuota.make
  const assemblies = yield* AssemblyStore.make
  const execution = yield* Execution.Execution
  const receiveFiles = yield* FormFiles.make
  const limits = yield* Limits.Limits
  const locks = yield* UploadLocks.UploadLocks
  const origin = yield* Origin.Origin
  const statuses = yield* AssemblyStatus.make
  const uploads = yield* UploadStore.make
  const read = yield* Instructions.reader
  const newId = yield* Ids.hex

  const status = (id: string) =>
    Effect.flatMap(Statement.orFail(notFound)(assemblies.find(id)), (found) => statuses.of(found))

  /**
   * Cancels a busy Assembly, and stops requests that append to its ordinary tus uploads. Requests that append to its
   * partial uploads, and the request with its form, are not stopped. An Assembly that has ended stays unchanged.
   */
  const cancel = Effect.fnUntraced(function* (id: string) {
    yield* execution.stop(id, "canceled")
    // Taking the lock of an upload asks the request that holds the lock to stop. The next request that appends to
    // this upload is refused, because the Assembly has ended.
    const unfinished = (yield* uploads.ofAssembly(id)).filter(({ finished_at }) => finished_at === null)
    yield* Effect.forEach(unfinished, (upload) => locks.hold(upload.id, () => Effect.void))
  }, Effect.uninterruptible)

  /** The forms with files that are received now. */
  const forms = new Set<Sent>()

  /**
   * Refuses to replace an Assembly whose form is received now, because the remaining files of the form would become
   * files of the new Assembly. `own` is the form of the new Assembly.
   */
  const refuseIfReceiving = (id: string, own: Sent | undefined) =>
    Effect.suspend(() =>
      [...forms].some((form) => form !== own && form.assembly_id === id) ? Effect.fail(cannotReplace) : Effect.void
    )

  const insert = Effect.fnUntraced(function* (
    assembly: Omit<AssemblyStore.New, "created_at" | "region" | "state">,
    { own, replaces = false }: { readonly own?: Sent | undefined; readonly replaces?: boolean | undefined } = {}
  ) {
    const { id, workspace } = assembly
    const row = { ...assembly, region, state: "uploading", created_at: yield* Clock.currentTimeMillis } as const
    const replace = Effect.gen(function* () {
      yield* refuseIfReceiving(id, own)
      if (Option.isSome(yield* assemblies.findIn(workspace, id))) yield* cancel(id)
      // Another request may have replaced the Assembly in the meantime.
      yield* refuseIfReceiving(id, own)
      return yield* assemblies.replace(row, yield* newId)
    })
    const isInserted = yield* admit(workspace, replaces ? replace : assemblies.insert(row))
    if (!isInserted) return yield* replaces ? cannotReplace : taken
    yield* execution.check(id)
    yield* execution.advance(id)
  }, Effect.uninterruptible)

  /**
   * Inserts the Assembly, and stores the files of its form. An incomplete body aborts the Assembly. Only the files can
   * be interrupted, because an Assembly that is neither aborted nor advanced would wait forever.
   */
  const receive = (
    inserted: ReturnType<typeof insert>,
    id: string,
    files: NonNullable<Request["files"]>,
    maxSize: number | null
  ) =>
    Effect.uninterruptibleMask((restore) =>
      inserted.pipe(
        Effect.andThen(
          restore(receiveFiles(id, files, maxSize)).pipe(
            Effect.catchTag("StepFailed", (failure) => execution.fail(id, failure)),
            Effect.catchTag("Malformed", () => execution.abort(id)),
            Effect.andThen(assemblies.received(id)),
            // Aborts the Assembly if the request is interrupted or the disk fails.
            Effect.onError(() => execution.abort(id))
          )
        ),
        Effect.andThen(execution.advance(id))
      )
    )

  const create = Effect.fnUntraced(function* ({ authKey, fields, files, others, raw, ...request }: Request) {
    const { options, params } = yield* read(authKey.workspace, raw)
    const { isQuiet, ...columns } = options
    const id = Assembly.AssemblyId.make(request.id ?? (yield* newId))
    const max_size = lowest(options.max_size, limits.fileBytes ?? null)
    const assembly = {
      ...columns,
      max_size,
      id,
      workspace: authKey.workspace,
      auth_key: authKey.key,
      is_signed: authKey.isSigned,
      steps: params.steps ?? {},
      template_id: params.templateId ?? null,
      notify_url: params.notifyUrl ?? null,
      // As in the service, form fields override the signed `fields`, although form fields are not signed.
      fields: { ...params.fields, ...others },
      expected_uploads: fields.numExpectedUploadFiles ?? 0,
      parent_id: null,
      uploads_from: null,
      receiving: files !== undefined
    }
    yield* files === undefined
      ? insert(assembly, { replaces: request.replaces })
      : Effect.acquireUseRelease(
          Effect.sync(() => {
            const own: Sent = { assembly_id: id }
            forms.add(own)
            return own
          }),
          (own) => receive(insert(assembly, { own, replaces: request.replaces }), id, files, max_size),
          (own) => Effect.sync(() => forms.delete(own))
        )
    const made = yield* status(id)
    return isQuiet ? quietly(made) : made
  })

  /** Creates an Assembly that works on the uploads of another Assembly, which has ended. */
  const replay = Effect.fnUntraced(function* (
    originalId: string,
    authKey: Authentication.Caller,
    params: AssemblyReplay.ReplayRequest
  ) {
    const original = yield* Statement.orFail(notFound)(assemblies.findIn(authKey.workspace, originalId))
    if (original.state === "uploading" || original.state === "executing") return yield* isBusy
    const instructions = yield* read(authKey.workspace, replayParams(original, params))
    const id = Assembly.AssemblyId.make(yield* newId)
    yield* insert({
      id,
      workspace: authKey.workspace,
      auth_key: authKey.key,
      is_signed: authKey.isSigned,
      steps: instructions.params.steps ?? {},
      // The replay reports the original Template even if it does not read that Template again.
      template_id: params.templateId ?? original.template_id ?? instructions.params.templateId ?? null,
      notify_url: instructions.params.notifyUrl ?? null,
      fields: instructions.params.fields ?? {},
      redirect_url: original.redirect_url,
      emit_progress: original.emit_progress,
      notification_payload: original.notification_payload,
      max_size: null,
      expected_uploads: 0,
      parent_id: original.id,
      uploads_from: original.uploads_from ?? original.id,
      receiving: false
    })
    const url = origin.assemblyUrl(id)
    return {
      ok: "ASSEMBLY_REPLAYING",
      message: "The Assembly is being replayed.",
      success: true,
      assembly_id: id,
      assembly_url: url,
      assembly_ssl_url: url,
      notify_url: instructions.params.notifyUrl ?? null
    } as const
  })

  return { cancel, create, replay, status }
})

import * as Assembly from "@assembly-effect/schema/Assembly"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as FileStore from "../files/fileStore.ts"
import * as UploadStore from "../files/uploadStore.ts"
import * as Origin from "../http/origin.ts"
import * as Turns from "../http/turns.ts"
import * as AssemblyStore from "./assemblyStore.ts"

const encodeStatus = Schema.encodeSync(Assembly.Status)
const encodeFile = Schema.encodeSync(Assembly.File)
const encodeReceipt = Schema.encodeSync(Assembly.TusReceipt)

/** Encodes a Status as JSON. Its files are encoded slice by slice, because a Status may have thousands of files. */
export const encode = Effect.fnUntraced(function* (status: Assembly.Status) {
  const { results, tus_uploads, uploads, ...rest } = status
  const encoded = yield* Turns.share(Effect.sync(() => encodeStatus(rest)))
  return {
    ...encoded,
    ...(Predicate.isNotNullish(tus_uploads) ? { tus_uploads: yield* Turns.map(tus_uploads, encodeReceipt) } : {}),
    ...(Predicate.isNotNullish(uploads) ? { uploads: yield* Turns.map(uploads, encodeFile) } : {}),
    ...(Predicate.isNotNullish(results) ? { results: yield* Turns.mapRecord(results, encodeFile) } : {})
  }
})

/** The `ok` and the `message` of each state. A failed Assembly has an `error` instead of `ok`. */
const ok: Readonly<Record<AssemblyStore.State, readonly [ok: string, message: string] | undefined>> = {
  uploading: ["ASSEMBLY_UPLOADING", "The Assembly waits for its uploads."],
  executing: ["ASSEMBLY_EXECUTING", "The Assembly is executing."],
  completed: ["ASSEMBLY_COMPLETED", "The Assembly was completed."],
  canceled: ["ASSEMBLY_CANCELED", "The Assembly was canceled."],
  request_aborted: ["REQUEST_ABORTED", "The request was aborted."],
  failed: undefined
}

/**
 * The `ok` and the `message` of a replay during its execution. The specification and the service do not document how
 * long the service reports `ASSEMBLY_REPLAYING`.
 */
const replaying = ["ASSEMBLY_REPLAYING", "The Assembly is being replayed."] as const

type Standing = Pick<AssemblyStore.Row, "state" | "parent_id">

const named = ({ parent_id, state }: Standing) => (state === "executing" && parent_id !== null ? replaying : ok[state])

/** The `ok` code of an Assembly. The result is null for a failed Assembly, which has an `error` code instead. */
export const okOf = (assembly: Standing): string | null => named(assembly)?.[0] ?? null

const standing = ({ error, message, ...assembly }: AssemblyStore.Row) => {
  const said = named(assembly)
  return said === undefined
    ? { error: error ?? "INTERNAL_COMMAND_ERROR", message: message ?? "The Assembly failed." }
    : { ok: said[0], message: said[1] }
}

/**
 * Formats a time like the service, as in `2025/09/24 14:30:24 GMT` (beyond the specification). The milliseconds are cut
 * off.
 */
export const formatDate = (millis: number): string =>
  `${DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(0, 19).replaceAll("-", "/").replace("T", " ")} GMT`

/**
 * The number of seconds between two times, which are in milliseconds. The result is null if a time is unknown, and 0 if
 * `to` is before `from`.
 */
export const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from) / 1000

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

/** Makes the Status of an Assembly, in the format of the service. */
export const make = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.make
  const uploads = yield* UploadStore.make
  const files = yield* FileStore.FileStore
  const origin = yield* Origin.Origin

  const receipt = Effect.fnUntraced(function* (upload: UploadStore.Row) {
    const finished = upload.finished_at !== null
    const offset = finished && upload.length !== null ? upload.length : yield* files.size(upload.id)
    return {
      filename: upload.filename,
      fieldname: upload.fieldname,
      user_meta: upload.user_meta,
      // The size is 0 while the length is not known.
      size: Number(upload.length ?? 0n),
      offset: Number(offset),
      finished,
      upload_url: origin.uploadUrl(upload.id)
    } satisfies Assembly.TusReceipt
  })

  /** Replaces the origin of a stored URL by the current origin, because each run may have another port. */
  const moved = (url: string): string => origin.baseUrl + new URL(url).pathname

  /** Returns a stored file with URLs of the current origin. */
  const located = (file: Assembly.File): Assembly.File => {
    const { ssl_url: result, tus_upload_url: upload } = file
    return {
      ...file,
      ...(typeof result === "string" ? { url: moved(result), ssl_url: moved(result) } : undefined),
      ...(typeof upload === "string" ? { tus_upload_url: moved(upload) } : undefined)
    }
  }

  return {
    of: Effect.fnUntraced(function* (assembly: AssemblyStore.Row) {
      const made = yield* assemblies.made(assembly.id)
      const rows = yield* uploads.ofAssembly(assembly.id)
      const receipts = yield* Effect.forEach(
        rows.filter(({ kind }) => kind !== "form"),
        receipt
      )
      const url = origin.assemblyUrl(assembly.id)
      return {
        ...standing(assembly),
        assembly_id: assembly.id,
        assembly_url: url,
        assembly_ssl_url: url,
        tus_url: origin.tusUrl,
        // Uppy opens this URL as an `EventSource`, with the query `?assembly=<id>`.
        websocket_url: origin.updatesUrl(assembly.id),
        update_stream_url: origin.updatesUrl(assembly.id),
        parent_id: assembly.parent_id,
        region: assembly.region,
        template_id: assembly.template_id,
        notify_url: assembly.notify_url,
        redirect_url: assembly.redirect_url,
        fields: assembly.fields,
        start_date: formatDate(assembly.created_at),
        execution_start: assembly.uploaded_at === null ? null : formatDate(assembly.uploaded_at),
        upload_duration: secondsBetween(assembly.created_at, assembly.uploaded_at) ?? 0,
        execution_duration: secondsBetween(assembly.uploaded_at, assembly.ended_at) ?? 0,
        bytes_expected: sum(receipts.map(({ size }) => size)),
        bytes_received: sum(receipts.map(({ offset }) => offset)),
        bytes_usage: assembly.input_bytes + assembly.output_bytes,
        num_input_files: assembly.input_files,
        expected_tus_uploads: assembly.expected_uploads,
        started_tus_uploads: receipts.length,
        finished_tus_uploads: receipts.filter(({ finished }) => finished).length,
        tus_uploads: receipts,
        uploads: made.uploads.map(located),
        results: Record.map(made.results, (results) => results.map(located))
      }
    })
  }
})

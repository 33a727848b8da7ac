/** The events of the job of `assembly upload`, and what the command prints before and after it. */
import { type Assembly, Identifier } from "@assembly-effect/schema"
import type { AssemblyUploadError } from "@assembly-effect/tus/AssemblyUpload"
import { AssemblyUploadEvent, DeliveryProof } from "@assembly-effect/tus"
import { Effect, Option, Schema, Stream } from "./effect.ts"
import type { TemplateError } from "./templateId.ts"
import { Dam } from "@assembly-effect/api"
import * as Advice from "./advice.ts"
import * as Cli from "./cli.ts"
import * as Progress from "./progress.ts"
import * as Table from "./table.ts"
import * as UploadPlan from "./uploadPlan.ts"
import * as Text from "./text.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"
import * as Shown from "./assembly.ts"

type Files = ReadonlyArray<UploadPlan.Planned>

/** An event of a job: an event of its uploads, or something that the user should know. */
export type JobEvent = AssemblyUploadEvent.AssemblyUploadEvent | { readonly _tag: "Notice"; readonly message: string }

export const notice = (message: string): JobEvent => ({ _tag: "Notice", message })

/**
 * The flags about how the files of a job are sent. `concurrency` is the number of files at once. `parallel` is the number
 * of parts of a large file that are sent at once.
 */
export interface Sending {
  readonly transport: "tus" | "form"
  readonly verify: boolean
  readonly concurrency: Option.Option<number>
  readonly parallel: Option.Option<number>
}

/**
 * The maximum number of consecutive failures of a file that are retried. The pauses between these retries together take
 * about six minutes, so an upload survives a restart of the server or a lost network for at least this time.
 */
const maxRetries = 20

/** The maximum size of all files of a form, in bytes. */
export const mostInForm = 8n * 1024n * 1024n

/** A larger file fills the line alone for some time, so that only a few of them are sent at once. */
const small = 8n * 1024n * 1024n

/** How many files are sent at once: many, because a small file is one request, but only a few large ones. */
export const concurrencyOf = ({ concurrency }: Sending, files: Files): number => {
  const large = files.filter(({ source: { size } }) => size === undefined || size > small)
  return Option.getOrElse(concurrency, () => (large.length > 4 ? 4 : 16))
}

/** The options of a job for {@link Sending}. A form is one request, which has no options of its own. */
export const optionsOf = (sending: Sending, files: Files) => ({
  ...(sending.verify ? { verify: DeliveryProof.md5 } : {}),
  ...(sending.transport === "form"
    ? { transport: "form" as const }
    : {
        concurrency: concurrencyOf(sending, files),
        upload: { maxRetries, ...Cli.given({ parallel: sending.parallel }) }
      })
})

/** The errors of a job. */
export type JobError = AssemblyUploadError | TemplateError

/** A number of bytes in JSON: a number, or a text if JavaScript cannot represent the number exactly. */
export const toJsonBytes = (bytes: bigint): number | string =>
  bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : String(bytes)

/** The numbers of bytes in an event. They replace the texts that the codec of the event makes of these fields. */
const bytesOf = (event: object): Readonly<Record<string, number | string>> =>
  Object.fromEntries(
    Object.entries(event).flatMap(([name, value]: [string, unknown]) =>
      typeof value === "bigint" ? [[name, toJsonBytes(value)]] : []
    )
  )

const encodeEvent = Schema.encodeEffect(Schema.toCodecJson(AssemblyUploadEvent.Public))

/** An event as a record for another program, if it tells something new. `names` are the names of the files of the job. */
export const toRecord = Effect.fnUntraced(function* (event: JobEvent, names: ReadonlyArray<string>) {
  if (event._tag === "Notice") return { event: "Notice", message: event.message }
  const inner = event._tag === "FileEvent" ? event.event : undefined
  // The event `FileCompleted` reports the same completion.
  if (inner?._tag === "Completed") return undefined
  const { _tag: _, event: within, ...fields } = (yield* Effect.orDie(encodeEvent(event))) as Schema.JsonObject
  const { _tag: _kind, ...details } = (within ?? {}) as Schema.JsonObject
  return {
    event: inner === undefined ? event._tag : `File${inner._tag}`,
    ...("status" in event ? { assembly_id: event.status.assembly_id ?? null } : {}),
    ...("file" in event ? { name: names[event.file] ?? "" } : {}),
    ...fields,
    ...details,
    ...bytesOf(event),
    ...bytesOf(inner ?? {})
  } satisfies Schema.JsonObject
})

const decodeAssetId = Schema.decodeUnknownOption(Identifier.AssetId)

const nfc = (path: string | null | undefined): string | undefined => path?.normalize("NFC")

/** The files of an Assembly that are in the Workspace, with their ids there. */
const storedOf = ({ results }: Assembly.Status) =>
  Object.values(results ?? {})
    .flat()
    .flatMap((file) => Option.toArray(Option.map(decodeAssetId(file.asset_id), (id) => ({ id, file }))))

type Stored = ReturnType<typeof storedOf>

/** The longest text with which both texts begin. */
const commonStart = (one: string, other: string): string => {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return one.slice(0, length)
}

/** Of more files than this, the list of the Workspace says whether they are there, with up to 500 in one request. */
const fewFiles = 16

/** The assets of many stored files that are in the list of the Workspace, which may have other files between them. */
const listed = Effect.fnUntraced(function* (stored: Stored) {
  const prefix = stored.map(({ file }) => file.path ?? "").reduce(commonStart, stored[0]?.file.path ?? "")
  const pages = Stream.take(Dam.listPages({ prefix, limit: 500 }), Math.ceil(stored.length / 500) + 1)
  const known =
    stored.length <= fewFiles ? Stream.empty : Stream.flattenIterable(Stream.map(pages, (page) => page.assets))
  return new Map((yield* Stream.runCollect(known)).map((asset) => [asset.asset_id, asset]))
})

/** The stored files that the Workspace lacks, or has at another path or with another content. */
const goneOf = Effect.fnUntraced(function* (stored: Stored) {
  const known = yield* listed(stored)
  const isGone = ({ file, id }: Stored[number]) =>
    Effect.fromNullishOr(known.get(id)).pipe(
      Effect.catch(() => Effect.map(Dam.get(id), ({ asset }) => asset)),
      Effect.map((asset) => {
        const isMoved = Boolean(file.path) && nfc(asset.path) !== nfc(file.path)
        const isSame = asset.version_id === file.version_id || (asset.sha256 && asset.sha256 === file.sha256)
        return isMoved || !isSame
      }),
      Effect.catchTag("DamResourceNotFound", () => Effect.succeed(true))
    )
  return yield* Effect.filter(stored, isGone, { concurrency: 8 })
})

/**
 * Asks whether the Workspace still has the files that the completed Assembly of an earlier command has stored. If one is
 * gone, all files are uploaded again. If that is not known, because a request failed, no file is uploaded.
 */
export const checkEarlier = (status: Assembly.Status) => {
  const { assembly_id: assembly, start_date } = status
  const stored = storedOf(status)
  const on = start_date ? ` on ${Shown.createdAt(start_date)} (UTC)` : ""
  const done = `Already uploaded${on} by Assembly ${assembly}; no file was uploaded again. --restart uploads again`
  return Effect.match(goneOf(stored), {
    onSuccess: (gone) => {
      if (gone.length === 0) return { isGone: false, message: done }
      const name = gone[0]?.file.path ?? gone[0]?.file.name ?? ""
      const what =
        stored.length === 1
          ? `${name} as Assembly ${assembly} stored it`
          : `${gone.length} of ${stored.length} files, such as ${name}, as Assembly ${assembly} stored them`
      return { isGone: true, message: `The Workspace no longer has ${what}. Uploading again` }
    },
    onFailure: (error) => ({
      isGone: false,
      message: `${done}. It is not known whether its files still exist: ${Advice.line(error)}`
    })
  })
}

/** After an upload of more files than this, one line with the totals replaces the table of files. */
const mostListed = 10

const totalOf = (files: Files): string => {
  const size = UploadPlan.totalSize(files)
  return `${files.length} ${files.length === 1 ? "file" : "files"}, ${size === undefined ? "an unknown size" : Text.bytes(size)}`
}

/** Shows the files of the completed Assembly. `progress` is undefined if an earlier command has uploaded the files. */
export const report = Effect.fnUntraced(function* (
  files: Files,
  status: Assembly.Status,
  progress: Progress.Progress | undefined
) {
  const layout = yield* Output.layout
  // On a terminal, the progress has shown the id. The word and the id are on two lines if the terminal is too narrow.
  const isShown = layout.width !== undefined && (yield* Output.standardError.columns) > 0
  const id = isShown ? [] : Text.wrap(`Assembly ${status.assembly_id}`, layout.width ?? Number.POSITIVE_INFINITY)
  const made = Shown.of(status)
  if (files.length > mostListed) {
    const how = progress === undefined ? "uploaded before" : `in ${Text.duration(Progress.elapsed(progress))}`
    const results = status.results ? `, ${Shown.counted(status)}` : ""
    return yield* Output.lines<string>([`${totalOf(files)}, ${how}${results}`, ...id])
  }
  const uploads = (status.uploads ?? []).map((file) => ({ step: ":original", file }))
  yield* Output.lines<string>(layout.width === undefined ? id : ["", ...id])
  const shown = made.length > 0 ? made : uploads
  yield* Output.report(Table.render(Shown.columns(shown), shown, layout))
})

/**
 * Fails if the service has stored a file under another path than its name in `folder`, because it may have replaced
 * another file. Checks nothing if `folder` contains a variable (`${…}`), or if the Status names no stored path.
 */
export const checkPaths = (files: Files, { results }: Assembly.Status, folder: string) => {
  const paths = new Set((results?.["stored"] ?? []).flatMap(({ path }) => (path ? [nfc(path)] : [])))
  const moved = files.map(({ name }) => nfc(UploadPlan.targetOf(folder, name))).filter((name) => !paths.has(name))
  return paths.size === 0 || moved.length === 0 || folder.includes("${")
    ? Effect.void
    : Effect.fail(
        Failure.failed(
          `the service stored ${moved.length} of ${files.length} files under another path than expected, such as ${moved[0]}; the table and --json show the paths`
        )
      )
}

/** Shows what would be uploaded, and where it would be stored. If `folder` is undefined, the Steps decide that. */
export const rehearse = Effect.fnUntraced(function* (files: Files, folder: string | undefined, isJson: boolean) {
  const targetOf = ({ name }: UploadPlan.Planned) => (folder === undefined ? name : UploadPlan.targetOf(folder, name))
  if (isJson) {
    for (const file of files) {
      const { name, path, source } = file
      const size = source.size === undefined ? null : toJsonBytes(source.size)
      const target = folder === undefined ? null : targetOf(file)
      yield* Output.jsonLine({ event: "Planned", path, name, target, size })
    }
    return
  }
  const layout = yield* Output.layout
  const title = folder === undefined ? "Name" : "Target"
  const target: Table.Column<UploadPlan.Planned> = { title, least: 10, value: targetOf }
  const planned: ReadonlyArray<Table.Column<UploadPlan.Planned>> = [
    { title: "Source", least: 10, value: ({ path }) => path },
    // In a terminal, the same text twice would only take space.
    ...(layout.width !== undefined && files.every((file) => file.path === targetOf(file)) ? [] : [target]),
    Table.sizeColumn(({ source }) => source.size)
  ]
  yield* Output.report(Table.render(planned, files, layout))
  yield* Output.below(`${totalOf(files)}; nothing was uploaded`)
})

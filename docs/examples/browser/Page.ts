/**
 * A page that uploads files, without a framework and without credentials. The journal in IndexedDB contains the
 * unfinished uploads of earlier visits. When the user chooses the same files again, these uploads continue.
 */
import * as IndexedDbJournal from "@assembly-effect/browser/IndexedDbJournal"
import * as Uploads from "@assembly-effect/tus/Upload"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FetchClient from "@assembly-effect/auth/FetchClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Row from "./Row.ts"

/** The Assembly that the application has created for a file. */
const Created = Schema.Struct({ assemblySslUrl: Schema.String, tusUrl: Schema.String })

const newTarget = HttpClient.post("/assemblies").pipe(
  Effect.flatMap(HttpClientResponse.filterStatusOk),
  Effect.flatMap(HttpClientResponse.schemaBodyJson(Created)),
  Effect.flatMap(UploadTarget.make),
  Effect.scoped
)

/** The application cancels an Assembly for the page. */
const cancelAssembly = (target: UploadTarget.UploadTarget) =>
  HttpClient.del(`/assemblies/${Redacted.value(target.assemblySslUrl).split("/").at(-1)}`).pipe(
    Effect.scoped,
    Effect.ignore
  )

const metadataOf = (file: File) => ({ filename: file.name, fieldname: "file" })

/** The unfinished upload of the same file in the journal. */
const keyOf = (identity: string | undefined) =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    return (yield* journal.list).find(({ entry }) => entry.state._tag !== "Completed" && entry.identity === identity)
      ?.key
  })

/** An upload of this page. `target` and `key`, its key in the journal, are undefined until they are known. */
class Upload {
  readonly row: Row.Row
  readonly identity: string | undefined
  source: UploadSource.Replayable | undefined
  file: File | undefined
  target: UploadTarget.UploadTarget | undefined
  key: string | undefined
  fiber: Fiber.Fiber<void, Layer.Error<typeof journal>> | undefined

  constructor(name: string, size: number, identity: string | undefined) {
    this.identity = identity
    this.row = Row.make(name, size, {
      pause: () => this.pause(),
      resume: () => this.resume(),
      cancel: () => void runtime.runFork(this.cancel)
    })
  }

  /** The events of the upload in the journal, or of a new upload if the journal has none. */
  private readonly events = (file: File, source: UploadSource.Replayable) =>
    Stream.unwrap(
      Effect.gen({ self: this }, function* () {
        const metadata = metadataOf(file)
        // Another tab may have begun the same upload since this page was opened.
        if (this.target === undefined) this.key = yield* keyOf(this.identity)
        if (this.key !== undefined && this.target === undefined) return Uploads.resumeEvents({ key: this.key }, source)
        this.target ??= yield* newTarget
        this.key = yield* UploadJournal.keyOf(this.target, { identity: this.identity, size: source.size, ...metadata })
        return Uploads.events(this.target, source, { metadata })
      })
    )

  start(file: File, source: UploadSource.Replayable) {
    this.file = file
    this.source = source
    this.row.change("uploading", "Beginning")
    this.fiber = runtime.runFork(
      this.events(file, source).pipe(
        Stream.runForEach((event) => Effect.sync(() => this.row.tell(event))),
        Effect.catch((error) => Effect.sync(() => this.row.change("failed", error.message)))
      )
    )
  }

  pause() {
    // The journal keeps its entry, and the server keeps the stored bytes.
    if (this.fiber !== undefined) runtime.runFork(Fiber.interrupt(this.fiber))
    this.row.change("paused", "Paused")
  }

  resume() {
    if (this.file !== undefined && this.source !== undefined) this.start(this.file, this.source)
    else files.click()
  }

  readonly cancel = Effect.gen({ self: this }, function* () {
    uploads.delete(this)
    this.row.remove()
    if (this.fiber !== undefined) yield* Fiber.interrupt(this.fiber)
    if (this.key === undefined) return
    const journal = yield* UploadJournal.UploadJournal
    const entry = Option.getOrUndefined(yield* journal.get(this.key))
    yield* journal.forget(this.key)
    if (entry !== undefined && entry.state._tag !== "Completed") yield* cancelAssembly(entry.target)
  }).pipe(Effect.ignore)
}

const uploads = new Set<Upload>()
const files = Row.find("#files", HTMLInputElement)

/** Continues the upload of this file, or begins one. */
const add = (file: File) =>
  Effect.gen(function* () {
    const source = UploadSource.fromBlob(file)
    const identity = yield* source.identity
    const known = [...uploads].find((upload) => upload.identity === identity)
    const upload = known ?? new Upload(file.name, file.size, identity)
    uploads.add(upload)
    if (upload.file === undefined) upload.start(file, source)
  }).pipe(Effect.ignore)

/** Shows the unfinished uploads of earlier visits. */
const showUnfinished = Effect.gen(function* () {
  const journal = yield* UploadJournal.UploadJournal
  for (const { entry, key } of yield* journal.list) {
    if (entry.state._tag === "Completed") continue
    const upload = new Upload(entry.metadata["filename"] ?? "", Number(entry.size), entry.identity ?? undefined)
    upload.key = key
    uploads.add(upload)
    upload.row.change("unfinished", "Not finished: choose the file again to continue")
  }
})

const notice = (text: string) => {
  const place = Row.find("#notice", HTMLParagraphElement)
  place.textContent = text
  place.hidden = false
}

/** If the browser cannot store a journal, uploads still continue after a lost connection. */
const journal = IndexedDbJournal.layer().pipe(
  Layer.catchTag("JournalFailed", (error) => {
    notice(`This page stores nothing: keep it open until the uploads are done (${error.message}).`)
    return UploadJournal.layerMemory()
  })
)

const runtime = ManagedRuntime.make(
  Uploads.layerJournaled.pipe(Layer.provideMerge(Layer.merge(journal, FetchClient.layer)))
)

const addAll = (list: FileList | null | undefined) => {
  for (const file of list ?? []) runtime.runFork(add(file))
}

files.addEventListener("change", () => {
  addAll(files.files)
  // The input is cleared, so that the user can choose the same file again.
  files.value = ""
})

const drop = Row.find("#drop", HTMLLabelElement)
for (const [type, isOver] of [
  ["dragover", true],
  ["dragleave", false],
  ["drop", false]
] as const) {
  // The whole page accepts dropped files. Otherwise the browser would leave the page to show a file that misses the
  // zone.
  document.addEventListener(type, (event) => {
    event.preventDefault()
    drop.classList.toggle("over", isOver)
    if (type === "drop") addAll(event.dataTransfer?.files)
  })
}

runtime.runCallback(showUnfinished, {
  onExit: Exit.match({
    onSuccess: () => undefined,
    onFailure: (cause) => {
      const error = Cause.squash(cause)
      notice(error instanceof Error ? error.message : "Uploads cannot be kept here.")
    }
  })
})

import * as Effect from "effect/Effect"
import type * as Multipart from "effect/http/Multipart"
import * as Stream from "effect/Stream"
import * as Limits from "../limits.ts"
import { maxSizeExceeded, tooManyFiles } from "../robots/robot.ts"
import * as FileStore from "./fileStore.ts"
import * as Form from "../http/form.ts"
import * as Ids from "../data/ids.ts"
import * as Updates from "../assembly/updates.ts"
import * as UploadedFiles from "./uploadedFiles.ts"
import * as UploadStore from "./uploadStore.ts"

/**
 * Makes a function that stores the files of a form that creates an Assembly, as the bytes arrive. `maxSize` is in bytes.
 * A file that is larger, and a file too many, fail the Assembly.
 */
export const make = Effect.gen(function* () {
  const store = yield* FileStore.FileStore
  const limits = yield* Limits.Limits
  const updates = yield* Updates.Updates
  const uploadedFiles = yield* UploadedFiles.make
  const uploads = yield* UploadStore.make
  const newId = yield* Ids.hex

  const keep = Effect.fnUntraced(function* (assemblyId: string, file: Multipart.File, maxSize: number | null) {
    const id = yield* newId
    yield* store.create(id)
    yield* uploads.insert({ id, assembly_id: assemblyId, kind: "form", filename: file.name, fieldname: file.key })
    const bytes = Stream.mapError(file.content, ({ message }) => new Form.Malformed({ description: message }))
    yield* store
      .append(id, bytes, { room: maxSize === null ? undefined : BigInt(maxSize), isHashed: true })
      .pipe(Effect.catchTag("NoRoom", () => Effect.fail(maxSizeExceeded)))
    yield* uploads.setLength(id, yield* store.size(id))
    yield* uploads.finish(id, yield* store.digest(id))
    const { file: stored } = yield* uploadedFiles.of(yield* uploads.ofForm(id))
    yield* updates.publish(Updates.uploadFinished(assemblyId, stored))
  })

  return (assemblyId: string, files: NonNullable<Form.Form["files"]>, maxSize: number | null) =>
    files.pipe(
      Stream.zipWithIndex,
      Stream.runForEach(
        Effect.fnUntraced(function* ([file, index]) {
          if (index >= limits.files) return yield* tooManyFiles
          yield* keep(assemblyId, file, maxSize)
        })
      ),
      // While files arrive, the parser limits their number, so a refusal means too many files.
      Effect.catchTag("Refusal", () => Effect.fail(tooManyFiles))
    )
})

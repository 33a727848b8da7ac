import * as Md5 from "@assembly-effect/api/unstable/Md5"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"

/** The MD5 of a file in hexadecimal digits. */
export const of = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const sum = yield* Md5.make
  yield* Stream.runForEach(fs.stream(path), (piece) => Effect.sync(() => sum.add(piece)))
  return sum.hex()
})

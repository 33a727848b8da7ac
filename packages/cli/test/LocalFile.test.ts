import * as LocalFile from "@assembly-effect/cli/LocalFile"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"

layer(NodeServices.layer)("LocalFile.open", (it) => {
  it.effect("returns name and size", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { join } = yield* Path.Path
      const path = join(yield* fs.makeTempDirectoryScoped(), "a cat.txt")
      yield* fs.writeFileString(path, "meow")
      const file = yield* LocalFile.open(path)
      expect(file).toMatchObject({ path, name: "a cat.txt", source: { size: 4n } })
    })
  )

  it.effect("reports the problem of a path", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { join } = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped()
      expect((yield* Effect.flip(LocalFile.open(folder))).message).toBe(`${folder}: is a directory`)
      const missing = join(folder, "missing")
      expect((yield* Effect.flip(LocalFile.open(missing))).message).toBe(`${missing}: no such file`)
      const evil = join(folder, "a\u0007b")
      yield* fs.writeFileString(evil, "")
      expect((yield* Effect.flip(LocalFile.open(evil))).message).toBe(
        `${folder}/a\\x07b: the service refuses a name with control characters; rename the file`
      )
    })
  )
})

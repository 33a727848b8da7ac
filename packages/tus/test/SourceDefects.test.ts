/**
 * Only what the network did is healed: a source that dies or is interrupted ends the upload, as what it is.
 */
import { UploadSource } from "@assembly-effect/tus"
import { Cause, Effect, Exit, Stream } from "effect"
import { assert, layer, Clients, Scene, Upload } from "./utils/index.ts"

const bytes = Scene.content(2_000_000)

const defect = new Error("a bug in the source")

/** A source that ends like this after its first bytes, and how often it was opened. */
const broken = (end: Stream.Stream<never>) => {
  const seen = { opened: 0 }
  const bytesOf = (offset: bigint) =>
    Stream.suspend(() => {
      seen.opened++
      return Stream.concat(Scene.pieces(bytes.subarray(Number(offset), 700_000), 100_000), end)
    })
  return {
    seen,
    replayable: UploadSource.make({ size: BigInt(bytes.length), bytes: bytesOf }),
    oneShot: UploadSource.fromStream(bytesOf(0n), { size: BigInt(bytes.length) })
  }
}

for (const [name, client] of Object.entries(Clients.beneath)) {
  layer(client)(`with ${name}, a source`, (it) => {
    for (const kind of ["replayable", "oneShot"] as const) {
      for (const checksum of [undefined, "sha256"] as const) {
        const title = `${kind === "oneShot" ? "that comes once " : ""}${checksum === undefined ? "" : "with checksums "}`
        it.effect(`${title}that dies is opened once, and dies`, function* () {
          const { server, target } = yield* Scene.make()
          server.checksums = ["sha256"]
          const { seen, ...sources } = broken(Stream.die(defect))
          const settings = { ...Scene.options, checksum, chunkSize: 500_000 }
          const exit = yield* Effect.exit(Upload.run(target, sources[kind], settings))
          assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === defect && Cause.hasDies(exit.cause))
          // Each request opens a source that can be read again.
          assert.strictEqual(seen.opened, kind === "replayable" ? 2 : 1)
          assert.notInclude(server.requests, "HEAD")
        })
      }

      it.effect(`(${kind}) that is interrupted interrupts the upload`, function* () {
        const { server, target } = yield* Scene.make()
        const { seen, ...sources } = broken(Stream.fromEffect(Effect.interrupt))
        const exit = yield* Effect.exit(Upload.run(target, sources[kind], Scene.options))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
        assert.strictEqual(seen.opened, 1)
        assert.notInclude(server.requests, "HEAD")
      })
    }
  })
}

import { Effect } from "effect"
import * as ImageSize from "../src/internal/files/imageSize.ts"
import { Assemblies } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { createUpload, layer as layerEmulator, metadata, patch } from "./support.ts"
import { assert, it, layer } from "@assembly-effect/testkit/flow"

const latin1 = (text: string) => Buffer.from(text, "latin1")

/** The bytes of a number, the last byte first if `little` is true. */
const number = (value: number, length: number, little = false) => {
  const bytes = Buffer.alloc(length)
  if (little) bytes.writeUIntLE(value, 0, length)
  else bytes.writeUIntBE(value, 0, length)
  return bytes
}

const png = Buffer.concat([latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), number(640, 4), number(480, 4), Buffer.alloc(9)])
const segment = (marker: number, body: Buffer) =>
  Buffer.concat([Buffer.of(0xff, marker), number(body.length + 2, 2), body])
const frame = (marker: number) => segment(marker, Buffer.concat([Buffer.of(8), number(480, 2), number(640, 2)]))
const start = Buffer.of(0xff, 0xd8)
// An EXIF segment may contain a thumbnail with a frame of its own, and a DHT segment has a code among the frames.
const exif = segment(0xe1, Buffer.concat([latin1("Exif\0\0"), start, segment(0xc0, Buffer.alloc(60_000))]))
const jpeg = Buffer.concat([start, exif, segment(0xc4, Buffer.alloc(40)), Buffer.of(0xff), frame(0xc2)])
const webp = (chunk: string, body: Buffer) =>
  Buffer.concat([latin1("RIFF\0\0\0\0WEBP"), latin1(chunk), Buffer.alloc(4), body, Buffer.alloc(20)])

const images: Record<string, Buffer> = {
  PNG: png,
  GIF: Buffer.concat([latin1("GIF89a"), number(640, 2, true), number(480, 2, true)]),
  "progressive JPEG with EXIF": jpeg,
  "lossy WebP": webp("VP8 ", Buffer.concat([Buffer.alloc(6), number(640, 2, true), number(480, 2, true)])),
  "lossless WebP": webp("VP8L", Buffer.concat([Buffer.of(0x2f), number(639 | (479 << 14), 4, true)])),
  "extended WebP": webp("VP8X", Buffer.concat([Buffer.alloc(4), number(639, 3, true), number(479, 3, true)]))
}

const sizeOf = (bytes: Buffer) =>
  ImageSize.read(({ length, offset }) => Effect.succeed(bytes.subarray(offset, offset + length)))

it.effect.each(Object.entries(images))("reads the width and the height of a %s", function* ([, bytes]) {
  assert.deepStrictEqual(yield* sizeOf(bytes), { width: 640, height: 480 })
})

it.effect("has no size for other, cut and empty files", function* () {
  const cut = [png.subarray(0, 16), jpeg.subarray(0, jpeg.length - 6), Buffer.concat([start, Buffer.alloc(900)])]
  for (const bytes of [...cut, Buffer.alloc(0), latin1("GIF"), latin1("text"), webp("ALPH", Buffer.alloc(0))]) {
    assert.strictEqual(yield* sizeOf(bytes), undefined)
  }
})

layer(layerEmulator())("meta", ({ effect }) => {
  effect.each([
    ["photo.png", { width: 640, height: 480 }],
    ["photo.txt", {}]
  ] as const)("of a PNG with the name %s", function* ([filename, meta]) {
    const status = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    const { url } = yield* createUpload(status, {
      "upload-length": String(png.length),
      "upload-metadata": metadata({ assembly_url: status.assembly_ssl_url ?? "", filename, fieldname: "file" })
    })
    yield* patch(url, 0, png)
    const { uploads } = yield* Assemblies.get(Assembly.AssemblyId.make(status.assembly_id ?? ""))
    assert.deepStrictEqual(uploads?.[0]?.meta, meta)
  })
})

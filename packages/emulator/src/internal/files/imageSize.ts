import * as Effect from "effect/Effect"

/** The width and the height of an image in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Reads at most `length` bytes of a file from `offset`. The result is shorter at the end of the file. */
type Read<E> = (range: { readonly offset: number; readonly length: number }) => Effect.Effect<Buffer, E>

/** The marker of a JPEG segment with the size: SOF0 to SOF15 without DHT, JPG and DAC, which have such codes too. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** The maximum number of JPEG segments that are read. An image has far fewer before its size. */
const maxSegments = 100

/** Walks over the segments of a JPEG file up to the segment with the size. */
const ofJpeg = Effect.fnUntraced(function* <E>(read: Read<E>) {
  let offset = 2
  for (let count = 0; count < maxSegments; count++) {
    const segment = yield* read({ offset, length: 9 })
    if (segment.length < 9 || segment[0] !== 0xff) return undefined
    const marker = segment.readUInt8(1)
    if (isFrame(marker)) return { width: segment.readUInt16BE(7), height: segment.readUInt16BE(5) }
    // Any number of fill bytes may stand before a marker.
    offset += marker === 0xff ? 1 : 2 + segment.readUInt16BE(2)
  }
  return undefined
})

const ofWebp = (head: Buffer): ImageSize | undefined => {
  switch (head.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    case "VP8L": {
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case "VP8X":
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** The number of bytes that the size of a PNG, GIF or WebP image needs. */
const headLength = 30

/**
 * Reads the size of a PNG, JPEG, GIF or WebP image from its header. The result is undefined for another or a damaged
 * file.
 */
export const read: <E>(read: Read<E>) => Effect.Effect<ImageSize | undefined, E> = Effect.fnUntraced(
  function* (readRange) {
    const found = yield* readRange({ offset: 0, length: headLength })
    const head = Buffer.concat([found, Buffer.alloc(headLength - found.length)])
    const starts = (signature: string) => head.toString("latin1", 0, signature.length) === signature
    const size = starts("\x89PNG\r\n\x1a\n")
      ? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
      : starts("GIF87a") || starts("GIF89a")
        ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
        : starts("RIFF") && head.toString("latin1", 8, 12) === "WEBP"
          ? ofWebp(head)
          : starts("\xff\xd8")
            ? yield* ofJpeg(readRange)
            : undefined
    return size === undefined || size.width === 0 || size.height === 0 ? undefined : size
  }
)

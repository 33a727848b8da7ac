import { changes } from "../Mutant.ts"

/** Sources of the web, the limit of bandwidth, and what a sink leaves behind. */
export const tusSources = [
  ...changes(
    "packages/tus/src/WebSource.ts",
    ["ReadableStreams"],
    [
      {
        name: "the size of a web stream is lost",
        find: `    ),
    options
  )

const toSourceFailed`,
        replace: `    ),
    undefined
  )

const toSourceFailed`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/urlSource.ts",
    ["UrlConnections"],
    [
      {
        name: "a resource is given up when its server is busy",
        find: `status === 429 || status >= 500`,
        replace: `status >= 500`
      },
      { name: "a resource is given up after a failure of its server", find: `status >= 500`, replace: `status > 500` },
      {
        name: "a refused range holds its connection",
        find: `          Effect.tapError(() => close)
`,
        replace: ``
      },
      {
        name: "new bytes of a resource do not reset the count of failures",
        find: `        failures = 0
        return pieces`,
        replace: `        return pieces`
      },
      {
        name: "a stalled range holds its connection",
        find: `          yield* leave
          const { temporary } = failed`,
        replace: `          connection = undefined
          const { temporary } = failed`
      },
      { name: "a resource is asked again without a pause", find: `yield* Effect.sleep(pause.value)`, replace: `` },
      {
        name: "new bytes of a resource do not start the policy anew",
        find: `if (next === undefined || failures === 1)`,
        replace: `if (next === undefined)`
      },
      {
        name: "the pause that a resource asks for is not known",
        find: `const wait = yield* Transport.namedWait(headers, undefined)`,
        replace: `const wait = Option.none()`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadBandwidth.ts",
    ["UploadBandwidth"],
    [
      {
        name: "what is left of a body is sent at once",
        find: `Math.ceil(bytes / portion)`,
        replace: `Math.floor(bytes / portion)`
      },
      {
        name: "a small body counts as a whole turn",
        find: `Math.min(portion, bytes - index * portion)`,
        replace: `portion`
      },
      {
        name: "a turn of a fast connection is large",
        find: `Math.min(largest, Math.floor((bytesPerSecond * interval) / 1000))`,
        replace: `Math.floor((bytesPerSecond * interval) / 1000)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/window.ts",
    ["UploadSink"],
    [
      {
        name: "the end of a stream needs a request of its own",
        find: `return held > size ?`,
        replace: `return held >= size ?`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/DeliveryProof.ts",
    ["DeliveryProof"],
    [
      {
        name: "the first file of a name is compared, whatever its bytes",
        find: `named.find((file) => Md5.ofFile(file) === md5hash) ?? named[0]`,
        replace: `named[0]`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/removal.ts",
    ["UploadSink"],
    [
      {
        name: "a removal is waited for without an end",
        find: `        Effect.timeout(session.policy.stallTimeout),
`,
        replace: ``
      },
      { name: "an interruption waits for a removal", find: `Duration.seconds(1)`, replace: `Duration.hours(1)` }
    ]
  )
]

import { changes } from "../Mutant.ts"

/** Mutations of the sources of the web, the limit of bandwidth, sinks, and the files of jobs. */
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
        name: "the rest of a body is sent without a limit of bandwidth",
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
    "packages/tus/src/internal/assemblyFiles.ts",
    ["/AssemblyFiles"],
    [
      {
        name: "a job has no limit of uploads by default",
        find: `job.concurrency ?? 4`,
        replace: `job.concurrency ?? 64`
      },
      {
        name: "a job has a total although the size of a file is unknown",
        find: `sizes.length === sources.length ?`,
        replace: `sizes.length >= 0 ?`
      },
      {
        name: "the wait options of a job are ignored",
        find: `awaitCompletion(assemblyId, job.wait)`,
        replace: `awaitCompletion(assemblyId)`
      },
      {
        name: "the proof of a file does not know its upload URL",
        find: `url: exit !== undefined && Exit.isSuccess(exit) ? exit.value.url : undefined`,
        replace: `url: undefined`
      },
      {
        name: "the metadata of a file replace its name",
        find: `metadata: { ...metadata, filename, fieldname }`,
        replace: `metadata: { filename, fieldname, ...metadata }`
      },
      {
        name: "the waits of a file pile up",
        find: `event._tag === "FileEvent" ? event.event : event`,
        replace: `event`
      },
      {
        name: "a file that failed is not told",
        find: `if (Option.isSome(error)) emit(AssemblyUploadEvent.FileFailed({ file, error: error.value }))`,
        replace: ``
      },
      {
        name: "an Assembly that could not be canceled is told as canceled",
        find: `Effect.orElseSucceed(() => false)`,
        replace: `Effect.orElseSucceed(() => true)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journaledJob.ts",
    ["JobLease"],
    [
      {
        name: "a job that another process has taken is written",
        find: `    yield* lease.check
    yield* entries.put`,
        replace: `    yield* entries.put`
      },
      {
        name: "a job that another process has taken is forgotten",
        find: `Effect.andThen(lease.check, entries.forget(key))`,
        replace: `entries.forget(key)`
      },
      {
        name: "a job whose Assembly was canceled is kept for ever",
        find: `error._tag === "AssemblyCanceled" ||`,
        replace: ``
      },
      {
        name: "a job whose Assembly was aborted is kept for ever",
        find: `error._tag === "AssemblyAborted" ||`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/events.ts",
    ["Unread"],
    [
      {
        name: "unread events that are out of date have no limit",
        find: `const mostTransient = 128`,
        replace: `const mostTransient = 128_000`
      },
      {
        name: "unread progress piles up",
        find: `if (event._tag === "Progress" && this.#events.at(-1)?._tag === "Progress") {`,
        replace: `if (event._tag === "nothing") {`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/AssemblyUpload.ts",
    ["/AssemblyFiles"],
    [
      {
        name: "the progress of a job is told at any rate",
        find: `Events.paced(emit, options.progressInterval)`,
        replace: `Events.paced(emit, undefined)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/assemblyOptions.ts",
    ["/AssemblyFiles"],
    [
      {
        name: "the progress of a job has any interval",
        find: `  ...Options.issues({ progressInterval }),
`,
        replace: ``
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
        find: `Effect.timeoutOption(free, farewell.failure)`,
        replace: `free`
      },
      {
        name: "an interruption waits for a removal",
        find: `interruption: "1 second"`,
        replace: `interruption: "1 hour"`
      }
    ]
  )
]

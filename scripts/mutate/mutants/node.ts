import { changes } from "../Mutant.ts"

export const node = [
  ...changes(
    "packages/node/src/LeaseHolder.ts",
    ["LeaseHolder"],
    [
      {
        name: "a holder of another boot is looked for in this one",
        find: `other.boot === own.boot && other.pids === own.pids`,
        replace: `other.pids === own.pids`
      },
      {
        name: "a holder of another process namespace is looked for in this one",
        find: `other.boot === own.boot && other.pids === own.pids`,
        replace: `other.boot === own.boot`
      },
      {
        name: "a process that got the number of a holder is the holder",
        find: `found.started !== started || ended.has(found.state)`,
        replace: `ended.has(found.state)`
      },
      {
        name: "a zombie process counts as running",
        find: `found.started !== started || ended.has(found.state)`,
        replace: `found.started !== started`
      },
      {
        name: "a holder that still runs counts as ended",
        find: `onSome: (found) => found.started !== started ||`,
        replace: `onSome: (found) => found.started === started ||`
      }
    ]
  ),
  ...changes(
    "packages/node/src/NodeSource.ts",
    ["NodeSource"],
    [
      {
        name: "a stream that has ended is an empty file",
        find: `if (!readable.readable) return`,
        replace: `if (readable.readable === undefined) return`
      },
      {
        name: "a stream that was read in part is a shorter file",
        find: `if (Readable.isDisturbed(readable)) return`,
        replace: `if (readable.readable === undefined) return`
      }
    ]
  ),
  ...changes(
    "packages/node/src/UndiciClient.ts",
    ["UndiciClient"],
    [
      {
        name: "our client is not registered",
        find: `PieceMemory.register(client)`,
        replace: ``
      },
      {
        name: "the proxy of the environment is ignored",
        find: `return proxies(options).length > 0`,
        replace: `return proxies(options).length > 99`,
        tests: ["AssemblyNode"]
      }
    ]
  ),
  ...changes(
    "packages/node/src/internal/undiciBody.ts",
    ["UndiciBody"],
    [
      {
        name: "an endless body is read on",
        find: `if (!take(piece)) stop()`,
        replace: `take(piece)`
      },
      {
        name: "an incomplete body is taken for a whole one",
        find: `.on("error", fail).on("close", onClose)`,
        replace: `.on("error", onEnd).on("close", onEnd)`
      },
      {
        name: "an interrupted reading leaves the connection open",
        find: `return Effect.sync(() => {
      leave()
      body.destroy()
    })`,
        replace: `return Effect.sync(() => {
      leave()
    })`
      }
    ]
  ),
  ...changes(
    "packages/node/src/AssemblyNode.ts",
    ["AssemblyNode"],
    [
      {
        name: "tokens are never used",
        find: `options.authentication === "tokens"`,
        replace: `options.algorithm === undefined && options.authentication === "signed"`
      },
      {
        name: "the options of the HTTP client are lost",
        find: `RuntimeClient.layerWith(http)`,
        replace: `RuntimeClient.layerWith()`
      }
    ]
  ),
  ...changes(
    "packages/node/src/UndiciClient.ts",
    ["AssemblyNode"],
    [
      {
        name: "the connections to a proxy stay open",
        find: `(dispatcher) => Effect.promise(() => dispatcher.destroy())`,
        replace: `() => Effect.void`
      },
      {
        name: "the connections have no limit",
        find: `connections: options.connections ?? null`,
        replace: `connections: null`
      },
      {
        name: "the variable of a proxy has capitals only",
        find: `"HTTPS_PROXY", "http_proxy", "https_proxy"]`,
        replace: `"HTTPS_PROXY"]`
      }
    ]
  ),
  ...changes(
    "packages/node/src/AssemblyNode.ts",
    ["AssemblyNode"],
    [
      {
        name: "the algorithm of a signature is lost",
        find: `NodeSigner.layer(options)`,
        replace: `NodeSigner.layer()`
      },
      {
        name: "the time of a signature is lost",
        find: `Authenticator.layerSignedNoDeps(options)`,
        replace: `Authenticator.layerSignedNoDeps()`
      },
      {
        name: "the options beside the variables are lost",
        find: `layer({ ...options, ...configured })`,
        replace: `layer({ ...configured })`
      },
      {
        name: "a lease does not know its process",
        find: `NodeServices.layer, LeaseHolder.layer, NodeMd5.layer)`,
        replace: `NodeServices.layer, NodeMd5.layer)`
      },
      {
        name: "the options of the HTTP client are lost with a bearer token",
        find: `options.token))), options.http)`,
        replace: `options.token))), undefined)`
      }
    ]
  ),
  ...changes(
    "packages/node/src/internal/undiciBody.ts",
    ["UndiciBody"],
    [
      {
        name: "a body that was read before is waited for",
        find: `    if (body.readableEnded) return onEnd()\n`,
        replace: ``
      },
      {
        name: "a body that was destroyed before is waited for",
        find: `    if (body.destroyed) return onClose()\n`,
        replace: ``
      },
      {
        name: "the error of a body that failed before is lost",
        find: `    if (body.errored !== null) return fail(body.errored)\n`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/node/src/UndiciClient.ts",
    ["HttpVersion"],
    [{ name: "the client speaks HTTP/2", find: `allowH2: false`, replace: `allowH2: true` }]
  )
]

import { changes } from "../Mutant.ts"

export const emulator = [
  ...changes(
    "packages/emulator/src/internal/Database.ts",
    ["Database"],
    [
      {
        name: "COMMIT in place of ROLLBACK",
        find: `database.exec("ROLLBACK")`,
        replace: `database.exec("COMMIT")`
      },
      {
        name: "a failure that work answers is kept",
        find: `if (isKept(result)) database.exec("COMMIT")`,
        replace: `if (isKept(result) || database.isTransaction) database.exec("COMMIT")`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/DamStore.ts",
    ["Workspaces"],
    [
      {
        name: "an asset of another Workspace is found",
        find: "asset: database.query(AssetRow, `${selectAsset} AND assets.id = :id`)",
        replace:
          'asset: database.query(AssetRow, `${selectAsset.replace("assets.workspace = :workspace", "(assets.workspace = :workspace OR 1)")} AND assets.id = :id`)'
      },
      {
        name: "a folder of another Workspace is found",
        find: `FROM folders WHERE workspace = :workspace AND id = :id`,
        replace: `FROM folders WHERE (workspace = :workspace OR 1) AND id = :id`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Creation.ts",
    ["Workspaces", "Lifecycle"],
    [
      {
        name: "an Assembly of another Workspace is replayed",
        find: `Option.filter(yield* assemblies.find(originalId), ({ workspace }) => workspace === authKey.workspace)`,
        replace: `yield* assemblies.find(originalId)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Authentication.ts",
    ["/Authentication.test", "Tokens", "Workspaces"],
    [
      {
        name: "the scope of a token is not capped by its Auth Key's",
        find: `(grants(scopes, scope) && grants(authKey.scopes, scope))`,
        replace: `grants(scopes, scope)`
      },
      {
        name: "a token opens all that its Auth Key may do",
        find: `(grants(scopes, scope) && grants(authKey.scopes, scope))`,
        replace: `grants(authKey.scopes, scope)`
      },
      {
        name: "a signature in capitals is another one",
        find: `? Option.some(canonical) : Option.none()`,
        replace: `? Option.some(signature) : Option.none()`
      },
      {
        name: "a signature of other params passes",
        find: `verify(authKey.value.secret, claim.text, claim.signature)`,
        replace: `verify(authKey.value.secret, JSON.stringify(claim.params), claim.signature)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/TokenRoute.ts",
    ["/Tokens.test", "Workspaces"],
    [
      {
        name: "a token has scopes that its Auth Key has not",
        find: `if (lacking.length > 0) {`,
        replace: `if (lacking.length > 99) {`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/BearerTokens.ts",
    ["/Tokens.test"],
    [
      {
        name: "a token of another secret passes",
        find: `if (!genuine) return yield* invalid`,
        replace: `if (!genuine && tag.length === 0) return yield* invalid`
      },
      {
        name: "a token never expires",
        find: `return expires <= now.epochMilliseconds ?`,
        replace: `return expires <= 0 * now.epochMilliseconds ?`,
        tests: ["/Tokens.test", "AuthenticationMethods"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/UsedSignatures.ts",
    ["/Authentication.test"],
    [
      {
        name: "a signature is used again",
        find: `return remember({ signature, expires: expires.epochMilliseconds }) === 1`,
        replace: `return remember({ signature, expires: expires.epochMilliseconds }) <= 1`
      },
      {
        name: "a used signature is forgotten while it is valid",
        find: `DELETE FROM used_signatures WHERE expires_at <= :now`,
        replace: `DELETE FROM used_signatures WHERE expires_at >= :now`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Refusal.ts",
    ["Disk"],
    [
      {
        name: "a full disk is an error of the emulator",
        find: `code: "SERVER_507", status: 507,`,
        replace: `code: "SERVER_500", status: 500,`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/tus/TusRefusal.ts",
    ["Disk"],
    [
      {
        name: "a full disk is an error of the emulator, to tus",
        find: `refusal("ERR_INSUFFICIENT_STORAGE", 507,`,
        replace: `refusal("ERR_INSUFFICIENT_STORAGE", 500,`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Storage.ts",
    ["Database", "Disk"],
    [
      {
        name: "a full database is a defect",
        find: `13: { code: "SQLITE_FULL", reason: "Full" },`,
        replace: `113: { code: "SQLITE_FULL", reason: "Full" },`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/tus/UploadLocks.ts",
    ["UploadLocks"],
    [
      {
        name: "an upload has two holders",
        find: `lock.semaphore.withPermit(Effect.suspend(() => work(Deferred.await(asked))))`,
        replace: `Effect.suspend(() => work(Deferred.await(asked)))`
      },
      {
        name: "who leaves takes the lock of the next one away",
        find: `if (lock.queue.size === 0) locks.delete(id)`,
        replace: `if (lock.queue.size >= 0) locks.delete(id)`
      },
      {
        name: "a holder is not asked to let go",
        find: `for (const earlier of lock.queue) Deferred.doneUnsafe(earlier, Effect.void)`,
        replace: `for (const earlier of lock.queue) Deferred.isDoneUnsafe(earlier)`,
        tests: ["UploadLocks", "/Tus.test", "TusExtensions"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Chance.ts",
    ["/Emulator.test"],
    [
      {
        name: "a seed gives the same ids after a restart",
        find: "SecureRandom.make(stream(`${seed}/${before}`))",
        replace: "SecureRandom.make(stream(`${seed}/${Math.min(before, 0)}`))"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/Emulator.ts",
    ["/Emulator.test"],
    [
      {
        name: "one Layer is two emulators",
        find: `Layer.fromBuildMemo((memoMap, scope) => Layer.buildWithMemoMap(Layer.fresh(parts(options)), memoMap, scope))`,
        replace: `Layer.fresh(parts(options))`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/tus/Uploads.ts",
    ["/Tus.test", "TusExtensions", "Requests"],
    [
      {
        name: "bytes are stored at another offset",
        find: `if (append.offset !== offset) return`,
        replace: `if (append.offset > offset) return`
      },
      {
        name: "a part of another Assembly is put together",
        find: `kind === "partial" && assembly_id === assembly.id`,
        replace: `kind === "partial" && assembly_id !== ""`
      },
      {
        name: "an Assembly that does not wait takes uploads",
        find: `assembly.state === "uploading" ? Effect.succeed(assembly)`,
        replace: `assembly.state !== undefined ? Effect.succeed(assembly)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/AssemblyStore.ts",
    ["/Assemblies.test", "Lifecycle", "TusExtensions"],
    [
      {
        name: "an Assembly that is over ends again",
        find: `UPDATE assemblies SET state = :state, ended_at = :now WHERE id = :id AND \${busy}`,
        replace: `UPDATE assemblies SET state = :state, ended_at = :now WHERE id = :id`
      },
      {
        name: "parts count as files",
        find: `AND kind IN ('ordinary', 'final')`,
        replace: `AND kind IN ('ordinary', 'final', 'partial')`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Workspaces.ts",
    ["/Emulator.test"],
    [
      {
        name: "a seed decides the secret",
        find: `Effect.provide(SecureRandom.layerWebCrypto)`,
        replace: `Effect.provideService(SecureRandom.SecureRandom, SecureRandom.make((size) => new Uint8Array(size)))`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Origin.ts",
    ["Hosts"],
    [
      {
        name: "any host is answered",
        find: `return hostname !== undefined && (isLoopback(hostname) || hostnames.has(hostname))`,
        replace: `return hostname !== undefined || hostnames.has(host)`
      },
      {
        name: "a name that begins like loopback is loopback",
        find: `hostname === "localhost" || hostname.endsWith(".localhost")`,
        replace: `hostname.startsWith("localhost") || hostname.endsWith(".localhost")`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Cors.ts",
    ["CrossSite"],
    [
      {
        name: "a page lists Assemblies",
        find: `["/assemblies", ["POST"]]`,
        replace: `["/assemblies", ["POST", "GET"]]`
      },
      {
        name: "a form of a foreign page changes something",
        find: `return isChange || preflight !== undefined ?`,
        replace: `return preflight !== undefined ?`
      },
      {
        name: "a page of the same site is the same page",
        find: `site !== "same-origin" && site !== "none"`,
        replace: `site === "cross-site"`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Address.ts",
    ["Address.test"],
    [
      {
        name: "an address that is not assigned is public",
        find: `parsed.kind() === "ipv4" || parsed.match(globalUnicast) ? "public" : "private"`,
        replace: `parsed.kind() === "ipv4" || globalUnicast.length > 0 ? "public" : "private"`
      },
      {
        name: "an IPv4 address that is written as IPv6 is another one",
        find: `ipaddr.process(address)`,
        replace: `ipaddr.parse(address)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Outbound.ts",
    ["Outbound"],
    [
      {
        name: "what a name is resolved to is not looked at",
        find: `addresses.filter(({ address }) => isWithin(reach, address))`,
        replace: `addresses.filter(({ address }) => isWithin("any", address))`
      },
      {
        name: "an address without a name is not looked at",
        find: `address !== undefined && !isWithin(reach, address)`,
        replace: `address !== undefined && !isWithin("any", address)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/Notifications.ts",
    ["NotifiedHosts"],
    [
      {
        name: "a bearer token lets this machine be notified",
        find: `isSigned ? "loopback" : "public"`,
        replace: `isSigned ? "loopback" : "loopback"`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/NotificationRoutes.ts",
    ["NotifiedHosts"],
    [
      {
        name: "who knows the id of an Assembly reads what was answered",
        find: `response_data: isKnown ? row.response_data : null`,
        replace: `response_data: isKnown || row.id !== "" ? row.response_data : null`
      },
      {
        name: "the key of another Workspace reads what was answered",
        find: `caller === undefined || caller.workspace === workspace`,
        replace: `caller === undefined || workspace !== ""`
      }
    ]
  )
]

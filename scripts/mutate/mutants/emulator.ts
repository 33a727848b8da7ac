import { changes } from "../Mutant.ts"

export const emulator = [
  ...changes(
    "packages/emulator/src/internal/files/resultRoutes.ts",
    ["Results"],
    [
      {
        name: "a stored page runs in the origin of the emulator",
        find: `attachment; filename*`,
        replace: `inline; filename*`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/files/byteRange.ts",
    ["Results"],
    [
      {
        name: "the header If-Range is ignored",
        find: `|| !isStillThat(condition, validators)`,
        replace: `|| isStillThat("", validators)`
      },
      {
        name: "a range after the end is empty",
        find: `return offset >= size ? "none"`,
        replace: `return offset > size ? "none"`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/database.ts",
    ["Database"],
    [
      {
        name: "a migration from before the Migrator runs again",
        find: `id > user_version`,
        replace: `id > Math.min(user_version, 0)`
      },
      {
        name: "a folder that is in use is a defect",
        find: `"LockTimeoutError"`,
        replace: `"ConnectionError"`,
        tests: ["CrashSafety"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/statement.ts",
    ["Database"],
    [
      {
        name: "an error of the disk is not StorageFailed",
        find: `SqlError.isSqlError(error)`,
        replace: `SqlError.isSqlError(error) && error.isRetryable`
      },
      {
        name: "an UPDATE without a row counts as a change",
        find: `.changes > 0`,
        replace: `.changes >= 0`,
        tests: ["/Assemblies.test", "Lifecycle", "/Authentication.test"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/damStatements.ts",
    ["Workspaces"],
    [
      {
        name: "the names of folders of another Workspace are taken",
        find: "SELECT name FROM folders WHERE workspace = ${workspace} AND",
        replace: "SELECT name FROM folders WHERE (workspace = ${workspace} OR 1) AND",
        tests: ["Workspaces"]
      },
      {
        name: "the names of assets of another Workspace are taken",
        find: "WHERE workspace = ${workspace} AND ${inFolder(folderId)}",
        replace: "WHERE (workspace = ${workspace} OR 1) AND ${inFolder(folderId)}",
        tests: ["Workspaces"]
      },
      {
        name: "an asset of another Workspace is found by its path",
        find: "${current} AND assets.workspace = ${workspace} AND ${inFolder",
        replace: "${current} AND (assets.workspace = ${workspace} OR 1) AND ${inFolder",
        tests: ["Workspaces"]
      },
      {
        name: "a version of an asset of another Workspace is found",
        find: "AND assets.workspace = ${workspace} AND assets.id = ${id}\n          AND versions.id",
        replace: "AND (assets.workspace = ${workspace} OR 1) AND assets.id = ${id}\n          AND versions.id",
        tests: ["Workspaces"]
      },
      {
        name: "the name of a deleted asset is taken",
        find: `AND deleted_at IS NULL AND NOT \${isAny("id", except)}`,
        replace: `AND NOT \${isAny("id", except)}`,
        tests: ["/Dam.test"]
      },
      {
        name: "an asset of another Workspace is found",
        find: "${current} AND assets.workspace = ${workspace} AND assets.id",
        replace: "${current} AND (assets.workspace = ${workspace} OR 1) AND assets.id"
      },
      {
        name: "many assets of another Workspace are found",
        find: "${current} AND +assets.workspace = ${workspace}",
        replace: "${current} AND (assets.workspace = ${workspace} OR 1)"
      },
      {
        name: "a folder of another Workspace is found",
        find: "${folders} WHERE workspace = ${workspace} AND id",
        replace: "${folders} WHERE (workspace = ${workspace} OR 1) AND id"
      },
      {
        name: "a deleted asset is found",
        find: "versions.id = assets.version_id WHERE assets.deleted_at IS NULL",
        replace: "versions.id = assets.version_id WHERE (assets.deleted_at IS NULL OR 1)",
        tests: ["/Dam.test"]
      },
      {
        name: "a version of a deleted asset is found",
        find: "WHERE assets.deleted_at IS NULL AND assets.workspace = ${workspace} AND assets.id",
        replace: "WHERE assets.workspace = ${workspace} AND assets.id",
        tests: ["/Dam.test"]
      },
      {
        name: "a page begins with the last asset of the page before",
        find: "position > ${after}",
        replace: "position >= ${after}",
        tests: ["DamListing"]
      },
      {
        name: "a walk through the pages includes assets that are stored later",
        find: " AND position <= ${until}",
        replace: " AND position <= ${until} + 9007199254740991",
        tests: ["DamListing"]
      },
      {
        name: "a name is looked for in the whole Workspace",
        find: "coalesce(folder_id, '') = ${folderId ?? \"\"}",
        replace: "folder_id IS ${folderId}",
        tests: ["DamCost"]
      },
      {
        name: "the assets of a list of ids are looked for in the whole Workspace",
        find: "AND +assets.workspace",
        replace: "AND assets.workspace",
        tests: ["DamCost"]
      },
      {
        name: "the content of a folder is looked for in the whole Workspace",
        find: "FROM tree CROSS JOIN folders",
        replace: "FROM tree JOIN folders",
        tests: ["DamCost"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/listing.ts",
    ["DamListing"],
    [
      {
        name: "a page leaves out the asset that proved that there is a page",
        find: "after: row.position - 1",
        replace: "after: row.position"
      },
      {
        name: "the next page reads assets again that do not match",
        find: "after: row.position - 1",
        replace: "after: assets.at(-1)?.position ?? 0",
        tests: ["DamCost"]
      },
      {
        name: "a page reads slices that do not grow",
        find: "slice = sliceFor(slice * 2)",
        replace: "slice = sliceFor(slice)",
        tests: ["DamCost"]
      },
      {
        name: "the prefix is compared in the normal form of the client",
        find: `prefix.normalize("NFC")`,
        replace: "prefix"
      },
      {
        name: "a prefix may be a lone surrogate",
        find: "if (!isWellFormed || !row",
        replace: "if (!row"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/cursor.ts",
    ["DamListing"],
    [
      {
        name: "a cursor without a valid tag is accepted",
        find: "if (!timingSafeEqual(",
        replace: "if (false && !timingSafeEqual("
      },
      { name: "a cursor of another prefix is accepted", find: `workspace, prefix]))`, replace: `workspace]))` },
      {
        name: "a cursor of another Workspace is accepted",
        find: `["dam list", workspace, prefix]`,
        replace: `["dam list", prefix]`,
        tests: ["Workspaces"]
      },
      {
        name: "a cursor has several forms",
        find: ` || bytes.toString("base64url") !== cursor`,
        replace: ""
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/damStore.ts",
    ["DamBulk"],
    [
      {
        name: "a change is not a transaction",
        find: "pipe(client.withTransaction, Statement.stored)",
        replace: "pipe(Statement.stored)"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/listedAssets.ts",
    ["DamBulk"],
    [
      {
        name: "an unknown asset of a list is ignored",
        find: `if (row === undefined) return yield* refuse("AssetNotFound", ["asset_ids", index])`,
        replace: `if (row === undefined) continue`
      },
      { name: "an asset may be listed twice", find: "if (repeated !== undefined)", replace: "if (repeated === -1)" }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/moving.ts",
    ["DamBulk"],
    [
      {
        name: "two assets get one name",
        find: "ListedAssets.firstRepeated(names) ?? names",
        replace: "names"
      },
      { name: "a path of many assets is too long", find: "if (long !== -1)", replace: "if (long === 0)" }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/entryMove.ts",
    ["DamEntries"],
    [
      {
        name: "a folder is moved into itself",
        find: "if (Option.isSome(folder) && destination",
        replace: "if (Option.isNone(folder) && destination"
      },
      {
        name: "a folder cannot be moved to a name that begins with its name",
        find: "destination.startsWith(`${source}/`)",
        replace: "destination.startsWith(source)"
      },
      {
        name: "what is in a moved folder gets a path that is too long",
        find: `if (isTooLong) return`,
        replace: `if (isTooLong && destination === "") return`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/storing.ts",
    ["DamBulk"],
    [
      {
        name: "a file gets the name of a folder",
        find: `if (Option.isSome(yield* sql.folderAt(place))) return`,
        replace: `if (place.name === "") return`,
        tests: ["DamEntries"]
      },
      {
        name: "repeated work stores its file again",
        find: "if (Option.isSome(made)) return",
        replace: 'if (Option.isSome(made) && madeBy === "") return'
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/dam/damRoutes.ts",
    ["Disk"],
    [
      {
        name: "the error of deleting one asset names asset_ids",
        find: `new Refused({ reason, path: [] })`,
        replace: `new Refused({ reason, path: ["asset_ids", 0] })`,
        tests: ["/Dam.test"]
      },
      {
        name: "a change that cannot be stored is not DAM_MUTATION_FAILED",
        find: `Refusal.named("DAM_MUTATION_FAILED", `,
        replace: `Refusal.server(507, `
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/assemblyListing.ts",
    ["/Assemblies.test", "Stops"],
    [
      {
        name: "a search reads only its first slice",
        find: `if (last === undefined || searched.length < slice) return found`,
        replace: `if (last === undefined || searched.length <= slice) return found`
      },
      {
        name: "keywords do not match letters of the same case",
        find: `lower(keyword.value)`,
        replace: `upper(keyword.value)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/slices.ts",
    ["Stops"],
    [{ name: "all files are read in one slice", find: `const size = 200`, replace: `const size = 1e9` }]
  ),
  ...changes(
    "packages/emulator/src/internal/robots/transloaditStore.ts",
    ["Amplification"],
    [
      {
        name: "the length of a path with variables has no limit",
        find: `if (path.length + piece.length > maxPath) return false`,
        replace: `if (path.length + piece.length < 0) return false`
      },
      {
        name: "the limit of a path before its normalisation is too small",
        find: `const maxPath = 4 * 1024`,
        replace: `const maxPath = 1024`
      },
      {
        name: "a variable such as toString has a value",
        find: `Object.hasOwn(values, key) ? values[key]`,
        replace: `key in values ? String(values[key])`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/creation.ts",
    ["/Limits"],
    [
      {
        name: "the emulator does not limit the size of a file",
        find: `maxSize === undefined ? limits.fileBytes :`,
        replace: `maxSize === undefined ? undefined :`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/authentication.ts",
    ["/Authentication.test", "Tokens", "Workspaces"],
    [
      {
        name: "the scopes of an Auth Key are not checked",
        find: `if (scope !== undefined && !grants(scopes, scope)) {`,
        replace: `if (scope === "nothing" && !grants(scopes, scope)) {`,
        tests: ["Scopes", "Workspaces"]
      },
      {
        name: "an Auth Key accepts any algorithm",
        find: `if (only !== null &&`,
        replace: `if (only !== null && only === "sha384" &&`,
        tests: ["/AuthKeys.test"]
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
    "packages/emulator/src/internal/auth/tokenRoutes.ts",
    ["/Tokens.test", "Workspaces"],
    [
      {
        name: "a token has scopes that its Auth Key lacks",
        find: `if (refused.length > 0) {`,
        replace: `if (refused.length > 99) {`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/bearerTokens.ts",
    ["/Tokens.test"],
    [
      {
        name: "a token of another secret passes",
        find: `if (!genuine) return yield* invalid`,
        replace: `if (!genuine && tag.length === 0) return yield* invalid`
      },
      {
        name: "the scope of a token is not capped by its Auth Key's",
        find: `scopes: shared(scopes, authKey.value.scopes) }`,
        replace: `scopes: [...scopes, ...shared([], [])] }`,
        tests: ["/AuthKeys.test", "Workspaces"]
      },
      {
        name: "a token has all scopes of its Auth Key",
        find: `scopes: shared(scopes, authKey.value.scopes) }`,
        replace: `scopes: [...authKey.value.scopes, ...shared([], [])] }`
      },
      {
        name: "a token never expires",
        find: `return expires <= now.epochMilliseconds`,
        replace: `return expires <= 0 * now.epochMilliseconds`,
        tests: ["/Tokens.test", "AuthenticationMethods"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/usedSignatures.ts",
    ["/Authentication.test"],
    [
      {
        name: "a signature is used again",
        find: `return isFirst`,
        replace: `return isFirst || !isFirst`
      },
      {
        name: "used signatures are remembered without a bound",
        find: `yield* forgetFirst`,
        replace: `void forgetFirst`,
        tests: ["Growth"]
      },
      {
        name: "a used signature is forgotten while it is valid",
        find: `WHERE expires_at <=`,
        replace: `WHERE expires_at >=`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/turns.ts",
    ["Turns"],
    [
      {
        name: "blocking work does not wait for its turn",
        find: `turn.withPermits(1)`,
        replace: `turn.withPermits(0)`
      },
      {
        name: "requests of other clients do not run between two turns",
        find: `Effect.andThen(Effect.yieldNow, work)`,
        replace: `work`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/updates.ts",
    ["Growth"],
    [
      {
        name: "a follower keeps the updates of every Assembly",
        find: `channels.get(update.assemblyId)`,
        replace: `[...channels.values()][0]`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/refusal.ts",
    ["Disk"],
    [
      {
        name: "a full disk is an error of the emulator",
        find: `server(507, `,
        replace: `server(500, `
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/tus/tusRefusal.ts",
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
    "packages/emulator/src/internal/data/storageFailure.ts",
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
    "packages/emulator/src/internal/tus/uploadLocks.ts",
    ["UploadLocks"],
    [
      {
        name: "an upload has two holders",
        find: `lock.semaphore.withPermit(Effect.suspend(() => work(Deferred.await(asked))))`,
        replace: `Effect.suspend(() => work(Deferred.await(asked)))`
      },
      {
        name: "a holder that leaves removes the lock of the next holder",
        find: `if (lock.queue.size === 0) locks.delete(id)`,
        replace: `if (lock.queue.size >= 0) locks.delete(id)`
      },
      {
        name: "a holder is not asked to release its lock",
        find: `for (const earlier of lock.queue) Deferred.doneUnsafe(earlier, Effect.void)`,
        replace: `for (const earlier of lock.queue) Deferred.isDoneUnsafe(earlier)`,
        tests: ["UploadLocks", "/Tus.test", "TusExtensions"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/seededRandom.ts",
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
        name: "one Layer starts two emulators",
        find: `Layer.fromBuildMemo((memoMap, scope) => Layer.buildWithMemoMap(Layer.fresh(parts(options)), memoMap, scope))`,
        replace: `Layer.fresh(parts(options))`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/tus/uploads.ts",
    ["/Limits"],
    [
      {
        name: "an Assembly may have any number of uploads",
        find: `(yield* uploads.count(assembly.id)) >= limits.files`,
        replace: `(yield* uploads.count(assembly.id)) < 0`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/assemblyStore.ts",
    ["/Assemblies.test", "Lifecycle", "TusExtensions"],
    [
      {
        name: "an Assembly that has ended ends again",
        find: "${sql.update({ state, ended_at: millis })} WHERE id = ${id} AND ${busy}",
        replace: "${sql.update({ state, ended_at: millis })} WHERE id = ${id}"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/migrations.ts",
    ["UploadCounts"],
    [
      {
        name: "parts count as files",
        find: `AND new.finished_at IS NOT NULL AND new.kind IN ('ordinary', 'final')`,
        replace: `AND new.finished_at IS NOT NULL AND new.kind IN ('ordinary', 'final', 'partial')`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/workspaces.ts",
    ["/Emulator.test"],
    [
      {
        name: "a failed start stores a part of the Workspaces",
        find: `.pipe(sql.withTransaction, Statement.stored)`,
        replace: `.pipe((work) => (sql.driver === "" ? sql.withTransaction(work) : work), Statement.stored)`,
        tests: ["Workspaces", "Templates"]
      },
      {
        name: "an inactive Auth Key may move to another Workspace",
        find: `yield* authKeys.ownerOf(key)`,
        replace: `Option.map(yield* authKeys.find(key), (one) => one.workspace)`,
        tests: ["AuthKeyState"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/authKeys.ts",
    ["AuthKeyState"],
    [
      {
        name: "the secret depends on the seed",
        find: `Effect.provide(SecureRandom.layerWebCrypto)`,
        replace: `Effect.provideService(SecureRandom.SecureRandom, SecureRandom.make((size) => new Uint8Array(size)))`,
        tests: ["/Emulator.test"]
      },
      {
        name: "an inactive Auth Key authenticates",
        find: `WHERE key = \${key} AND is_active = 1`,
        replace: `WHERE key = \${key}`
      },
      {
        name: "the token of an inactive Auth Key is accepted",
        find: `WHERE id = \${id} AND is_active = 1`,
        replace: `WHERE id = \${id}`
      },
      {
        name: "the use of an Auth Key is a use of all",
        find: `SET last_used_at = \${now} WHERE id = \${id}`,
        replace: `SET last_used_at = \${now} WHERE id = \${id} OR 1`,
        tests: ["AuthKeyState"]
      },
      {
        name: "every request writes when its Auth Key was used",
        find: `if (last_used_at !== null && now - last_used_at < precision) return`,
        replace: `if (last_used_at !== null && now - last_used_at < 0) return`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/authKeyRecords.ts",
    ["/AuthKeys.test"],
    [
      {
        name: "a new Auth Key has scopes that its creator lacks",
        find: `yield* checkScopes(scopes, request.scope)`,
        replace: `yield* checkScopes(request.scope, request.scope)`
      },
      {
        name: "an Auth Key extends itself",
        find: `yield* checkScopes(scopes, scope ?? [])`,
        replace: `yield* checkScopes(scopes, scope === undefined ? [] : [])`
      },
      {
        name: "a request manages stronger Auth Keys",
        find: `yield* checkScopes(scopes, row.value.scopes)`,
        replace: `yield* checkScopes(scopes, [])`
      },
      {
        name: "a token manages what its Auth Key may",
        find: `shared(caller.scopes, own.scopes)`,
        replace: `shared(own.scopes, own.scopes)`
      },
      {
        name: "a deleted Auth Key still creates others",
        find: `onNone: () => []`,
        replace: `onNone: () => caller.scopes`,
        tests: ["AuthKeyState"]
      },
      {
        name: "an Auth Key of another Workspace is managed",
        find: `AND workspace = \${workspace}`,
        replace: `AND workspace <> \${workspace + "?"}`
      },
      {
        name: "every secret is shown",
        find: `if (can_show_auth_secret === 0) return yield* isHidden`,
        replace: `if (can_show_auth_secret === undefined) return yield* isHidden`
      },
      {
        name: "the last Auth Key is deleted",
        find: `yield* checkManaged(caller.workspace, isLast)`,
        replace: ``,
        tests: ["/AuthKeys.test", "AuthKeyState"]
      },
      {
        name: "the last Auth Key that can create others gives up its scope",
        find: `yield* checkManaged(caller.workspace, keepsLast)`,
        replace: ``,
        tests: ["/AuthKeys.test"]
      },
      {
        name: "a Workspace has any number of Auth Keys",
        find: `if (count < most) return`,
        replace: `if (count < most * 1000) return`,
        tests: ["AuthKeyRequests"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/authKeyRoutes.ts",
    ["AuthKeyRequests"],
    [
      {
        name: "an Auth Key has unknown scopes",
        find: `isKnownScope(text) ? []`,
        replace: `isKnownScope(text) || text !== "" ? []`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/route.ts",
    ["/AuthKeys.test"],
    [
      {
        name: "a cache keeps a secret",
        find: `{ headers: { "cache-control": "no-store" } }`,
        replace: `{ headers: { "x-cache-control": "no-store" } }`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/notifications/notifications.ts",
    ["AuthKeyState"],
    [
      {
        name: "a notification is signed with the Auth Key of another Workspace",
        find: `({ workspace }) => workspace === assembly.workspace`,
        replace: `({ workspace }) => workspace !== ""`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/origin.ts",
    ["Hosts"],
    [
      {
        name: "a request with any host is accepted",
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
    "packages/emulator/src/internal/http/cors.ts",
    ["CrossSite"],
    [
      {
        name: "a page of another origin may list Assemblies",
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
    "packages/emulator/src/internal/http/ipAddress.ts",
    ["Address.test"],
    [
      {
        name: "an IPv6 address that is not assigned is public",
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
    "packages/emulator/src/internal/notifications/notificationClient.ts",
    ["NotificationClient"],
    [
      {
        name: "the resolved address of a host is not checked",
        find: `addresses.filter(({ address }) => isWithin(reach, address))`,
        replace: `addresses.filter(({ address }) => isWithin("any", address))`
      },
      {
        name: "an IP address as a host is not checked",
        find: `address !== undefined && !isWithin(reach, address)`,
        replace: `address !== undefined && !isWithin("any", address)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/notifications/notifications.ts",
    ["NotifiedHosts"],
    [
      {
        name: "any number of notifications is under way",
        find: `const room = limits.notifications - underWay`,
        replace: `const room = limits.notifications + underWay`,
        tests: ["ManyNotifications"]
      },
      {
        name: "a bearer token lets this machine be notified",
        find: `isSigned ? "loopback" : "public"`,
        replace: `isSigned ? "loopback" : "loopback"`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/notifications/notificationRoutes.ts",
    ["NotifiedHosts"],
    [
      {
        name: "an id alone shows the responses of receivers",
        find: `response_data: isKnown ? row.response_data : null`,
        replace: `response_data: isKnown || row.id !== "" ? row.response_data : null`
      },
      {
        name: "another Workspace sees the responses of receivers",
        find: `caller === undefined || caller.workspace === workspace`,
        replace: `caller === undefined || workspace !== ""`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/form.ts",
    ["/Limits"],
    [
      {
        name: "a field of a form may have any size",
        find: `if (bytes > limits.formBytes) return yield* tooLong(limits)`,
        replace: `if (bytes < 0) return yield* tooLong(limits)`
      },
      {
        name: "a form may have any number of fields",
        find: `if (fields.length > limits.formFields) return`,
        replace: `if (fields.length < 0) return`
      },
      {
        name: "a body is read whole before its size counts",
        find: `if (bytes > limits.formBytes) return Effect.fail(tooLong(limits))`,
        replace: `if (bytes < 0) return Effect.fail(tooLong(limits))`
      },
      {
        name: "a query may have one field too many",
        find: `limits.formFields - 1)`,
        replace: `limits.formFields)`
      },
      {
        name: "the fields of a form have no time limit",
        find: `Effect.timeoutOrElse(reading, { duration: formTime,`,
        replace: `Effect.timeoutOrElse(reading, { duration: "1 day",`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/json.ts",
    ["/Limits"],
    [
      {
        name: "an inherited property is a value",
        find: `Object.hasOwn(object, key) ? object[key] : undefined`,
        replace: `object[key]`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/route.ts",
    ["/Limits"],
    [
      {
        name: "params are parsed however deep they are",
        find: `if (!Json.isWithin(text, limits.jsonDepth)) {`,
        replace: `if (!Json.isWithin(text, 1e9)) {`
      },
      {
        name: "a field such as toString is renamed",
        find: `Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name`,
        replace: `aliases[name] ?? name`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/linearPattern.ts",
    ["/Limits"],
    [
      {
        name: "a pattern is matched with backtracking",
        find: `compiled.programSize() <= maxProgram && compiled.test(text)`,
        replace: `new RegExp(pattern).test(text)`
      },
      {
        name: "a pattern may become a program of any size",
        find: `compiled.programSize() <= maxProgram && compiled`,
        replace: `compiled`
      },
      {
        name: "a pattern may repeat any number of times",
        find: ` || repetitions(pattern) > maxRepetitions`,
        replace: ``
      },
      {
        name: "a referer may be of any length",
        find: ` || text.length > maxText`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/execution.ts",
    ["/Limits"],
    [
      {
        name: "Steps may make any number of files",
        find: `files + more > results ?`,
        replace: `files + more < 0 ?`
      },
      {
        name: "Steps may make any number of bytes",
        find: `if (bytes > resultBytes)`,
        replace: `if (bytes < 0)`
      },
      {
        name: "Steps may make a Status of any size",
        find: `if (text > resultText)`,
        replace: `if (text < 0)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/steps.ts",
    ["/Limits"],
    [
      {
        name: "a Step may use any number of others",
        find: `if (countOf(use) > limits.steps)`,
        replace: `if (countOf(use) < 0)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/templates/templateMerge.ts",
    ["Templates"],
    [
      {
        name: "a Template allows Steps in the request although it denies them",
        find: `content.allow_steps_override === false && steps !== undefined`,
        replace: `content.allow_steps_override === false && steps === null`
      },
      {
        name: "a Template overrides the params",
        find: `Json.merge(content, params)`,
        replace: `Json.merge(params, content)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/instructions.ts",
    ["/Limits"],
    [
      {
        name: "an Assembly may have any number of Steps",
        find: `if (countOf(merged["steps"]) > limits.steps)`,
        replace: `if (countOf(merged["steps"]) < 0)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/files/formFiles.ts",
    ["/Limits"],
    [
      {
        name: "a form may bring any number of files",
        find: `if (index >= limits.files)`,
        replace: `if (index < 0)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/connections.ts",
    ["/Limits"],
    [
      {
        name: "a body may pause for ever",
        find: `exchange?.request.complete === true && !exchange`,
        replace: `!exchange?`
      },
      {
        name: "an idle connection stays",
        find: `const isAnswering = exchange?.request.complete === true && !exchange.response.writableFinished`,
        replace: `const isAnswering = exchange?.request.complete === true`
      },
      {
        name: "any number of connections may be open",
        find: `server.maxConnections = connections`,
        replace: `server.maxConnections = connections + 1`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/readablePath.ts",
    ["/Limits"],
    [
      {
        name: "a request whose path is not UTF-8 gets no response",
        find: `return isReadable(request.url) ? yield* handler`,
        replace: `return isReadable("") ? yield* handler`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/notifications/notificationRoutes.ts",
    ["NotifiedHosts"],
    [
      {
        name: "a token replays a signed Assembly to this machine",
        find: `(params.notifyUrl === undefined && assembly.value.is_signed === 1)`,
        replace: `assembly.value.is_signed === 1`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/creation.ts",
    ["NotifiedHosts"],
    [
      {
        name: "a replay by token notifies this machine",
        find: `isSigned: authKey.isSigned,
      // The replay reports`,
        replace: `isSigned: true,
      // The replay reports`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/form.ts",
    ["/Limits"],
    [
      {
        name: "the characters of a field count, not its bytes",
        find: `Buffer.byteLength(part.key) + Buffer.byteLength(part.value)`,
        replace: `part.key.length + part.value.length`
      },
      {
        name: "the fields of a multipart form may trickle in",
        find: `inTime(limits)(fromMultipart(request, limits))`,
        replace: `fromMultipart(request, limits)`
      },
      { name: "one field has no end", find: `maxFieldSize: limits.formBytes`, replace: `maxFieldSize: 8e9` }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/steps.ts",
    ["/Limits"],
    [
      {
        name: "a name such as toString is a Step",
        find: `used !== original && !Object.hasOwn(steps, used)`,
        replace: `used !== original && !(used in steps)`
      },
      {
        name: "a Step without a name for the uploads waits for :original",
        find: `new Set([...given, ...ordered`,
        replace: `new Set([...ordered`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/auth/linearPattern.ts",
    ["/Limits"],
    [
      {
        name: "a pattern may become any number of instructions",
        find: `compiled.programSize() <= maxProgram && `,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/notifications/notificationClient.ts",
    ["NotificationClient"],
    [
      {
        name: "a notification is sent to an address that is not permitted",
        find: `else callback(null, first.address, first.family)`,
        replace: `else callback(null, addresses[0]!.address, addresses[0]!.family)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/cors.ts",
    ["CrossSite"],
    [{ name: "a page of the public URL is a foreign one", find: ` && origin !== baseUrl`, replace: `` }]
  ),
  ...changes(
    "packages/emulator/src/internal/tus/uploads.ts",
    ["/Limits"],
    [
      {
        name: "a final creation does not count",
        find: `    yield* checkCount(assembly)
    const parts`,
        replace: `    const parts`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/tus/uploads.ts",
    ["/Tus.test"],
    [
      {
        name: "a finished upload ignores a body without content-length",
        find: `Effect.raceFirst(requireNoBytes(append.bytes), whenAsked)`,
        replace: `Effect.void`
      },
      {
        name: "a body that never begins keeps the lock of a finished upload",
        find: `Effect.raceFirst(requireNoBytes(append.bytes), whenAsked)`,
        replace: `requireNoBytes(append.bytes)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/server.ts",
    ["EarlyRequests"],
    [
      {
        name: "a request that arrives before the routes is forgotten",
        find: `for (const [request, response] of early) server.emit("request", request, response)`,
        replace: `early.length = 0`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/sessions.ts",
    ["Tls.test"],
    [
      {
        name: "an HTTP/2 connection that begins no request stays open",
        find: `let closing = closeAfter(toMillis(headersTime))`,
        replace: `let closing = closeAfter(1e9)`
      },
      {
        name: "an HTTP/2 connection that waits for nothing stays open",
        find: `if (open === 0 && !session.destroyed) closing = closeAfter(keepAlive)`,
        replace: `if (open === 0 && session.destroyed) closing = closeAfter(keepAlive)`
      },
      {
        name: "an upload over HTTP/2 that pauses stays open",
        find: `if (!isAnswering) stream.close(`,
        replace: `if (isAnswering) stream.close(`
      },
      {
        name: "an answer over HTTP/2 whose events are far apart is closed",
        find: `const isAnswering = (stream.endAfterHeaders || stream.readableEnded) && !stream.writableFinished`,
        replace: `const isAnswering = false`
      },
      {
        name: "headers of HTTP/2 have any size",
        find: `maxHeaderListSize: headers * answered`,
        replace: `maxHeaderListSize: 1e6`
      },
      {
        name: "an HTTP/2 connection has any number of requests under way",
        find: `enablePush: false, maxConcurrentStreams,`,
        replace: `enablePush: false,`
      },
      {
        name: "a handshake may take any time",
        find: `handshakeTimeout: toMillis(headersTime)`,
        replace: `handshakeTimeout: 120_000`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/headerLimit.ts",
    ["Tls.test"],
    [
      {
        name: "large headers of HTTP/2 are answered",
        find: `request.httpVersionMajor === 2 &&`,
        replace: `request.httpVersionMajor === 3 &&`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/certificate.ts",
    ["Tls.test"],
    [
      {
        name: "the certificate is one of no name of this machine",
        find: `{ type: 7 as const, ip: "127.0.0.1" },`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/seededRandom.ts",
    ["Emulator"],
    [
      {
        name: "a seed gives an id twice",
        find: `\${counter++}`,
        replace: `\${counter}`
      }
    ]
  )
]

import { changes } from "../Mutant.ts"

/** Mutations of Templates, Template Credentials and replays of the emulator. */
export const emulatorTemplates = [
  ...changes(
    "packages/emulator/src/internal/templateCredentials/credentialStore.ts",
    ["TemplateCredentials"],
    [
      {
        name: "credentials of another Workspace are read",
        find: "first(sql`SELECT * FROM template_credentials WHERE workspace = ${workspace} AND id = ${id}`)",
        replace: "first(sql`SELECT * FROM template_credentials WHERE (workspace = ${workspace} OR 1) AND id = ${id}`)"
      },
      {
        name: "credentials of another Workspace are deleted",
        find: "DELETE FROM template_credentials WHERE workspace = ${workspace} AND id",
        replace: "DELETE FROM template_credentials WHERE (workspace = ${workspace} OR 1) AND id"
      },
      {
        name: "credentials of all Workspaces are listed",
        find: "SELECT * FROM template_credentials WHERE workspace = ${workspace}\n          ORDER",
        replace: "SELECT * FROM template_credentials WHERE workspace = ${workspace} OR 1\n          ORDER"
      },
      {
        name: "credentials of another Workspace have the name",
        find: "FROM template_credentials WHERE workspace = ${workspace}`)",
        replace: "FROM template_credentials WHERE workspace = ${workspace} OR 1`)"
      },
      {
        name: "a change renames credentials to a name of others",
        find: `if ((yield* count(workspace, id, name)).same > 0)`,
        replace: `if ((yield* count(workspace, id, name)).same < 0)`
      },
      {
        name: "a change of credentials has no time",
        find: `const modified_at = (yield* DateTime.now).epochMilliseconds`,
        replace: `const modified_at = row.value.modified_at`
      },
      { name: "any number of credentials", find: `if (total >= max)`, replace: `if (total > max)` },
      {
        name: "Steps use credentials of another Workspace",
        find: "SELECT name FROM template_credentials WHERE workspace = ${workspace}",
        replace: "SELECT name FROM template_credentials WHERE (workspace = ${workspace} OR 1)",
        tests: ["UsedCredentials"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/templateCredentials/credentialRoutes.ts",
    ["TemplateCredentials"],
    [
      { name: "a name has any length", find: `name.length <= maxName && `, replace: `` },
      { name: "a name is half a character", find: ` && name.isWellFormed()`, replace: `` },
      {
        name: "a content has any size",
        find: `JSON.stringify(content).length > maxContent`,
        replace: `JSON.stringify(content).length < 0`
      },
      {
        name: "a change is not checked",
        find: `...contentProblems(type, merged)`,
        replace: `...(merged === value ? contentProblems(type, merged) : [])`
      },
      {
        name: "a secret of another type stays",
        find: `request.content === undefined || type !== before.type`,
        replace: `request.content === undefined`
      },
      {
        name: "a page after the last one has credentials",
        find: `page === 1 ? yield*`,
        replace: `page >= 1 ? yield*`
      },
      {
        name: "an unknown id that breaks a rule is invalid",
        find: `path[0] === "credentialId"`,
        replace: `path[0] === ""`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/templateCredentials/credentialTypes.ts",
    ["TemplateCredentials"],
    [
      {
        name: "a name such as toString is a type",
        find: `Object.hasOwn(types, name) ? types[name] : undefined`,
        replace: `types[name]`
      },
      {
        name: "a field need not be a string",
        find: `if (typeof value !== "string") return "Expected a text"`,
        replace: ``
      },
      {
        name: "a change keeps every stored field",
        find: `.filter(([field]) => isKept(field) && `,
        replace: `.filter(([field]) => (isKept(field) || field !== "") && `
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/templateCredentials/usedCredentials.ts",
    ["UsedCredentials"],
    [
      {
        name: "Steps name credentials that do not exist",
        find: `if (existing.has(value) || hasVariable(value))`,
        replace: `if (existing.has(value) || value !== "")`
      },
      {
        name: "only the first of several credentials is checked",
        find: `? credentials.map(`,
        replace: `? credentials.slice(0, 1).map(`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/instructions.ts",
    ["UsedCredentials"],
    [
      {
        name: "credentials are not checked",
        find: `yield* UsedCredentials.check(workspace, decoded.steps ?? {})`,
        replace: `yield* UsedCredentials.check(workspace, {})`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/creation.ts",
    ["TemplateOperations"],
    [
      {
        name: "a replay loses the Steps that it does not change",
        find: `{ steps: Json.merge(original.steps, steps) }`,
        replace: `{ steps: request.steps ?? original.steps }`
      },
      {
        name: "a replacement that is refused cancels the Assembly",
        find: `yield* refuseIfReceiving(row.id, own)
      yield* endReplaced`,
        replace: `yield* endReplaced`,
        tests: ["Replacements"]
      },
      {
        name: "a replacement cancels an Assembly of another Workspace",
        find: `Option.filter(yield* assemblies.find(id), (row) => row.workspace === workspace)`,
        replace: `Option.filter(yield* assemblies.find(id), (row) => row.workspace !== "")`,
        tests: ["Replacements"]
      },
      {
        name: "the old upload form adds files to the new Assembly",
        find: `form !== own && form.assemblyId === id`,
        replace: `form.assemblyId === ""`,
        tests: ["Replacements"]
      },
      {
        name: "a form that was broken off is received for ever",
        find: `(own) => Effect.sync(() => forms.delete(own))`,
        replace: `(own) => Effect.sync(() => forms.has(own))`,
        tests: ["Replacements"]
      },
      {
        name: "a busy Assembly is not canceled before its replacement",
        find: `yield* endReplaced(row.id, row.workspace)`,
        replace: ``,
        tests: ["Replacements"]
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/archive.ts",
    ["Replacements"],
    [
      {
        name: "an Assembly of another Workspace is replaced",
        find: "WHERE id = ${id} AND workspace = ${workspace} AND state",
        replace: "WHERE id = ${id} AND (workspace = ${workspace} OR 1) AND state"
      },
      {
        name: "a busy Assembly is replaced",
        find: `state NOT IN ('uploading', 'executing')`,
        replace: `state NOT IN ('executing')`
      },
      {
        name: "a scheduled notification tells of the new Assembly",
        find: "yield* sql`DELETE FROM notifications WHERE assembly_id = ${id} AND due_at IS NOT NULL`.raw",
        replace: ""
      },
      {
        name: "the new Assembly has the uploads of the replaced one",
        find: `["notifications", "uploads", "upload_counts", "searches"]`,
        replace: `["notifications", "upload_counts", "searches"]`
      },
      {
        name: "a replay works on the uploads of the new Assembly",
        find: "yield* sql`UPDATE assemblies SET uploads_from = ${to} WHERE uploads_from = ${id}`.raw",
        replace: ""
      },
      {
        name: "the new Assembly stores no asset",
        find: "WHERE made_by > ${`${id}/`} AND made_by",
        replace: "WHERE made_by > ${`${id}0`} AND made_by"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/notifications/notifications.ts",
    ["Replacements"],
    [
      {
        name: "an attempt that fails is repeated for the Assembly that replaced its own",
        find: `if (!isCurrent || isFinal ||`,
        replace: `if (isFinal ||`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/templates/templateStore.ts",
    ["TemplateOperations"],
    [
      {
        name: "concurrent changes undo each other",
        find: `return yield* create(workspace, row.value.id, next(row.value))
      }).pipe(sql.withTransaction, Statement.stored)`,
        replace: `yield* Effect.yieldNow
        return yield* create(workspace, row.value.id, next(row.value))
      }).pipe(Statement.stored)`
      },
      {
        name: "a Template is found by its name before its id",
        find: "ORDER BY id = ${idOrName} DESC",
        replace: "ORDER BY id = ${idOrName} ASC"
      },
      {
        name: "a change of a Template has no time",
        find: `, modified_at = excluded.modified_at`,
        replace: ``
      },
      {
        name: "a Template of another Workspace is found by its name",
        find: "workspace = ${workspace} AND (id = ${idOrName} OR name = ${idOrName})",
        replace: "(workspace = ${workspace} OR 1) AND (id = ${idOrName} OR name = ${idOrName})"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/templates/templateRoutes.ts",
    ["TemplateOperations"],
    [
      {
        name: "Templates are listed by their change, if no order is asked",
        find: `sort = "created"`,
        replace: `sort = "modified"`
      },
      {
        name: "a list of only Builtin Templates has others",
        find: `params.includeBuiltin?.startsWith("exclusively-")`,
        replace: `params.includeBuiltin?.startsWith("only-")`
      },
      {
        name: "a change resets the settings that it does not name",
        find: `...(request.requireSignatureAuth === undefined
    ? {}`,
        replace: `...(request.requireSignatureAuth === undefined
    ? { require_signature_auth: 0 as const }`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/textField.ts",
    ["TemplateCredentials"],
    [
      {
        name: "a text may be nested too deeply",
        find: `if (!Json.isWithin(text, depth))`,
        replace: `if (!Json.isWithin(text, 1e9))`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/steps.ts",
    ["/Limits"],
    [
      {
        name: "a Step has an invalid use",
        find: `if (!references.every(Instructions.isReference))`,
        replace: `if (!references.some(Instructions.isReference))`,
        tests: ["/Assemblies.test"]
      },
      {
        name: "a Step that uses another Step twice gets its files once",
        find: `const names = references.map((used) => used.name)`,
        replace: `const names = [...new Set(references.map((used) => used.name))]`
      }
    ]
  )
]

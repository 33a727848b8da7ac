import { changes } from "../Mutant.ts"

export const schema = [
  ...changes(
    "packages/schema/src/Assembly.ts",
    ["test/Assembly.test"],
    [
      {
        name: "ok wins over error",
        find: `if (errorCode(standing) !== undefined) return "Failed"`,
        replace: `if (errorCode(standing) !== undefined && typeof standing.ok !== "string") return "Failed"`
      },
      {
        name: "an empty error is one",
        find: `typeof error === "string" && error !== "" ? error : undefined`,
        replace: `typeof error === "string" ? error : undefined`
      },
      {
        name: "an unknown ok is an end",
        find: `return now !== "Busy" && now !== "Unknown"`,
        replace: `return now !== "Busy"`
      },
      {
        name: "the URLs in a Status may belong to another Assembly",
        find: `[status["assembly_id"], status["assemblyId"], ...addresses.map((key) => idIn(status[key]))].some(`,
        replace: `[status["assembly_id"], status["assemblyId"]].some(`
      },
      {
        name: "original_id is one id",
        find: `original_id: lenient(Schema.Union([Schema.String, Schema.Array(Schema.NullOr(Schema.String))])),`,
        replace: `original_id: text,`,
        tests: ["test/Assembly.test", "SecondOpinion"]
      }
    ]
  ),
  ...changes(
    "packages/schema/src/AuthKey.ts",
    ["PathSegment"],
    [
      {
        name: "the id of an Auth Key is another path",
        find: `AuthKeyId = pathSegment()`,
        replace: `AuthKeyId = NonEmptyString`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/TemplateCredential.ts",
    ["PathSegment"],
    [
      {
        name: "the id of Template Credentials is another path",
        find: `CredentialId = pathSegment()`,
        replace: `CredentialId = NonEmptyString`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/DamEntries.ts",
    ["/DamEntries"],
    [
      {
        name: "a page of assets has more than the maximum",
        find: `{ minimum: 1, maximum: 500 }`,
        replace: `{ minimum: 1, maximum: 501 }`
      },
      { name: "no asset is changed", find: `isBetweenLength(1, 500`, replace: `isBetweenLength(0, 500` },
      {
        name: "more assets are changed than allowed",
        find: `isBetweenLength(1, 500`,
        replace: `isBetweenLength(1, 501`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/DamEntries.ts",
    ["testing"],
    [
      {
        name: "a path may contain the name ..",
        find: `.every((name) => isName(name))`,
        replace: `.every((name) => isName(name) || name === "..")`
      },
      {
        name: "a path of an entry has several slashes at its start",
        find: `.replace(/^\\//, "")`,
        replace: `.replace(/^\\/+/, "")`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/internal/lenient.ts",
    ["test/Assembly.test"],
    [
      {
        name: "an invalid optional field makes the Status invalid",
        find: `Schema.optionalKey(Schema.catchDecoding<S>(() => Effect.succeedNone)(schema))`,
        replace: `Schema.optionalKey(schema)`
      },
      {
        name: "one invalid item makes the list invalid",
        find: `(Array.isArray(input) ? input.filter(Predicate.isObject) : input)`,
        replace: `input`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/internal/listDate.ts",
    ["AssemblyList"],
    [
      {
        name: "fromDate leaves out what happened in its second",
        find: `export const FromDate = listDate(Math.floor)`,
        replace: `export const FromDate = listDate(Math.ceil)`
      },
      {
        name: "toDate leaves out what happened in its second",
        find: `export const ToDate = listDate(Math.ceil)`,
        replace: `export const ToDate = listDate(Math.floor)`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/SecureUrl.ts",
    ["Scalar"],
    [
      {
        name: "http is secure everywhere",
        find: `if (url.protocol === "http:" && !isLoopback(url.hostname))`,
        replace: `if (url.protocol === "http:" && url.hostname === "")`
      },
      {
        name: "a URL may contain empty user info",
        find: `url.username !== "" || url.password !== "" || text.split("/")[2]?.includes("@") === true`,
        replace: `url.username !== "" || url.password !== ""`
      },
      {
        name: "a query may be empty",
        find: `text.includes("?") || text.includes("#")`,
        replace: `url.search !== "" || url.hash !== ""`
      },
      {
        name: "a backslash is part of a URL",
        find: `/[\\s\\\\\\u0000-\\u001f\\u007f-\\u009f]/.test(text)`,
        replace: `/[\\s\\u0000-\\u001f\\u007f-\\u009f]/.test(text)`
      },
      {
        name: "a URL may contain a control character beyond ASCII",
        find: `/[\\s\\\\\\u0000-\\u001f\\u007f-\\u009f]/.test(text)`,
        replace: `/[\\s\\\\\\u0000-\\u001f\\u007f]/.test(text)`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/ServiceOrigins.ts",
    ["ServiceOrigins"],
    [
      {
        name: "an origin with the prefix of a cell belongs to any service",
        find: `origin.endsWith(after) &&`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/schema/src/internal/metadata.ts",
    ["TusUpload"],
    [
      {
        name: "the last of two equal metadata keys counts",
        find: `else if (found.has(key)) broken(`,
        replace: `else if (found.has("")) broken(`
      },
      {
        name: "invalid UTF-8 in metadata is replaced",
        find: `new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })`,
        replace: `new TextDecoder("utf-8", { ignoreBOM: true })`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/ServiceOrigins.ts",
    ["ServiceOrigins"],
    [
      {
        name: "a host need not be in its canonical form",
        find: `? origin : undefined
}`,
        replace: `? origin : origin
}`
      },
      {
        name: "a pattern matches more than one label",
        find: `/^[a-z0-9-]+$/.test(`,
        replace: `/^[a-z0-9.-]+$/.test(`
      },
      {
        name: "every service has the cells of the public service",
        find: `if (isPublic(own)) return`,
        replace: `if (own !== "") return`
      },
      {
        name: "each loopback address includes the others",
        find: `hostname === "localhost" ? [`,
        replace: `isLoopback(hostname) ? [`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/internal/loopback.ts",
    ["Scalar", "ServiceOrigins"],
    [
      {
        name: "a host that begins like loopback is loopback",
        find: `/^127\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}$/.test(hostname)`,
        replace: `/^127\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}/.test(hostname)`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/Json.ts",
    ["Json"],
    [
      {
        name: "JSON of any depth is parsed",
        find: `if (depth > most) return false`,
        replace: `if (depth < 0) return false`
      },
      {
        name: "JSON may be one level deeper",
        find: `if (depth > most) return false`,
        replace: `if (depth > most + 1) return false`
      },
      {
        name: "a bracket in a string is a level",
        find: `index = endOfString(text, index)
        if (index === -1) return true`,
        replace: `if (index < 0) return true`
      },
      {
        name: "an escaped quote ends a string",
        find: `while (end !== -1 && isEscaped(text, end)) end`,
        replace: `while (end !== -1 && isEscaped(text, 0)) end`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/Json.ts",
    ["Json"],
    [
      {
        name: "the deepest permitted level is refused",
        find: `depth > most`,
        replace: `depth >= most`
      },
      {
        name: "the levels in a string without an end count",
        find: `if (index === -1) return true`,
        replace: `if (index === -1) return false`
      }
    ]
  ),
  ...changes(
    "packages/schema/src/ServiceOrigins.ts",
    ["ServiceOrigins"],
    [
      {
        name: "any URL below the Status of an Assembly is its Status",
        find: `([a-f0-9]{32})$/i`,
        replace: `([a-f0-9]{32})/i`
      }
    ]
  )
]

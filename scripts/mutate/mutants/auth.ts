import { changes } from "../Mutant.ts"

export const auth = [
  ...changes(
    "packages/auth/src/Redaction.ts",
    ["Redaction"],
    [
      {
        name: "a text is cut before it is redacted",
        find: `const redacted = redact(text.slice(0, most), secrets)`,
        replace: `const redacted = redact(text.slice(0, max), secrets)`
      },
      {
        name: "a text whose end was not read looks complete",
        find: `return text.length > most && safe.length <= max ?`,
        replace: `return text.length > 2 * most ?`
      },
      {
        name: "each text in JSON may use the whole limit of characters",
        find: `left = Math.max(0, most - part.length)`,
        replace: `left = most`
      },
      {
        name: "escaped secrets are not redacted",
        find: `Written.readings(text).flatMap(`,
        replace: `Written.readings(text).slice(0, 1).flatMap(`
      },
      {
        name: "the text of a server is not escaped",
        find: `Printable.escape(onOneLine(redacted))`,
        replace: `onOneLine(redacted)`
      },
      {
        name: "a secret that appears after escaping is not redacted",
        find: `printable === redacted ? printable : redact(printable, secrets)`,
        replace: `printable`
      },
      {
        name: "the number of values in a reason has no limit",
        find: `if (++values > maxValues || depth`,
        replace: `if (depth`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/written.ts",
    ["Redaction"],
    [
      {
        name: "a capability in five levels of escapes is not redacted",
        find: `const maxLevels = 5`,
        replace: `const maxLevels = 4`
      },
      {
        name: "Latin-1 in a URL hides a secret",
        find: `return { value: String.fromCharCode(first), end: at + 3 }`,
        replace: `return undefined`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/capabilities.ts",
    ["Redaction"],
    [
      {
        name: "the fragment of a URL is not redacted",
        find: `[?#])[^`,
        replace: `[?])[^`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/fragments.ts",
    ["Redaction"],
    [
      {
        name: "a decoded secret that contained escapes is not redacted",
        find: `secrets.flatMap(readingsOf)`,
        replace: `secrets`
      },
      {
        name: "a part of a secret with 8 characters is not redacted",
        find: `const minPiece = 8`,
        replace: `const minPiece = 9`
      },
      {
        name: "a part of a secret at the end of a cut body is not redacted",
        find: `secret.text.startsWith(found) &&`,
        replace: `secret.text === found &&`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/Credentials.ts",
    ["Credentials"],
    [
      {
        name: "an empty secret signs",
        find: `secret: Settings.notBlank(Redacted.value(options.secret))`,
        replace: `secret: undefined`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/Signer.ts",
    ["Signer", "Webhook"],
    [
      {
        name: "a name such as toString is a signature algorithm",
        find: "name is Algorithm => Object.hasOwn(Hmac.algorithms, name)",
        replace: "name is Algorithm => name in Hmac.algorithms"
      }
    ]
  ),
  ...changes(
    "packages/auth/src/Authenticator.ts",
    ["Authenticator"],
    [
      {
        name: "the signed text differs from the sent text",
        find: `signature: yield* signer.sign(text)`,
        replace: `signature: yield* signer.sign(JSON.stringify(JSON.parse(text), Object.keys(params)))`
      },
      {
        name: "the same text is signed twice",
        find: `const nonce = yield* random.uuidV4()`,
        replace: `const nonce = String((yield* random.uuidV4()).length)`
      },
      {
        name: "the clock skew of the service is ignored",
        find: `clockSkew === undefined ? window : window + Duration.toMillis(clockSkew)`,
        replace: `clockSkew === undefined ? window : window`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/Webhook.ts",
    ["Webhook"],
    [
      {
        name: "a signature algorithm that the options exclude is accepted",
        find: `if (!Signer.isAlgorithm(algorithm) || !accepted.has(algorithm)) {`,
        replace: `if (!Signer.isAlgorithm(algorithm)) {`
      },
      {
        name: "a wrong signature passes",
        find: `return matches ? undefined : yield*`,
        replace: `return matches || digits.length > 4 ? undefined : yield*`
      },
      {
        name: "a notification about another Assembly passes",
        find: `(status) => !Assembly.isOfAnother(status, assemblyId),`,
        replace: `() => true,`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/Tokens.ts",
    ["Tokens", "TokenStore"],
    [
      {
        name: "the time of the request lengthens the life of a token",
        find: `toToken(yield* TokenEndpoint.request(grant, environment), asked, renewBefore)`,
        replace: `toToken(yield* TokenEndpoint.request(grant, environment), yield* Clock.currentTimeMillis, renewBefore)`
      },
      {
        name: "an expired token is used after a failed renewal",
        find: `current === undefined || Option.isNone(pause) || !isLater(current.expiresAt, now)`,
        replace: `current === undefined || Option.isNone(pause)`
      },
      {
        name: "an expired token of the store hides the token of this process",
        find: `token !== undefined && isLater(token.expiresAt, now) && !refused.some(`,
        replace: `token !== undefined && !refused.some(`
      },
      {
        name: "a refused token is given out again",
        find: `isLater(token.expiresAt, now) && !refused.some((value) => hasValue(value)(token))`,
        replace: `isLater(token.expiresAt, now)`
      },
      {
        name: "a late refusal of an old token removes the new token",
        find: `if (Option.exists(stored, hasValue(value))) yield* store.forget(grant)`,
        replace: `if (Option.isSome(stored)) yield* store.forget(grant)`
      },
      {
        name: "a token is used past its expiry while it cannot be renewed",
        find: `duration: Duration.min(pause, timeUntil(token.expiresAt, now))`,
        replace: `duration: pause`
      },
      {
        name: "the pause before a renewal has no maximum",
        find: `Duration.min(error.retryAfter, maxWait)`,
        replace: `error.retryAfter`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/TokenStore.ts",
    ["TokenStore"],
    [
      {
        name: "a stored token of a million levels is parsed",
        find: `const AtRest = Json.fromString(`,
        replace: `const AtRest = Schema.fromJsonString(`,
        tests: ["TokenStore"]
      },
      {
        name: "every token is encrypted with the same nonce",
        find: `const nonce = yield* random.randomBytes(nonceLength)`,
        replace: `const nonce = (yield* random.randomBytes(nonceLength)).fill(7)`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/sendGuard.ts",
    ["SendGuard"],
    [
      {
        name: "a client can send a POST twice",
        find: `if (!isRead(ours.method)) return other.repeated`,
        replace: `if (ours.method === "") return other.repeated`,
        project: "api"
      },
      {
        name: "a client can send a request to another origin",
        find: `if (!isSameUrl(leaving, ours, isSameOrigin)) return other.elsewhere`,
        replace: `if (urlOf(leaving) === undefined) return other.elsewhere`,
        project: "api"
      },
      {
        name: "a client can send a body of another length",
        find: `return isResized(ours, leaving) ? other.resized : undefined`,
        replace: `return undefined`,
        project: "api"
      },
      {
        name: "the content-length may differ from the length of the body",
        find: `return expected !== undefined && header !== undefined && Number(header) !== expected`,
        replace: `return expected !== undefined && header === "none"`,
        project: "api"
      },
      {
        name: "a client can replace a form",
        find: `return leaving._tag === "FormData" && leaving.formData === given.formData`,
        replace: `return true`,
        project: "api"
      },
      {
        name: "a client can encode a body",
        find: `if (leaving.headers["content-encoding"] !== ours.headers["content-encoding"]) return other.encoded`,
        replace: `if (leaving.headers["content-encoding"] === "") return other.encoded`,
        project: "api"
      },
      {
        name: "a redirect within the origin is followed",
        find: `if (!isSameUrl(leaving, first, isSentAlike) || leaving.method !== ours.method) return other.followed`,
        replace: `if (leaving.method !== ours.method) return other.followed`,
        project: "api"
      },
      {
        name: "the stream of a body is read twice",
        find: `return Stream.fail(refuse(readAt === 0 && leavesAsStream ? other.readTwice : other.repeated))`,
        replace: `return stream`,
        project: "api"
      },
      {
        name: "a response from another path is accepted",
        find: `return asked.origin !== answered.origin || asked.pathname !== answered.pathname`,
        replace: `return asked.origin !== answered.origin`,
        project: "api"
      },
      {
        name: "a client whose sends cannot be observed is trusted",
        find: `if (hidden !== undefined) refuse(`,
        replace: `if (hidden === other.readTwice) refuse(`,
        project: "api"
      }
    ]
  ),
  ...changes(
    "packages/auth/src/unstable/Transport.ts",
    ["SendGuard", "TransportFailure"],
    [
      {
        name: "a response after a refused send is accepted",
        find: `if (refusal !== undefined) return Effect.fail(refusal)`,
        replace: `if (refusal !== undefined && !isSuccess(response.status)) return Effect.fail(refusal)`,
        project: "api"
      },
      {
        name: "a creation may have happened after a 501",
        find: `status === 501 || (status >= 400 && status < 500 && !openBelow500.has(status))`,
        replace: `status >= 400 && status < 500 && !openBelow500.has(status)`,
        tests: ["/Creation.test", "Concatenation"],
        project: "tus"
      },
      {
        name: "a creation cannot have happened after a 409",
        find: `new Set([408, 409, 423, 425, 429, 499])`,
        replace: `new Set([408, 423, 425, 429, 499])`,
        tests: ["/Creation.test"],
        project: "tus"
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/diagnosis.ts",
    ["TransportFailure", "SendGuard"],
    [
      {
        name: "an unknown host is permanent although it answered before",
        find: `kind.isPermanent === true && !(kind === unknownHost && circumstances.knowsHost)`,
        replace: `kind.isPermanent === true`,
        project: "api"
      },
      {
        name: "a refused connection may have received the request",
        find: `(before && sends === 1) || (isSeen && sends === 0) ? "no" : "maybe"`,
        replace: `isSeen && sends === 0 ? "no" : "maybe"`,
        project: "api"
      },
      {
        name: "a closed connection cannot have received the request",
        find: `(before && sends === 1) || (isSeen && sends === 0) ? "no" : "maybe"`,
        replace: `sends === 1 || (isSeen && sends === 0) ? "no" : "maybe"`,
        project: "api"
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/readBody.ts",
    ["BrokenErrors", "OperationsOverHttp"],
    [
      {
        name: "a timeout of the body hides the status of an error",
        find: `progress.isDecided = true`,
        replace: `progress.isDecided = false`,
        project: "api"
      },
      {
        name: "a body without a length has no limit",
        find: `return size <= maxBytes
    }).pipe(`,
        replace: `return true
    }).pipe(`,
        project: "api"
      },
      {
        name: "the body of an error is waited for without end",
        find: `const rest = Duration.seconds(5)`,
        replace: `const rest = Duration.hours(5)`,
        project: "api"
      },
      {
        name: "the body of an error is read without end",
        find: `const reading = readInto(chunks, response, maxBytes)`,
        replace: `const reading = readInto(chunks, response, maxBytes * 1e6)`,
        tests: ["ReadBody"]
      },
      {
        name: "a body of exactly the limit is refused",
        find: `Effect.map(() => size <= maxBytes),`,
        replace: `Effect.map(() => size < maxBytes),`,
        tests: ["ReadBody"]
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/sameBytes.ts",
    ["SendGuard"],
    [
      {
        name: "a client can change a byte",
        find: `if (a[index] !== b[index]) return false`,
        replace: `if (a[index] !== b[index] && index < 0) return false`,
        project: "api"
      },
      {
        name: "a body that ends early passes",
        find: `this.isEmpty && (length === undefined || seen === length)`,
        replace: `this.isEmpty`,
        project: "api"
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/readBody.ts",
    ["ReadBody"],
    [
      {
        name: "pieces that come together are lost",
        find: `pieces.every(take)`,
        replace: `pieces.some(take)`
      },
      {
        name: "bytes that are not UTF-8 are a text",
        find: `{ fatal: true }`,
        replace: `{ fatal: false }`
      },
      {
        name: "a timeout applies after the body of an error was read",
        find: `progress.isDecided = false`,
        replace: ``
      },
      {
        name: "the error about a long body does not contain its start",
        find: `start: Bytes.join(chunks.slice(0, 1))`,
        replace: `start: Bytes.join([])`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/pieces.ts",
    ["Pieces"],
    [
      {
        name: "the pieces after the first array are lost",
        find: `at = 0
            return`,
        replace: `return`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/SmartCdn.ts",
    ["SmartCdn"],
    [
      {
        name: "a URL of the CDN is signed with another algorithm",
        find: `algorithm: "sha256"`,
        replace: `algorithm: "sha384"`
      },
      {
        name: "the Workspace of a URL of the CDN is not signed",
        find: "signer.sign(`${workspace}/${path}`)",
        replace: "signer.sign(path)"
      },
      {
        name: "the parameters of a URL of the CDN are not sorted",
        find: `  query.sort()\n`,
        replace: ``
      },
      {
        name: "a parameter replaces the expiry of a URL",
        find: `reserved.has(name)`,
        replace: `reserved.has(name.toUpperCase())`
      },
      {
        name: "the host of a URL of the CDN is chosen by its Workspace",
        find: "/^[A-Za-z0-9_-]{1,63}$/.test(value)",
        replace: "/^[A-Za-z0-9_-]/.test(value)"
      },
      {
        name: "the path of a URL of the CDN is shortened by its parser",
        find: `value !== "." && value !== ".."`,
        replace: `value !== "."`
      },
      {
        name: "a URL of the CDN expires at once by default",
        find: `now + lifetime`,
        replace: `now`
      },
      {
        name: "a URL of the CDN never expires",
        find: `expiry > 0 && expiry <= latest`,
        replace: `expiry > 0`
      }
    ]
  )
]

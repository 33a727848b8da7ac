/** A Template is given by its id or its name, in every command that takes a Template. */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect } from "@effect/vitest"
import { it, layerTest } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TemplateId from "../src/internal/templateId.ts"
import { content, templates } from "./support/resources.ts"
import * as Service from "./support/service.ts"
import * as Uploading from "./support/uploading.ts"

const { id } = templates["Templates.get"]

const refusal = (code: string) =>
  new ApiError.AuthenticationFailed({ operation: "Templates.get", code, status: 400, description: "no" })

describe("TemplateId.inParams", () => {
  it.effect("replaces a name by the id, and sends no request for an id", function* () {
    const service = Service.makeOf(templates)
    const inParams = (templateId?: string) =>
      Effect.provide(TemplateId.inParams(templateId === undefined ? {} : { templateId }), service.layer)
    expect(yield* inParams("thumbnails")).toEqual({ templateId: id })
    expect(service.asked).toEqual([{ name: "Templates.get", path: { templateIdOrName: "thumbnails" }, params: {} }])
    expect(yield* inParams("c".repeat(32))).toEqual({ templateId: "c".repeat(32) })
    expect(yield* inParams()).toEqual({})
    expect(service.asked).toHaveLength(1)
  })

  it.effect("uses the text as the id if the Auth Key may not read Templates", function* () {
    const given = TemplateId.inParams({ templateId: "thumbnails" })
    const forbidden = Service.makeOf({}, { "Templates.get": refusal("INSUFFICIENT_AUTH_SCOPE") })
    expect(yield* Effect.provide(given, forbidden.layer)).toEqual({ templateId: "thumbnails" })
    const unknown = Service.makeOf({}, { "Templates.get": refusal("GET_ACCOUNT_UNKNOWN_AUTH_KEY") })
    expect(yield* Effect.flip(Effect.provide(given, unknown.layer))).toMatchObject({ _tag: "AuthenticationFailed" })
  })
})

const live = Layer.mergeAll(
  Emulator.layer({ templates: [{ id: "my-template", name: "hashes", content }] }),
  NodeServices.layer
)

layerTest(live)("a Template of the emulator", (scoped) => {
  scoped.effect("is found by its id and by its name, and a mistyped name creates no Assembly", function* () {
    const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
    const assembly = (...args: ReadonlyArray<string>) => Uploading.assembly(folder, args)
    const uploaded = yield* assembly("upload", "a.txt", "--template", "hashes")
    expect(uploaded).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nhashed\ta\.txt\t4 B\t/) })
    const again = yield* assembly("upload", "a.txt", "--template", "my-template")
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("uploaded") })

    const [, assemblyId = ""] = /Assembly (\w{32})/.exec(uploaded.stdout) ?? []
    const replayed = yield* assembly("replay", "--wait", "--template", "hashes", assemblyId)
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringMatching(/\ncompleted, 1 result\n$/) })
    const counted = yield* assembly("stats", "--template", "hashes")
    expect(counted).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nAssemblies +2\n/) })

    const listed = yield* assembly("list", "--json")
    for (const args of [["upload", "a.txt"], ["replay", assemblyId], ["stats"]]) {
      expect(yield* assembly(...args, "--template", "hash")).toEqual({
        code: 1,
        stdout: "",
        stderr: "assembly: there is no Template hash\nRun assembly templates list to see what there is.\n"
      })
    }
    expect((yield* assembly("list", "--json")).stdout).toBe(listed.stdout)
  })
})

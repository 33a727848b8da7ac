import { changes } from "../Mutant.ts"

export const emulatorBilling = [
  ...changes(
    "packages/emulator/src/internal/billing/billStore.ts",
    ["Bills"],
    [
      {
        name: "a bill is rounded down",
        find: `Math.ceil(bytes / bytesPerMicrodollar)`,
        replace: `Math.floor(bytes / bytesPerMicrodollar)`
      },
      {
        name: "the current month has an invoice",
        find: `month < monthOf(`,
        replace: `month <= monthOf(`
      },
      {
        name: "a Workspace reads the bill of another one",
        find: "workspace = ${workspace} AND month",
        replace: "(workspace = ${workspace} OR 1) AND month"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/billing/billRoutes.ts",
    ["Bills"],
    [
      {
        name: "a missing bill has the status 404 instead of 200",
        find: `status: 200`,
        replace: `status: 404`
      },
      {
        name: "an invalid month is a month without a bill",
        find: `(issues) => Refusal.server(400, Refusal.explain(issues))`,
        replace: `() => notFound`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/billMigration.ts",
    ["Bills"],
    [
      {
        name: "a bill does not add up its Assemblies",
        find: `assemblies = assemblies + 1, input_bytes = input_bytes + excluded.input_bytes,`,
        replace: `assemblies = assemblies + 1, input_bytes = excluded.input_bytes,`
      },
      {
        name: "a bill does not add up the Steps of a robot",
        find: `steps = steps + excluded.steps,`,
        replace: `steps = excluded.steps,`
      },
      {
        name: "a bill has a day instead of a month",
        find: `strftime('%Y-%m', `,
        replace: `strftime('%Y-%d', `
      },
      {
        name: "the Assemblies of an older version are not billed",
        find: `FROM assemblies WHERE ended_at IS NOT NULL GROUP BY`,
        replace: `FROM assemblies WHERE ended_at IS NULL AND 0 GROUP BY`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/execution.ts",
    ["Bills"],
    [
      {
        name: "the Steps of a robot are not counted",
        find: `      usage.count(step.robot, files, made)
`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/queues/slotUse.ts",
    ["JobSlots"],
    [
      {
        name: "a slot that is released at once does not count",
        find: `      most = Math.max(most, inUse)
`,
        replace: ``
      },
      {
        name: "the first bucket counts the time before the window",
        find: `time - Math.max(start, since)`,
        replace: `time - start`
      },
      {
        name: "a bucket begins without the slots in use",
        find: `    area = 0
    most = inUse`,
        replace: `    area = 0
    most = 0`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/queues/slotStore.ts",
    ["JobSlots"],
    [
      {
        name: "a history contains only its first slice",
        find: `last === undefined || rows.length < slice ? until : last.at + 1`,
        replace: `last === undefined || rows.length <= slice ? until : last.at + 1`
      },
      {
        name: "slots of a later slice are counted twice",
        find: `.filter(({ at }) => at < end)`,
        replace: `.filter(({ at }) => at <= end + 1)`
      },
      {
        name: "the slots before the window are not counted",
        find: `SlotUse.counter({ since, until, bucketLength }, count)`,
        replace: `SlotUse.counter({ since, until, bucketLength }, count * 0)`
      },
      {
        name: "the slots of another Workspace are counted",
        find: "workspace = ${workspace} AND ${region",
        replace: "(workspace = ${workspace} OR 1) AND ${region"
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/queues/queueRoutes.ts",
    ["JobSlots"],
    [
      {
        name: "an invalid aggregation is an invalid time",
        find: `return has("aggregation")`,
        replace: `return has("aggregations")`
      },
      {
        name: "statistics start at any time",
        find: `DateTime.subtractDuration(now, longest))`,
        replace: `DateTime.subtractDuration(now, Duration.days(9999)))`
      },
      {
        name: "a disk failure has the wrong error code",
        find: `Effect.fail(unavailable)`,
        replace: `Effect.fail(Refusal.notFound)`
      }
    ]
  )
]

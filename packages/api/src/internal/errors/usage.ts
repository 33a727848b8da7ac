/**
 * The errors of bills and job slots.
 */
import * as Schema from "effect/Schema"
import { Details, refused } from "./details.ts"

/**
 * BILL_NOT_FOUND: there is no bill for the month. The service sends it with status 200.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class BillNotFound extends /* @__PURE__ */ Schema.TaggedError<BillNotFound>()("BillNotFound", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION: the aggregation is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidAggregation
  extends /* @__PURE__ */ Schema.TaggedError<JobSlotStatisticsInvalidAggregation>()(
    "JobSlotStatisticsInvalidAggregation",
    Details
  )
{
  override get message() {
    return refused(this)
  }
}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_TIME: `since` is missing or invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidTime
  extends /* @__PURE__ */ Schema.TaggedError<JobSlotStatisticsInvalidTime>()("JobSlotStatisticsInvalidTime", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * PRIORITY_JOB_SLOT_STATS_MISSING_REGION: a region is required.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsMissingRegion
  extends /* @__PURE__ */ Schema.TaggedError<JobSlotStatisticsMissingRegion>()(
    "JobSlotStatisticsMissingRegion",
    Details
  )
{
  override get message() {
    return refused(this)
  }
}

/**
 * 500 PRIORITY_JOB_SLOT_STATS_ERROR: the statistics could not be loaded.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsUnavailable
  extends /* @__PURE__ */ Schema.TaggedError<JobSlotStatisticsUnavailable>()("JobSlotStatisticsUnavailable", Details)
{
  override get message() {
    return refused(this)
  }
}

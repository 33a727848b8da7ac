/**
 * The named errors that only operations beyond the specification have. `ApiError` also exports these errors.
 */
import * as Schema from "effect/Schema"
import { Details, refused } from "./unstable/ErrorDetails.ts"

/**
 * AUTH_KEY_NOT_CREATED: the Auth Key could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotCreated extends Schema.TaggedError<AuthKeyNotCreated>()("AuthKeyNotCreated", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * AUTH_KEY_NOT_UPDATED: the Auth Key could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotUpdated extends Schema.TaggedError<AuthKeyNotUpdated>()("AuthKeyNotUpdated", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * AUTH_KEY_NOT_DELETED: the Auth Key could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotDeleted extends Schema.TaggedError<AuthKeyNotDeleted>()("AuthKeyNotDeleted", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * AUTH_SECRET_NOT_RETRIEVED: the secret of the Auth Key cannot be shown.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthSecretNotRetrieved extends Schema.TaggedError<AuthSecretNotRetrieved>()(
  "AuthSecretNotRetrieved",
  Details
) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_LIST_ERROR: the service returned an error instead of a list.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateListFailed extends Schema.TaggedError<TemplateListFailed>()("TemplateListFailed", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_NOT_FOUND: no Template has this id or name.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateNotFound extends Schema.TaggedError<TemplateNotFound>()("TemplateNotFound", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_VALIDATION_ERROR: a setting or the content of the Template is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateInvalid extends Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_FOUND: the Template Credentials could not be listed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotFound extends Schema.TaggedError<TemplateCredentialsNotFound>()(
  "TemplateCredentialsNotFound",
  Details
) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_READ: the Template Credentials could not be read.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotRead extends Schema.TaggedError<TemplateCredentialsNotRead>()(
  "TemplateCredentialsNotRead",
  Details
) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_CREATED: the Template Credentials could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotCreated extends Schema.TaggedError<TemplateCredentialsNotCreated>()(
  "TemplateCredentialsNotCreated",
  Details
) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_UPDATED: the Template Credentials could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotUpdated extends Schema.TaggedError<TemplateCredentialsNotUpdated>()(
  "TemplateCredentialsNotUpdated",
  Details
) {
  override get message() {
    return refused(this)
  }
}

/**
 * TEMPLATE_CREDENTIALS_NOT_DELETED: the Template Credentials could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotDeleted extends Schema.TaggedError<TemplateCredentialsNotDeleted>()(
  "TemplateCredentialsNotDeleted",
  Details
) {
  override get message() {
    return refused(this)
  }
}

/**
 * BILL_NOT_FOUND: there is no bill for the month. The service sends this error with status 200.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class BillNotFound extends Schema.TaggedError<BillNotFound>()("BillNotFound", Details) {
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
export class JobSlotStatisticsInvalidAggregation extends Schema.TaggedError<JobSlotStatisticsInvalidAggregation>()(
  "JobSlotStatisticsInvalidAggregation",
  Details
) {
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
export class JobSlotStatisticsInvalidTime extends Schema.TaggedError<JobSlotStatisticsInvalidTime>()(
  "JobSlotStatisticsInvalidTime",
  Details
) {
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
export class JobSlotStatisticsMissingRegion extends Schema.TaggedError<JobSlotStatisticsMissingRegion>()(
  "JobSlotStatisticsMissingRegion",
  Details
) {
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
export class JobSlotStatisticsUnavailable extends Schema.TaggedError<JobSlotStatisticsUnavailable>()(
  "JobSlotStatisticsUnavailable",
  Details
) {
  override get message() {
    return refused(this)
  }
}

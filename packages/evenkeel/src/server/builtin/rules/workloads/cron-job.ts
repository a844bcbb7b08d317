/**
 * CronJobs: when, what, and how many finished jobs are kept.
 */
import { fieldError, FieldPath, utf8Length } from '#api'
import type { FieldError, JsonObject } from '#api'
import { requireChoice, requireNonNegative } from '../checks.ts'
import { ensureDraft, setDefault, setDefaultText } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { isSet, numberIn, objectIn, textIn } from '../reading.ts'
import { defaultJobSpec, validateJobSpec } from './job-spec.ts'
import { cronScheduleError } from './schedule.ts'

const specPath = FieldPath.of('spec')
const templatePath = specPath.child('jobTemplate', 'spec')
/** A job is named after its CronJob and the minute, eleven characters more. */
const nameBytesMax = 52

export const cronJobStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefaultText(spec, 'concurrencyPolicy', 'Allow')
    setDefault(spec, 'suspend', false)
    setDefault(spec, 'successfulJobsHistoryLimit', 3)
    setDefault(spec, 'failedJobsHistoryLimit', 1)
    const template = ensureDraft(spec, 'jobTemplate')
    ensureDraft(template, 'metadata')
    defaultJobSpec(ensureDraft(template, 'spec'))
  },
  prepareForCreate(object) {
    object['status'] = {}
  },
  validate(object) {
    const [spec, name] = [objectIn(object, 'spec'), object.metadata.name ?? '']
    const errors =
      utf8Length(name) > nameBytesMax
        ? [
            fieldError.invalid(
              FieldPath.of('metadata', 'name'),
              name,
              `must be no more than ${nameBytesMax} characters`,
            ),
          ]
        : []
    return [...validateSpec(spec), ...errors]
  },
}

function validateSpec(spec: JsonObject): FieldError[] {
  const job = objectIn(objectIn(spec, 'jobTemplate'), 'spec')
  const errors = [
    ...validateSchedule(textIn(spec, 'schedule'), specPath.child('schedule')),
    ...requireNonNegative(numberIn(spec, 'startingDeadlineSeconds'), specPath.child('startingDeadlineSeconds')),
    ...validateTimeZone(spec['timeZone'], specPath.child('timeZone')),
    ...requireChoice(textIn(spec, 'concurrencyPolicy'), specPath.child('concurrencyPolicy'), [
      'Allow',
      'Forbid',
      'Replace',
    ]),
    ...validateJobSpec(job, templatePath),
  ]
  if (job['selector'] !== undefined)
    errors.push(
      fieldError.invalid(templatePath.child('selector'), job['selector'], '`selector` will be auto-generated'),
    )
  if (isSet(job, 'manualSelector'))
    errors.push(fieldError.notSupported(templatePath.child('manualSelector'), true, ['nil', 'false']))
  return [
    ...errors,
    ...['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'].flatMap((key) =>
      requireNonNegative(numberIn(spec, key), specPath.child(key)),
    ),
  ]
}

function validateSchedule(schedule: string, path: FieldPath): FieldError[] {
  if (schedule === '') return [fieldError.required(path)]
  const complaint = cronScheduleError(schedule)
  const errors = complaint === undefined ? [] : [fieldError.invalid(path, schedule, complaint)]
  if (!schedule.includes('TZ')) return errors
  return [
    ...errors,
    fieldError.invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
  ]
}

/** Whether a zone exists is known where schedules are computed; here only that one is named. */
function validateTimeZone(zone: unknown, path: FieldPath): FieldError[] {
  if (typeof zone !== 'string') return []
  if (zone === '') return [fieldError.invalid(path, zone, 'timeZone must be nil or non-empty string')]
  return zone.toLowerCase() === 'local'
    ? [
        fieldError.invalid(
          path,
          zone,
          'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
        ),
      ]
    : []
}

/**
 * CronJobs: the schedule, the job template and the history limits.
 */
import {
  errorsOfEach,
  fieldError,
  FieldPath,
  isSet,
  numberIn,
  objectIn,
  parseDuration,
  quote,
  textIn,
  utf8Length,
  type FieldError,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import { ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { requireChoice, requireNonNegative } from '../validation.ts'
import { defaultJobSpec, validateJobSpec } from './job.ts'

const specPath = FieldPath.of('spec')
const templatePath = specPath.child('jobTemplate', 'spec')
/** The name of a Job is that of its CronJob plus eleven characters for the minute. */
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
    ...errorsOfEach(['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], (key) =>
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

/** Only the syntax of a time zone is checked here; the controller knows which zones exist. */
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

// Schedules of CronJobs: five fields, or a name such as `@daily`. They are validated here, not computed.

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const everyPrefix = '@every '
const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']

interface Field {
  readonly min: number
  readonly max: number
  readonly names: readonly string[]
}

const fields: readonly Field[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]

/** The error of a schedule; `undefined` for a valid one. */
export function cronScheduleError(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S*\s+/, '').trim()
  if (text.startsWith('@')) return descriptorComplaint(text)
  const parts = text === '' ? [] : text.split(/\s+/)
  if (parts.length !== fields.length)
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`
  for (const [index, field] of fields.entries()) {
    const complaint = (parts[index] ?? '')
      .split(',')
      .map((part) => rangeComplaint(part, field))
      .find((found) => found !== undefined)
    if (complaint !== undefined) return complaint
  }
  return undefined
}

function descriptorComplaint(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined
  if (!text.startsWith(everyPrefix)) return `unrecognized descriptor: ${text}`
  const duration = text.slice(everyPrefix.length)
  return parseDuration(duration) === undefined
    ? `failed to parse duration ${text}: time: invalid duration ${quote(duration)}`
    : undefined
}

function rangeComplaint(text: string, field: Field): string | undefined {
  const [range = '', step, ...rest] = text.split('/')
  const [low = '', high, ...more] = range.split('-')
  if (rest.length > 0) return `too many slashes: ${text}`
  if (more.length > 0) return `too many hyphens: ${text}`
  const isAny = low === '*' || low === '?'
  const wrong = [isAny ? undefined : low, isAny ? undefined : high, step].find(
    (part) => part !== undefined && numberOf(part, field) === undefined,
  )
  if (wrong !== undefined)
    return `failed to parse int from ${wrong}: strconv.Atoi: parsing ${quote(wrong)}: invalid syntax`
  const start = isAny ? field.min : (numberOf(low, field) ?? field.min)
  const end = isAny ? field.max : high === undefined ? endOf(start, step, field) : (numberOf(high, field) ?? field.max)
  const every = step === undefined ? 1 : numberOf(step, field)
  if (start < field.min) return `beginning of range (${start}) below minimum (${field.min}): ${text}`
  if (end > field.max) return `end of range (${end}) above maximum (${field.max}): ${text}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`
  return every === 0 ? `step of range should be a positive number: ${text}` : undefined
}

/** A start with a step extends to the end of the field. */
function endOf(start: number, step: string | undefined, { max }: Field): number {
  return step === undefined ? start : max
}

function numberOf(text: string, { min, names }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase())
  if (named >= 0) return named + min
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined
}

/**
 * Events: they expire after an hour, and are validated leniently in `v1` and strictly in `events.k8s.io/v1`.
 *
 * Errors use the field names of `v1` in both groups, because kube-apiserver validates that form. Hooks accept
 * both forms.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsSubdomain,
  deepEqual,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  optionalObjectIn,
  parseTimestamp,
  textIn,
  utf8Length,
  valueIn,
  type FieldError,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { eventsToCore } from '../conversion.ts'
import { setDefault } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { refuse, requireQualifiedName, requireSame, requireText } from '../validation.ts'

const hourMs = 3_600_000
const references = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const
const namespacePath = FieldPath.of('involvedObject', 'namespace')

/** Events of the core group. */
export const eventStrategy: StrategyHooks = {
  ttlMs: hourMs,
  selectableFields: {
    ...referenceFields('involvedObject'),
    reason: (object) => textIn(object, 'reason'),
    reportingComponent: reporter,
    source: (object) => textIn(objectIn(eventsToCore(object), 'source'), 'component') || reporter(object),
    type: (object) => textIn(object, 'type'),
  },
  default(object) {
    setDefault(object, 'source', {})
    setDefault(object, 'reportingComponent', '')
    setDefault(object, 'reportingInstance', '')
  },
  validate: (object) => validateEvent(eventsToCore(object), 'reportingComponent'),
}

/** Events of `events.k8s.io`. */
export const strictEventStrategy: StrategyHooks = {
  ttlMs: hourMs,
  selectableFields: {
    ...referenceFields('regarding'),
    reason: (object) => textIn(object, 'reason'),
    reportingController: reporter,
    type: (object) => textIn(object, 'type'),
  },
  default(object) {
    if (object['apiVersion'] !== 'v1') setDefault(object, 'deprecatedSource', {})
  },
  validate(object) {
    const event = eventsToCore(object)
    // The strict rules apply to new-style events only: an old one may have been created in the lenient group.
    const isNew = object.metadata.resourceVersion === undefined
    return [...validateEvent(event, 'reportingController'), ...(isNew ? validateStrictly(event) : [])]
  },
  validateUpdate(object, old) {
    const [event, before] = [eventsToCore(object), eventsToCore(old)]
    return [...validateSeriesChange(event, before), ...validateUnchanged(event, before)]
  },
}

function reporter(object: UnstructuredObject): string {
  return textIn(eventsToCore(object), 'reportingComponent')
}

function referenceFields(prefix: string): NonNullable<StrategyHooks['selectableFields']> {
  return Object.fromEntries(
    references.map((name) => [
      `${prefix}.${name}`,
      (object: UnstructuredObject) => textIn(objectIn(eventsToCore(object), 'involvedObject'), name),
    ]),
  )
}

function validateEvent(event: UnstructuredObject, reporterName: string): FieldError[] {
  const namespace = event.metadata.namespace ?? ''
  const involved = textIn(objectIn(event, 'involvedObject'), 'namespace')
  const mismatch = fieldError.invalid(namespacePath, involved, 'does not match event.namespace')
  const errors: FieldError[] = []
  if (!hasTime(event, 'eventTime')) {
    const allowed = involved === '' ? ['', 'default'] : [involved]
    if (!allowed.includes(namespace)) errors.push(mismatch)
  } else {
    if (involved === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch)
    pushAll(errors, validateDetails(event, reporterName))
  }
  return [...errors, ...refuse(namespace, FieldPath.of('namespace'), checkDnsSubdomain(namespace))]
}

/** The required fields of an Event with an event time (new style). */
function validateDetails(event: UnstructuredObject, reporterName: string): FieldError[] {
  const reporting = textIn(event, 'reportingComponent')
  const reporterPath = FieldPath.of(reporterName)
  return [
    ...requireText(reporting, reporterPath),
    ...requireQualifiedName(reporting, reporterPath),
    ...errorsOfEach(['reportingInstance', 'action', 'reason'], (field) => [
      ...requireText(textIn(event, field), FieldPath.of(field)),
      ...validateLength(event, field, 128),
    ]),
    ...validateLength(event, 'message', 1024),
  ]
}

function validateLength(event: UnstructuredObject, field: string, bytesMax: number): FieldError[] {
  if (utf8Length(textIn(event, field)) <= bytesMax) return []
  return [fieldError.invalid(FieldPath.of(field), '', `can have at most ${bytesMax} characters`)]
}

function validateStrictly(event: UnstructuredObject): FieldError[] {
  const name = event.metadata.name ?? ''
  const errors = [...refuse(name, FieldPath.of('metadata', 'name'), checkDnsSubdomain(name)), ...validateSeries(event)]
  if (!hasTime(event, 'eventTime')) errors.push(fieldError.required(FieldPath.of('eventTime')))
  const type = textIn(event, 'type')
  if (type !== 'Normal' && type !== 'Warning')
    errors.push(fieldError.invalid(FieldPath.of('type'), '', `has invalid value: ${type}`))
  for (const field of ['firstTimestamp', 'lastTimestamp']) if (hasTime(event, field)) errors.push(unset(field))
  if ((numberIn(event, 'count') ?? 0) !== 0) errors.push(unset('count'))
  const source = objectIn(event, 'source')
  if (textIn(source, 'component') !== '' || textIn(source, 'host') !== '') errors.push(unset('source'))
  return errors
}

function unset(field: string): FieldError {
  return fieldError.invalid(FieldPath.of(field), '', 'needs to be unset')
}

function validateSeries(event: UnstructuredObject): FieldError[] {
  const series = optionalObjectIn(event, 'series')
  if (series === undefined) return []
  const errors: FieldError[] = []
  if ((numberIn(series, 'count') ?? 0) < 2)
    errors.push(fieldError.invalid(FieldPath.of('series', 'count'), '', 'should be at least 2'))
  if (textIn(series, 'lastObservedTime') === '')
    errors.push(fieldError.required(FieldPath.of('series', 'lastObservedTime')))
  return errors
}

function validateSeriesChange(event: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const unchanged = requireSame(valueIn(event, 'series'), valueIn(old, 'series'), FieldPath.of('series')).length === 0
  return unchanged ? [] : validateSeries(event)
}

const frozenFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'action',
  'related',
  'reportingInstance',
]

function validateUnchanged(event: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  return [
    ...errorsOfEach(frozenFields, (field) => requireSame(plain(event, field), plain(old, field), FieldPath.of(field))),
    ...(deepEqual(microsecond(event), microsecond(old))
      ? []
      : requireSame(event['eventTime'], old['eventTime'], FieldPath.of('eventTime'))),
    ...requireSame(
      plain(event, 'reportingComponent'),
      plain(old, 'reportingComponent'),
      FieldPath.of('reportingController'),
    ),
  ]
}

/** Normalizes all zero values (absent, empty, 0, an empty object) for comparison. */
function plain(event: UnstructuredObject, field: string): unknown {
  const value = valueIn(event, field)
  if (value === null || value === '' || value === 0) return undefined
  return typeof value === 'object' && Object.keys(value).length === 0 ? undefined : value
}

/** Clients truncate event times to microseconds on updates. */
function microsecond(event: UnstructuredObject): unknown {
  const time = parseTimestamp(textIn(event, 'eventTime'))
  return time && { seconds: time.seconds, micros: Math.floor(time.nanos / 1000) }
}

function hasTime(event: UnstructuredObject, field: string): boolean {
  return textIn(event, field) !== ''
}

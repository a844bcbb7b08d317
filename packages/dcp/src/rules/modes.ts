/**
 * Who owns the thing behind an object: `session` makes it and ends it, `persistent` keeps it, `existing` and `cleanup`
 * only use one that is there.
 */
import { fieldError, type FieldError, type FieldPath } from 'evenkeel/server'
import { isSet, numberOf, textOf, type Values } from './field-values.ts'

/** `persistent: true` decides whatever `mode` says. */
export function effectiveMode(spec: Values): string {
  if (isSet(spec, 'persistent')) return 'persistent'
  return textOf(spec, 'mode') || 'session'
}

/** A process that decides over the lifetime needs a number, a time, and something that outlives the session. */
export function monitorErrors(spec: Values, path: FieldPath): FieldError[] {
  const pid = numberOf(spec, 'monitorPid')
  const hasTime = textOf(spec, 'monitorTimestamp') !== ''
  const isPersistent = effectiveMode(spec) === 'persistent'
  const needsPersistent = (name: string): FieldError =>
    fieldError.forbidden(path.child(name), `${name} is for mode persistent only`)
  return [
    ...(pid !== undefined && pid <= 0 ? [fieldError.invalid(path.child('monitorPid'), pid, 'must be above 0')] : []),
    ...(!isPersistent && pid !== undefined ? [needsPersistent('monitorPid')] : []),
    ...(!isPersistent && hasTime ? [needsPersistent('monitorTimestamp')] : []),
    ...(pid !== undefined && !hasTime
      ? [
          fieldError.required(
            path.child('monitorTimestamp'),
            'a process id alone may be used again: give its start time',
          ),
        ]
      : []),
    ...(pid === undefined && hasTime
      ? [fieldError.required(path.child('monitorPid'), 'the start time belongs to a process: give its id')]
      : []),
  ]
}

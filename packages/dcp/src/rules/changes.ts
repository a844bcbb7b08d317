/**
 * What may not change after an object was created: fields that are fixed, and latches that move in one direction.
 */
import { fieldError, type FieldError, type FieldPath } from 'evenkeel/server'
import { effectiveMode } from './modes.ts'
import { isSame, isSet, itemsOf, textOf, type Values } from './field-values.ts'

/** The spec before and after a change. */
export interface SpecChange {
  readonly old: Values
  readonly spec: Values
  readonly path: FieldPath
}

/** An error for each field that has another value now. */
export function fixedFields({ old, spec, path }: SpecChange, names: readonly string[]): FieldError[] {
  return names.flatMap((name) =>
    isSame(old[name], spec[name])
      ? []
      : [fieldError.forbidden(path.child(name), `${name} cannot change after creation`)],
  )
}

/** The same for lists: the error names the first item that differs, or the list when its length does. */
export function fixedLists({ old, spec, path }: SpecChange, names: readonly string[]): FieldError[] {
  return names.flatMap((name) => {
    const [before, after] = [itemsOf(old, name), itemsOf(spec, name)]
    const changed = before.findIndex((item, index) => !isSame(item, after[index]))
    if (before.length === after.length && changed < 0) return []
    const where = before.length === after.length ? path.child(name).index(changed) : path.child(name)
    return [fieldError.forbidden(where, `${name} cannot change after creation`)]
  })
}

/** A started object cannot become one that waits for its start; a stop cannot be taken back. */
export function latches({ old, spec, path }: SpecChange): FieldError[] {
  return [
    ...(old['start'] !== false && spec['start'] === false
      ? [fieldError.forbidden(path.child('start'), 'start cannot become false after it was true')]
      : []),
    ...(isSet(old, 'stop') && !isSet(spec, 'stop')
      ? [fieldError.forbidden(path.child('stop'), 'stop cannot become false after it was true')]
      : []),
  ]
}

/** How long the thing behind the object lives is decided at its creation. */
export function fixedLifetime(change: SpecChange): FieldError[] {
  const { old, spec, path } = change
  return [
    ...fixedFields(change, ['persistent', 'monitorPid']),
    ...(effectiveMode(old) === effectiveMode(spec)
      ? []
      : [fieldError.forbidden(path.child('mode'), 'mode cannot change after creation')]),
    ...(sameTime(textOf(old, 'monitorTimestamp'), textOf(spec, 'monitorTimestamp'))
      ? []
      : [fieldError.forbidden(path.child('monitorTimestamp'), 'monitorTimestamp cannot change after creation')]),
  ]
}

/** Whether two texts of a time are equal in microseconds: `…:05.1Z` and `…:05.100000+00:00`. */
function sameTime(a: string, b: string): boolean {
  return normalTime(a) === normalTime(b)
}

function normalTime(text: string): string {
  const [, seconds = text, fraction = '', zone = ''] = /^(.+:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}${zone.replace(/^[+-]00:00$/, 'Z')}`
}

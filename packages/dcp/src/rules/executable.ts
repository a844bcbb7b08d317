/**
 * What an Executable, a set of them, and a health probe have to be, and what may not change.
 */
import { fieldError, type FieldError, type FieldPath } from 'evenkeel/server'
import { fixedFields, fixedLifetime, fixedLists, latches, type SpecChange } from './changes.ts'
import { isSet, itemsOf, recordsOf, textOf, valuesOf, numberOf, type Values } from './field-values.ts'
import { effectiveMode, monitorErrors } from './modes.ts'

export function executableErrors(spec: Values, path: FieldPath): FieldError[] {
  return [
    ...(textOf(spec, 'executablePath') === ''
      ? [fieldError.required(path.child('executablePath'), 'the program to run')]
      : []),
    ...executionErrors(spec, path),
    ...monitorErrors(spec, path),
    ...probeErrors(spec, path),
    ...certificateErrors(valuesOf(spec, 'pemCertificates'), path.child('pemCertificates')),
    ...terminalErrors(valuesOf(spec, 'terminal'), path.child('terminal')),
  ]
}

/** Who runs it: a process of this machine, or an editor; and who does when the first one cannot. */
function executionErrors(spec: Values, path: FieldPath): FieldError[] {
  const type = textOf(spec, 'executionType') || 'Process'
  const fallbacks = itemsOf(spec, 'fallbackExecutionTypes')
  const fallbackPath = path.child('fallbackExecutionTypes')
  const invalid = (detail: string): FieldError => fieldError.invalid(fallbackPath, fallbacks, detail)
  return [
    ...(new Set(fallbacks).size < fallbacks.length ? [invalid('each may be there once')] : []),
    ...(fallbacks.includes(type) ? [invalid(`${type} is tried first already`)] : []),
    ...(fallbacks.includes('') ? [invalid('must be Process or IDE')] : []),
    ...(effectiveMode(spec) === 'session' ? [] : reuseErrors(spec, path)),
  ]
}

/** A process that was there before is found again as a process: no editor and no terminal has it. */
function reuseErrors(spec: Values, path: FieldPath): FieldError[] {
  const name = isSet(spec, 'persistent') ? 'persistent' : 'mode'
  return [
    ...(textOf(spec, 'executionType') === 'IDE'
      ? [fieldError.invalid(path.child(name), spec[name], 'needs executionType Process')]
      : []),
    ...(itemsOf(spec, 'fallbackExecutionTypes').length > 0
      ? [
          fieldError.invalid(
            path.child('fallbackExecutionTypes'),
            spec['fallbackExecutionTypes'],
            'only mode session has fallbacks',
          ),
        ]
      : []),
    ...(valuesOf(spec, 'terminal')
      ? [fieldError.forbidden(path.child('terminal'), 'only mode session has a terminal')]
      : []),
  ]
}

export function executableChanges(change: SpecChange): FieldError[] {
  const { old, spec, path } = change
  const ambient = (values: Values): string => textOf(valuesOf(values, 'ambientEnvironment'), 'behavior')
  return [
    ...latches(change),
    ...fixedLifetime(change),
    ...(ambient(old) === ambient(spec)
      ? []
      : [fieldError.forbidden(path.child('ambientEnvironment', 'behavior'), 'behavior cannot change after creation')]),
    ...fixedLists(change, ['healthProbes']),
    ...fixedFields(change, ['pemCertificates', 'terminal']),
  ]
}

export function replicaSetErrors(spec: Values, path: FieldPath): FieldError[] {
  const template = valuesOf(valuesOf(spec, 'template'), 'spec') ?? {}
  const templatePath = path.child('template', 'spec')
  return [...executableErrors(template, templatePath), ...neverRuns(template, templatePath)]
}

function neverRuns(template: Values, path: FieldPath): FieldError[] {
  return isSet(template, 'stop')
    ? [fieldError.invalid(path.child('stop'), true, 'what is made from this template would never run')]
    : []
}

export function probeErrors(spec: Values, path: FieldPath): FieldError[] {
  return recordsOf(spec, 'healthProbes').flatMap((probe, index) =>
    oneProbeErrors(probe, path.child('healthProbes').index(index)),
  )
}

function oneProbeErrors(probe: Values, path: FieldPath): FieldError[] {
  const [name, type] = [textOf(probe, 'name'), textOf(probe, 'type')]
  return [
    ...(name === '' ? [fieldError.required(path.child('name'), 'results are shown under this name')] : []),
    ...(name.startsWith('_')
      ? [fieldError.invalid(path.child('name'), name, 'names with an underscore in front are reserved')]
      : []),
    ...(type === 'HTTP' ? httpProbeErrors(valuesOf(probe, 'httpProbe'), path.child('httpProbe')) : []),
    ...(type === 'Executable'
      ? executableProbeErrors(valuesOf(probe, 'executableProbe'), path.child('executableProbe'))
      : []),
    ...(type !== 'HTTP' && type !== 'Executable'
      ? [fieldError.notSupported(path.child('type'), type, ['HTTP', 'Executable'])]
      : []),
    ...scheduleErrors(valuesOf(probe, 'schedule'), path.child('schedule')),
  ]
}

function httpProbeErrors(probe: Values | undefined, path: FieldPath): FieldError[] {
  return textOf(probe, 'url') === '' ? [fieldError.required(path.child('url'), 'the address to ask')] : []
}

function executableProbeErrors(probe: Values | undefined, path: FieldPath): FieldError[] {
  const template = valuesOf(valuesOf(probe, 'executableTemplate'), 'spec')
  const templatePath = path.child('executableTemplate', 'spec')
  if (!template) return [fieldError.required(templatePath, 'the Executable that is run as the probe')]
  return [
    ...executableErrors({ ...template, healthProbes: [] }, templatePath),
    ...neverRuns(template, templatePath),
    ...(itemsOf(template, 'healthProbes').length > 0
      ? [fieldError.forbidden(templatePath.child('healthProbes'), 'a probe has no probes itself')]
      : []),
  ]
}

/** Durations as Go writes them: `1m30s`, `200ms`. */
function scheduleErrors(schedule: Values | undefined, path: FieldPath): FieldError[] {
  const check = (name: string, { isNeeded }: { isNeeded: boolean }): FieldError[] => {
    const text = textOf(schedule, name)
    if (text === '' && !isNeeded) return []
    const isDuration = /^\+?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)
    const isPositive = /[1-9]/.test(text)
    return isDuration && (isPositive || !isNeeded)
      ? []
      : [fieldError.invalid(path.child(name), text, 'must be a duration above 0, such as 5s')]
  }
  return [
    ...check('interval', { isNeeded: true }),
    ...check('timeout', { isNeeded: false }),
    ...check('initialDelay', { isNeeded: false }),
  ]
}

export function certificateErrors(certificates: Values | undefined, path: FieldPath): FieldError[] {
  if (!certificates) return []
  const all = recordsOf(certificates, 'certificates')
  return [
    ...(all.length === 0 ? [fieldError.required(path.child('certificates'), 'at least one')] : []),
    ...all.flatMap((certificate, index) =>
      ['thumbprint', 'contents'].flatMap((name) =>
        textOf(certificate, name) === ''
          ? [fieldError.required(path.child('certificates').index(index).child(name), 'may not be empty')]
          : [],
      ),
    ),
  ]
}

const cellsMax = 32_767

export function terminalErrors(terminal: Values | undefined, path: FieldPath): FieldError[] {
  if (!terminal) return []
  const outOfRange = (name: string): FieldError[] => {
    const cells = numberOf(terminal, name) ?? 0
    return cells < 0 || cells > cellsMax
      ? [fieldError.invalid(path.child(name), cells, `must be from 0 to ${cellsMax}`)]
      : []
  }
  return [
    ...(textOf(terminal, 'socketMode') === 'connect' && textOf(terminal, 'udsPath') === ''
      ? [fieldError.required(path.child('udsPath'), 'socketMode connect needs the path of a socket')]
      : []),
    ...outOfRange('cols'),
    ...outOfRange('rows'),
  ]
}

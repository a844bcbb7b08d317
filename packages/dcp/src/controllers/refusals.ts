/**
 * What an Executable may ask for and does not get here: said in its log, so that a host does not wait for it.
 */
import { isSet, itemsOf, textOf, valuesOf, type Values } from '../rules/field-values.ts'
import { effectiveMode } from '../rules/modes.ts'

/** Why it is not started; undefined when it may be. */
export function refusalOf(spec: Values): string | undefined {
  if (isSet(spec, 'stop')) return 'spec.stop is true, and it has not run yet'
  const mode = effectiveMode(spec)
  if (mode !== 'session') return `mode ${mode} is not supported: a program ends with its session. Use mode session`
  const types = [textOf(spec, 'executionType') || 'Process', ...itemsOf(spec, 'fallbackExecutionTypes')]
  if (!types.includes('Process'))
    return 'executionType IDE is not supported: run it as a Process, or add Process to fallbackExecutionTypes'
  if (valuesOf(spec, 'terminal')) return 'terminals are not supported: leave out spec.terminal'
  return undefined
}
